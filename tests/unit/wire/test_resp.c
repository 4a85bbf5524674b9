/*
 * Requests and answers in RESP.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "suite.h"
#include "test_wire.h"
#include "wire/resp_value.h"

#define PING "*1\r\n$4\r\nPING\r\n"
#define LOCK_A "*2\r\n$4\r\nLOCK\r\n$1\r\na\r\n"

/* What the first bytes of a stream are taken for. */
static const struct framing {
	const char *in;
	enum frame_status status;
	size_t size;	 /* WHOLE */
	const char *why; /* REFUSED: the text after "Protocol error: " */
} framings[] = {
	{ PING, FRAME_WHOLE, sizeof(PING) - 1, NULL },
	{ PING PING, FRAME_WHOLE, sizeof(PING) - 1, NULL },
	{ LOCK_A "x", FRAME_WHOLE, sizeof(LOCK_A) - 1, NULL },
	{ "*0\r\n*1", FRAME_WHOLE, 4, NULL },
	{ "*-1\r\n", FRAME_WHOLE, 5, NULL },
	{ "*1\r\n$0\r\n\r\n", FRAME_WHOLE, 10, NULL },
	{ "*", FRAME_PART, 0, NULL },
	{ "*1", FRAME_PART, 0, NULL },
	{ "*1\r", FRAME_PART, 0, NULL },
	{ "*1\r\n", FRAME_PART, 0, NULL },
	{ "*1\r\n$", FRAME_PART, 0, NULL },
	{ "*1\r\n$4\r\nPING", FRAME_PART, 0, NULL },
	{ "*1\r\n$4\r\nPING\r", FRAME_PART, 0, NULL },
	{ "*64\r\n", FRAME_PART, 0, NULL },
	{ "*1\r\n$65522\r\n", FRAME_PART, 0, NULL },
	{ "*513\r\n", FRAME_REFUSED, 0, "invalid multibulk length" },
	{ "*65\r\n*", FRAME_REFUSED, 0, "invalid multibulk length" },
	{ "*65\r\n$3\r\nDEL\r\n", FRAME_REFUSED, 0,
	    "invalid multibulk length" },
	{ "*65\r\n$7\r\nevalsha\r\n", FRAME_PART, 0, NULL },
	{ "*1000000000\r\n", FRAME_REFUSED, 0, "invalid multibulk length" },
	{ "*99999999999999999999\r\n", FRAME_REFUSED, 0,
	    "invalid multibulk length" },
	{ "*x\r\n", FRAME_REFUSED, 0, "invalid multibulk length" },
	{ "*\r\n", FRAME_REFUSED, 0, "invalid multibulk length" },
	{ "*\n", FRAME_REFUSED, 0, "invalid multibulk length" },
	{ "*01\r\n", FRAME_REFUSED, 0, "invalid multibulk length" },
	{ "*1\n", FRAME_REFUSED, 0, "invalid multibulk length" },
	{ "*+1\r\n", FRAME_REFUSED, 0, "invalid multibulk length" },
	{ "*1\r\nPING\r\n", FRAME_REFUSED, 0, "expected '$', got 'P'" },
	{ "*1\r\n\r\n", FRAME_REFUSED, 0, "expected '$', got '?'" },
	{ "*1\r\n$-1\r\n", FRAME_REFUSED, 0, "invalid bulk length" },
	{ "*1\r\n$x\r\n", FRAME_REFUSED, 0, "invalid bulk length" },
	{ "*1\r\n$65523\r\n", FRAME_REFUSED, 0, "invalid bulk length" },
	{ "*1\r\n$999999999\r\n", FRAME_REFUSED, 0, "invalid bulk length" },
	{ "*1\r\n$4\r\nPINGxx", FRAME_REFUSED, 0,
	    "expected CRLF behind a string" },
	{ "*111111111111111111111111", FRAME_REFUSED, 0,
	    "too big mbulk count string" },
	{ "*1\r\n$111111111111111111111111", FRAME_REFUSED, 0,
	    "too big bulk count string" },
	{ "PING\r\n", FRAME_REFUSED, 0, "expected '*', got 'P'" },
};

