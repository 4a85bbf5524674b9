/*
 * The unit tests of src/store: what a call looks like on its way to Redis,
 * and how answers are taken apart.  Replies are built by hand; no Redis.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "store/gather.h"
#include "suite.h"
#include "test_store.h"

#define TOLD_MAX 512

static struct gather *g;

/* What send() got and what handlers were told. */
static struct {
	struct call *calls[16];
	unsigned ncalls, guards;
	struct guard_report guard;
	struct outcome outcomes[TOLD_MAX];
	uint64_t ids[TOLD_MAX];
	char text[TOLD_MAX][160];
	unsigned told;
	int64_t sent_ms;
} seen;

static struct store_config
plain(void)
{
	return (struct store_config){ .prefix = "lock:",
		.broker = "web-1",
		.instance = 0xabc,
		.lease_ms = 10000,
		.replicas = 2,
		.shards = 1,
		.seed = { 1, 2 } };
}

static void
begin(const struct store_config *config)
{
	memset(&seen, 0, sizeof(seen));
	g = gather_new(config);
}

static void
begin_plain(void)
{
	struct store_config c = plain();

	begin(&c);
}

static void
on_send(void *arg, struct call *call)
{
	ck_assert_ptr_eq(arg, &seen);
	ck_assert_uint_lt(seen.ncalls, 16);
	seen.calls[seen.ncalls++] = call;
}

static void
on_guard(void *arg, uint32_t shard, int64_t sent_ms,
    const struct guard_report *report)
{
	(void)shard;
	ck_assert_ptr_eq(arg, &seen);
	ck_assert_uint_eq(seen.told, 0); /* before all outcomes */
	seen.guard = *report;
	seen.guards++;
	seen.sent_ms = sent_ms;
}

static void
on_outcome(
    void *arg, uint64_t op, int64_t sent_ms, const struct outcome *outcome)
{
	ck_assert_ptr_eq(arg, &seen);
	ck_assert_uint_lt(seen.told, TOLD_MAX);
	seen.outcomes[seen.told] = *outcome;
	seen.ids[seen.told] = op;
	(void)snprintf(seen.text[seen.told++], sizeof(seen.text[0]), "%.*s",
	    (int)outcome->text_len, outcome->text);
	seen.sent_ms = sent_ms;
}

static const struct store_handler handler = { on_guard, on_outcome };

static struct op
make(enum op_kind kind, uint64_t id, const char *name)
{
	return (struct op){ .id = id,
		.kind = kind,
		.name = name,
		.name_len = name ? strlen(name) : 0,
		.seq = 7,
		.ttl_ms = 13000,
		.linger_ms = 500,
		.fence = UINT64_C(9007199254740991),
		.reserve = 3,
		.have = 1,
		.need = 2,
		.want = 4,
		.limit = 5,
		.look = LOOK_LATCH,
		.timeout_ms = 2000,
		.pend = "id:nonce" };
}

static void
add(enum op_kind kind, uint64_t id, const char *name)
{
	struct op op = make(kind, id, name);

	gather_add(g, &op);
}

static void
flush(void)
{
	seen.ncalls = 0;
	gather_flush(g, on_send, &seen);
}

/* The words of a call but the nonce, joined by spaces. */
static const char *
words(const struct call *call)
{
	static struct buf b;
	int i;

	buf_clear(&b);
	for (i = 0; i < call->argc; i++) {
		if (i > 0)
			buf_addc(&b, ' ');
		if (i == (int)(CALL_HEAD + call->nkeys))
			buf_adds(&b, "NONCE");
		else
			buf_add(&b, call->argv[i], call->argvlen[i]);
	}
	buf_addc(&b, '\0');
	return buf_data(&b);
}

