/*
 * Calls grow while others are under way: which operations wait for that, and
 * which do not.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/crc16.h"
#include "store/gather.h"
#include "suite.h"
#include "test_store.h"

#define ENOUGH 8 /* so many operations under way that others wait for them */
#define CALLS 4
#define LANES 3
#define NEAR_US 60
#define OP_US 3 /* taken off the trip for an operation */

static struct gather *g;
static struct call *calls[CALLS]; /* sent by the last flush */
static unsigned ncalls;
static uint64_t id;
static unsigned replicas, lanes = 1;
static int lane = -1; /* that takes what is added; -1: any */

static void
begin(bool quorum)
{
	struct store_config c = { .prefix = "lock:",
		.broker = "web-1",
		.instance = 1,
		.lease_ms = 10000,
		.shards = 3,
		.replicas = replicas,
		.lanes = lanes,
		.quorum = quorum };

	g = gather_new(&c);
}

static void
add(enum op_kind kind, uint32_t shard, unsigned flags, unsigned n)
{
	char name[16];
	struct op op = { .kind = kind,
		.shard = shard,
		.flags = flags,
		.ttl_ms = 900,
		.timeout_ms = 2000,
		.reserve = kind == OP_ACQUIRE ? 8 : 0,
		.name = name };

	while (n > 0) {
		op.id = op.seq = ++id;
		op.name_len =
		    (size_t)snprintf(name, sizeof(name), "n%u", (unsigned)id);
		if (lane >= 0 &&
		    crc16(name, op.name_len) % lanes != (unsigned)lane)
			continue;
		gather_add(g, &op);
		n--;
	}
}

static void
on_send(void *arg, struct call *call)
{
	(void)arg;
	ck_assert_uint_lt(ncalls, CALLS);
	calls[ncalls++] = call;
}

static unsigned
flush(void)
{
	bool due = gather_is_due(g);

	ncalls = 0;
	gather_flush(g, on_send, NULL);
	ck_assert_int_eq(due, ncalls > 0);
	return ncalls;
}

static struct call *
send_enough(void)
{
	add(OP_ACQUIRE, 0, 0, ENOUGH);
	ck_assert_uint_eq(flush(), 1);
	return calls[0];
}

START_TEST(few_are_sent_at_once)
{
	struct call *first;

	begin(false);
	add(OP_ACQUIRE, 0, 0, ENOUGH - 1);
	ck_assert_uint_eq(flush(), 1);
	first = calls[0];
	add(OP_END, 0, 0, 1);
	ck_assert_uint_eq(flush(), 1);
	gather_drop(g, calls[0]);
	gather_drop(g, first);
	gather_free(g);
}
END_TEST

START_TEST(many_wait_for_an_answer)
{
	struct call *first;

	begin(false);
	first = send_enough();
	add(OP_ACQUIRE, 0, 0, 2);
	ck_assert_uint_eq(flush(), 0);
	add(OP_ACQUIRE, 0, 0, 3);
	ck_assert_uint_eq(flush(), 0);
	gather_drop(g, first);
	ck_assert_uint_eq(flush(), 1);
	ck_assert_uint_eq(calls[0]->nops, 5);
	ck_assert(!gather_is_due(g));
	gather_drop(g, calls[0]);
	gather_free(g);
}
END_TEST

static void
answer(struct call *call, int64_t trip_us)
{
	call->trip_us = trip_us;
	gather_drop(g, call);
}

/* One call after another, each answered before the next leaves. */
static void
learn(unsigned n, int64_t trip_us)
{
	for (; n > 0; n--) {
		add(OP_ACQUIRE, 0, 0, 1);
		ck_assert_uint_eq(flush(), 1);
		answer(calls[0], trip_us);
	}
}

/* Sends calls until one waits; returns how many are under way. */
static unsigned
fill(void)
{
	struct call *sent[32];
	unsigned n = 0, i;

	while (add(OP_ACQUIRE, 0, 0, ENOUGH), flush() > 0) {
		ck_assert_uint_lt(n, COUNT(sent));
		sent[n++] = calls[0];
	}
	for (i = 0; i < n; i++)
		answer(sent[i], 0);
	ck_assert_uint_eq(flush(), 1);
	answer(calls[0], 0);
	return n;
}

/* As many as fit into the trip there. */
static const struct {
	int64_t trip_us;
	unsigned calls;
} distances[] = {
	{ 0, 1 },
	{ NEAR_US, 1 },
	{ 159 + OP_US, 1 },
	{ 160 + OP_US, 2 },
	{ 560 + OP_US, 7 },
	{ 50000, 16 },
};

START_TEST(more_leave_if_redis_is_far)
{
	begin(false);
	learn(1, distances[_i].trip_us);
	ck_assert_uint_eq(fill(), distances[_i].calls);
	gather_free(g);
}
END_TEST

START_TEST(a_pause_is_not_a_distance)
{
	begin(false);
	learn(1, NEAR_US);
	learn(20, 2000000);
	ck_assert_uint_eq(fill(), 1);
	learn(1000, 560 + OP_US);
	ck_assert_uint_eq(fill(), 7);
	learn(1, NEAR_US);
	ck_assert_uint_eq(fill(), 1);
	gather_free(g);
}
END_TEST

