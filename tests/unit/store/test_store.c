/*
 * The unit tests of src/store: what a call looks like on its way to Redis.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "store/gather.h"
#include "store_rig.h"
#include "suite.h"
#include "test_store.h"

static const struct {
	enum op_kind kind;
	enum script_id script;
	const char *words;
} op_rows[] = {
	{ OP_ACQUIRE, SCRIPT_ACQUIRE,
	    "EVALSHA  5 lock:@guard lock:@fence lock:n lock:@queue:n "
	    "lock:@shared:n " COMMON("0", "5") " grab 13000 3 t 7" },
	{ OP_RENEW, SCRIPT_KEEP,
	    "EVALSHA  5 lock:@guard lock:@fence lock:n lock:@queue:n "
	    "lock:@shared:n " COMMON(
		"0", "5") " renew 7 13000 9007199254740991 3 x" },
	{ OP_CONFIRM, SCRIPT_KEEP,
	    "EVALSHA  5 lock:@guard lock:@fence lock:n lock:@queue:n "
	    "lock:@shared:n " COMMON("0", "5") " confirm 7 13000 3" },
	{ OP_CONVERT, SCRIPT_KEEP,
	    "EVALSHA  5 lock:@guard lock:@fence lock:n lock:@queue:n "
	    "lock:@shared:n " COMMON("0", "5") " convert 7 13000 3 x" },
	{ OP_END, SCRIPT_KEEP,
	    "EVALSHA  5 lock:@guard lock:@fence lock:n lock:@queue:n "
	    "lock:@shared:n " COMMON("9007199254740991", "5") " end 7 500 0" },
	{ OP_UNDO, SCRIPT_KEEP,
	    "EVALSHA  5 lock:@guard lock:@fence lock:n lock:@queue:n "
	    "lock:@shared:n " COMMON("0", "5") " undo 7" },
	{ OP_PEEK, SCRIPT_KEEP,
	    "EVALSHA  5 lock:@guard lock:@fence lock:n lock:@queue:n "
	    "lock:@shared:n " COMMON("0", "5") " status" },
	{ OP_RECALL, SCRIPT_KEEP,
	    "EVALSHA  5 lock:@guard lock:@fence lock:n lock:@queue:n "
	    "lock:@shared:n " COMMON("0", "5") " recall 7" },
	{ OP_STATUS, SCRIPT_KEEP,
	    "EVALSHA  7 lock:@guard lock:@fence lock:n lock:@shared:n "
	    "lock:@sem:n lock:@latch:n lock:@barrier:n " COMMON(
		"0", "5") " look t" },
	{ OP_TAKE, SCRIPT_ACQUIRE,
	    "EVALSHA  3 lock:@guard lock:@fence lock:@sem:n " COMMON(
		"0", "5") " take 7 1 2 4 5 t " },
	{ OP_HOLD, SCRIPT_KEEP,
	    "EVALSHA  3 lock:@guard lock:@fence lock:@sem:n " COMMON(
		"0", "5") " hold 7 1 5 t 0 " },
	{ OP_LATCH, SCRIPT_ACQUIRE,
	    "EVALSHA  3 lock:@guard lock:@fence lock:@latch:n " COMMON(
		"0", "5") " latch 7 2 13000" },
	{ OP_COUNTDOWN, SCRIPT_KEEP,
	    "EVALSHA  3 lock:@guard lock:@fence lock:@latch:n " COMMON(
		"0", "5") " countdown 7 2" },
	{ OP_AWAIT, SCRIPT_ACQUIRE,
	    "EVALSHA  3 lock:@guard lock:@fence lock:@latch:n " COMMON(
		"0", "5") " await" },
	{ OP_ARRIVE, SCRIPT_ACQUIRE,
	    "EVALSHA  3 lock:@guard lock:@fence lock:@barrier:n " COMMON(
		"0", "5") " arrive 7 9007199254740991 2 5" },
	{ OP_PARTY, SCRIPT_KEEP,
	    "EVALSHA  3 lock:@guard lock:@fence lock:@barrier:n " COMMON(
		"0", "5") " party 7 9007199254740991" },
	{ OP_LEAVE, SCRIPT_KEEP,
	    "EVALSHA  3 lock:@guard lock:@fence lock:@barrier:n " COMMON(
		"0", "5") " leave 7 l" },
	{ OP_HEARTBEAT, SCRIPT_KEEP,
	    "EVALSHA  2 lock:@guard lock:@fence " COMMON(
		"0", "5") " heartbeat  2 - 10000 - 0 7" },
	{ OP_BROKERS, SCRIPT_KEEP,
	    "EVALSHA  2 lock:@guard lock:@fence " COMMON("0", "5") " brokers" },
	{ OP_BLESS, SCRIPT_KEEP,
	    "EVALSHA  2 lock:@guard lock:@fence " COMMON(
		"0", "5") " bless id:nonce" },
	{ OP_IDLE, SCRIPT_KEEP,
	    "EVALSHA  2 lock:@guard lock:@fence " COMMON("0", "5") " idle 2" },
	{ OP_ADOPT, SCRIPT_KEEP,
	    "EVALSHA  2 lock:@guard lock:@fence " COMMON(
		"0", "5") " adopt 7 n" },
};

START_TEST(each_operation_has_its_words)
{
	store_begin_plain();
	store_add(op_rows[_i].kind, 1, "n");
	ck_assert(gather_is_due(store));
	store_flush();
	ck_assert(!gather_is_due(store));
	ck_assert_uint_eq(store_seen.ncalls, 1);
	ck_assert_int_eq(store_seen.calls[0]->script, op_rows[_i].script);
	ck_assert_str_eq(store_words(store_seen.calls[0]), op_rows[_i].words);
	ck_assert_int_eq(store_seen.calls[0]->timeout_ms, 2000);
	gather_drop(store, store_seen.calls[0]);
	gather_free(store);
}
END_TEST

static const struct {
	enum op_kind kind;
	const char *end;
} shared_rows[] = {
	{ OP_ACQUIRE, " acquire 7 13000 3 t s" },
	{ OP_RENEW, " renew 7 13000 9007199254740991 5 s" },
	{ OP_CONVERT, " convert 7 13000 3 s" },
};

START_TEST(some_may_be_shared)
{
	const char *end = shared_rows[_i].end, *text;
	struct op op = store_op(shared_rows[_i].kind, 1, "n");

	store_begin_plain();
	op.flags = OP_SHARED;
	gather_add(store, &op);
	store_flush();
	text = store_words(store_seen.calls[0]);
	ck_assert_str_eq(text + strlen(text) - strlen(end), end);
	gather_drop(store, store_seen.calls[0]);
	gather_free(store);
}
END_TEST

static const struct {
	enum op_kind kind;
	struct op_how how;
	const char *letters;
} how_rows[] = {
	{ OP_CLAIM, { .act = HOW_ASK }, " q-- " },
	{ OP_CLAIM, { .act = HOW_ASK_FIRST }, " f-- " },
	{ OP_TOKEN, { .act = HOW_UNDO }, " u-- " },
	{ OP_TOKEN, { HOW_RELEASE, HOW_COUNTED, HOW_REPLACE }, " rcr " },
	{ OP_TOKEN, { HOW_EXTEND, HOW_EXACT, HOW_ADD }, " exa " },
	{ OP_TOKEN, { HOW_EXTEND, HOW_PREFIX, HOW_IF_BOUND }, " epb " },
	{ OP_TOKEN, { HOW_EXTEND, HOW_NOT, HOW_IF_UNBOUND }, " enu " },
	{ OP_TOKEN, { HOW_EXTEND, HOW_ANY, HOW_IF_LONGER }, " eal " },
	{ OP_TOKEN, { HOW_EXTEND, HOW_ANY, HOW_IF_SHORTER }, " eas " },
};

START_TEST(how_goes_in_letters_of_the_script)
{
	struct op op = store_op(how_rows[_i].kind, 1, "n");
	const char *words;

	store_begin_plain();
	op.how = how_rows[_i].how;
	gather_add(store, &op);
	store_flush();
	words = store_words(store_seen.calls[0]);
	ck_assert_ptr_nonnull(strstr(words, how_rows[_i].letters));
	gather_drop(store, store_seen.calls[0]);
	gather_free(store);
}
END_TEST

START_TEST(names_are_bytes)
{
	struct op op = store_op(OP_PEEK, 1, "a\0 b\r\n");
	struct call *call;

	store_begin_plain();
	op.name_len = 6;
	gather_add(store, &op);
	store_flush();
	call = store_seen.calls[0];
	ck_assert_uint_eq(call->argvlen[CALL_HEAD + 2], 11);
	ck_assert_mem_eq(call->argv[CALL_HEAD + 2], "lock:a\0 b\r\n", 11);
	gather_drop(store, call);
	gather_free(store);
}
END_TEST

START_TEST(keys_of_a_cluster_have_a_tag)
{
	struct store_config c = store_plain();
	struct op op = store_op(OP_ACQUIRE, 1, "n");

	c.tagged = true;
	c.shards = 256;
	store_begin(&c);
	op.shard = 17;
	op.flags = OP_QUEUE;
	gather_add(store, &op);
	store_flush();
	ck_assert_uint_eq(store_seen.calls[0]->shard, 17);
	ck_assert_str_eq(store_words(store_seen.calls[0]),
	    "EVALSHA  5 lock:{17}:@guard lock:{17}:@fence lock:{17}:n "
	    "lock:{17}:@queue:n lock:{17}:@shared:n " COMMON(
		"0", "10") " grab 13000 3 q 7");
	gather_drop(store, store_seen.calls[0]);
	gather_free(store);
}
END_TEST

START_TEST(what_keeps_goes_first)
{
	struct op op = store_op(OP_RENEW, 4, "c");

	store_begin_plain();
	store_add(OP_ACQUIRE, 1, "a");
	store_add(OP_END, 2, "b");
	store_add(OP_ACQUIRE, 3, "c");
	op.timeout_ms = 100;
	gather_add(store, &op);
	store_flush();
	ck_assert_uint_eq(store_seen.ncalls, 2);
	ck_assert_int_eq(store_seen.calls[0]->script, SCRIPT_KEEP);
	ck_assert_uint_eq(store_seen.calls[0]->nops, 2);
	ck_assert_uint_eq(store_seen.calls[0]->ids[0], 2);
	ck_assert_uint_eq(store_seen.calls[0]->ids[1], 4);
	ck_assert_int_eq(store_seen.calls[0]->timeout_ms, 100);
	ck_assert_uint_eq(store_seen.calls[1]->ids[0], 1);
	ck_assert_uint_eq(store_seen.calls[1]->ids[1], 3);
	/* A nonce is never the same again. */
	ck_assert_mem_ne(
	    store_seen.calls[0]->args[0], store_seen.calls[1]->args[0], 16);
	gather_drop(store, store_seen.calls[0]);
	gather_drop(store, store_seen.calls[1]);
	gather_free(store);
}
END_TEST