#define COMMON(seen_fence, cut)                           \
	"NONCE " seen_fence " v1,lease=10000,replicas=2 " \
	"web-1.0000000000000abc 10000 3000 3000 13600 lock: " cut " "

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
	{ OP_STATUS, SCRIPT_KEEP,
	    "EVALSHA  5 lock:@guard lock:@fence lock:n lock:@queue:n "
	    "lock:@shared:n " COMMON("0", "5") " status" },
	{ OP_LOOK, SCRIPT_KEEP,
	    "EVALSHA  7 lock:@guard lock:@fence lock:n lock:@shared:n "
	    "lock:@sem:n lock:@latch:n lock:@barrier:n " COMMON(
		"0", "5") " look t" },
	{ OP_TAKE, SCRIPT_ACQUIRE,
	    "EVALSHA  3 lock:@guard lock:@fence lock:@sem:n " COMMON(
		"0", "5") " take 7 1 2 4 5 t" },
	{ OP_HOLD, SCRIPT_KEEP,
	    "EVALSHA  3 lock:@guard lock:@fence lock:@sem:n " COMMON(
		"0", "5") " hold 7 1 5 t 0" },
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
		"0", "5") " party 9007199254740991" },
	{ OP_LEAVE, SCRIPT_KEEP,
	    "EVALSHA  3 lock:@guard lock:@fence lock:@barrier:n " COMMON(
		"0", "5") " leave l" },
	{ OP_HEARTBEAT, SCRIPT_KEEP,
	    "EVALSHA  2 lock:@guard lock:@fence " COMMON(
		"0", "5") " heartbeat  2" },
	{ OP_BLESS, SCRIPT_KEEP,
	    "EVALSHA  2 lock:@guard lock:@fence " COMMON(
		"0", "5") " bless id:nonce" },
	{ OP_IDLE, SCRIPT_KEEP,
	    "EVALSHA  2 lock:@guard lock:@fence " COMMON("0", "5") " idle" },
};

START_TEST(each_operation_has_its_words)
{
	begin_plain();
	add(op_rows[_i].kind, 1, "n");
	ck_assert(!gather_empty(g));
	flush();
	ck_assert(gather_empty(g));
	ck_assert_uint_eq(seen.ncalls, 1);
	ck_assert_int_eq(seen.calls[0]->script, op_rows[_i].script);
	ck_assert_str_eq(words(seen.calls[0]), op_rows[_i].words);
	ck_assert_int_eq(seen.calls[0]->timeout_ms, 2000);
	gather_drop(g, seen.calls[0]);
	gather_free(g);
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
	struct op op = make(shared_rows[_i].kind, 1, "n");

	begin_plain();
	op.flags = OP_SHARED;
	gather_add(g, &op);
	flush();
	text = words(seen.calls[0]);
	ck_assert_str_eq(text + strlen(text) - strlen(end), end);
	gather_drop(g, seen.calls[0]);
	gather_free(g);
}
END_TEST

START_TEST(names_are_bytes)
{
	struct op op = make(OP_STATUS, 1, "a\0 b\r\n");
	struct call *call;

	begin_plain();
	op.name_len = 6;
	gather_add(g, &op);
	flush();
	call = seen.calls[0];
	ck_assert_uint_eq(call->argvlen[CALL_HEAD + 2], 11);
	ck_assert_mem_eq(call->argv[CALL_HEAD + 2], "lock:a\0 b\r\n", 11);
	gather_drop(g, call);
	gather_free(g);
}
END_TEST

START_TEST(keys_of_a_cluster_have_a_tag)
{
	struct store_config c = plain();
	struct op op = make(OP_ACQUIRE, 1, "n");

	c.tagged = true;
	c.shards = 256;
	begin(&c);
	op.shard = 17;
	op.flags = OP_QUEUE;
	gather_add(g, &op);
	flush();
	ck_assert_uint_eq(seen.calls[0]->shard, 17);
	ck_assert_str_eq(words(seen.calls[0]),
	    "EVALSHA  5 lock:{17}:@guard lock:{17}:@fence lock:{17}:n "
	    "lock:{17}:@queue:n lock:{17}:@shared:n " COMMON(
		"0", "10") " grab 13000 3 q 7");
	gather_drop(g, seen.calls[0]);
	gather_free(g);
}
END_TEST

