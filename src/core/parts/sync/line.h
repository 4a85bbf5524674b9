/*
 * A line of entries in the order of arrival.  It says for which entries the
 * broker has asked the store, and which entries the store knows.
 *
 *	parked ... parked   asked ... asked   new ... new   <- the latest
 *	                    ^ line.asked      ^ line.fresh
 *
 * An operation is always for the first of the new entries, without a gap.  So
 * an entry keeps no state of its own: two marks show the state of all entries,
 * and the outcome of an operation for 100,000 of them just moves a mark.
 *
 * Entries that an object may have to answer at once (wait=0, a client that has
 * shut down) are also in a list of their own.
 */
#ifndef LOCKBROKER_CORE_PARTS_SYNC_LINE_H
#define LOCKBROKER_CORE_PARTS_SYNC_LINE_H

#include "core/parts/sync/sync.h"

void line_init(struct line *line);

/* Put an entry at the end of its line, e->line; take it out. */
void line_join(struct entry *e);
void line_leave(struct entry *e);

/* Returns the state of an entry in a line: NEW, ASKED or PARKED. */
enum entry_state line_state(const struct entry *e);

/* Mark the first new entry, or all new entries, as asked for.  The former
 * requires that there is one. */
void line_ask_one(struct line *line);
void line_ask_all(struct line *line);

/* Park the first entry, or all entries, that are asked for: the store knows that
 * they wait. */
void line_park_one(struct line *line);
void line_park_all(struct line *line);

/* Make entries new again: those that are asked for, since the operation was not
 * carried out; all of the line, since the next operation asks for all. */
void line_unask(struct line *line);
void line_forget(struct line *line);

static inline struct entry *
line_first(const struct line *line)
{
	return TAILQ_FIRST(&line->list);
}

static inline bool
line_empty(const struct line *line)
{
	return TAILQ_EMPTY(&line->list);
}

#endif