static void
check_framing(const struct framing *x, enum frame_status status,
    const struct wire_frame *f, enum err_code code, struct buf *why)
{
	char expected[128];

	ck_assert_int_eq(status, x->status);
	if (status == FRAME_WHOLE)
		ck_assert_uint_eq(f->size, x->size);
	if (status != FRAME_REFUSED) {
		ck_assert_int_eq(code, ERR_NONE);
		ck_assert_uint_eq(buf_len(why), 0);
		return;
	}
	snprintf(expected, sizeof(expected), "Protocol error: %s", x->why);
	buf_addc(why, '\0');
	ck_assert_str_eq(buf_data(why), expected);
	ck_assert_int_eq(code, ERR_BAD_REQUEST);
}

START_TEST(framing)
{
	const struct framing *x = &framings[_i];
	enum frame_status status = FRAME_PART;
	struct wire_frame f = { NULL, 0, 0 };
	enum err_code code = ERR_NONE;
	size_t have, scanned = 0;
	char *copy = NULL;
	struct buf why;

	buf_init(&why);
	/* Bytes that come one by one, in memory that ends with them. */
	for (have = 1; have <= strlen(x->in) && status == FRAME_PART; have++) {
		free(copy);
		copy = xmalloc(have);
		memcpy(copy, x->in, have);
		status =
		    wire_resp2.frame(&f, copy, have, 64, &scanned, &code, &why);
	}
	free(copy);
	check_framing(x, status, &f, code, &why);
	buf_clear(&why);
	code = ERR_NONE;
	status = wire_resp3.frame(
	    &f, x->in, strlen(x->in), 64, &scanned, &code, &why);
	check_framing(x, status, &f, code, &why);
	buf_fini(&why);
}
END_TEST

/* An array of the words of a text; "" is an empty array. */
static void
encode(struct buf *b, const char *text)
{
	const char *p, *end;
	size_t n = 1;

	for (p = text; *p != '\0'; p++)
		n += *p == ' ';
	resp_array(b, n);
	for (p = text; n > 0; n--, p = end + 1) {
		end = strchr(p, ' ');
		if (end == NULL)
			end = p + strlen(p);
		resp_bulk(b, (struct span){ p, (size_t)(end - p) });
	}
}

static enum request_status
parse(struct request *r, struct buf *in, enum err_code *code, struct buf *why)
{
	size_t scanned = 0;
	struct wire_frame f;

	*code = ERR_NONE;
	buf_clear(why);
	ck_assert_int_eq(wire_resp2.frame(&f, buf_data(in), buf_len(in), 64,
			     &scanned, code, why),
	    FRAME_WHOLE);
	return wire_resp2.parse(r, f.p, f.n, code, why);
}

/* Words in RESP and the request that they make. */
static const struct asking {
	const char *words;
	enum request_status status;
	enum verb_id verb;
	enum err_code code;
} askings[] = {
	{ "LOCK a", REQUEST_OK, VERB_LOCK, ERR_NONE },
	{ "lock a b wait=5s MODE=shared", REQUEST_OK, VERB_LOCK, ERR_NONE },
	{ "VALID", REQUEST_OK, VERB_VALID, ERR_NONE },
	{ "UNLOCK-FORCE a", REQUEST_OK, VERB_UNLOCK_FORCE, ERR_NONE },
	{ "OBSERVE a", REQUEST_OK, VERB_WATCH, ERR_NONE },
	{ "unobserve a", REQUEST_OK, VERB_UNWATCH, ERR_NONE },
	{ "LOCK", REQUEST_BAD, VERB_LOCK, ERR_BAD_REQUEST },
	{ "LOCK ", REQUEST_BAD, VERB_LOCK, ERR_BAD_NAME },
	{ "LOCK a a", REQUEST_BAD, VERB_LOCK, ERR_BAD_REQUEST },
	{ "LOCK @a", REQUEST_BAD, VERB_LOCK, ERR_BAD_NAME },
	{ "LOCK a wait=5", REQUEST_BAD, VERB_LOCK, ERR_BAD_OPTION },
	{ "LOCK a count=5", REQUEST_BAD, VERB_LOCK, ERR_BAD_OPTION },
	{ "LOCK a\nb", REQUEST_BAD, VERB_LOCK, ERR_BAD_NAME },
	{ "LOCK a wait=\n", REQUEST_BAD, VERB_LOCK, ERR_BAD_REQUEST },
	/* Commands that Redis knows, or nobody. */
	{ "PING", REQUEST_FOREIGN, VERB_MAX, ERR_NONE },
	{ "QUIT", REQUEST_FOREIGN, VERB_MAX, ERR_NONE },
	{ "AUTH a b", REQUEST_FOREIGN, VERB_MAX, ERR_NONE },
	{ "WATCH a", REQUEST_FOREIGN, VERB_MAX, ERR_NONE },
	{ "UNWATCH", REQUEST_FOREIGN, VERB_MAX, ERR_NONE },
	{ "CANCEL a", REQUEST_FOREIGN, VERB_MAX, ERR_NONE },
	{ "GET a", REQUEST_FOREIGN, VERB_MAX, ERR_NONE },
	{ "@t LOCK a", REQUEST_FOREIGN, VERB_MAX, ERR_NONE },
	{ "", REQUEST_FOREIGN, VERB_MAX, ERR_NONE },
};