START_TEST(what_keeps_goes_first)
{
	struct op op = make(OP_RENEW, 4, "c");

	begin_plain();
	add(OP_ACQUIRE, 1, "a");
	add(OP_END, 2, "b");
	add(OP_ACQUIRE, 3, "c");
	op.timeout_ms = 100;
	gather_add(g, &op);
	flush();
	ck_assert_uint_eq(seen.ncalls, 2);
	ck_assert_int_eq(seen.calls[0]->script, SCRIPT_KEEP);
	ck_assert_uint_eq(seen.calls[0]->nops, 2);
	ck_assert_uint_eq(seen.calls[0]->ids[0], 2);
	ck_assert_uint_eq(seen.calls[0]->ids[1], 4);
	ck_assert_int_eq(seen.calls[0]->timeout_ms, 100);
	ck_assert_uint_eq(seen.calls[1]->ids[0], 1);
	ck_assert_uint_eq(seen.calls[1]->ids[1], 3);
	/* A nonce is never the same again. */
	ck_assert_mem_ne(seen.calls[0]->args[0], seen.calls[1]->args[0], 16);
	gather_drop(g, seen.calls[0]);
	gather_drop(g, seen.calls[1]);
	gather_free(g);
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

	begin_plain();
	for (i = 0; i < size_rows[_i].renewals; i++)
		add(OP_RENEW, i, "n");
	for (i = 0; i < size_rows[_i].ends; i++)
		add(OP_END, i, "n");
	flush();
	for (i = 0; i < 4 && size_rows[_i].sizes[i] > 0; i++) {
		ck_assert_uint_gt(seen.ncalls, i);
		ck_assert_uint_eq(seen.calls[i]->nops, size_rows[_i].sizes[i]);
		gather_drop(g, seen.calls[i]);
	}
	ck_assert_uint_eq(seen.ncalls, i);
	gather_free(g);
}
END_TEST

/* The longest call there can be: nothing is cut, nothing moves. */
START_TEST(long_names_fit)
{
	char name[256];
	unsigned i;

	begin_plain();
	memset(name, 'x', 255);
	name[255] = '\0';
	for (i = 0; i < CALL_RENEWALS_MAX; i++) {
		name[0] = (char)('a' + i % 26);
		add(OP_RENEW, i, name);
	}
	flush();
	ck_assert_uint_eq(seen.ncalls, 1);
	ck_assert_int_eq(
	    seen.calls[0]->argc, CALL_HEAD + CALL_KEYS_MAX + CALL_ARGS_MAX);
	for (i = 0; i < CALL_RENEWALS_MAX; i++) {
		const char *key = seen.calls[0]->argv[CALL_HEAD + 2 + 3 * i];

		ck_assert_int_eq(key[5], 'a' + (int)i % 26);
		ck_assert_int_eq(key[6], 'x');
		ck_assert_uint_eq(
		    seen.calls[0]->argvlen[CALL_HEAD + 2 + 3 * i], 260);
	}
	gather_drop(g, seen.calls[0]);
	gather_free(g);
}
END_TEST

START_TEST(a_name_keeps_its_lane)
{
	struct store_config c = plain();
	uint32_t lanes[64], used = 0;
	char name[16];
	unsigned i, round;

	c.lanes = 4;
	begin(&c);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < 64; i++) {
			(void)snprintf(name, sizeof(name), "n%u", i);
			add(round ? OP_END : OP_ACQUIRE, i, name);
			flush();
			ck_assert_uint_eq(seen.ncalls, 1);
			if (round == 0)
				lanes[i] = seen.calls[0]->lane;
			ck_assert_uint_eq(seen.calls[0]->lane, lanes[i]);
			used |= 1u << lanes[i];
			gather_drop(g, seen.calls[0]);
		}
	}
	ck_assert_uint_eq(used, 15);
	gather_free(g);
}
END_TEST

/* ---- answers ---- */

/*
 * A reply from a text: [ ] is an array, a word a string, :N an integer, _ a
 * nil, -TEXT an error to the end.
 */
