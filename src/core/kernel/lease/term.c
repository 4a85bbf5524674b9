/*
 * Terms: the lines in which they run out, and what the passing of time means.
 *
 * There are two ways to find that a term is over.  The lines find the first
 * of many at any time, without a look at the others, so that losses come before
 * all else (core_has_losses()); a timer finds one that stands too far back in
 * its line.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/times.h"
#include "base/xmalloc.h"
#include "core/kernel/guard/guard.h"
#include "core/kernel/guard/skew.h"
#include "core/kernel/lease/term.h"
#include "core/kernel/turn/job.h"

#define OUT_OF_ORDER_MAX 8 /* how far ahead in its line a term is put */

#define TO(state) (1u << TERM_##state)

static const unsigned legal[TERM_STATES] = {
	[TERM_OVER] = TO(SAFE),
	[TERM_SAFE] = TO(ATRISK) | TO(OVER),
	[TERM_ATRISK] = TO(SAFE) | TO(OVER),
};

void
terms_init(struct core *core, const struct term_lessee *const *lessees)
{
	core->terms = xcalloc(1, sizeof(*core->terms));
	core->terms->lessees = lessees;
	TAILQ_INIT(&core->terms->firm);
	TAILQ_INIT(&core->terms->provisional);
	TAILQ_INIT(&core->terms->losing);
	TAILQ_INIT(&core->terms->warning);
}

void
terms_fini(struct core *core)
{
	assert(core->terms->n == 0);
	assert(TAILQ_EMPTY(&core->terms->firm));
	assert(TAILQ_EMPTY(&core->terms->provisional));
	assert(TAILQ_EMPTY(&core->terms->losing));
	assert(TAILQ_EMPTY(&core->terms->warning));
	free(core->terms);
}

void
term_init(
    struct core *core, struct term *t, enum term_kind kind, uint32_t shard)
{
	assert(kind < TERM_KINDS && shard < core->config.shards);
	assert(t->state == TERM_OVER);
	t->kind = kind;
	t->shard = (uint16_t)shard;
	core->terms->n++;
}

void
term_fini(struct core *core, struct term *t)
{
	assert(core->terms->n > 0);
	assert(!t->losing && !t->warning);
	term_end(core, t);
	core->terms->n--;
}

static void
set_state(struct core *core, struct term *t, enum term_state state)
{
	uint64_t users = lessee_of(core, t)->users(t);

	assert(legal[t->state] & (1u << state));
	assert(
	    core->terms->at_risk[t->kind] >= users || t->state != TERM_ATRISK);
	if (t->state == TERM_ATRISK)
		core->terms->at_risk[t->kind] -= users;
	t->state = state;
	if (state == TERM_ATRISK)
		core->terms->at_risk[t->kind] += users;
}

void
term_used(struct core *core, const struct term *t, int64_t more)
{
	if (t->state == TERM_ATRISK)
		core->terms->at_risk[t->kind] += (uint64_t)more;
}

/* Lines. */

static struct term_list *
line_of(const struct core *core, const struct term *t)
{
	return t->provisional ? &core->terms->provisional : &core->terms->firm;
}

/*
 * Calls are answered nearly in the order in which they were sent, so the line
 * is nearly in the order in which terms run out.  If one is further out of
 * order than that, its timer finds it.
 */
static void
line_up(struct core *core, struct term *t)
{
	struct term_list *line = line_of(core, t);
	struct term *last = TAILQ_LAST(line, term_list);
	unsigned i;

	for (i = 0; i < OUT_OF_ORDER_MAX && last != NULL &&
		    last->confirmed_ms > t->confirmed_ms;
	     i++)
		last = TAILQ_PREV(last, term_list, in_line);
	if (last != NULL)
		TAILQ_INSERT_AFTER(line, last, t, in_line);
	else
		TAILQ_INSERT_HEAD(line, t, in_line);
}

void
term_vouch(struct core *core, struct term *t)
{
	assert(t->confirmed_ms <= core->now_ms);
	set_state(core, t, TERM_SAFE);
	line_up(core, t);
}

/* No-op if it is over already: leases end that were never held. */
void
term_end(struct core *core, struct term *t)
{
	if (t->state == TERM_OVER)
		return;
	TAILQ_REMOVE(line_of(core, t), t, in_line);
	set_state(core, t, TERM_OVER);
}

/* Time. */

/* For how long the call, or the message, that keeps it is good. */
static int64_t
term_ms(const struct core *core, const struct term *t)
{
	return t->provisional ? core->pad_ms : core->config.lease_ms;
}

/*
 * Nothing of this depends on when the answer came.  A clock that gained after
 * the call was sent ended the key sooner, so it is taken off, but only from
 * what was confirmed before.
 */
int64_t
term_deadline_ms(const struct core *core, const struct term *t)
{
	return t->confirmed_ms + times_vouch_ms(term_ms(core, t)) -
	       skew_since(core, t->shard, t->confirmed_ms);
}

/* When it becomes at risk, unless it is renewed before. */
static int64_t
risk_ms(const struct core *core, const struct term *t)
{
	return t->confirmed_ms + term_ms(core, t) / 2;
}

/* There is no one to warn if it has no users. */
static bool
can_be_at_risk(const struct core *core, const struct term *t)
{
	return t->state == TERM_SAFE && lessee_of(core, t)->in_use(t);
}