START_TEST(asking)
{
	const struct asking *x = &askings[_i];
	enum err_code code;
	struct buf in, why;
	struct request r;

	buf_init(&in);
	buf_init(&why);
	encode(&in, x->words);
	ck_assert_int_eq(parse(&r, &in, &code, &why), x->status);
	ck_assert_int_eq(r.verb, x->verb);
	ck_assert_int_eq(code, x->code);
	ck_assert_uint_eq(r.tag.n, 0);
	buf_fini(&in);
	buf_fini(&why);
}
END_TEST

START_TEST(words_hold_any_bytes)
{
	static const char in[] = "*3\r\n$4\r\nLOCK\r\n$3\r\na b\r\n$1\r\nc\r\n";
	enum err_code code;
	struct buf b, why;
	struct request r;

	buf_init(&b);
	buf_init(&why);
	buf_add(&b, in, sizeof(in) - 1);
	ck_assert_int_eq(parse(&r, &b, &code, &why), REQUEST_BAD);
	ck_assert_int_eq(code, ERR_BAD_NAME);
	buf_clear(&b);
	encode(&b, "GET a");
	ck_assert_int_eq(parse(&r, &b, &code, &why), REQUEST_FOREIGN);
	ck_assert_uint_eq(r.nwords, 2);
	ck_assert_int_eq(memcmp(r.words[1].p, "a", 1), 0);
	buf_fini(&b);
	buf_fini(&why);
}
END_TEST

START_TEST(most_words)
{
	enum err_code code;
	struct buf b, why;
	struct request r;
	char name[8];
	unsigned i;

	buf_init(&b);
	buf_init(&why);
	resp_array(&b, NAMES_MAX);
	resp_word(&b, "LOCK");
	for (i = 1; i < NAMES_MAX; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		resp_word(&b, name);
	}
	ck_assert_int_eq(parse(&r, &b, &code, &why), REQUEST_OK);
	ck_assert_uint_eq(r.nwords, NAMES_MAX - 1);
	buf_fini(&b);
	buf_fini(&why);
}
END_TEST

/* Answers. */

static const char arena[] = "heldcron";

#define NUM(field, value)                           \
	{                                           \
		.id = FIELD_##field, .num = (value) \
	}

#define NONE                    \
	{                       \
		{               \
			.id = 0 \
		}               \
	}

