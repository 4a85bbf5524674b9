/*
 * A line of claims in the order of arrival.  It says for which claims the
 * broker has asked the store, and which claims the store knows.
 *
 *	parked ... parked   asked ... asked   new ... new   <- the latest
 *	                    ^ line.asked      ^ line.fresh
 *
 * An operation is always for the first of the new claims, without a gap.  So a
 * claim keeps no state of its own: two marks tell the state of all claims, and
 * the outcome of an operation for 100,000 of them just moves a mark.
 *
 * Claims that an object may have to answer at once (wait=0, a client that has
 * shut down) are also in a list of their own.
 */
#ifndef LOCKBROKER_CORE_SYNC_LINE_H
#define LOCKBROKER_CORE_SYNC_LINE_H

#include "core/sync/sync.h"

void line_init(struct claim_line *line);

/* Put a claim at the end of its line, c->line; take it out. */
void line_join(struct claim *c);
void line_leave(struct claim *c);

/* Returns the state of a claim in a line: NEW, ASKED or PARKED. */
enum claim_state line_state(const struct claim *c);

/* Mark the first new claim, or all new claims, as asked for.  The former
 * requires that there is one. */
void line_ask_one(struct claim_line *line);
void line_ask_all(struct claim_line *line);

/* Park the first claim, or all claims, that are asked for: the store knows that
 * they wait. */
void line_park_one(struct claim_line *line);
void line_park_all(struct claim_line *line);

/* Make claims new again: those that are asked for, since the operation was not
 * carried out; all of the line, since the next operation asks for all. */
void line_unask(struct claim_line *line);
void line_forget(struct claim_line *line);

static inline struct claim *
line_first(const struct claim_line *line)
{
	return TAILQ_FIRST(&line->list);
}

static inline bool
line_empty(const struct claim_line *line)
{
	return TAILQ_EMPTY(&line->list);
}

#endif