static redisReply *
reply_parse(const char **at)
{
	redisReply *r = calloc(1, sizeof(*r));
	const char *s = *at;
	size_t n;

	s += strspn(s, " ");
	n = strcspn(s, " ]");
	if (*s == '[') {
		r->type = REDIS_REPLY_ARRAY;
		r->element = calloc(256, sizeof(redisReply *));
		s++;
		for (s += strspn(s, " "); *s != ']'; s += strspn(s, " "))
			r->element[r->elements++] = reply_parse(&s);
		*at = s + 1;
		return r;
	}
	r->type = *s == ':'   ? REDIS_REPLY_INTEGER
		  : *s == '_' ? REDIS_REPLY_NIL
		  : *s == '-' ? REDIS_REPLY_ERROR
			      : REDIS_REPLY_STRING;
	if (*s == '-')
		n = strlen(s);
	if (*s == ':')
		r->integer = atoll(s + 1);
	r->str = strndup(*s == '-' ? s + 1 : s, *s == '-' ? n - 1 : n);
	r->len = strlen(r->str);
	*at = s + n;
	return r;
}

static void
reply_free(redisReply *r)
{
	size_t i;

	for (i = 0; i < r->elements; i++)
		reply_free(r->element[i]);
	free(r->element);
	free(r->str);
	free(r);
}

static enum call_verdict
answer(enum op_kind kind, unsigned n, const char *text)
{
	enum call_verdict verdict;
	redisReply *r;
	unsigned i;

	for (i = 0; i < n; i++)
		add(kind, 10 + i, "n");
	flush();
	ck_assert_uint_eq(seen.ncalls, 1);
	seen.calls[0]->sent_ms = 1234;
	r = reply_parse(&text);
	verdict = call_finish(g, seen.calls[0], r, false, &handler, &seen);
	reply_free(r);
	ck_assert_uint_eq(seen.told, n);
	for (i = 0; i < n; i++)
		ck_assert_uint_eq(seen.ids[i], 10 + i);
	ck_assert_int_eq(seen.sent_ms, 1234);
	return verdict;
}

