/*
 * Operations in a row take less room: how they are written into a call, and
 * how the answers to them are read.
 */
#include "config.h"

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "store/gather.h"
#include "suite.h"
#include "test_store.h"

#define OPS_MAX 4

/* The operations of one call, and its arguments after the common ones. */
static const struct {
	struct op ops[OPS_MAX];
	const char *words;
	unsigned nkeys[OPS_MAX];
} rows[] = {
	{ { { .kind = OP_RENEW, .seq = 7, .ttl_ms = 900, .fence = 50 } },
	    "keep 900 7", { 2 } },
	{ { { .kind = OP_RENEW, .seq = 7, .ttl_ms = 900, .fence = 50 },
	      { .kind = OP_RENEW, .seq = 8, .ttl_ms = 900, .fence = 51 } },
	    "keep 900 7 8", { 2, 2 } },
	/* Another ttl begins another row. */
	{ { { .kind = OP_RENEW, .seq = 7, .ttl_ms = 900, .fence = 50 },
	      { .kind = OP_RENEW, .seq = 8, .ttl_ms = 901, .fence = 51 },
	      { .kind = OP_RENEW, .seq = 9, .ttl_ms = 900, .fence = 52 } },
	    "keep 900 7 keep 901 8 keep 900 9", { 2, 2, 2 } },
	/* Not in a row: a renewal that draws fences, one of a shared lease, and
	 * one that must be whole. */
	{ { { .kind = OP_RENEW, .seq = 7, .ttl_ms = 900, .fence = 50 },
	      { .kind = OP_RENEW, .seq = 8, .ttl_ms = 900, .reserve = 3 } },
	    "keep 900 7 renew 8 900 0 3 x", { 2, 3 } },
	{ { { .kind = OP_RENEW,
	      .seq = 7,
	      .ttl_ms = 900,
	      .fence = 50,
	      .flags = OP_SHARED } },
	    "renew 7 900 50 0 s", { 3 } },
	{ { { .kind = OP_RENEW,
	      .seq = 7,
	      .ttl_ms = 900,
	      .fence = 50,
	      .flags = OP_WHOLE } },
	    "renew 7 900 50 0 x", { 3 } },
	/* Another operation ends a row. */
	{ { { .kind = OP_PEEK, .seq = 1 },
	      { .kind = OP_RENEW, .seq = 8, .ttl_ms = 900, .fence = 51 } },
	    "status keep 900 8", { 3, 2 } },
	{ { { .kind = OP_RENEW, .seq = 7, .ttl_ms = 900, .fence = 50 },
	      { .kind = OP_PEEK, .seq = 1 },
	      { .kind = OP_RENEW, .seq = 8, .ttl_ms = 900, .fence = 51 } },
	    "keep 900 7 status keep 900 8", { 2, 3, 2 } },
	/* Acquires have more in common. */
	{ { { .kind = OP_ACQUIRE, .seq = 7, .ttl_ms = 900, .reserve = 8 },
	      { .kind = OP_ACQUIRE, .seq = 8, .ttl_ms = 900, .reserve = 8 } },
	    "grab 900 8 t 7 8", { 3, 3 } },
	{ { { .kind = OP_ACQUIRE, .seq = 7, .ttl_ms = 900, .reserve = 8 },
	      { .kind = OP_ACQUIRE, .seq = 8, .ttl_ms = 901, .reserve = 8 },
	      { .kind = OP_ACQUIRE, .seq = 9, .ttl_ms = 901, .reserve = 9 },
	      { .kind = OP_ACQUIRE,
		  .seq = 10,
		  .ttl_ms = 901,
		  .reserve = 9,
		  .flags = OP_QUEUE } },
	    "grab 900 8 t 7 grab 901 8 t 8 grab 901 9 t 9 grab 901 9 q 10",
	    { 3, 3, 3, 3 } },
	{ { { .kind = OP_ACQUIRE,
	      .seq = 7,
	      .ttl_ms = 900,
	      .reserve = 8,
	      .flags = OP_SHARED } },
	    "acquire 7 900 8 t s", { 3 } },
	/* Ends that leave nothing behind, whoever waits for them. */
	{ { { .kind = OP_END, .seq = 7 },
	      { .kind = OP_END, .seq = 8, .flags = OP_PROMPT } },
	    "drop 7 8", { 3, 3 } },
	{ { { .kind = OP_END, .seq = 7 },
	      { .kind = OP_END, .seq = 8, .linger_ms = 500 },
	      { .kind = OP_END, .seq = 9, .again = 10 },
	      { .kind = OP_END, .seq = 11 } },
	    "drop 7 end 8 500 0 end 9 0 10 drop 11", { 3, 3, 3, 3 } },
};

