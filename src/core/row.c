/*
 * Rows.  A row lives until row_finish() has told it; strings go to the row's
 * own memory, so the caller's may be gone by then.  That memory is used again
 * for the next row of the list, and freed with the list.
 */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "core/row.h"

void
row_init(struct row *r)
{
	memset(r, 0, sizeof(*r));
	buf_init(&r->text);
}

/* Requires room in the row: ROW_FIELDS is for the longest row of any list. */
void
row_num(struct row *r, enum field_id id, uint64_t num)
{
	assert(r->n < ROW_FIELDS);
	r->fields[r->n++] = (struct field){ .id = id, .num = num };
}

void
row_str(struct row *r, enum field_id id, const char *str)
{
	assert(r->n < ROW_FIELDS);
	r->fields[r->n++] = (struct field){ .id = id,
		.str = (uint32_t)buf_len(&r->text),
		.len = (uint32_t)strlen(str) };
	buf_adds(&r->text, str);
}

void
row_finish(struct row *r, const char *word, const char *name, size_t len)
{
	struct core_row row = { .word = word,
		.name = name,
		.name_len = len,
		.fields = r->fields,
		.nfields = r->n,
		.text = buf_len(&r->text) == 0 ? "" : buf_data(&r->text) };

	r->fn(r->arg, &row);
	r->count++;
	r->n = 0;
	buf_clear(&r->text);
}