static const struct {
	enum op_kind kind;
	const char *reply;
	enum guard_state guard; /* UNKNOWN: not told */
	enum outcome_status status;
	uint64_t fence;
	int64_t ttl_ms;
	bool waiting;
	const char *text;
} answer_rows[] = {
	{ OP_ACQUIRE, "[[blessed _ :0 :9] [granted :8 :0 :1]]", GUARD_BLESSED,
	    OUTCOME_GRANTED, 8, 0, true, "" },
	{ OP_ACQUIRE, "[[blessed x] [queued :0 :4500]]", GUARD_BLESSED,
	    OUTCOME_QUEUED, 0, 4500, false, "" },
	{ OP_ACQUIRE, "[[blessed] [queued :0 :-1]]", GUARD_BLESSED,
	    OUTCOME_QUEUED, 0, -1, false, "" },
	{ OP_ACQUIRE, "[[blessed] [foreign :0 :7]]", GUARD_BLESSED,
	    OUTCOME_FOREIGN, 0, 7, false, "" },
	{ OP_ACQUIRE, "[[pending r:n :1 :0] [pending]]", GUARD_PENDING,
	    OUTCOME_PENDING, 0, 0, false, "" },
	{ OP_ACQUIRE, "[[blessed] [refused :0 :0 :0 WRONGTYPE]]", GUARD_BLESSED,
	    OUTCOME_REFUSED, 0, 0, false, "WRONGTYPE" },
	{ OP_RENEW, "[[blessed x :0 9007199254740991] [renewed 17]]",
	    GUARD_BLESSED, OUTCOME_RENEWED, 17, 0, false, "" },
	{ OP_RENEW, "[[blessed] [lost]]", GUARD_BLESSED, OUTCOME_LOST, 0, 0,
	    false, "" },
	{ OP_CONFIRM, "[[blessed] [granted :5]]", GUARD_BLESSED,
	    OUTCOME_GRANTED, 5, 0, false, "" },
	{ OP_CONVERT, "[[blessed] [busy :0 :99 :1]]", GUARD_BLESSED,
	    OUTCOME_BUSY, 0, 99, true, "" },
	{ OP_END, "[[blessed] [ended]]", GUARD_BLESSED, OUTCOME_ENDED, 0, 0,
	    false, "" },
	{ OP_END, "[[pending r:n] [gone]]", GUARD_PENDING, OUTCOME_GONE, 0, 0,
	    false, "" },
	{ OP_STATUS, "[[blessed] [value :0 :-2 :0 abc]]", GUARD_BLESSED,
	    OUTCOME_VALUE, 0, -2, false, "abc" },
	{ OP_BLESS, "[[blessed] [done]]", GUARD_BLESSED, OUTCOME_DONE, 0, 0,
	    false, "" },
	/* The guard said no before any operation. */
	{ OP_ACQUIRE, "[[readonly _]]", GUARD_READONLY, OUTCOME_REFUSED, 0, 0,
	    false, "Redis is a read-only replica" },
	{ OP_RENEW, "[[clock 99999]]", GUARD_CLOCK, OUTCOME_REFUSED, 0, 0,
	    false, "the clock of Redis is too far ahead for fences" },
	{ OP_ACQUIRE, "[[config v1,lease=5000,replicas=0]]", GUARD_CONFIG,
	    OUTCOME_REFUSED, 0, 0, false,
	    "other brokers on this Redis use v1,lease=5000,replicas=0, this"
	    " one v1,lease=10000,replicas=2" },
	/* Not the answer of our script. */
	{ OP_ACQUIRE, "[]", GUARD_UNKNOWN, OUTCOME_UNKNOWN, 0, 0, false, "" },
	{ OP_ACQUIRE, "[[]]", GUARD_UNKNOWN, OUTCOME_UNKNOWN, 0, 0, false, "" },
	{ OP_ACQUIRE, "OK", GUARD_UNKNOWN, OUTCOME_UNKNOWN, 0, 0, false, "" },
	{ OP_ACQUIRE, "[[blessed]]", GUARD_UNKNOWN, OUTCOME_UNKNOWN, 0, 0,
	    false, "" },
	{ OP_ACQUIRE, "[[unknown] [granted :5]]", GUARD_UNKNOWN,
	    OUTCOME_UNKNOWN, 0, 0, false, "" },
	{ OP_ACQUIRE, "[[blessed] [granted :5] [granted :6]]", GUARD_UNKNOWN,
	    OUTCOME_UNKNOWN, 0, 0, false, "" },
	{ OP_ACQUIRE, "[[blessed] [granted]]", GUARD_UNKNOWN, OUTCOME_UNKNOWN,
	    0, 0, false, "" },
	{ OP_ACQUIRE, "[[blessed] [granted :-5]]", GUARD_UNKNOWN,
	    OUTCOME_UNKNOWN, 0, 0, false, "" },
	{ OP_ACQUIRE, "[[blessed] [granted 5x]]", GUARD_UNKNOWN,
	    OUTCOME_UNKNOWN, 0, 0, false, "" },
	{ OP_ACQUIRE, "[[blessed] [granted 99007199254740993]]", GUARD_UNKNOWN,
	    OUTCOME_UNKNOWN, 0, 0, false, "" },
	{ OP_ACQUIRE, "[[blessed] [renewed :5]]", GUARD_UNKNOWN,
	    OUTCOME_UNKNOWN, 0, 0, false, "" },
	{ OP_ACQUIRE, "[[blessed] [unsent]]", GUARD_UNKNOWN, OUTCOME_UNKNOWN, 0,
	    0, false, "" },
	{ OP_ACQUIRE, "[[blessed] [busy [:5]]]", GUARD_UNKNOWN, OUTCOME_UNKNOWN,
	    0, 0, false, "" },
	{ OP_ACQUIRE, "[[blessed] granted]", GUARD_UNKNOWN, OUTCOME_UNKNOWN, 0,
	    0, false, "" },
	/* Redis itself. */
	{ OP_ACQUIRE, "-BUSY Redis is busy", GUARD_UNKNOWN, OUTCOME_REFUSED, 0,
	    0, false, "Redis is busy with a script: SCRIPT KILL ends it" },
	{ OP_ACQUIRE, "-READONLY You can't write", GUARD_READONLY,
	    OUTCOME_REFUSED, 0, 0, false,
	    "Redis is a read-only replica: redis.nodes must name the master,"
	    " or its Sentinels" },
	{ OP_ACQUIRE, "-ERR max number of clients reached", GUARD_UNKNOWN,
	    OUTCOME_REFUSED, 0, 0, false,
	    "Redis has too many connections: raise its maxclients" },
	{ OP_ACQUIRE, "-BUSYKEY Target key", GUARD_UNKNOWN, OUTCOME_UNKNOWN, 0,
	    0, false, "" },
	{ OP_ACQUIRE, "-ERR user_script:12: attempt", GUARD_UNKNOWN,
	    OUTCOME_UNKNOWN, 0, 0, false, "" },
	{ OP_ACQUIRE, "-", GUARD_UNKNOWN, OUTCOME_UNKNOWN, 0, 0, false, "" },
};