/* If it were, our own calls would make more calls. */
START_TEST(work_is_not_a_distance)
{
	struct call *first, *second;

	begin(false);
	add(OP_ACQUIRE, 0, 0, CALL_OPS_MAX);
	ck_assert_uint_eq(flush(), 1);
	first = calls[0];
	add(OP_ACQUIRE, 0, 0, CALL_OPS_MAX);
	ck_assert_uint_eq(flush(), 1);
	second = calls[0];
	answer(first, NEAR_US + OP_US * CALL_OPS_MAX);
	answer(second, NEAR_US + OP_US * 2 * CALL_OPS_MAX);
	ck_assert_uint_eq(fill(), 1);
	gather_free(g);
}
END_TEST

START_TEST(lanes_take_turns)
{
	struct call *first;

	lanes = 2;
	begin(false);
	lane = 0;
	first = send_enough();
	for (lane = 1; lane >= 0; lane--) {
		add(OP_ACQUIRE, 0, 0, ENOUGH);
		ck_assert_uint_eq(flush(), 0);
	}
	/* Who waits longest comes first. */
	for (lane = 1; lane >= 0; lane--) {
		answer(first, NEAR_US);
		ck_assert_uint_eq(flush(), 1);
		first = calls[0];
		ck_assert_uint_eq(first->lane, (unsigned)lane);
	}
	answer(first, NEAR_US);
	ck_assert(!gather_is_due(g));
	gather_free(g);
}
END_TEST

/* Not all of many, or the last would wait for all others if Redis hangs; and
 * none for another's WAIT. */
static const struct {
	unsigned lanes, replicas, calls;
} crowds[] = { { 3, 0, 2 }, { 2, 1, 2 }, { 3, 1, 3 } };

START_TEST(some_lanes_have_calls_at_once)
{
	struct call *sent[LANES];
	unsigned i, n = 0;

	lanes = crowds[_i].lanes;
	replicas = crowds[_i].replicas;
	begin(false);
	for (lane = 0; lane < (int)lanes; lane++) {
		add(OP_ACQUIRE, 0, 0, ENOUGH);
		if (flush() > 0)
			sent[n++] = calls[0];
	}
	ck_assert_uint_eq(n, crowds[_i].calls);
	for (lane = 0; lane < (int)lanes; lane++) {
		add(OP_ACQUIRE, 0, 0, ENOUGH);
		ck_assert_uint_eq(flush(), 0);
	}
	for (i = 0; i < n; i++)
		answer(sent[i], NEAR_US);
	ck_assert_uint_eq(flush(), n);
	for (i = 0; i < n; i++)
		answer(calls[i], NEAR_US);
	gather_free(g);
}
END_TEST

/* It does not leave the rest of its call behind. */
static const struct {
	enum op_kind kind;
	unsigned flags;
	unsigned n, sent;
} hurried[] = {
	{ OP_RENEW, 0, 1, 3 },
	{ OP_CONFIRM, 0, 1, 3 },
	{ OP_END, OP_PROMPT, 1, 3 },
	{ OP_END, 0, CALL_OPS_MAX - 2, CALL_OPS_MAX },
};

START_TEST(some_do_not_wait)
{
	struct call *first;

	begin(false);
	first = send_enough();
	add(OP_END, 0, 0, 2);
	ck_assert_uint_eq(flush(), 0);
	add(hurried[_i].kind, 0, hurried[_i].flags, hurried[_i].n);
	ck_assert_uint_eq(flush(), 1);
	ck_assert_uint_eq(calls[0]->nops, hurried[_i].sent);
	gather_drop(g, calls[0]);
	gather_drop(g, first);
	gather_free(g);
}
END_TEST

START_TEST(what_is_full_leaves_and_the_rest_stays)
{
	struct call *first;

	begin(false);
	first = send_enough();
	add(OP_END, 0, 0, CALL_OPS_MAX + 1);
	ck_assert_uint_eq(flush(), 1);
	ck_assert_uint_eq(calls[0]->nops, CALL_OPS_MAX);
	gather_drop(g, calls[0]);
	ck_assert_uint_eq(flush(), 0);
	gather_drop(g, first);
	ck_assert_uint_eq(flush(), 1);
	ck_assert_uint_eq(calls[0]->nops, 1);
	gather_drop(g, calls[0]);
	gather_free(g);
}
END_TEST

START_TEST(others_do_not_wait_for_it)
{
	struct call *first;

	begin(false);
	first = send_enough();
	add(OP_ACQUIRE, 1, 0, 1);
	ck_assert_uint_eq(flush(), 1);
	gather_drop(g, calls[0]);
	gather_drop(g, first);
	gather_free(g);
}
END_TEST

/* Over a quorum, an attempt waits for the slowest server of a majority
 * anyway. */
START_TEST(votes_do_not_wait)
{
	struct call *first;

	begin(true);
	first = send_enough();
	add(OP_ACQUIRE, 0, 0, 1);
	ck_assert_uint_eq(flush(), 1);
	gather_drop(g, calls[0]);
	gather_drop(g, first);
	gather_free(g);
}
END_TEST

