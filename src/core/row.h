/*
 * Rows of lists: a row is built field by field, and then told.
 */
#ifndef LOCKBROKER_CORE_ROW_H
#define LOCKBROKER_CORE_ROW_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/field.h"
#include "core/dump.h"

#define ROW_FIELDS 12

/* One row being built; strings go to its arena.  Part of a listing. */
struct row {
	struct field fields[ROW_FIELDS];
	size_t n;
	struct buf text;
	core_row_fn fn;
	void *arg;
	size_t count; /* rows that were finished */
};

void row_init(struct row *r);
void row_num(struct row *r, enum field_id id, uint64_t num);
/* Copies the string. */
void row_str(struct row *r, enum field_id id, const char *str);

/* Tells it; word and name may be NULL.  The next one begins empty. */
void row_finish(struct row *r, const char *word, const char *name, size_t len);

#endif