START_TEST(answers_are_taken_apart)
{
	const struct outcome *o = &seen.outcomes[0];

	begin_plain();
	answer(answer_rows[_i].kind, 1, answer_rows[_i].reply);
	ck_assert_int_eq(o->status, answer_rows[_i].status);
	ck_assert_uint_eq(
	    seen.guards, answer_rows[_i].guard == GUARD_UNKNOWN ? 0 : 1);
	ck_assert_int_eq(seen.guard.state, answer_rows[_i].guard);
	ck_assert_uint_eq(o->fence, answer_rows[_i].fence);
	ck_assert_int_eq(o->ttl_ms, answer_rows[_i].ttl_ms);
	ck_assert_int_eq(o->waiting, answer_rows[_i].waiting);
	ck_assert_str_eq(seen.text[0], answer_rows[_i].text);
	gather_free(g);
}
END_TEST

static const struct {
	enum op_kind kind;
	const char *reply;
	enum outcome_status status;
	uint64_t first, second;
} number_rows[] = {
	{ OP_TAKE, "[[blessed] [taken :0 :-1 :1 _ :3 :2]]", OUTCOME_TAKEN, 3,
	    2 },
	{ OP_TAKE, "[[blessed] [queued :0 :90 :0 _ :1]]", OUTCOME_QUEUED, 1,
	    0 },
	{ OP_HOLD, "[[pending r:n] [kept :0 :-1 :0 _ :3 9007199254740991]]",
	    OUTCOME_KEPT, 3, UINT64_C(9007199254740991) },
	{ OP_HOLD, "[[blessed] [taken :0 :-1 :0 _ :3 :2]]", OUTCOME_UNKNOWN, 0,
	    0 },
	{ OP_LATCH, "[[blessed] [made]]", OUTCOME_MADE, 0, 0 },
	{ OP_LATCH, "[[blessed] [exists]]", OUTCOME_EXISTS, 0, 0 },
	{ OP_COUNTDOWN, "[[blessed] [counted :0 :0 :0 _ :3 :2]]",
	    OUTCOME_COUNTED, 3, 2 },
	{ OP_COUNTDOWN, "[[blessed] [counted :0 :0 :0 _ :-3 :2]]",
	    OUTCOME_UNKNOWN, 0, 0 },
	{ OP_AWAIT, "[[blessed] [gone]]", OUTCOME_GONE, 0, 0 },
	{ OP_ARRIVE, "[[blessed] [tripped :70 :-1 :0 _ :2 :1]]",
	    OUTCOME_TRIPPED, 2, 1 },
	{ OP_PARTY, "[[pending r:n] [broken :70]]", OUTCOME_BROKEN, 0, 0 },
	{ OP_PARTY, "[[blessed] [mismatch]]", OUTCOME_UNKNOWN, 0, 0 },
	{ OP_LEAVE, "[[blessed] [ended]]", OUTCOME_ENDED, 0, 0 },
};