/* A reply, and how it is written in RESP2 and in RESP3. */
static const struct answer {
	struct wire_reply reply;
	const struct field fields[3];
	const char *two, *three;
} answers[] = {
	{ { .verb = VERB_EXTEND, .status = STATUS_OK }, NONE, "+OK\r\n",
	    "+OK\r\n" },
	{ { .verb = VERB_LOCK, .status = STATUS_OK, .nfields = 2 },
	    { NUM(FENCE, 7), NUM(DEPTH, 1) }, ":7\r\n", ":7\r\n" },
	{ { .verb = VERB_TRYLOCK, .status = STATUS_OK, .nfields = 3 },
	    { NUM(FENCE, 7), NUM(FENCE, 9), NUM(DEPTH, 1) },
	    "*2\r\n:7\r\n:9\r\n", "*2\r\n:7\r\n:9\r\n" },
	{ { .verb = VERB_UNLOCK, .status = STATUS_OK, .nfields = 2 },
	    { NUM(DEPTH, 0), NUM(DEFERRED, 1) }, ":0\r\n", ":0\r\n" },
	{ { .verb = VERB_ACQUIRE, .status = STATUS_OK, .nfields = 2 },
	    { NUM(PERMITS, 3), NUM(FREE, 1) }, ":3\r\n", ":3\r\n" },
	{ { .verb = VERB_RELEASE, .status = STATUS_OK, .nfields = 1 },
	    { NUM(PERMITS, 0) }, ":0\r\n", ":0\r\n" },
	{ { .verb = VERB_LATCH, .status = STATUS_OK, .nfields = 1 },
	    { NUM(COUNT, 3) }, ":3\r\n", ":3\r\n" },
	{ { .verb = VERB_COUNTDOWN, .status = STATUS_OK, .nfields = 1 },
	    { NUM(COUNT, 2) }, ":2\r\n", ":2\r\n" },
	{ { .verb = VERB_VALID, .status = STATUS_OK, .nfields = 1 },
	    { NUM(VALID, 9000) }, ":9000\r\n", ":9000\r\n" },
	{ { .verb = VERB_VALID, .status = STATUS_OK }, NONE, "$-1\r\n",
	    "_\r\n" },
	{ { .verb = VERB_LOCK, .status = STATUS_BUSY }, NONE, "$-1\r\n",
	    "_\r\n" },
	{ { .verb = VERB_LOCK, .status = STATUS_TIMEOUT }, NONE, "$-1\r\n",
	    "_\r\n" },
	{ { .verb = VERB_LOCK, .status = STATUS_CANCELLED }, NONE, "$-1\r\n",
	    "_\r\n" },
	{ { .verb = VERB_STATUS, .status = STATUS_OK, .nfields = 3 },
	    { { .id = FIELD_STATE, .len = 4 }, NUM(WAITERS, 2),
		NUM(TTL, 1500) },
	    "*6\r\n$5\r\nstate\r\n$4\r\nheld\r\n$7\r\nwaiters\r\n:2\r\n"
	    "$3\r\nttl\r\n:1500\r\n",
	    "%3\r\n$5\r\nstate\r\n$4\r\nheld\r\n$7\r\nwaiters\r\n:2\r\n"
	    "$3\r\nttl\r\n:1500\r\n" },
	{ { .verb = VERB_UNLOCK,
	      .status = STATUS_ERR,
	      .code = ERR_NOT_HELD,
	      .text = { "x y", 3 } },
	    NONE, "-NOT-HELD x y\r\n", "-NOT-HELD x y\r\n" },
	{ { .verb = VERB_LOCK,
	      .status = STATUS_ERR,
	      .code = ERR_BAD_NAME,
	      .text = { "x\r\n", 3 } },
	    NONE, "-BAD-NAME x??\r\n", "-BAD-NAME x??\r\n" },
	{ { .verb = VERB_LOCK,
	      .status = STATUS_ERR,
	      .code = ERR_AUTH,
	      .text = { "x", 1 } },
	    NONE, "-NOAUTH Authentication required.\r\n",
	    "-NOAUTH Authentication required.\r\n" },
	{ { .verb = VERB_LOCK,
	      .status = STATUS_ERR,
	      .code = ERR_DENIED,
	      .text = { "x", 1 } },
	    NONE, "-NOPERM No permissions to access a key: x\r\n",
	    "-NOPERM No permissions to access a key: x\r\n" },
	{ { .verb = VERB_STATS,
	      .status = STATUS_ERR,
	      .code = ERR_DENIED,
	      .text = { "x", 1 } },
	    NONE, "-NOPERM No permissions to run it: x\r\n",
	    "-NOPERM No permissions to run it: x\r\n" },
	/* None of our verbs is about this. */
	{ { .verb = VERB_MAX,
	      .status = STATUS_ERR,
	      .code = ERR_UNKNOWN_COMMAND,
	      .text = { "x", 1 } },
	    NONE, "-ERR x\r\n", "-ERR x\r\n" },
	{ { .verb = VERB_MAX,
	      .status = STATUS_ERR,
	      .code = ERR_BAD_NAME,
	      .text = { "x", 1 } },
	    NONE, "-ERR bad-name x\r\n", "-ERR bad-name x\r\n" },
	{ { .verb = VERB_MAX,
	      .status = STATUS_ERR,
	      .code = ERR_UNAVAILABLE,
	      .text = { "x", 1 } },
	    NONE, "-UNAVAILABLE x\r\n", "-UNAVAILABLE x\r\n" },
};

static void
expect(struct buf *b, const char *text)
{
	buf_addc(b, '\0');
	ck_assert_str_eq(buf_data(b), text);
	buf_clear(b);
}

START_TEST(answering)
{
	struct wire_reply reply = answers[_i].reply;
	struct buf b;

	reply.fields = answers[_i].fields;
	reply.arena = arena;
	buf_init(&b);
	wire_resp2.reply(&b, &reply);
	expect(&b, answers[_i].two);
	wire_resp3.reply(&b, &reply);
	expect(&b, answers[_i].three);
	buf_fini(&b);
}
END_TEST

