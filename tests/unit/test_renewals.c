/*
 * Renewals in a row take less: how they are written into a call, and how the
 * answers to them are read.
 */
#include "config.h"

#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "store/gather.h"
#include "suite.h"
#include "test_store.h"

#define OPS_MAX 4

/* Operations of one call, and its arguments behind the common ones. */
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
	/* By themselves: fences drawn, a lease that is shared, and asked so. */
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
	{ { { .kind = OP_STATUS, .seq = 1 },
	      { .kind = OP_RENEW, .seq = 8, .ttl_ms = 900, .fence = 51 } },
	    "status keep 900 8", { 3, 2 } },
	{ { { .kind = OP_RENEW, .seq = 7, .ttl_ms = 900, .fence = 50 },
	      { .kind = OP_STATUS, .seq = 1 },
	      { .kind = OP_RENEW, .seq = 8, .ttl_ms = 900, .fence = 51 } },
	    "keep 900 7 status keep 900 8", { 2, 3, 2 } },
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

/* The one call that these operations on one name make. */
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

START_TEST(renewals_in_a_row_take_less)
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

/* Three operations, and what is answered: words, or numbers of renewals. */
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
	/* Not the answer of our script: what became of them is unknown. */
	{ OP_RENEW, { "2" }, { OUTCOME_UNKNOWN } },
	{ OP_RENEW, { "4" }, { OUTCOME_UNKNOWN } },
	{ OP_RENEW, { "2", "2" }, { OUTCOME_UNKNOWN } },
	{ OP_RENEW, { "3", "0" }, { OUTCOME_UNKNOWN } },
	{ OP_RENEW, { "0", "3" }, { OUTCOME_UNKNOWN } },
	{ OP_RENEW, { "-1", "3", "1" }, { OUTCOME_UNKNOWN } },
	{ OP_RENEW, { "4294967299" }, { OUTCOME_UNKNOWN } },
	{ OP_RENEW, { "3", "lost" }, { OUTCOME_UNKNOWN } },
	{ OP_CONFIRM, { "3" }, { OUTCOME_UNKNOWN } },
	{ OP_CONFIRM, { "lost", "lost", "again" }, { OUTCOME_UNKNOWN } },
};

/* A reply of one word, or a number; `in` is where the array has it. */
static void
reply_one(redisReply *r, redisReply *word, redisReply **in, const char *text)
{
	char *end;

	r->integer = strtoll(text, &end, 10);
	r->type = *end == '\0' ? REDIS_REPLY_INTEGER : REDIS_REPLY_ARRAY;
	word->type = REDIS_REPLY_STRING;
	word->str = (char *)(uintptr_t)text;
	word->len = strlen(text);
	*in = word;
	r->elements = 1;
	r->element = in;
}

START_TEST(answers_come_in_rows)
{
	static const struct op three[] = { { .seq = 1, .ttl_ms = 900 },
		{ .seq = 2, .ttl_ms = 900 }, { .seq = 3, .ttl_ms = 900 } };
	redisReply ones[ANSWERS_MAX + 1] = { 0 },
				      words[ANSWERS_MAX + 1] = { 0 };
	redisReply *in[ANSWERS_MAX + 1], *all[ANSWERS_MAX + 1];
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
		reply_one(&ones[i], &words[i], &in[i],
		    i == 0 ? "blessed" : answered[_i].answers[i - 1]);
		all[i] = &ones[i];
	}
	reply.elements = i;
	(void)call_decode(call, &reply, false);
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(
		    call->outcomes[i].status, answered[_i].statuses[i]);
	gather_drop(g, call);
	gather_free(g);
}
END_TEST

TCase *
renewals_cases(void)
{
	TCase *tc = tcase_create("renewals");

	tcase_add_loop_test(
	    tc, renewals_in_a_row_take_less, 0, (int)COUNT(rows));
	tcase_add_loop_test(tc, answers_come_in_rows, 0, (int)COUNT(answered));
	return tc;
}
