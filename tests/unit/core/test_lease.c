/*
 * A lease by itself: what is below it is real, and its owner is a few lines.
 * The program links neither locks nor queues.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/times.h"
#include "core/lease/lease.h"
#include "core/lease/pace.h"
#include "core/session/record.h"
#include "core/turn/turn.h"
#include "core/turn/work.h"

#include "suite.h"

#define LEASE_MS 10000

/* What the lease is for, and what it was told. */
struct owner {
	struct lease lease;
	uint32_t nwaiting;
	bool held;
	unsigned arrived, refused, ended;
	const char *lost;  /* the reason; NULL: it was not */
	int64_t risk_ms;   /* what was left; 0: it was not told */
	int64_t margin_ms; /* of the latest renewal */
};

static struct owner *
of(struct lease *l)
{
	return container_of(l, struct owner, lease);
}

static const struct owner *
seen(const struct lease *l)
{
	return container_of_const(l, struct owner, lease);
}

static const char *
name(const struct lease *l, size_t *len)
{
	(void)l;
	*len = 1;
	return "n";
}

static enum lease_demand
demand(const struct core *core, const struct lease *l)
{
	(void)core;
	return seen(l)->nwaiting > 0 ? DEMAND_NOW : DEMAND_NONE;
}

static enum lease_want
mode(const struct core *core, const struct lease *l)
{
	(void)core;
	return seen(l)->nwaiting > 0 ? WANT_EXCLUSIVE : WANT_NONE;
}

static struct lease_terms
terms(const struct core *core, const struct lease *l)
{
	(void)core;
	(void)l;
	return (struct lease_terms){ 0, 0 };
}

static uint32_t
nwaiting(const struct lease *l)
{
	return seen(l)->nwaiting;
}

static bool
in_use(const struct lease *l)
{
	return seen(l)->held;
}

static bool
wants_queue(const struct core *core, struct lease *l)
{
	(void)core;
	(void)l;
	return true;
}

static bool
not_again(const struct lease *l)
{
	(void)l;
	return false;
}

static bool
keeps(const struct core *core, const struct lease *l, bool firm)
{
	(void)core;
	(void)l;
	(void)firm;
	return false;
}

static bool
nobody(const struct core *core, const struct lease *l)
{
	(void)core;
	(void)l;
	return false;
}

static bool
grant(struct core *core, struct lease *l)
{
	if (!lease_vouched(core, l) || seen(l)->held)
		return false;
	(void)lease_take_fence(l);
	of(l)->held = true;
	of(l)->nwaiting--;
	return true;
}

static bool
grants_on(struct core *core, struct lease *l)
{
	(void)core;
	(void)l;
	return true;
}

static void
nothing(struct core *core, struct lease *l)
{
	(void)core;
	(void)l;
}

static void
arrived(struct core *core, struct lease *l)
{
	(void)core;
	of(l)->arrived++;
}

static void
lost(struct core *core, struct lease *l, const char *reason)
{
	(void)core;
	of(l)->lost = reason;
	of(l)->held = false;
}

static void
at_risk(struct core *core, struct lease *l, int64_t left_ms)
{
	(void)core;
	of(l)->risk_ms = left_ms;
}

static void
safe(struct core *core, struct lease *l, int64_t left_ms)
{
	(void)core;
	(void)left_ms;
	of(l)->risk_ms = 0;
}

static void
renewed(struct core *core, struct lease *l, int64_t left_ms)
{
	(void)core;
	of(l)->margin_ms = left_ms;
}

static void
ended(struct core *core, struct lease *l, bool deferred)
{
	(void)core;
	(void)deferred;
	of(l)->ended++;
}

static void
unproved(struct core *core, uint32_t shard)
{
	(void)core;
	(void)shard;
}

static void
next(struct core *core, struct lease *l)
{
	while (l->pending == NULL && lease_decide(core, l))
		;
	if (lease_is_held(l))
		lease_arm_held(core, l);
}