/* Ends and acquires that are due together make one call ... */
static const struct {
	unsigned acquires, ends, calls, first;
	bool quorum;
	enum op_kind other; /* one more operation of the same script as ends */
} together[] = {
	{ 2, 3, 1, 5, false, OP_END },
	{ 3, 0, 1, 3, false, OP_END },
	{ CALL_OPS_MAX - 3, 3, 1, CALL_OPS_MAX, false, OP_END },
	/* ... unless they are too many, or keep.lua alone can do them all, */
	{ CALL_OPS_MAX - 3, 4, 2, 4, false, OP_END },
	{ 2, 3, 2, 4, false, OP_RENEW },
	{ 2, 3, 2, 4, false, OP_UNDO },
	/* ... or each server has to say which ends it knows. */
	{ 2, 3, 2, 3, true, OP_END },
};

START_TEST(ends_travel_with_acquires)
{
	unsigned i;

	begin(together[_i].quorum);
	add(OP_ACQUIRE, 0, 0, together[_i].acquires);
	add(OP_END, 0, 0, together[_i].ends);
	if (together[_i].other != OP_END)
		add(together[_i].other, 0, 0, 1);
	ck_assert_uint_eq(flush(), together[_i].calls);
	ck_assert_uint_eq(calls[0]->nops, together[_i].first);
	ck_assert_int_eq(calls[0]->script,
	    together[_i].calls == 1 ? SCRIPT_ACQUIRE : SCRIPT_KEEP);
	/* What they end may be what the others take. */
	if (together[_i].calls == 1 && together[_i].ends > 0)
		ck_assert_int_eq(calls[0]->kinds[0], OP_END);
	for (i = 0; i < ncalls; i++)
		gather_drop(g, calls[i]);
	gather_free(g);
}
END_TEST

static void
on_guard(void *arg, uint32_t shard, int64_t sent_ms,
    const struct guard_report *report)
{
	(void)arg, (void)shard, (void)sent_ms;
	ck_assert_int_eq(report->state, GUARD_REFUSED);
}

static void
on_outcome(void *arg, uint64_t op, int64_t sent_ms, const struct outcome *o)
{
	unsigned *refused = arg;

	(void)op, (void)sent_ms;
	*refused += o->status == OUTCOME_REFUSED;
}

/* Memory is full: nothing new is granted, but everything held can be given
 * back. */
START_TEST(ends_leave_alone_if_their_call_is_refused)
{
	static const struct store_handler handler = { on_guard, on_outcome };
	static char text[] = "OOM command not allowed";
	redisReply oom = {
		.type = REDIS_REPLY_ERROR, .str = text, .len = sizeof(text) - 1
	};
	unsigned refused = 0, end = 0;

	begin(false);
	add(OP_ACQUIRE, 0, 0, 2);
	add(OP_END, 0, 0, 3);
	ck_assert_uint_eq(flush(), 1);
	call_finish(g, calls[0], &oom, false, &handler, &refused);
	ck_assert_uint_eq(refused, 2);
	/* Not even later acquires take them along. */
	add(OP_ACQUIRE, 0, 0, 1);
	ck_assert_uint_eq(flush(), 2);
	ck_assert_int_eq(calls[0]->script, SCRIPT_KEEP);
	ck_assert_uint_eq(calls[0]->nops, 3);
	for (end = 0; end < 3; end++)
		ck_assert_uint_eq(calls[0]->ids[end], id - 3 + end);
	/* If these are refused, too, the refusal is the answer. */
	call_finish(g, calls[0], &oom, false, &handler, &refused);
	ck_assert_uint_eq(refused, 5);
	gather_drop(g, calls[1]);
	ck_assert(!gather_is_due(g));
	add(OP_ACQUIRE, 0, 0, ENOUGH - 1);
	ck_assert_uint_eq(flush(), 1); /* nothing is under way */
	gather_drop(g, calls[0]);
	gather_free(g);
}
END_TEST

TCase *
growth_cases(void)
{
	TCase *tc = tcase_create("growth");

	tcase_add_test(tc, few_are_sent_at_once);
	tcase_add_test(tc, many_wait_for_an_answer);
	tcase_add_loop_test(
	    tc, more_leave_if_redis_is_far, 0, COUNT(distances));
	tcase_add_test(tc, a_pause_is_not_a_distance);
	tcase_add_test(tc, work_is_not_a_distance);
	tcase_add_test(tc, lanes_take_turns);
	tcase_add_loop_test(
	    tc, some_lanes_have_calls_at_once, 0, COUNT(crowds));
	tcase_add_loop_test(tc, some_do_not_wait, 0, COUNT(hurried));
	tcase_add_test(tc, what_is_full_leaves_and_the_rest_stays);
	tcase_add_test(tc, others_do_not_wait_for_it);
	tcase_add_test(tc, votes_do_not_wait);
	tcase_add_loop_test(tc, ends_travel_with_acquires, 0, COUNT(together));
	tcase_add_test(tc, ends_leave_alone_if_their_call_is_refused);
	return tc;
}
