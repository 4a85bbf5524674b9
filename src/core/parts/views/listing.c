/*
 * Lists of things of which there may be 100,000: LIST (listing_held.c), QUEUE
 * (listing_queue.c), HISTORY (listing_history.c), NAMES (listing_names.c) and
 * BROKERS (listing_brokers.c).
 *
 * They are made in parts, between which the core goes on.  A row shows the
 * thing as it was when the list visited it.  A list knows the next thing by a
 * cursor (base/cursor.h), which moves on when that goes away.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "core/kernel/lock/state.h"
#include "core/parts/ids.h"
#include "core/parts/notes/notes.h"
#include "core/parts/observe/measure.h"
#include "core/parts/sync/semaphore.h"
#include "core/parts/views/listing_state.h"

/* Rows, names or comparisons of a part: some tenths of a millisecond. */
#define PART 256

/* A list that began again this often makes the rest in one part. */
#define ANEW_MAX 3

/*
 * Rows.  A row lives until row_finish() has passed it on; strings go to the
 * row's own memory, which is used again for the next one, and freed with the
 * list.
 */

static void
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
row_note(const struct core *core, struct row *r, enum field_id id,
    const void *of, enum note note)
{
	struct span text = notes_of(core, of, note);

	if (text.n > 0)
		row_str(r, id, text.p);
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

/* Lists. */

struct listing *
listing_new(stage_fn stage)
{
	struct listing *g = xcalloc(1, sizeof(*g));

	g->stage = stage;
	row_init(&g->row);
	return g;
}

void
listing_kept(const struct core *core, struct listing *g, const char *name,
    size_t name_len, int64_t until_ms)
{
	const char *was = measure_last_holder(measure_of(core), name, name_len);

	row_num(&g->row, FIELD_KEPT, listing_age(until_ms, g->now_ms));
	if (was != NULL)
		row_str(&g->row, FIELD_WAS, was);
}

void
core_listing_end(struct listing *g)
{
	cursor_end(&g->next);
	busiest_fini(&g->busiest);
	free(g->name);
	free(g->pattern);
	buf_fini(&g->row.text);
	free(g);
}

/*
 * Nothing changes while a part is made, since the core makes no step.  A list
 * that is spoilt over and over makes the rest in one piece, or it would never
 * end.
 */
bool
core_listing_part(struct core *core, struct listing *g, int64_t now_ms,
    core_row_fn fn, void *arg)
{
	unsigned i;

	g->row.fn = fn;
	g->row.arg = arg;
	g->now_ms = now_ms;
	if (g->spoilt != NULL && g->spoilt(core, g))
		g->anew++;
	for (i = 0; (i < PART || g->anew >= ANEW_MAX) && g->stage != NULL; i++)
		g->stage(core, g);
	return g->stage != NULL;
}