static const struct {
	unsigned renewals, ends;
	unsigned sizes[4]; /* of the calls */
} size_rows[] = {
	{ 100, 0, { 100 } },
	{ 101, 0, { 100, 1 } },
	{ 0, 64, { 64 } },
	{ 0, 130, { 64, 64, 2 } },
	{ 63, 1, { 64 } },
	{ 64, 1, { 64, 1 } },
	{ 70, 1, { 70, 1 } },
};

START_TEST(calls_have_a_bound)
{
	unsigned i;

	store_begin_plain();
	for (i = 0; i < size_rows[_i].renewals; i++)
		store_add(OP_RENEW, i, "n");
	for (i = 0; i < size_rows[_i].ends; i++)
		store_add(OP_END, i, "n");
	store_flush();
	for (i = 0; i < 4 && size_rows[_i].sizes[i] > 0; i++) {
		ck_assert_uint_gt(store_seen.ncalls, i);
		ck_assert_uint_eq(
		    store_seen.calls[i]->nops, size_rows[_i].sizes[i]);
		gather_drop(store, store_seen.calls[i]);
	}
	ck_assert_uint_eq(store_seen.ncalls, i);
	gather_free(store);
}
END_TEST

/* As many operations of one kind as clients ask for in one turn. */
START_TEST(calls_have_room_for_each_kind)
{
	enum op_kind kind = (enum op_kind)_i;
	char name[16];
	uint64_t id;
	unsigned i;

	if (kind == OP_ENLIST)
		return; /* the only one of its call */
	store_begin_plain();
	for (id = 1; id <= 3 * CALL_RENEWALS_MAX; id++) {
		snprintf(name, sizeof(name), "n%u", (unsigned)id);
		store_add(kind, id, name);
	}
	store_flush();
	for (i = 0; i < store_seen.ncalls; i++)
		gather_drop(store, store_seen.calls[i]);
	gather_free(store);
}
END_TEST

