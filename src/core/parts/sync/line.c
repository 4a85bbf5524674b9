/*
 * Lines of entries: their marks and counters.
 *
 *	parked   before line.asked
 *	asked    from line.asked on, before line.fresh
 *	new      from line.fresh on
 *
 * A mark points to the first entry at which its part may begin, so two marks
 * are the same if nothing is between them, and NULL at the end of the line.
 * Numbers rise along a line: an entry compares its own with those of the marks,
 * and knows its state without a walk.
 */
#include "config.h"

#include "core/parts/sync/line.h"

void
line_init(struct line *line)
{
	TAILQ_INIT(&line->list);
}

/* A newcomer is new.  A mark at the end of the line points to it from
 * now on. */
void
line_join(struct entry *e)
{
	struct line *line = e->line;

	e->number = ++e->sync->last_number;
	TAILQ_INSERT_TAIL(&line->list, e, in_sync);
	line->n++;
	if (line->fresh == NULL)
		line->fresh = e;
	if (line->asked == NULL)
		line->asked = e;
}

enum entry_state
line_state(const struct entry *e)
{
	const struct line *line = e->line;

	if (line->fresh != NULL && e->number >= line->fresh->number)
		return ENTRY_NEW;
	if (line->asked != NULL && e->number >= line->asked->number)
		return ENTRY_ASKED;
	return ENTRY_PARKED;
}

/* The counters go by the state that the entry has while the marks stand as they
 * did. */
void
line_leave(struct entry *e)
{
	struct line *line = e->line;

	assert(line->n > 0);
	line->n--;
	line->nparked -= line_state(e) == ENTRY_PARKED;
	line->nasked -= line_state(e) == ENTRY_ASKED;
	if (line->fresh == e)
		line->fresh = TAILQ_NEXT(e, in_sync);
	if (line->asked == e)
		line->asked = TAILQ_NEXT(e, in_sync);
	CURSOR_REMOVE(&e->sync->cursors, &line->list, e, in_sync);
}

void
line_ask_one(struct line *line)
{
	assert(line->fresh != NULL);
	line->nasked++;
	line->fresh = TAILQ_NEXT(line->fresh, in_sync);
}

void
line_ask_all(struct line *line)
{
	assert(line->n >= line->nparked);
	line->nasked = line->n - line->nparked;
	line->fresh = NULL;
}

void
line_park_one(struct line *line)
{
	assert(line->nasked > 0);
	line->nasked--;
	line->nparked++;
	line->asked = TAILQ_NEXT(line->asked, in_sync);
}

void
line_park_all(struct line *line)
{
	assert(line->nparked + line->nasked <= line->n);
	line->nparked += line->nasked;
	line->nasked = 0;
	line->asked = line->fresh;
}

void
line_unask(struct line *line)
{
	line->nasked = 0;
	line->fresh = line->asked;
}

void
line_forget(struct line *line)
{
	line->nasked = line->nparked = 0;
	line->asked = line->fresh = TAILQ_FIRST(&line->list);
}
