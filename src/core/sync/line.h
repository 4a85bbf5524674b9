/*
 * A line of claims in the order of arrival: which of them the store was asked
 * for, and which of them it knows.
 *
 *	parked ... parked   asked ... asked   new ... new   <- the latest
 *	                    ^ line.asked      ^ line.fresh
 *
 * An operation is for all that stand before others, never for some between
 * them.  So a claim need not be told how it stands: two marks tell that of all,
 * and an outcome of an operation for 100,000 of them moves a mark.
 *
 * Those that an object may have to answer at once (wait=0, a client that has
 * shut down) are in a list of their own besides.
 */
#ifndef LOCKBROKER_CORE_SYNC_LINE_H
#define LOCKBROKER_CORE_SYNC_LINE_H

#include "core/sync/sync.h"

void line_init(struct claim_line *line);

/* At the end of the line of its object; and out of it. */
void line_join(struct claim *c);
void line_leave(struct claim *c);

/* How one that is in a line stands there: NEW, ASKED or PARKED. */
enum claim_state line_state(const struct claim *c);

/* The first that is new is asked for; all that are. */
void line_ask_one(struct claim_line *line);
void line_ask_all(struct claim_line *line);

/* The first that is asked for is known to wait; all that are. */
void line_park_one(struct claim_line *line);
void line_park_all(struct claim_line *line);

/* Those that are asked for are as good as new; those that are parked, too. */
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
