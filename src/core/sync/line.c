/*
 * Lines of claims: their marks and counters.
 *
 *	parked   before line.asked
 *	asked    from line.asked on, before line.fresh
 *	new      from line.fresh on
 *
 * A mark points to the first claim at which its part may begin, so two marks
 * are the same if nothing is between them, and NULL at the end of the line.
 * Numbers rise along a line: a claim compares its own with those of the marks,
 * and knows its state without a walk.
 */
#include "config.h"

#include "core/sync/line.h"

void
line_init(struct claim_line *line)
{
	TAILQ_INIT(&line->list);
}

/* A newcomer is new.  A mark at the end of the line points to it from
 * now on. */
void
line_join(struct claim *c)
{
	struct claim_line *line = c->line;

	c->number = ++c->sync->last_number;
	TAILQ_INSERT_TAIL(&line->list, c, in_sync);
	line->n++;
	if (line->fresh == NULL)
		line->fresh = c;
	if (line->asked == NULL)
		line->asked = c;
}

enum claim_state
line_state(const struct claim *c)
{
	const struct claim_line *line = c->line;

	if (line->fresh != NULL && c->number >= line->fresh->number)
		return CLAIM_NEW;
	if (line->asked != NULL && c->number >= line->asked->number)
		return CLAIM_ASKED;
	return CLAIM_PARKED;
}

/* The counters go by the state that the claim has while the marks stand as they
 * did. */
void
line_leave(struct claim *c)
{
	struct claim_line *line = c->line;

	assert(line->n > 0);
	line->n--;
	line->nparked -= line_state(c) == CLAIM_PARKED;
	line->nasked -= line_state(c) == CLAIM_ASKED;
	if (line->fresh == c)
		line->fresh = TAILQ_NEXT(c, in_sync);
	if (line->asked == c)
		line->asked = TAILQ_NEXT(c, in_sync);
	CURSOR_REMOVE(&c->sync->cursors, &line->list, c, in_sync);
}

void
line_ask_one(struct claim_line *line)
{
	assert(line->fresh != NULL);
	line->nasked++;
	line->fresh = TAILQ_NEXT(line->fresh, in_sync);
}

void
line_ask_all(struct claim_line *line)
{
	assert(line->n >= line->nparked);
	line->nasked = line->n - line->nparked;
	line->fresh = NULL;
}

void
line_park_one(struct claim_line *line)
{
	assert(line->nasked > 0);
	line->nasked--;
	line->nparked++;
	line->asked = TAILQ_NEXT(line->asked, in_sync);
}

void
line_park_all(struct claim_line *line)
{
	assert(line->nparked + line->nasked <= line->n);
	line->nparked += line->nasked;
	line->nasked = 0;
	line->asked = line->fresh;
}

void
line_unask(struct claim_line *line)
{
	line->nasked = 0;
	line->fresh = line->asked;
}

void
line_forget(struct claim_line *line)
{
	line->nasked = line->nparked = 0;
	line->asked = line->fresh = TAILQ_FIRST(&line->list);
}
