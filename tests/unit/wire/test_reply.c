/*
 * Replies, events and rows as lines.
 */
#include "config.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "test_wire.h"
#include "wire/protocol.h"

static const struct span no_tag = { NULL, 0 };
static const struct span tag7 = { "7", 1 };

static void
expect(struct buf *b, const char *text)
{
	buf_addc(b, '\0');
	ck_assert_str_eq(buf_data(b), text);
	buf_clear(b);
}

static struct span
span(const char *s)
{
	return (struct span){ s, strlen(s) };
}

static void
reply(struct buf *b, struct span tag, enum status status,
    const struct field *fields, size_t nfields, const char *arena)
{
	const struct wire_reply r = { .tag = tag,
		.verb = VERB_LOCK,
		.status = status,
		.fields = fields,
		.nfields = nfields,
		.arena = arena };

	wire_lines.reply(b, &r);
}

static void
error(struct buf *b, struct span tag, enum err_code code, struct span text)
{
	const struct wire_reply r = { .tag = tag,
		.verb = VERB_MAX,
		.status = STATUS_ERR,
		.code = code,
		.text = text };

	wire_lines.reply(b, &r);
}

static void
event(struct buf *b, enum event_id id, struct span name,
    const struct field *fields, size_t nfields, const char *arena)
{
	const struct wire_event e = { .id = id,
		.name = name,
		.fields = fields,
		.nfields = nfields,
		.arena = arena };

	wire_lines.event(b, &e);
}

START_TEST(statuses)
{
	struct buf b;

	buf_init(&b);
	reply(&b, no_tag, STATUS_OK, NULL, 0, NULL);
	expect(&b, "OK\r\n");
	reply(&b, tag7, STATUS_BUSY, NULL, 0, NULL);
	expect(&b, "@7 BUSY\r\n");
	reply(&b, no_tag, STATUS_TIMEOUT, NULL, 0, NULL);
	expect(&b, "TIMEOUT\r\n");
	reply(&b, tag7, STATUS_CANCELLED, NULL, 0, NULL);
	expect(&b, "@7 CANCELLED\r\n");
	buf_fini(&b);
}
END_TEST

/* Their number, then the common fields, then those of each name. */
START_TEST(rows)
{
	const char *arena = "shared";
	const struct field fields[] = { { FIELD_MODE, 0, 6, 0 },
		{ FIELD_WAITERS, 0, 0, 3 } };
	struct wire_row row = { .word = span("lock"), .name = span("a") };
	struct wire_reply head = { .tag = tag7, .verb = VERB_QUEUE };
	struct buf b, many;

	buf_init(&b);
	buf_init(&many);
	wire_lines.rows(&b, &head, 0, &many);
	expect(&b, "@7 OK lines=0\r\n");
	row.fields = fields;
	row.nfields = 1;
	row.arena = arena;
	wire_lines.row(&many, &row);
	row.word = no_tag;
	wire_lines.row(&many, &row);
	row = (struct wire_row){ .word = span("holder"),
		.fields = fields,
		.nfields = 1,
		.arena = arena };
	wire_lines.row(&many, &row);
	wire_lines.row_text(&many, span("PING - ask"));
	wire_lines.row_number(&many, "locks_held", 7);
	head.fields = fields + 1;
	head.nfields = 1;
	wire_lines.rows(&b, &head, 5, &many);
	error(&b, tag7, ERR_NOT_HELD, span("\"a\" is not held"));
	expect(&b, "@7 OK lines=5 waiters=3\r\nlock a mode=shared\r\n"
		   "a mode=shared\r\nholder mode=shared\r\nPING - ask\r\n"
		   "locks_held 7\r\n@7 ERR not-held \"a\" is not held\r\n");
	buf_fini(&b);
	buf_fini(&many);
}
END_TEST

START_TEST(fields_of_each_kind)
{
	const char *text = "..shared..127.0.0.1:5512";
	const struct field fields[] = {
		{ FIELD_SESSION, 0, 0, 3 },
		{ FIELD_MODE, 2, 6, 0 },
		{ FIELD_PEER, 10, 14, 0 },
		{ FIELD_TTL, 0, 0, 9898 },
		{ FIELD_FREE, 0, 0, 0 },
		{ FIELD_KEY, 0, 0, 0 },
		{ FIELD_FENCE, 0, 0, UINT64_MAX },
	};
	struct buf b;

	buf_init(&b);
	reply(&b, tag7, STATUS_OK, fields, COUNT(fields), text);
	expect(&b, "@7 OK session=3 mode=shared peer=127.0.0.1:5512 ttl=9898ms"
		   " free=0 key= fence=18446744073709551615\r\n");
	buf_fini(&b);
}
END_TEST