static void
on_send(void *arg, struct call *call)
{
	struct call **sent = arg;

	ck_assert_ptr_null(*sent);
	*sent = call;
}

static struct gather *
gather_of_one(void)
{
	struct store_config c = { .prefix = "lock:",
		.broker = "web-1",
		.instance = 1,
		.lease_ms = 10000,
		.shards = 1,
		.lanes = 1 };

	return gather_new(&c);
}

/* The only call that these operations on one name make. */
static struct call *
call_of(struct gather *g, const struct op *ops, unsigned n)
{
	struct call *call = NULL;
	struct op op;
	unsigned i;

	for (i = 0; i < n; i++) {
		op = ops[i];
		op.id = i;
		op.name = "n";
		op.name_len = 1;
		gather_add(g, &op);
	}
	gather_flush(g, on_send, &call);
	ck_assert_ptr_nonnull(call);
	return call;
}

START_TEST(operations_in_a_row_take_less)
{
	struct gather *g = gather_of_one();
	struct call *call;
	struct buf b = { 0 };
	unsigned n, nkeys = 2;
	int a;

	for (n = 0; n < OPS_MAX && rows[_i].ops[n].seq > 0; n++)
		nkeys += rows[_i].nkeys[n];
	call = call_of(g, rows[_i].ops, n);
	ck_assert_uint_eq(call->nkeys, nkeys);
	for (a = CALL_HEAD + (int)call->nkeys + CALL_COMMON; a < call->argc;
	     a++) {
		buf_add(&b, call->argv[a], call->argvlen[a]);
		buf_addc(&b, a + 1 < call->argc ? ' ' : '\0');
	}
	ck_assert_str_eq(buf_data(&b), rows[_i].words);
	buf_fini(&b);
	gather_drop(g, call);
	gather_free(g);
}
END_TEST

#define ANSWERS_MAX 4

