/*
 * A guard by itself: what it tells the modules above it, and asks of them.
 * The program links no lease and no lock.
 */
#include "config.h"

#include <string.h>

#include "base/times.h"
#include "core/kernel/guard/guard.h"
#include "core/kernel/session/owner.h"
#include "core/kernel/turn/slot.h"
#include "core/kernel/turn/turn.h"
#include "core/kernel/turn/work.h"

#include "suite.h"

#define LEASE_MS 10000
#define START_MS 100000

/* What the modules above were told. */
static struct {
	unsigned changed, history;
} told;

static void
changed(struct core *core, uint32_t shard)
{
	(void)core;
	ck_assert_uint_eq(shard, 0);
	told.changed++;
}

static void
history_changed(struct core *core, uint32_t shard)
{
	(void)core;
	ck_assert_uint_eq(shard, 0);
	told.history++;
}

static bool
has_nothing(const struct core *core, uint32_t shard)
{
	(void)core;
	(void)shard;
	return true;
}

static uint64_t
hands_nothing_over(const struct core *core)
{
	(void)core;
	return 0;
}

static const struct guard_listener listener = {
	.changed = changed,
	.history_changed = history_changed,
	.has_nothing = has_nothing,
	.hands_over = hands_nothing_over,
};

static const struct timer_row timers[TIMER_MAX] = {
	[TIMER_GUARD] = { AGENDA_URGENT, guard_timer },
};

static const struct turn_listener above = {
	.timers = timers,
};

struct rig {
	struct core core;
	struct effects fx;
};

static void
setup(struct rig *r)
{
	struct core *core = &r->core;

	memset(r, 0, sizeof(*r));
	memset(&told, 0, sizeof(told));
	core->config.lease_ms = LEASE_MS;
	core->config.shards = core->config.lanes = 1;
	core->config.reply_timeout_ms = 1000;
	core->pad_ms = core->stall_ms = times_pad_ms(LEASE_MS);
	core->recovery_ms = times_recovery_ms(LEASE_MS);
	core->address = core->broker;
	turn_init(core, &above);
	owners_init(core);
	guard_init(core, &listener, NULL);
	effects_init(&r->fx);
	turn_begin(core, START_MS, &r->fx);
}

static void
teardown(struct rig *r)
{
	guard_check(&r->core);
	turn_end(&r->core);
	effects_fini(&r->fx);
	guard_fini(&r->core);
	owners_fini(&r->core);
	turn_fini(&r->core);
}

/* Answers the operations so far, and sets the time. */
static void
at(struct rig *r, int64_t now_ms)
{
	struct outcome o = { .status = OUTCOME_DONE, .text = "" };
	struct slot *slot, was;
	size_t i;

	for (i = 0; i < r->fx.nops; i++) {
		slot = slot_find(&r->core, r->fx.ops[i].id);
		was = *slot;
		slot_free(&r->core, slot);
		guard_outcome(&r->core, &was, &o);
	}
	turn_end(&r->core);
	effects_clear(&r->fx);
	turn_begin(&r->core, now_ms, &r->fx);
	work_allow(&r->core, CORE_WORK_MAX);
	turn_run_timers(&r->core, AGENDA_URGENT);
	guard_check(&r->core);
}

static void
report(struct rig *r, enum guard_state state, const char *pend)
{
	struct guard_report report = {
		.state = state, .text = pend, .text_len = strlen(pend)
	};

	guard_report(&r->core, 0, r->core.now_ms, &report);
}

static bool
was_sent(const struct rig *r, enum op_kind kind)
{
	size_t i;

	for (i = 0; i < r->fx.nops; i++)
		if (r->fx.ops[i].kind == kind)
			return true;
	return false;
}

START_TEST(a_link_is_told_and_greeted)
{
	struct rig r;

	setup(&r);
	ck_assert(!guard_up(&r.core, 0));
	guard_link(&r.core, 0, true, NULL);
	ck_assert(guard_up(&r.core, 0) && !guard_ready(&r.core, 0));
	ck_assert(was_sent(&r, OP_HEARTBEAT));
	ck_assert_uint_eq(told.changed, 1);
	guard_link(&r.core, 0, false, "away");
	ck_assert_uint_eq(told.changed, 2);
	teardown(&r);
}
END_TEST

START_TEST(a_new_history_is_told_and_blessed_after_the_grace_period)
{
	struct rig r;

	setup(&r);
	guard_link(&r.core, 0, true, NULL);
	report(&r, GUARD_PENDING, "0123456789abcdef:1");
	ck_assert_uint_eq(told.history, 1);
	report(&r, GUARD_PENDING, "0123456789abcdef:1");
	ck_assert_uint_eq(told.history, 1);
	at(&r, START_MS + r.core.recovery_ms - 1);
	ck_assert(!was_sent(&r, OP_BLESS));
	at(&r, START_MS + r.core.recovery_ms + 1);
	at(&r, START_MS + r.core.recovery_ms + 2);
	ck_assert(was_sent(&r, OP_BLESS));
	report(&r, GUARD_BLESSED, "");
	ck_assert(guard_ready(&r.core, 0));
	ck_assert_uint_eq(told.changed, 2);
	teardown(&r);
}
END_TEST

/* READY and /readyz go by that: what the server was before tells nothing. */
START_TEST(a_server_that_is_back_says_first_that_it_grants)
{
	char why[128];
	struct rig r;

	setup(&r);
	guard_link(&r.core, 0, true, NULL);
	report(&r, GUARD_PENDING, "0123456789abcdef:1");
	report(&r, GUARD_BLESSED, "");
	ck_assert(guard_grants(&r.core, 0));
	at(&r, START_MS + 1);
	guard_link(&r.core, 0, false, "away");
	ck_assert(!guard_grants(&r.core, 0));
	at(&r, START_MS + 2);
	guard_link(&r.core, 0, true, NULL);
	ck_assert(guard_ready(&r.core, 0) && !guard_grants(&r.core, 0));
	guard_why(&r.core, 0, why, sizeof(why));
	ck_assert_str_eq(why, "Redis has not answered yet");
	report(&r, GUARD_BLESSED, "");
	ck_assert(guard_grants(&r.core, 0));
	guard_why(&r.core, 0, why, sizeof(why));
	ck_assert_str_eq(why, "");
	teardown(&r);
}
END_TEST

static TCase *
guard_cases(void)
{
	TCase *tc = tcase_create("guard");

	tcase_add_test(tc, a_link_is_told_and_greeted);
	tcase_add_test(
	    tc, a_new_history_is_told_and_blessed_after_the_grace_period);
	tcase_add_test(tc, a_server_that_is_back_says_first_that_it_grants);
	return tc;
}

int
main(void)
{
	static const suite_case cases[] = { guard_cases };

	return suite_run("guard", cases, COUNT(cases));
}