START_TEST(events)
{
	const struct field fields[] = { NUM(FENCE, 7),
		{ .id = FIELD_REASON, .len = 4 } };
	const struct wire_event lost = { .id = EVENT_LOST,
		.name = { "job", 3 },
		.fields = fields,
		.nfields = 2,
		.arena = arena };
	const struct wire_event shutdown = { .id = EVENT_SHUTDOWN };
	struct buf b;

	buf_init(&b);
	wire_resp2.event(&b, &lost);
	ck_assert_uint_eq(buf_len(&b), 0);
	wire_resp3.event(&b, &lost);
	expect(&b, ">7\r\n$10\r\nlockbroker\r\n$4\r\nLOST\r\n$3\r\njob\r\n"
		   "$5\r\nfence\r\n:7\r\n$6\r\nreason\r\n$4\r\nheld\r\n");
	wire_resp3.event(&b, &shutdown);
	expect(&b, ">2\r\n$10\r\nlockbroker\r\n$8\r\nSHUTDOWN\r\n");
	buf_fini(&b);
}
END_TEST

START_TEST(rows)
{
	const struct field session = NUM(SESSION, 3);
	const struct wire_row row = { .word = { "holder", 6 },
		.name = { "a", 1 },
		.fields = &session,
		.nfields = 1 };
	struct wire_reply reply = { .verb = VERB_QUEUE, .status = STATUS_OK };
	struct buf b, out;

	buf_init(&b);
	buf_init(&out);
	wire_resp3.row(&b, &row);
	wire_resp3.rows(&out, &reply, 1, &b);
	expect(&out, "*1\r\n%3\r\n$4\r\nkind\r\n$6\r\nholder\r\n"
		     "$4\r\nname\r\n$1\r\na\r\n$7\r\nsession\r\n:3\r\n");
	buf_clear(&b);
	wire_resp2.row(&b, &row);
	wire_resp2.rows(&out, &reply, 1, &b);
	expect(&out, "*1\r\n*6\r\n$4\r\nkind\r\n$6\r\nholder\r\n"
		     "$4\r\nname\r\n$1\r\na\r\n$7\r\nsession\r\n:3\r\n");
	buf_clear(&b);
	wire_resp2.rows(&out, &reply, 0, &b);
	expect(&out, "*0\r\n");
	reply.verb = VERB_HELP;
	wire_resp2.row_text(&b, (struct span){ "PING - x", 8 });
	wire_resp2.rows(&out, &reply, 1, &b);
	expect(&out, "*1\r\n$8\r\nPING - x\r\n");
	buf_clear(&b);
	reply.verb = VERB_STATS;
	wire_resp3.row_number(&b, "clients", 5);
	wire_resp3.rows(&out, &reply, 1, &b);
	expect(&out, "%1\r\n$7\r\nclients\r\n:5\r\n");
	wire_resp2.rows(&out, &reply, 1, &b);
	expect(&out, "*2\r\n$7\r\nclients\r\n:5\r\n");
	buf_fini(&b);
	buf_fini(&out);
}
END_TEST

START_TEST(values)
{
	struct buf b;

	buf_init(&b);
	resp_int(&b, -1);
	resp_int(&b, INT64_MIN);
	expect(&b, ":-1\r\n:-9223372036854775808\r\n");
	resp_bulk(&b, (struct span){ NULL, 0 });
	expect(&b, "$0\r\n\r\n");
	resp_null_array(&b, false);
	resp_null_array(&b, true);
	expect(&b, "*-1\r\n_\r\n");
	resp_text(&b, false, (struct span){ "a", 1 });
	resp_text(&b, true, (struct span){ "a", 1 });
	expect(&b, "$1\r\na\r\n=5\r\ntxt:a\r\n");
	resp_push(&b, false, 3);
	resp_push(&b, true, 3);
	expect(&b, "*3\r\n>3\r\n");
	buf_fini(&b);
}
END_TEST

TCase *
resp_cases(void)
{
	TCase *tc = tcase_create("resp");

	tcase_add_loop_test(tc, framing, 0, COUNT(framings));
	tcase_add_loop_test(tc, asking, 0, COUNT(askings));
	tcase_add_test(tc, words_hold_any_bytes);
	tcase_add_test(tc, most_words);
	tcase_add_loop_test(tc, answering, 0, COUNT(answers));
	tcase_add_test(tc, events);
	tcase_add_test(tc, rows);
	tcase_add_test(tc, values);
	return tc;
}
