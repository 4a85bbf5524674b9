/*
 * Calls grow while others are under way: what waits for that, and what does
 * not.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "store/gather.h"
#include "suite.h"
#include "test_store.h"

#define ENOUGH 8 /* operations under way, for others to wait for */
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

/* What an attempt waits for there is the slowest of a majority. */
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
	return tc;
}