bool
term_overdue(const struct core *core, const struct term *t)
{
	return t->state != TERM_OVER &&
	       core->now_ms >= term_deadline_ms(core, t);
}

bool
term_vouched(const struct core *core, const struct term *t)
{
	return t->state != TERM_OVER &&
	       core->now_ms < term_deadline_ms(core, t);
}

/* Looks at the first of each line: nearly the one confirmed longest ago. */
struct term *
term_first_overdue(const struct core *core, int64_t now_ms)
{
	struct term *t = TAILQ_FIRST(&core->terms->firm);

	if (t != NULL && term_deadline_ms(core, t) <= now_ms)
		return t;
	t = TAILQ_FIRST(&core->terms->provisional);
	return t != NULL && term_deadline_ms(core, t) <= now_ms ? t : NULL;
}

/* The lessee ends the term before it returns, or the lines would bring it up
 * for ever. */
void
term_run_out(struct core *core, struct term *t)
{
	assert(term_overdue(core, t));
	lessee_of(core, t)->lost(core, t);
	assert(t->state == TERM_OVER);
}

/* Over comes before at risk: after a jump of time a term may be both, and its
 * holders are told of the loss alone. */
bool
term_look(struct core *core, struct term *t)
{
	if (term_overdue(core, t)) {
		term_run_out(core, t);
		return true;
	}
	if (can_be_at_risk(core, t) && core->now_ms >= risk_ms(core, t)) {
		set_state(core, t, TERM_ATRISK);
		lessee_of(core, t)->risk_changed(core, t);
	}
	return false;
}

int64_t
term_due_ms(const struct core *core, const struct term *t, bool renews)
{
	int64_t at_ms = term_deadline_ms(core, t);

	if (can_be_at_risk(core, t))
		at_ms = min_ms(at_ms, risk_ms(core, t));
	/* A renewal that is due while the guard is down needs no timer. */
	if (renews && (t->wake_ms > core->now_ms || guard_up(core, t->shard)))
		at_ms = min_ms(at_ms, t->wake_ms);
	return at_ms;
}

/* Renewals. */

/*
 * Moves it to its new place in the line.  A call that was carried out in time
 * but was answered too late makes nothing safe: the deadline counts from its
 * sending, and may have passed.
 */
void
term_confirm(struct core *core, struct term *t, int64_t sent_ms, uint32_t epoch)
{
	bool vouched = t->state != TERM_OVER;

	assert(sent_ms <= core->now_ms);
	if (vouched)
		TAILQ_REMOVE(line_of(core, t), t, in_line);
	t->confirmed_ms = sent_ms;
	t->epoch = epoch;
	t->provisional = false;
	if (vouched)
		line_up(core, t);
	if (t->state != TERM_ATRISK || !term_vouched(core, t))
		return;
	set_state(core, t, TERM_SAFE);
	lessee_of(core, t)->risk_changed(core, t);
}

/* An answer may confirm it for an epoch that is over: the new history of the
 * server may not have what that call wrote. */
void
term_prove(struct core *core, struct term *t)
{
	if (t->epoch != guard_epoch(core, t->shard))
		t->wake_ms = core->now_ms;
}

bool
term_needs_reclaim(const struct core *core, const struct term *t)
{
	return t->state != TERM_OVER && t->epoch != guard_epoch(core, t->shard);
}

/* Other brokers. */

/* A turn begins with the first time that another broker is known to wait, and
 * repeated news does not begin it again. */
void
contention_told(const struct core *core, struct contention *c, bool waiting)
{
	if (!waiting)
		c->since_ms = 0;
	else if (c->since_ms == 0)
		*c = (struct contention){ .since_ms = core->now_ms };
}

bool
contention_must_yield(const struct core *core, const struct contention *c)
{
	return c->since_ms != 0 &&
	       (c->handovers >= core->config.locks.handovers ||
		   core->now_ms - c->since_ms >= core->config.lease_ms);
}

/* Checks. */

void
term_check(const struct core *core, const struct term *t)
{
	assert(t->state < TERM_STATES && t->kind < TERM_KINDS);
	assert(t->shard < core->config.shards);
	assert(t->state == TERM_OVER || t->confirmed_ms <= core->now_ms);
}

static size_t
check_line(const struct core *core, const struct term_list *line,
    uint64_t at_risk[TERM_KINDS])
{
	const struct term *t;
	size_t n = 0;

	TAILQ_FOREACH (t, line, in_line) {
		assert(t->state != TERM_OVER && line_of(core, t) == line);
		term_check(core, t);
		if (t->state == TERM_ATRISK)
			at_risk[t->kind] += lessee_of(core, t)->users(t);
		n++;
	}
	return n;
}

void
terms_check(const struct core *core)
{
	const struct terms *all = core->terms;
	uint64_t at_risk[TERM_KINDS] = { 0 };
	size_t n = check_line(core, &all->firm, at_risk) +
		   check_line(core, &all->provisional, at_risk);

	assert(n <= all->n);
	job_check(core, JOB_LOSE, !TAILQ_EMPTY(&all->losing));
	job_check(core, JOB_WARN, !TAILQ_EMPTY(&all->warning));
	assert(memcmp(at_risk, all->at_risk, sizeof(at_risk)) == 0);
}