static const struct lease_owner owner = {
	.name = name,
	.demand = demand,
	.mode = mode,
	.terms = terms,
	.nwaiting = nwaiting,
	.in_use = in_use,
	.try = wants_queue,
	.queues_again = not_again,
	.keeps = keeps,
	.lingers = nobody,
	.taken_up = nobody,
	.grant = grant,
	.grants_on = grants_on,
	.idle = nothing,
	.arrived = arrived,
	.elsewhere = nothing,
	.not_free = nothing,
	.lost = lost,
	.at_risk = at_risk,
	.safe = safe,
	.renewed = renewed,
	.ended = ended,
	.refused = nothing,
	.unproved = unproved,
	.next = next,
	.touch = nothing,
};

/* The core, without what is above a lease. */

static void
guard_is_not_run(struct core *core, struct timer *t)
{
	(void)core;
	(void)t;
	ck_abort();
}

static const struct timer_row timers[TIMER_MAX] = {
	[TIMER_LEASE] = { AGENDA_URGENT, lease_timer },
	[TIMER_GUARD] = { AGENDA_PATIENT, guard_is_not_run },
};

static const struct turn_listener above = {
	.timers = timers,
	.conn_of = session_conn,
};

static const struct guard_listener *const listeners[] = { NULL };

struct rig {
	struct core core;
	struct effects fx;
	struct owner o;
};

static void
setup(struct rig *r)
{
	struct core *core = &r->core;

	memset(r, 0, sizeof(*r));
	core->config.lease_ms = LEASE_MS;
	core->config.shards = core->config.lanes = 1;
	core->config.reply_timeout_ms = 1000;
	core->pad_ms = times_pad_ms(LEASE_MS);
	core->vouch_ms = times_vouch_ms(LEASE_MS);
	core->address = core->broker;
	turn_init(core, &above);
	session_init(core);
	guard_init(core, listeners);
	leases_init(core, &owner);
	core->guards[0].up = core->guards[0].known = true;
	core->guards[0].state = GUARD_BLESSED;
	lease_init(core, &r->o.lease, 0);
	effects_init(&r->fx);
	turn_begin(core, 100000, &r->fx);
}

static void
teardown(struct rig *r)
{
	struct core *core = &r->core;

	turn_end(core);
	effects_fini(&r->fx);
	lease_fini(core, &r->o.lease);
	leases_fini(core);
	guard_fini(core);
	session_fini(core);
	turn_fini(core);
}

/* It is this time now, and what is due is run. */
static void
at(struct rig *r, int64_t now_ms)
{
	turn_end(&r->core);
	effects_clear(&r->fx);
	turn_begin(&r->core, now_ms, &r->fx);
	work_allow(&r->core, CORE_WORK_MAX);
	turn_run_timers(&r->core, AGENDA_URGENT);
	lease_check(&r->core, &r->o.lease, false);
	leases_check(&r->core);
}

/* The operation that was sent last; there must be one. */
static const struct op *
sent(const struct rig *r)
{
	ck_assert_uint_gt(r->fx.nops, 0);
	return &r->fx.ops[r->fx.nops - 1];
}

static void
answer(struct rig *r, enum outcome_status status, uint64_t fence)
{
	struct outcome o = { .status = status, .fence = fence, .text = "" };
	enum op_kind kind = sent(r)->kind;

	slot_free(&r->core, slot_find(&r->core, sent(r)->id));
	lease_outcome(&r->core, &r->o.lease, kind, r->core.now_ms, &o);
	lease_check(&r->core, &r->o.lease, false);
}

static void
hold(struct rig *r)
{
	r->o.nwaiting = 1;
	next(&r->core, &r->o.lease);
	answer(r, OUTCOME_GRANTED, 7);
	ck_assert(r->o.held);
}

START_TEST(what_nobody_wants_is_not_asked_for)
{
	struct rig r;

	setup(&r);
	next(&r.core, &r.o.lease);
	ck_assert_uint_eq(r.fx.nops, 0);
	ck_assert_int_eq(r.o.lease.state, LEASE_NONE);
	teardown(&r);
}
END_TEST