START_TEST(numbers_of_several_names_are_joined)
{
	const struct field fields[] = {
		{ FIELD_FENCE, 0, 0, 7 },
		{ FIELD_FENCE, 0, 0, 8 },
		{ FIELD_FENCE, 0, 0, 9 },
		{ FIELD_DEPTH, 0, 0, 1 },
		{ FIELD_DEPTH, 0, 0, 2 },
		{ FIELD_FENCE, 0, 0, 5 },
		{ FIELD_AGE, 0, 0, 1 },
		{ FIELD_AGE, 0, 0, 2 },
	};
	struct buf b;

	buf_init(&b);
	reply(&b, no_tag, STATUS_OK, fields, COUNT(fields), NULL);
	/* Only numbers, and only those that follow each other. */
	expect(&b, "OK fence=7,8,9 depth=1,2 fence=5 age=1ms age=2ms\r\n");
	buf_fini(&b);
}
END_TEST

/* Whatever comes from outside is one word of one line. */
START_TEST(values_are_cleaned)
{
	const char dirty[] = "a b\r\nOK\t\0\x7f\xff\xc2\x9b\xc3\xa9";
	const struct span value = { dirty, sizeof(dirty) - 1 };
	const struct field field = { FIELD_LABEL, 0, sizeof(dirty) - 1, 0 };
	const char *clean = "a_b??OK??????\xc3\xa9";
	char want[100];
	struct buf b;

	buf_init(&b);
	reply(&b, no_tag, STATUS_OK, &field, 1, dirty);
	expect(&b, strcat(strcat(strcpy(want, "OK label="), clean), "\r\n"));
	event(&b, EVENT_FREE, value, NULL, 0, NULL);
	expect(&b, strcat(strcat(strcpy(want, "!FREE "), clean), "\r\n"));
	buf_fini(&b);
}
END_TEST

START_TEST(errors_are_one_line)
{
	const char dirty[] = "a\r\nOK b\x01\x7f\xff\0 5%";
	char longer[5000];
	struct buf b;

	buf_init(&b);
	buf_adds(&b, "before\r\n");
	error(&b, no_tag, ERR_INTERNAL,
	    (struct span){ dirty, sizeof(dirty) - 1 });
	expect(&b, "before\r\nERR internal a??OK b???? 5%\r\n");
	memset(longer, 'x', sizeof(longer));
	error(&b, no_tag, ERR_LIMIT, (struct span){ longer, sizeof(longer) });
	ck_assert_uint_eq(buf_len(&b), 10 + sizeof(longer) + 2);
	buf_fini(&b);
}
END_TEST

/* Also if the head of the buffer was consumed and the rest moves. */
START_TEST(errors_in_a_buffer_that_moves)
{
	size_t head;

	for (head = 0; head < 300; head++) {
		struct buf b;

		buf_init(&b);
		(void)buf_reserve(&b, head + 1);
		memset(buf_reserve(&b, head + 1), '.', head + 1);
		buf_added(&b, head + 1);
		buf_consume(&b, head);
		error(&b, tag7, ERR_LOST, span("gone for good\n"));
		expect(&b, ".@7 ERR lost gone for good?\r\n");
		buf_fini(&b);
	}
}
END_TEST