/* Three operations, and the answer: words, or how many went as usual. */
static const struct {
	enum op_kind kind;
	const char *answers[ANSWERS_MAX];
	enum outcome_status statuses[3];
} answered[] = {
	{ OP_RENEW, { "3" },
	    { OUTCOME_RENEWED, OUTCOME_RENEWED, OUTCOME_RENEWED } },
	{ OP_RENEW, { "1", "again", "1" },
	    { OUTCOME_RENEWED, OUTCOME_AGAIN, OUTCOME_RENEWED } },
	{ OP_RENEW, { "lost", "2" },
	    { OUTCOME_LOST, OUTCOME_RENEWED, OUTCOME_RENEWED } },
	/* These are not answers of our script: what became of the operations is
	 * unknown. */
	{ OP_RENEW, { "2" }, { OUTCOME_UNKNOWN } },
	{ OP_RENEW, { "4" }, { OUTCOME_UNKNOWN } },
	{ OP_RENEW, { "2", "2" }, { OUTCOME_UNKNOWN } },
	{ OP_RENEW, { "3", "0" }, { OUTCOME_UNKNOWN } },
	{ OP_RENEW, { "0", "3" }, { OUTCOME_UNKNOWN } },
	{ OP_RENEW, { "-1", "3", "1" }, { OUTCOME_UNKNOWN } },
	{ OP_RENEW, { "4294967299" }, { OUTCOME_UNKNOWN } },
	{ OP_RENEW, { "3", "lost" }, { OUTCOME_UNKNOWN } },
	{ OP_END, { "3" }, { OUTCOME_ENDED, OUTCOME_ENDED, OUTCOME_ENDED } },
	{ OP_END, { "gone", "2" },
	    { OUTCOME_GONE, OUTCOME_ENDED, OUTCOME_ENDED } },
	{ OP_ACQUIRE, { "grants 100 3 8" },
	    { OUTCOME_GRANTED, OUTCOME_GRANTED, OUTCOME_GRANTED } },
	{ OP_ACQUIRE, { "grants 100 1 8", "busy", "grants 116 1 8" },
	    { OUTCOME_GRANTED, OUTCOME_BUSY, OUTCOME_GRANTED } },
	{ OP_ACQUIRE, { "3" }, { OUTCOME_UNKNOWN } },
	{ OP_ACQUIRE, { "grants 100 4 8" }, { OUTCOME_UNKNOWN } },
	{ OP_ACQUIRE, { "grants 100 0 8" }, { OUTCOME_UNKNOWN } },
	{ OP_ACQUIRE, { "grants 0 3 8" }, { OUTCOME_UNKNOWN } },
	{ OP_ACQUIRE, { "grants 100 3 0" }, { OUTCOME_UNKNOWN } },
	{ OP_ACQUIRE, { "grants 9007199254740990 3 8" }, { OUTCOME_UNKNOWN } },
	{ OP_ACQUIRE, { "grants 100 3" }, { OUTCOME_UNKNOWN } },
	{ OP_RENEW, { "grants 100 3 8" }, { OUTCOME_UNKNOWN } },
	{ OP_CONFIRM, { "3" }, { OUTCOME_UNKNOWN } },
	{ OP_CONFIRM, { "lost", "lost", "again" }, { OUTCOME_UNKNOWN } },
};

#define WORDS_MAX 4

/* One element of a reply: a number, or an array of words. */
struct element {
	redisReply reply, words[WORDS_MAX], *in[WORDS_MAX];
	char text[64];
};

static void
element_make(struct element *e, const char *text)
{
	char *end, *word, *rest;

	e->reply.integer = strtoll(text, &end, 10);
	e->reply.type = *end == '\0' ? REDIS_REPLY_INTEGER : REDIS_REPLY_ARRAY;
	e->reply.element = e->in;
	(void)snprintf(e->text, sizeof(e->text), "%s", text);
	for (word = strtok_r(e->text, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest)) {
		e->in[e->reply.elements] = &e->words[e->reply.elements];
		e->words[e->reply.elements].type = REDIS_REPLY_STRING;
		e->words[e->reply.elements].str = word;
		e->words[e->reply.elements++].len = strlen(word);
	}
}

START_TEST(answers_come_in_rows)
{
	static const struct op three[] = { { .seq = 1, .ttl_ms = 900 },
		{ .seq = 2, .ttl_ms = 900 }, { .seq = 3, .ttl_ms = 900 } };
	struct element elements[ANSWERS_MAX + 1] = { 0 };
	redisReply *all[ANSWERS_MAX + 1];
	redisReply reply = { .type = REDIS_REPLY_ARRAY, .element = all };
	struct gather *g = gather_of_one();
	struct call *call;
	struct op ops[3];
	unsigned i;

	for (i = 0; i < 3; i++) {
		ops[i] = three[i];
		ops[i].kind = answered[_i].kind;
	}
	call = call_of(g, ops, 3);
	for (i = 0; i <= ANSWERS_MAX; i++) {
		if (i > 0 && answered[_i].answers[i - 1] == NULL)
			break;
		element_make(&elements[i],
		    i == 0 ? "blessed" : answered[_i].answers[i - 1]);
		all[i] = &elements[i].reply;
	}
	reply.elements = i;
	(void)call_decode(call, &reply, false);
	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(
		    call->outcomes[i].status, answered[_i].statuses[i]);
		if (answered[_i].statuses[i] == OUTCOME_GRANTED)
			ck_assert_uint_eq(call->outcomes[i].fence, 100 + 8 * i);
	}
	gather_drop(g, call);
	gather_free(g);
}
END_TEST