START_TEST(what_is_wanted_is_asked_for_and_granted)
{
	struct rig r;

	setup(&r);
	r.o.nwaiting = 1;
	next(&r.core, &r.o.lease);
	ck_assert_int_eq(sent(&r)->kind, OP_ACQUIRE);
	ck_assert_int_eq(r.o.lease.state, LEASE_ACQUIRING);
	answer(&r, OUTCOME_GRANTED, 7);
	ck_assert_int_eq(r.o.lease.state, LEASE_HELD);
	ck_assert_uint_eq(r.o.arrived, 1);
	ck_assert_uint_eq(r.o.lease.fence_next, 8);
	teardown(&r);
}
END_TEST

/* It may be ours already: the same token is asked for again. */
START_TEST(an_unknown_outcome_changes_nothing)
{
	struct rig r;
	uint64_t seq;

	setup(&r);
	r.o.nwaiting = 1;
	next(&r.core, &r.o.lease);
	seq = sent(&r)->seq;
	answer(&r, OUTCOME_UNKNOWN, 0);
	ck_assert_int_eq(r.o.lease.state, LEASE_ACQUIRING);
	at(&r, 100100);
	ck_assert_int_eq(sent(&r)->kind, OP_ACQUIRE);
	ck_assert_uint_eq(sent(&r)->seq, seq);
	answer(&r, OUTCOME_GRANTED, 7);
	teardown(&r);
}
END_TEST

START_TEST(a_lease_is_renewed_at_risk_and_lost)
{
	struct rig r;

	setup(&r);
	hold(&r);
	at(&r, 100000 + LEASE_MS / 3);
	ck_assert_int_eq(sent(&r)->kind, OP_RENEW);
	at(&r, 100000 + LEASE_MS / 2);
	ck_assert_int_eq(r.o.lease.state, LEASE_ATRISK);
	ck_assert_int_gt(r.o.risk_ms, 0);
	ck_assert_ptr_null(r.o.lost);
	at(&r, 100000 + LEASE_MS);
	ck_assert_str_eq(r.o.lost, "unreachable");
	ck_assert(!r.o.held);
	ck_assert_int_eq(r.o.lease.state, LEASE_ENDING);
	teardown(&r);
}
END_TEST

START_TEST(what_is_let_go_is_ended)
{
	struct rig r;

	setup(&r);
	hold(&r);
	r.o.held = false;
	next(&r.core, &r.o.lease);
	ck_assert_int_eq(sent(&r)->kind, OP_END);
	ck_assert_uint_eq(r.o.ended, 0);
	answer(&r, OUTCOME_ENDED, 0);
	ck_assert_uint_eq(r.o.ended, 1);
	ck_assert_int_eq(r.o.lease.state, LEASE_NONE);
	teardown(&r);
}
END_TEST

/* Nothing is asked of a server that may have forgotten something. */
START_TEST(it_waits_for_its_guard)
{
	struct rig r;

	setup(&r);
	r.core.guards[0].state = GUARD_PENDING;
	r.o.nwaiting = 1;
	next(&r.core, &r.o.lease);
	ck_assert_uint_eq(r.fx.nops, 0);
	ck_assert(r.o.lease.blocked);
	ck_assert_uint_eq(r.core.leases->nblocked[0], 1);
	teardown(&r);
}
END_TEST

static TCase *
lease_cases(void)
{
	TCase *tc = tcase_create("lease");

	tcase_add_test(tc, what_nobody_wants_is_not_asked_for);
	tcase_add_test(tc, what_is_wanted_is_asked_for_and_granted);
	tcase_add_test(tc, an_unknown_outcome_changes_nothing);
	tcase_add_test(tc, a_lease_is_renewed_at_risk_and_lost);
	tcase_add_test(tc, what_is_let_go_is_ended);
	tcase_add_test(tc, it_waits_for_its_guard);
	return tc;
}

int
main(void)
{
	static const suite_case cases[] = { lease_cases };

	return suite_run("lease", cases, COUNT(cases));
}