#define WORD(id, word)                                     \
	do {                                               \
		error(&b, no_tag, ERR_##id, span("text")); \
		expect(&b, "ERR " word " text\r\n");       \
	} while (0);

START_TEST(every_code_has_its_word)
{
	struct buf b;

	buf_init(&b);
	ERRORS(WORD)
	buf_fini(&b);
}
END_TEST

START_TEST(events)
{
	const char *text = "reason broker-1";
	const struct field lost[] = {
		{ FIELD_FENCE, 0, 0, 12 },
		{ FIELD_REASON, 0, 6, 0 },
	};
	const struct field atrisk[] = {
		{ FIELD_FENCE, 0, 0, 12 },
		{ FIELD_LEFT, 0, 0, 3000 },
	};
	const struct field held[] = {
		{ FIELD_FENCE, 0, 0, 12 },
		{ FIELD_BROKER, 7, 8, 0 },
	};
	struct buf b;

	buf_init(&b);
	event(&b, EVENT_LOST, span("a"), lost, 2, text);
	expect(&b, "!LOST a fence=12 reason=reason\r\n");
	event(&b, EVENT_ATRISK, span("a"), atrisk, 2, NULL);
	expect(&b, "!ATRISK a fence=12 left=3000ms\r\n");
	event(&b, EVENT_SAFE, span("a"), atrisk, 1, NULL);
	expect(&b, "!SAFE a fence=12\r\n");
	event(&b, EVENT_HELD, span("a"), held, 2, text);
	expect(&b, "!HELD a fence=12 broker=broker-1\r\n");
	event(&b, EVENT_FREE, span("caf\xc3\xa9"), NULL, 0, NULL);
	expect(&b, "!FREE caf\xc3\xa9\r\n");
	event(&b, EVENT_SHUTDOWN, no_tag, NULL, 0, NULL);
	expect(&b, "!SHUTDOWN\r\n");
	buf_fini(&b);
}
END_TEST

/*
 * Bytes that come one by one: none is looked at twice, and a CR belongs to the
 * line's end even if the LF is still to come.
 */
START_TEST(a_line_is_found_wherever_it_is_cut)
{
	const char *bytes = "LOCK a\r\nrest";
	enum err_code code = ERR_NONE;
	struct wire_frame f;
	size_t scanned = 0, n;
	struct buf why;

	buf_init(&why);
	for (n = 0; n <= 7; n++)
		ck_assert_int_eq(
		    wire_lines.frame(&f, bytes, n, 6, &scanned, &code, &why),
		    FRAME_PART);
	ck_assert_uint_eq(scanned, 7);
	for (n = 8; n <= strlen(bytes); n++) {
		ck_assert_int_eq(
		    wire_lines.frame(&f, bytes, n, 6, &scanned, &code, &why),
		    FRAME_WHOLE);
		ck_assert_ptr_eq(f.p, bytes);
		ck_assert_uint_eq(f.n, 6);
		ck_assert_uint_eq(f.size, 8);
	}
	ck_assert_int_eq(code, ERR_NONE);
	buf_fini(&why);
}
END_TEST

/* With its line end or without it. */
START_TEST(a_line_that_is_too_long_is_refused)
{
	static const char *const lines[] = { "LOCK ab", "LOCK ab\n",
		"LOCK a\r\r\n" };
	enum err_code code = ERR_NONE;
	struct wire_frame f;
	size_t scanned = 0;
	struct buf why;

	buf_init(&why);
	ck_assert_int_eq(wire_lines.frame(&f, lines[_i], strlen(lines[_i]), 6,
			     &scanned, &code, &why),
	    FRAME_REFUSED);
	ck_assert_int_eq(code, ERR_TOO_LONG);
	expect(&why, "a line may have at most 6 bytes");
	buf_fini(&why);
}
END_TEST

START_TEST(an_error_without_a_code_aborts)
{
	struct buf b;

	buf_init(&b);
	error(&b, no_tag, ERR_NONE, span("text"));
}
END_TEST

TCase *
reply_cases(void)
{
	TCase *tc = tcase_create("reply");

	tcase_add_test(tc, statuses);
	tcase_add_test(tc, rows);
	tcase_add_test(tc, fields_of_each_kind);
	tcase_add_test(tc, numbers_of_several_names_are_joined);
	tcase_add_test(tc, values_are_cleaned);
	tcase_add_test(tc, errors_are_one_line);
	tcase_add_test(tc, errors_in_a_buffer_that_moves);
	tcase_add_test(tc, every_code_has_its_word);
	tcase_add_test(tc, events);
	tcase_add_test_raise_signal(
	    tc, an_error_without_a_code_aborts, SIGABRT);
	tcase_add_test(tc, a_line_is_found_wherever_it_is_cut);
	tcase_add_loop_test(tc, a_line_that_is_too_long_is_refused, 0, 3);
	return tc;
}