/* The longest possible call: nothing is cut, nothing moves. */
START_TEST(long_names_fit)
{
	char name[256];
	unsigned i;

	store_begin_plain();
	memset(name, 'x', 255);
	name[255] = '\0';
	for (i = 0; i < CALL_RENEWALS_MAX; i++) {
		name[0] = (char)('a' + i % 26);
		store_add(OP_RENEW, i, name);
	}
	store_flush();
	ck_assert_uint_eq(store_seen.ncalls, 1);
	ck_assert_int_eq(store_seen.calls[0]->argc,
	    CALL_HEAD + 2 + 3 * CALL_RENEWALS_MAX + CALL_ARGS_MAX);
	for (i = 0; i < CALL_RENEWALS_MAX; i++) {
		const char *key =
		    store_seen.calls[0]->argv[CALL_HEAD + 2 + 3 * i];

		ck_assert_int_eq(key[5], 'a' + (int)i % 26);
		ck_assert_int_eq(key[6], 'x');
		ck_assert_uint_eq(
		    store_seen.calls[0]->argvlen[CALL_HEAD + 2 + 3 * i], 260);
	}
	gather_drop(store, store_seen.calls[0]);
	gather_free(store);
}
END_TEST

START_TEST(a_name_keeps_its_lane)
{
	struct store_config c = store_plain();
	uint32_t lanes[64], used = 0;
	char name[16];
	unsigned i, round;

	c.lanes = 4;
	store_begin(&c);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < 64; i++) {
			(void)snprintf(name, sizeof(name), "n%u", i);
			store_add(round ? OP_END : OP_ACQUIRE, i, name);
			store_flush();
			ck_assert_uint_eq(store_seen.ncalls, 1);
			if (round == 0)
				lanes[i] = store_seen.calls[0]->lane;
			ck_assert_uint_eq(store_seen.calls[0]->lane, lanes[i]);
			used |= 1u << lanes[i];
			gather_drop(store, store_seen.calls[0]);
		}
	}
	ck_assert_uint_eq(used, 15);
	gather_free(store);
}
END_TEST