START_TEST(answers_have_two_numbers)
{
	const struct outcome *o = &seen.outcomes[0];

	begin_plain();
	answer(number_rows[_i].kind, 1, number_rows[_i].reply);
	ck_assert_int_eq(o->status, number_rows[_i].status);
	ck_assert_uint_eq(o->first, number_rows[_i].first);
	ck_assert_uint_eq(o->second, number_rows[_i].second);
	gather_free(g);
}
END_TEST

START_TEST(one_bad_result_spoils_the_call)
{
	begin_plain();
	ck_assert_int_eq(answer(OP_ACQUIRE, 3,
			     "[[blessed] [granted :5] [busy :0 :1] [what]]"),
	    CALL_MALFORMED);
	ck_assert_int_eq(seen.outcomes[0].status, OUTCOME_UNKNOWN);
	ck_assert_uint_eq(seen.outcomes[0].fence, 0);
	ck_assert_uint_eq(gather_seen(g, 0), 0);
	gather_free(g);
}
END_TEST

START_TEST(no_answer_is_an_answer)
{
	begin_plain();
	add(OP_ACQUIRE, 1, "a");
	add(OP_ACQUIRE, 2, "b");
	flush();
	ck_assert_int_eq(
	    call_finish(g, seen.calls[0], NULL, false, &handler, &seen),
	    CALL_LOST);
	ck_assert_uint_eq(seen.told, 2);
	ck_assert_int_eq(seen.outcomes[1].status, OUTCOME_UNKNOWN);
	add(OP_ACQUIRE, 3, "c");
	flush();
	ck_assert_int_eq(
	    call_finish(g, seen.calls[0], NULL, true, &handler, &seen),
	    CALL_UNSENT);
	ck_assert_int_eq(seen.outcomes[2].status, OUTCOME_UNSENT);
	ck_assert_uint_eq(seen.guards, 0);
	gather_free(g);
}
END_TEST

START_TEST(the_highest_fence_is_passed_on)
{
	begin_plain();
	answer(OP_ACQUIRE, 1,
	    "[[blessed _ :0 :41 :1763692800123 0123456789abcdef] [granted :40]]");
	ck_assert_int_eq(seen.guard.server_ms, 1763692800123);
	ck_assert_mem_eq(seen.guard.history, "0123456789abcdef", 16);
	ck_assert_uint_eq(gather_seen(g, 0), 41);
	seen.told = 0;
	answer(OP_RENEW, 1, "[[blessed _ :0 :7] [renewed :52]]");
	ck_assert_uint_eq(gather_seen(g, 0), 52);
	gather_saw(g, 0, 60);
	gather_saw(g, 0, 3);
	add(OP_HEARTBEAT, 1, NULL);
	flush();
	ck_assert_str_eq(
	    words(seen.calls[0]), "EVALSHA  2 lock:@guard lock:@fence " COMMON(
				      "60", "5") " heartbeat  2");
	gather_drop(g, seen.calls[0]);
	gather_free(g);
}
END_TEST

struct doubt {
	enum op_kind kind;
	const char *answer;
	enum outcome_status status;
};

static const struct doubt doubts[] = {
	{ OP_ACQUIRE, "[[blessed] [granted :5]]", OUTCOME_UNKNOWN },
	{ OP_RENEW, "[[blessed] [renewed :5]]", OUTCOME_UNKNOWN },
	{ OP_TAKE, "[[blessed] [taken :5]]", OUTCOME_UNKNOWN },
	{ OP_HOLD, "[[blessed] [kept :5]]", OUTCOME_UNKNOWN },
	{ OP_LATCH, "[[blessed] [made :5]]", OUTCOME_UNKNOWN },
	{ OP_COUNTDOWN, "[[blessed] [counted :5]]", OUTCOME_UNKNOWN },
	{ OP_ARRIVE, "[[blessed] [waiting :5]]", OUTCOME_UNKNOWN },
	{ OP_PARTY, "[[blessed] [tripped :5]]", OUTCOME_UNKNOWN },
	{ OP_RENEW, "[[blessed] [lost :5]]", OUTCOME_LOST },
	{ OP_ACQUIRE, "[[blessed] [queued :5]]", OUTCOME_QUEUED },
	{ OP_END, "[[blessed] [ended :5]]", OUTCOME_ENDED },
	{ OP_END, "[[blessed] [gone :5]]", OUTCOME_GONE },
	{ OP_AWAIT, "[[blessed] [gone :5]]", OUTCOME_UNKNOWN },
	{ OP_COUNTDOWN, "[[blessed] [gone :5]]", OUTCOME_UNKNOWN },
};

