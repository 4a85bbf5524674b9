/*
 * Tenures: the lines in which they run out, and what the passing of time means.
 *
 * There are two ways to find that a tenure is over.  The lines find the first
 * of many at any time, without a look at the others, so that losses come before
 * all else (core_has_losses()); a timer finds one that stands too far back in
 * its line.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/times.h"
#include "base/xmalloc.h"
#include "core/guard/gain.h"
#include "core/guard/guard.h"
#include "core/lease/tenure.h"

#define OUT_OF_ORDER_MAX 8 /* how far ahead in its line a tenure is put */

#define TO(state) (1u << TENURE_##state)

static const unsigned legal[TENURE_STATES] = {
	[TENURE_OVER] = TO(SAFE),
	[TENURE_SAFE] = TO(ATRISK) | TO(OVER),
	[TENURE_ATRISK] = TO(SAFE) | TO(OVER),
};

void
tenures_init(struct core *core, const struct tenure_tenant *const *tenants)
{
	core->tenures = xcalloc(1, sizeof(*core->tenures));
	core->tenures->tenants = tenants;
	TAILQ_INIT(&core->tenures->firm);
	TAILQ_INIT(&core->tenures->provisional);
}

void
tenures_fini(struct core *core)
{
	assert(core->tenures->n == 0);
	assert(TAILQ_EMPTY(&core->tenures->firm));
	assert(TAILQ_EMPTY(&core->tenures->provisional));
	free(core->tenures);
}

void
tenure_init(
    struct core *core, struct tenure *t, enum tenure_kind kind, uint32_t shard)
{
	assert(kind < TENURE_KINDS && shard < core->config.shards);
	assert(t->state == TENURE_OVER);
	t->kind = kind;
	t->shard = (uint16_t)shard;
	core->tenures->n++;
}

void
tenure_fini(struct core *core, struct tenure *t)
{
	assert(core->tenures->n > 0);
	tenure_end(core, t);
	core->tenures->n--;
}

static void
set_state(struct core *core, struct tenure *t, enum tenure_state state)
{
	uint64_t users = tenant_of(core, t)->users(t);

	assert(legal[t->state] & (1u << state));
	assert(core->tenures->at_risk[t->kind] >= users ||
	       t->state != TENURE_ATRISK);
	if (t->state == TENURE_ATRISK)
		core->tenures->at_risk[t->kind] -= users;
	t->state = state;
	if (state == TENURE_ATRISK)
		core->tenures->at_risk[t->kind] += users;
}

void
tenure_used(struct core *core, const struct tenure *t, int64_t more)
{
	if (t->state == TENURE_ATRISK)
		core->tenures->at_risk[t->kind] += (uint64_t)more;
}

/* Lines. */

static struct tenure_list *
line_of(const struct core *core, const struct tenure *t)
{
	return t->provisional ? &core->tenures->provisional
			      : &core->tenures->firm;
}

/*
 * Calls are answered nearly in the order in which they were sent, so the line
 * is nearly in the order in which tenures run out.  If one is further out of
 * order than that, its timer finds it.
 */
static void
line_up(struct core *core, struct tenure *t)
{
	struct tenure_list *line = line_of(core, t);
	struct tenure *last = TAILQ_LAST(line, tenure_list);
	unsigned i;

	for (i = 0; i < OUT_OF_ORDER_MAX && last != NULL &&
		    last->confirmed_ms > t->confirmed_ms;
	     i++)
		last = TAILQ_PREV(last, tenure_list, in_line);
	if (last != NULL)
		TAILQ_INSERT_AFTER(line, last, t, in_line);
	else
		TAILQ_INSERT_HEAD(line, t, in_line);
}

void
tenure_vouch(struct core *core, struct tenure *t)
{
	assert(t->confirmed_ms <= core->now_ms);
	set_state(core, t, TENURE_SAFE);
	line_up(core, t);
}

/* No-op if it is over already: leases end that were never held. */
void
tenure_end(struct core *core, struct tenure *t)
{
	if (t->state == TENURE_OVER)
		return;
	TAILQ_REMOVE(line_of(core, t), t, in_line);
	set_state(core, t, TENURE_OVER);
}

/* Time. */

/* For how long the call, or the message, that keeps it is good. */
static int64_t
term_ms(const struct core *core, const struct tenure *t)
{
	return t->provisional ? core->pad_ms : core->config.lease_ms;
}

/*
 * Nothing of this depends on when the answer came.  A clock that gained after
 * the call was sent ended the key sooner, so it is taken off, but only from
 * what was confirmed before.
 */
int64_t
tenure_deadline_ms(const struct core *core, const struct tenure *t)
{
	return t->confirmed_ms + times_vouch_ms(term_ms(core, t)) -
	       gain_since(core, t->shard, t->confirmed_ms);
}