/* What a report says of histories, and what follows the nonce of the next
 * call. */
static const struct {
	enum op_kind kind;
	enum guard_state state;
	const char *history, *noted;
} histories[] = {
	{ OP_RENEW, GUARD_CONFIG, "", "" },
	{ OP_RENEW, GUARD_PENDING, "0123456789abcdef", "0123456789abcdef" },
	{ OP_RENEW, GUARD_NODES, "1123456789abcdef", "0123456789abcdef" },
	{ OP_RENEW, GUARD_BLESSED, "2123456789abcdef", "2123456789abcdef" },
	{ OP_IDLE, GUARD_BLESSED, "2123456789abcdef", "" },
};

static void
on_guard(void *arg, uint32_t shard, int64_t sent_ms,
    const struct guard_report *report)
{
	(void)arg, (void)shard, (void)sent_ms, (void)report;
}

static void
on_outcome(
    void *arg, uint64_t op, int64_t sent_ms, const struct outcome *outcome)
{
	(void)arg, (void)op, (void)sent_ms, (void)outcome;
}

static struct call *
call_to(struct gather *g, enum op_kind kind)
{
	const struct op op = { .kind = kind, .seq = 7, .ttl_ms = 900 };

	return call_of(g, &op, 1);
}

START_TEST(the_history_that_has_noted_the_broker_is_passed_on)
{
	const struct store_handler handler = { on_guard, on_outcome };
	struct gather *g = gather_of_one();
	struct call *call;
	unsigned i;

	for (i = 0; i < COUNT(histories); i++) {
		call = call_to(g, histories[i].kind);
		call->verdict = CALL_ANSWERED;
		call->has_guard = true;
		call->guard.state = histories[i].state;
		call->guard.history = histories[i].history;
		call->guard.history_len = strlen(histories[i].history);
		call_deliver(g, call, &handler, NULL);
		call = call_to(g, OP_RENEW);
		ck_assert_uint_eq(
		    call->arglen[0], 16 + strlen(histories[i].noted));
		ck_assert_str_eq(call->args[0] + 16, histories[i].noted);
		gather_drop(g, call);
	}
	gather_free(g);
}
END_TEST

START_TEST(no_history_is_passed_on_behind_a_call_that_signs_off)
{
	const struct store_handler handler = { on_guard, on_outcome };
	struct gather *g = gather_of_one();
	struct call *call = call_to(g, OP_RENEW), *idle;

	call->verdict = CALL_ANSWERED;
	call->has_guard = true;
	call->guard.state = GUARD_BLESSED;
	call->guard.history = "0123456789abcdef";
	call->guard.history_len = HISTORY_BYTES;
	call_deliver(g, call, &handler, NULL);
	idle = call_to(g, OP_IDLE);
	ck_assert_str_eq(idle->args[0] + 16, "0123456789abcdef");
	call = call_to(g, OP_RENEW);
	ck_assert_uint_eq(call->arglen[0], 16);
	gather_drop(g, call);
	gather_drop(g, idle);
	gather_free(g);
}
END_TEST

TCase *
rows_cases(void)
{
	TCase *tc = tcase_create("rows");

	tcase_add_loop_test(
	    tc, operations_in_a_row_take_less, 0, (int)COUNT(rows));
	tcase_add_loop_test(tc, answers_come_in_rows, 0, (int)COUNT(answered));
	tcase_add_test(tc, the_history_that_has_noted_the_broker_is_passed_on);
	tcase_add_test(
	    tc, no_history_is_passed_on_behind_a_call_that_signs_off);
	return tc;
}