START_TEST(too_few_replicas_make_a_grant_unknown)
{
	const char *text = doubts[_i].answer;
	redisReply *r = reply_parse(&text);

	begin_plain();
	add(doubts[_i].kind, 1, "a");
	flush();
	ck_assert_int_eq(call_decode(seen.calls[0], r, false), CALL_ANSWERED);
	reply_free(r);
	call_doubt(seen.calls[0]);
	call_deliver(g, seen.calls[0], &handler, &seen);
	ck_assert_int_eq(seen.outcomes[0].status, doubts[_i].status);
	ck_assert_uint_eq(seen.guards, 1);
	ck_assert_uint_ge(gather_seen(g, 0), 5);
	gather_free(g);
}
END_TEST

static void
send_and_add(void *arg, struct call *call)
{
	on_send(arg, call);
	add(OP_ACQUIRE, 99, "later");
}

START_TEST(what_send_adds_waits_for_the_next_flush)
{
	begin_plain();
	add(OP_ACQUIRE, 1, "a");
	add(OP_RENEW, 2, "b");
	gather_flush(g, send_and_add, &seen);
	ck_assert_uint_eq(seen.ncalls, 2);
	gather_drop(g, seen.calls[0]);
	gather_drop(g, seen.calls[1]);
	ck_assert(!gather_empty(g));
	flush();
	ck_assert_uint_eq(seen.ncalls, 1);
	ck_assert_uint_eq(seen.calls[0]->nops, 2);
	gather_drop(g, seen.calls[0]);
	gather_free(g);
}
END_TEST

START_TEST(calls_are_used_again)
{
	struct call *first;

	begin_plain();
	answer(OP_ACQUIRE, 1, "[[blessed] [granted :5]]");
	first = seen.calls[0];
	seen.told = 0;
	answer(OP_END, 1, "[[blessed] [ended]]");
	ck_assert_ptr_eq(seen.calls[0], first);
	ck_assert_uint_eq(first->nops, 1);
	gather_free(g);
}
END_TEST

static TCase *
store_cases(void)
{
	TCase *tc = tcase_create("store");

	tcase_add_loop_test(
	    tc, each_operation_has_its_words, 0, COUNT(op_rows));
	tcase_add_loop_test(tc, some_may_be_shared, 0, COUNT(shared_rows));
	tcase_add_test(tc, names_are_bytes);
	tcase_add_test(tc, keys_of_a_cluster_have_a_tag);
	tcase_add_test(tc, what_keeps_goes_first);
	tcase_add_loop_test(tc, calls_have_a_bound, 0, COUNT(size_rows));
	tcase_add_test(tc, long_names_fit);
	tcase_add_test(tc, a_name_keeps_its_lane);
	tcase_add_loop_test(tc, answers_are_taken_apart, 0, COUNT(answer_rows));
	tcase_add_loop_test(
	    tc, answers_have_two_numbers, 0, COUNT(number_rows));
	tcase_add_test(tc, one_bad_result_spoils_the_call);
	tcase_add_test(tc, no_answer_is_an_answer);
	tcase_add_test(tc, the_highest_fence_is_passed_on);
	tcase_add_loop_test(
	    tc, too_few_replicas_make_a_grant_unknown, 0, (int)COUNT(doubts));
	tcase_add_test(tc, what_send_adds_waits_for_the_next_flush);
	tcase_add_test(tc, calls_are_used_again);
	return tc;
}

int
main(void)
{
	static const suite_case cases[] = { store_cases, rows_cases,
		growth_cases };
	return suite_run("store", cases, COUNT(cases));
}