/* When it becomes at risk, unless it is renewed before. */
static int64_t
risk_ms(const struct core *core, const struct tenure *t)
{
	return t->confirmed_ms + term_ms(core, t) / 2;
}

/* Nobody would hear of the risk of what nobody uses. */
static bool
can_be_at_risk(const struct core *core, const struct tenure *t)
{
	return t->state == TENURE_SAFE && tenant_of(core, t)->in_use(t);
}

bool
tenure_overdue(const struct core *core, const struct tenure *t)
{
	return t->state != TENURE_OVER &&
	       core->now_ms >= tenure_deadline_ms(core, t);
}

bool
tenure_vouched(const struct core *core, const struct tenure *t)
{
	return t->state != TENURE_OVER &&
	       core->now_ms < tenure_deadline_ms(core, t);
}

/* Looks at the first of each line: nearly the one confirmed longest ago. */
struct tenure *
tenure_first_overdue(const struct core *core, int64_t now_ms)
{
	struct tenure *t = TAILQ_FIRST(&core->tenures->firm);

	if (t != NULL && tenure_deadline_ms(core, t) <= now_ms)
		return t;
	t = TAILQ_FIRST(&core->tenures->provisional);
	return t != NULL && tenure_deadline_ms(core, t) <= now_ms ? t : NULL;
}

/* The tenant ends the tenure before it returns, or the lines would bring it up
 * for ever. */
void
tenure_run_out(struct core *core, struct tenure *t)
{
	assert(tenure_overdue(core, t));
	tenant_of(core, t)->lost(core, t);
	assert(t->state == TENURE_OVER);
}

/* Over comes before at risk: after a jump of time a tenure may be both, and its
 * holders are told of the loss alone. */
bool
tenure_look(struct core *core, struct tenure *t)
{
	if (tenure_overdue(core, t)) {
		tenure_run_out(core, t);
		return true;
	}
	if (can_be_at_risk(core, t) && core->now_ms >= risk_ms(core, t)) {
		set_state(core, t, TENURE_ATRISK);
		tenant_of(core, t)->risk_changed(core, t);
	}
	return false;
}

int64_t
tenure_due_ms(const struct core *core, const struct tenure *t, bool renews)
{
	int64_t at_ms = tenure_deadline_ms(core, t);

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
tenure_confirm(
    struct core *core, struct tenure *t, int64_t sent_ms, uint32_t epoch)
{
	bool vouched = t->state != TENURE_OVER;

	assert(sent_ms <= core->now_ms);
	if (vouched)
		TAILQ_REMOVE(line_of(core, t), t, in_line);
	t->confirmed_ms = sent_ms;
	t->epoch = epoch;
	t->provisional = false;
	if (vouched)
		line_up(core, t);
	if (t->state != TENURE_ATRISK || !tenure_vouched(core, t))
		return;
	set_state(core, t, TENURE_SAFE);
	tenant_of(core, t)->risk_changed(core, t);
}

/* An answer may confirm it for an epoch that is over: the new history of the
 * server may not have what that call wrote. */
void
tenure_prove(struct core *core, struct tenure *t)
{
	if (t->epoch != guard_epoch(core, t->shard))
		t->wake_ms = core->now_ms;
}

bool
tenure_needs_reclaim(const struct core *core, const struct tenure *t)
{
	return t->state != TENURE_OVER &&
	       t->epoch != guard_epoch(core, t->shard);
}

/* Other brokers. */

/* A turn begins with the first time that another broker is known to wait, and
 * news of the same do not begin it again. */
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
tenure_check(const struct core *core, const struct tenure *t)
{
	assert(t->state < TENURE_STATES && t->kind < TENURE_KINDS);
	assert(t->shard < core->config.shards);
	assert(t->state == TENURE_OVER || t->confirmed_ms <= core->now_ms);
}

static size_t
check_line(const struct core *core, const struct tenure_list *line,
    uint64_t at_risk[TENURE_KINDS])
{
	const struct tenure *t;
	size_t n = 0;

	TAILQ_FOREACH (t, line, in_line) {
		assert(t->state != TENURE_OVER && line_of(core, t) == line);
		tenure_check(core, t);
		if (t->state == TENURE_ATRISK)
			at_risk[t->kind] += tenant_of(core, t)->users(t);
		n++;
	}
	return n;
}

void
tenures_check(const struct core *core)
{
	const struct tenures *all = core->tenures;
	uint64_t at_risk[TENURE_KINDS] = { 0 };
	size_t n = check_line(core, &all->firm, at_risk) +
		   check_line(core, &all->provisional, at_risk);

	assert(n <= all->n);
	assert(memcmp(at_risk, all->at_risk, sizeof(at_risk)) == 0);
}