static void
send_and_add(void *arg, struct call *call)
{
	store_on_send(arg, call);
	store_add(OP_ACQUIRE, 99, "later");
}

START_TEST(what_send_adds_waits_for_the_next_flush)
{
	store_begin_plain();
	store_add(OP_ACQUIRE, 1, "a");
	store_add(OP_RENEW, 2, "b");
	gather_flush(store, send_and_add, &store_seen);
	ck_assert_uint_eq(store_seen.ncalls, 2);
	gather_drop(store, store_seen.calls[0]);
	gather_drop(store, store_seen.calls[1]);
	ck_assert(gather_is_due(store));
	store_flush();
	ck_assert_uint_eq(store_seen.ncalls, 1);
	ck_assert_uint_eq(store_seen.calls[0]->nops, 2);
	gather_drop(store, store_seen.calls[0]);
	gather_free(store);
}
END_TEST

static TCase *
store_cases(void)
{
	TCase *tc = tcase_create("store");

	tcase_add_loop_test(
	    tc, each_operation_has_its_words, 0, COUNT(op_rows));
	tcase_add_loop_test(tc, some_may_be_shared, 0, COUNT(shared_rows));
	tcase_add_loop_test(
	    tc, how_goes_in_letters_of_the_script, 0, COUNT(how_rows));
	tcase_add_test(tc, names_are_bytes);
	tcase_add_test(tc, keys_of_a_cluster_have_a_tag);
	tcase_add_test(tc, what_keeps_goes_first);
	tcase_add_loop_test(tc, calls_have_room_for_each_kind, 0, OP_MAX);
	tcase_add_loop_test(tc, calls_have_a_bound, 0, COUNT(size_rows));
	tcase_add_test(tc, long_names_fit);
	tcase_add_test(tc, a_name_keeps_its_lane);
	tcase_add_test(tc, what_send_adds_waits_for_the_next_flush);
	return tc;
}

int
main(void)
{
	static const suite_case cases[] = { store_cases, answers_cases,
		rows_cases, growth_cases };
	return suite_run("store", cases, COUNT(cases));
}
