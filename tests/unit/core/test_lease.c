/*
 * A lease by itself: the modules below it are real, and its lessee is a few
 * lines.  The program links neither locks nor queues.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/times.h"
#include "core/kernel/lease/lease.h"
#include "core/kernel/lease/pace.h"
#include "core/kernel/session/owner.h"
#include "core/kernel/turn/turn.h"
#include "core/kernel/turn/work.h"

#include "suite.h"

#define LEASE_MS 10000

/* The lessee of the lease: what it wants, and what it was told. */
struct lessee {
	struct lease lease;
	uint32_t nwaiting;
	bool held;
	unsigned arrived, refused, ended;
	const char *lost;  /* the reason; NULL: it was not lost */
	bool at_risk;	   /* as it was told last */
	int64_t margin_ms; /* of the latest renewal */
};

static struct lessee *
of(struct lease *l)
{
	return container_of(l, struct lessee, lease);
}

static const struct lessee *
seen(const struct lease *l)
{
	return container_of_const(l, struct lessee, lease);
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

static struct lease_afterlife
afterlife(const struct core *core, const struct lease *l)
{
	(void)core;
	(void)l;
	return (struct lease_afterlife){ 0, 0 };
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
nobody_else(struct core *core, struct lease *l)
{
	(void)core;
	(void)l;
	return false;
}

static uint32_t
no_more(const struct core *core, struct lease *l)
{
	(void)core;
	(void)l;
	return 0;
}

static bool
grant(struct core *core, struct lease *l)
{
	if (!term_vouched(core, &l->term) || seen(l)->held)
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
next(struct core *core, struct lease *l)
{
	while (l->pending == NULL && lease_decide(core, l))
		;
	if (lease_is_held(l))
		lease_arm_held(core, l);
}

static const struct lease_lessee lessee = {
	.demand = demand,
	.mode = mode,
	.afterlife = afterlife,
	.nwaiting = nwaiting,
	.in_use = in_use,
	.stays = nobody_else,
	.reserve = no_more,
	.try = wants_queue,
	.queues_again = not_again,
	.keeps = keeps,
	.lingers = nobody,
	.taken_up = nobody,
	.gives_way = nobody_else,
	.grant = grant,
	.grants_on = grants_on,
	.idle = nothing,
	.arrived = arrived,
	.elsewhere = nothing,
	.not_free = nothing,
	.lost = lost,
	.renewed = renewed,
	.ended = ended,
	.refused = nothing,
	.next = next,
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
};

static const struct guard_listener no_listener;

/* The term of the lease. */

static struct lessee *
lessee_of_term(struct term *t)
{
	return container_of(t, struct lessee, lease.term);
}

static const char *
name(const struct term *t, size_t *len)
{
	(void)t;
	*len = 1;
	return "n";
}

static bool
always(const struct term *t)
{
	(void)t;
	return true;
}

static void
run_out(struct core *core, struct term *t)
{
	lease_run_out(core, &lessee_of_term(t)->lease);
}

static void
risk_changed(struct core *core, struct term *t)
{
	(void)core;
	lessee_of_term(t)->at_risk = t->state == TERM_ATRISK;
}

static uint64_t
no_users(const struct term *t)
{
	(void)t;
	return 0;
}

static const struct term_lessee of_lease = {
	.name = name,
	.in_use = always,
	.users = no_users,
	.lost = run_out,
	.risk_changed = risk_changed,
};

/* Permits: a term whose lessee does nothing but note what it is told. */
struct permits {
	struct term term;
	bool in_use, lost;
	uint64_t users;
	unsigned nrisks;
};

static struct permits *
permits_of(struct term *t)
{
	return container_of(t, struct permits, term);
}

static const char *
permits_name(const struct term *t, size_t *len)
{
	(void)t;
	*len = 1;
	return "p";
}

static bool
permits_in_use(const struct term *t)
{
	return container_of_const(t, struct permits, term)->in_use;
}

static uint64_t
permits_users(const struct term *t)
{
	return container_of_const(t, struct permits, term)->users;
}

static void
permits_lost(struct core *core, struct term *t)
{
	permits_of(t)->lost = true;
	term_end(core, t);
}

static void
permits_risk_changed(struct core *core, struct term *t)
{
	(void)core;
	permits_of(t)->nrisks++;
}

static const struct term_lessee of_permits = {
	.name = permits_name,
	.in_use = permits_in_use,
	.users = permits_users,
	.lost = permits_lost,
	.risk_changed = permits_risk_changed,
};

static const struct term_lessee *const term_lessees[TERM_KINDS] = {
	[TERM_LEASE] = &of_lease,
	[TERM_PERMITS] = &of_permits,
};

struct rig {
	struct core core;
	struct effects fx;
	struct lessee lessee;
	struct permits p;
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
	core->address = core->broker;
	turn_init(core, &above);
	owners_init(core);
	guard_init(core, &no_listener, NULL);
	terms_init(core, term_lessees);
	leases_init(core, &lessee, NULL);
	core->guards[0].up = core->guards[0].known = true;
	core->guards[0].state = GUARD_BLESSED;
	lease_init(core, &r->lessee.lease, 0);
	term_init(core, &r->p.term, TERM_PERMITS, 0);
	effects_init(&r->fx);
	turn_begin(core, 100000, &r->fx);
}

static void
teardown(struct rig *r)
{
	struct core *core = &r->core;

	turn_end(core);
	effects_fini(&r->fx);
	lease_fini(core, &r->lessee.lease);
	term_fini(core, &r->p.term);
	leases_fini(core);
	terms_fini(core);
	guard_fini(core);
	owners_fini(core);
	turn_fini(core);
}

/* Sets the time, and runs whatever is due. */
static void
at(struct rig *r, int64_t now_ms)
{
	turn_end(&r->core);
	effects_clear(&r->fx);
	turn_begin(&r->core, now_ms, &r->fx);
	work_allow(&r->core, CORE_WORK_MAX);
	turn_run_timers(&r->core, AGENDA_URGENT);
	lease_check(&r->core, &r->lessee.lease, false);
	terms_check(&r->core);
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
	lease_outcome(&r->core, &r->lessee.lease, kind, r->core.now_ms, &o);
	lease_check(&r->core, &r->lessee.lease, false);
}

static void
hold(struct rig *r)
{
	r->lessee.nwaiting = 1;
	next(&r->core, &r->lessee.lease);
	answer(r, OUTCOME_GRANTED, 7);
	ck_assert(r->lessee.held);
}

START_TEST(what_nobody_wants_is_not_asked_for)
{
	struct rig r;

	setup(&r);
	next(&r.core, &r.lessee.lease);
	ck_assert_uint_eq(r.fx.nops, 0);
	ck_assert_int_eq(r.lessee.lease.state, LEASE_NONE);
	teardown(&r);
}
END_TEST

START_TEST(what_is_wanted_is_asked_for_and_granted)
{
	struct rig r;

	setup(&r);
	r.lessee.nwaiting = 1;
	next(&r.core, &r.lessee.lease);
	ck_assert_int_eq(sent(&r)->kind, OP_ACQUIRE);
	ck_assert_int_eq(r.lessee.lease.state, LEASE_ACQUIRING);
	answer(&r, OUTCOME_GRANTED, 7);
	ck_assert_int_eq(r.lessee.lease.state, LEASE_HELD);
	ck_assert_uint_eq(r.lessee.arrived, 1);
	ck_assert_uint_eq(r.lessee.lease.fence_next, 8);
	teardown(&r);
}
END_TEST

/* The lease may be ours already: the broker asks again with the same token. */
START_TEST(an_unknown_outcome_changes_nothing)
{
	struct rig r;
	uint64_t seq;

	setup(&r);
	r.lessee.nwaiting = 1;
	next(&r.core, &r.lessee.lease);
	seq = sent(&r)->seq;
	answer(&r, OUTCOME_UNKNOWN, 0);
	ck_assert_int_eq(r.lessee.lease.state, LEASE_ACQUIRING);
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
	ck_assert_int_eq(r.lessee.lease.term.state, TERM_ATRISK);
	ck_assert(r.lessee.at_risk);
	ck_assert_ptr_null(r.lessee.lost);
	at(&r, 100000 + LEASE_MS);
	ck_assert_str_eq(r.lessee.lost, "unreachable");
	ck_assert(!r.lessee.held);
	ck_assert_int_eq(r.lessee.lease.state, LEASE_ENDING);
	teardown(&r);
}
END_TEST

START_TEST(what_is_let_go_is_ended)
{
	struct rig r;

	setup(&r);
	hold(&r);
	r.lessee.held = false;
	next(&r.core, &r.lessee.lease);
	ck_assert_int_eq(sent(&r)->kind, OP_END);
	ck_assert_uint_eq(r.lessee.ended, 0);
	answer(&r, OUTCOME_ENDED, 0);
	ck_assert_uint_eq(r.lessee.ended, 1);
	ck_assert_int_eq(r.lessee.lease.state, LEASE_NONE);
	teardown(&r);
}
END_TEST

/* A server that may have forgotten something is asked for nothing. */
START_TEST(it_waits_for_its_guard)
{
	struct rig r;

	setup(&r);
	r.core.guards[0].state = GUARD_PENDING;
	r.lessee.nwaiting = 1;
	next(&r.core, &r.lessee.lease);
	ck_assert_uint_eq(r.fx.nops, 0);
	ck_assert(r.lessee.lease.blocked);
	ck_assert_uint_eq(r.core.guards[0].nblocked, 1);
	teardown(&r);
}
END_TEST

/* A term that begins now, with permits that somebody has. */
static struct term *
take_permits(struct rig *r)
{
	struct term *t = &r->p.term;

	r->p.in_use = true;
	term_confirm(&r->core, t, r->core.now_ms, 1);
	term_vouch(&r->core, t);
	pace_plan(&r->core, t, true);
	return t;
}

/* The term counts from when the call was sent, and not from the answer. */
START_TEST(a_term_lasts_until_it_runs_out)
{
	struct rig r;
	struct term *t;
	int64_t end_ms;

	setup(&r);
	t = take_permits(&r);
	end_ms = 100000 + times_vouch_ms(LEASE_MS);
	ck_assert_int_eq(term_deadline_ms(&r.core, t), end_ms);
	at(&r, end_ms - 1);
	ck_assert(term_vouched(&r.core, t));
	ck_assert_ptr_null(term_first_overdue(&r.core, end_ms - 1));
	at(&r, end_ms);
	ck_assert(!term_vouched(&r.core, t));
	ck_assert_ptr_eq(term_first_overdue(&r.core, end_ms), t);
	ck_assert(term_look(&r.core, t));
	ck_assert(r.p.lost);
	ck_assert_ptr_null(term_first_overdue(&r.core, end_ms));
	teardown(&r);
}
END_TEST

/* However its users come and go, and however the risk ends. */
START_TEST(users_of_what_is_at_risk_are_counted)
{
	struct rig r;
	struct term *t;
	const uint64_t *at_risk;

	setup(&r);
	at_risk = &r.core.terms->at_risk[TERM_PERMITS];
	t = take_permits(&r);
	r.p.users = 3;
	term_used(&r.core, t, 3);
	ck_assert_uint_eq(*at_risk, 0);
	at(&r, 100000 + LEASE_MS / 2);
	ck_assert(!term_look(&r.core, t));
	ck_assert_uint_eq(*at_risk, 3);
	r.p.users = 2;
	term_used(&r.core, t, -1);
	ck_assert_uint_eq(*at_risk, 2);
	terms_check(&r.core);
	term_confirm(&r.core, t, r.core.now_ms, 1);
	ck_assert_uint_eq(*at_risk, 0);
	at(&r, r.core.now_ms + LEASE_MS / 2);
	ck_assert(!term_look(&r.core, t));
	ck_assert_uint_eq(*at_risk, 2);
	at(&r, r.core.now_ms + LEASE_MS);
	ck_assert(term_look(&r.core, t));
	ck_assert_uint_eq(*at_risk, 0);
	teardown(&r);
}
END_TEST

START_TEST(a_term_that_nobody_uses_warns_nobody)
{
	struct rig r;
	struct term *t;

	setup(&r);
	t = take_permits(&r);
	r.p.in_use = false;
	at(&r, 100000 + LEASE_MS / 2);
	ck_assert(!term_look(&r.core, t));
	ck_assert_uint_eq(r.p.nrisks, 0);
	r.p.in_use = true;
	ck_assert_int_le(term_due_ms(&r.core, t, false), r.core.now_ms);
	ck_assert(!term_look(&r.core, t));
	ck_assert_uint_eq(r.p.nrisks, 1);
	ck_assert_int_eq(t->state, TERM_ATRISK);
	term_confirm(&r.core, t, r.core.now_ms - 5, 1);
	ck_assert_uint_eq(r.p.nrisks, 2);
	ck_assert_int_eq(t->state, TERM_SAFE);
	ck_assert_int_eq(t->confirmed_ms, r.core.now_ms - 5);
	teardown(&r);
}
END_TEST

/* A term that was confirmed in an older epoch is renewed at once. */
START_TEST(a_term_is_written_again_in_a_new_epoch)
{
	struct rig r;
	struct term *t;

	setup(&r);
	t = take_permits(&r);
	ck_assert_int_gt(t->wake_ms, r.core.now_ms);
	ck_assert(!term_needs_reclaim(&r.core, t));
	r.core.guards[0].epoch++;
	ck_assert(term_needs_reclaim(&r.core, t));
	term_confirm(&r.core, t, r.core.now_ms, 1);
	pace_plan(&r.core, t, false);
	ck_assert_int_eq(t->wake_ms, r.core.now_ms);
	term_confirm(&r.core, t, r.core.now_ms, 2);
	ck_assert(!term_needs_reclaim(&r.core, t));
	teardown(&r);
}
END_TEST

/* An earlier call may be confirmed after a later one. */
START_TEST(the_term_that_runs_out_first_is_found_first)
{
	struct rig r;
	struct term *t;

	setup(&r);
	t = take_permits(&r);
	hold(&r);
	at(&r, 100010);
	term_confirm(&r.core, t, 100005, 1);
	ck_assert_ptr_eq(
	    term_first_overdue(&r.core, INT64_MAX), &r.lessee.lease.term);
	term_confirm(&r.core, t, 99999, 1);
	ck_assert_ptr_eq(term_first_overdue(&r.core, INT64_MAX), t);
	terms_check(&r.core);
	teardown(&r);
}
END_TEST

static TCase *
term_cases(void)
{
	TCase *tc = tcase_create("term");

	tcase_add_test(tc, a_term_lasts_until_it_runs_out);
	tcase_add_test(tc, users_of_what_is_at_risk_are_counted);
	tcase_add_test(tc, a_term_that_nobody_uses_warns_nobody);
	tcase_add_test(tc, a_term_is_written_again_in_a_new_epoch);
	tcase_add_test(tc, the_term_that_runs_out_first_is_found_first);
	return tc;
}

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
	static const suite_case cases[] = { lease_cases, term_cases };

	return suite_run("lease", cases, COUNT(cases));
}
