/*
 * Calls grow while others are under way: which operations wait for that, and
 * which do not.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "store/gather.h"
#include "suite.h"
#include "test_store.h"

#define ENOUGH 8 /* so many operations under way that others wait for them */
#define CALLS 4

static struct gather *g;
static struct call *calls[CALLS]; /* sent by the last flush */
static unsigned ncalls;
static uint64_t id;

static void
begin(bool quorum)
{
	struct store_config c = { .prefix = "lock:",
		.broker = "web-1",
		.instance = 1,
		.lease_ms = 10000,
		.shards = 3,
		.lanes = 1,
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

	for (; n > 0; n--) {
		op.id = op.seq = ++id;
		op.name_len =
		    (size_t)snprintf(name, sizeof(name), "n%u", (unsigned)id);
		gather_add(g, &op);
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
	ck_assert(!gather_empty(g));
	gather_drop(g, first);
	ck_assert_uint_eq(flush(), 1);
	ck_assert_uint_eq(calls[0]->nops, 5);
	ck_assert(gather_empty(g));
	gather_drop(g, calls[0]);
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
	ck_assert(gather_empty(g));
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
	tcase_add_loop_test(tc, some_do_not_wait, 0, COUNT(hurried));
	tcase_add_test(tc, what_is_full_leaves_and_the_rest_stays);
	tcase_add_test(tc, others_do_not_wait_for_it);
	tcase_add_test(tc, votes_do_not_wait);
	tcase_add_loop_test(tc, ends_travel_with_acquires, 0, COUNT(together));
	tcase_add_test(tc, ends_leave_alone_if_their_call_is_refused);
	return tc;
}
