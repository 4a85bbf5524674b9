/*
 * Losses and risks that holders are still to be told: terms.losing and
 * terms.warning.
 *
 * A term is in one of these lists at most.  A loss keeps no place among the
 * holders, because it always goes on with the first that has not lost it yet; a
 * risk keeps the next one to be told.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/xmalloc.h"
#include "core/kernel/lease/tell.h"
#include "core/kernel/session/holding.h"
#include "core/kernel/turn/job.h"
#include "core/kernel/turn/work.h"

/* This many are told at once, however much work the step has done. */
#define FEW 8

static struct telling_list *
list_of(struct core *core, const struct term *t)
{
	return t->losing ? &core->terms->losing : &core->terms->warning;
}

static void
note_left(struct core *core, const struct term *t)
{
	job_set(core, t->losing ? JOB_LOSE : JOB_WARN,
	    !TAILQ_EMPTY(list_of(core, t)));
}

static struct telling *
begin(struct core *core, struct term *t, bool losing)
{
	struct telling *c = xcalloc(1, sizeof(*c));

	assert(!t->losing && !t->warning);
	c->term = t;
	t->losing = losing;
	t->warning = !losing;
	*lessee_of(core, t)->telling(t) = c;
	TAILQ_INSERT_TAIL(list_of(core, t), c, link);
	note_left(core, t);
	return c;
}

void
tell_no_more(struct core *core, struct term *t)
{
	struct telling **at, *c;

	if (!t->losing && !t->warning)
		return;
	at = lessee_of(core, t)->telling(t);
	c = *at;
	*at = NULL;
	TAILQ_REMOVE(list_of(core, t), c, link);
	note_left(core, t);
	t->losing = t->warning = false;
	cursor_end(&c->next);
	free(c);
}

/* Losses. */

const struct loss *
tell_losing(const struct core *core, struct term *t)
{
	assert(t->losing);
	return &(*lessee_of(core, t)->telling(t))->loss;
}

/* True: all have lost it. */
static bool
lose_some(
    struct core *core, struct term *t, const struct loss *loss, unsigned few)
{
	const struct term_lessee *lessee = lessee_of(core, t);
	struct holding *h;

	while ((h = lessee->loser(t, loss)) != NULL) {
		if (few == 0 && !work_left(core))
			return false;
		few -= few > 0;
		core_visit(core, 1);
		holding_class(core, h)->lose(core, h, loss);
	}
	return true;
}

/* `by` may be in memory that is gone when the next step comes: hence the
 * copy. */
static void
lose_the_rest(struct core *core, struct term *t, const struct loss *loss)
{
	struct telling *c = begin(core, t, true);

	c->loss = *loss;
	if (loss->by == NULL)
		return;
	snprintf(c->by, sizeof(c->by), "%s", loss->by);
	c->loss.by = c->by;
}

/*
 * A loss that takes no more than the loss under way adds nothing.  A loss that
 * takes more begins from the start: those that have lost the thing are no
 * longer holders.
 */
void
tell_loss(struct core *core, struct term *t, const struct loss *loss)
{
	assert(loss->reason != NULL);
	if (t->losing && loss->since_ms <= tell_losing(core, t)->since_ms)
		return;
	tell_no_more(core, t);
	if (!lose_some(core, t, loss, FEW))
		lose_the_rest(core, t, loss);
	else if (loss->then != NULL)
		loss->then(core, t, loss->since_ms);
}

/* The loss is copied, because `then` comes when its record is freed. */
bool
tell_losses_on(struct core *core)
{
	struct telling *c;
	struct loss loss;
	struct term *t;

	while (work_left(core) &&
	       (c = TAILQ_FIRST(&core->terms->losing)) != NULL) {
		core_visit(core, 1);
		t = c->term;
		if (!lose_some(core, t, &c->loss, 1))
			break;
		loss = c->loss;
		tell_no_more(core, t);
		lessee_of(core, t)->touch(core, t);
		if (loss.then != NULL)
			loss.then(core, t, loss.since_ms);
	}
	return !TAILQ_EMPTY(&core->terms->losing);
}

/* Risks. */

static void
warn(struct core *core, struct term *t, const struct holding *h)
{
	int64_t left_ms = term_deadline_ms(core, t) - core->now_ms;

	assert(t->state != TERM_OVER);
	core_visit(core, 1);
	holding_class(core, h)->warn(core, h,
	    t->state == TERM_ATRISK ? EVENT_ATRISK : EVENT_SAFE,
	    left_ms > 0 ? left_ms : 0);
}

/* At worst, a holder is told SAFE that was never told ATRISK. */
void
tell_risk(struct core *core, struct term *t)
{
	const struct term_lessee *lessee = lessee_of(core, t);
	struct holding *h = lessee->first(t);
	struct telling *c;
	unsigned n;

	if (t->losing)
		return;
	tell_no_more(core, t);
	for (n = 0; h != NULL && (n < FEW || work_left(core)); n++) {
		warn(core, t, h);
		h = TAILQ_NEXT(h, in_holders);
	}
	if (h == NULL)
		return;
	c = begin(core, t, false);
	cursor_begin(lessee->cursors(t), &c->next, h,
	    offsetof(struct holding, in_holders));
}

bool
tell_risks_on(struct core *core)
{
	const struct holding *h;
	struct telling *c;

	while (work_left(core) &&
	       (c = TAILQ_FIRST(&core->terms->warning)) != NULL) {
		core_visit(core, 1);
		while ((h = cursor_take(&c->next)) != NULL) {
			warn(core, c->term, h);
			if (!work_left(core))
				break;
		}
		if (c->next.at != NULL)
			break;
		tell_no_more(core, c->term);
	}
	return !TAILQ_EMPTY(&core->terms->warning);
}
