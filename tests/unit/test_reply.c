/*
 * Replies and events as lines.
 */
#include "config.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "test_wire.h"
#include "wire/reply.h"

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

START_TEST(statuses)
{
	struct buf b;

	buf_init(&b);
	reply_begin(&b, no_tag, STATUS_OK);
	reply_end(&b);
	expect(&b, "OK\r\n");
	reply_begin(&b, tag7, STATUS_BUSY);
	reply_end(&b);
	expect(&b, "@7 BUSY\r\n");
	reply_begin(&b, no_tag, STATUS_TIMEOUT);
	reply_end(&b);
	expect(&b, "TIMEOUT\r\n");
	reply_begin(&b, tag7, STATUS_CANCELLED);
	reply_end(&b);
	expect(&b, "@7 CANCELLED\r\n");
	buf_fini(&b);
}
END_TEST

START_TEST(replies_follow_each_other)
{
	struct buf b;

	buf_init(&b);
	reply_begin(&b, no_tag, STATUS_OK);
	reply_field_num(&b, FIELD_LINES, 2);
	reply_end(&b);
	buf_adds(&b, "one\r\ntwo\r\n");
	reply_error(&b, tag7, ERR_NOT_HELD, "\"%s\" is not held", "a");
	expect(&b,
	    "OK lines=2\r\none\r\ntwo\r\n@7 ERR not-held \"a\" is not held\r\n");
	buf_fini(&b);
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
		{ FIELD_FENCE, 0, 0, UINT64_MAX },
	};
	struct buf b;

	buf_init(&b);
	reply_begin(&b, tag7, STATUS_OK);
	reply_fields(&b, fields, COUNT(fields), text);
	reply_end(&b);
	expect(&b, "@7 OK session=3 mode=shared peer=127.0.0.1:5512 ttl=9898ms"
		   " free=0 fence=18446744073709551615\r\n");
	reply_fields(&b, NULL, 0, NULL);
	expect(&b, "");
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
	reply_fields(&b, fields, COUNT(fields), NULL);
	/* Only numbers, and only those that follow each other. */
	expect(&b, " fence=7,8,9 depth=1,2 fence=5 age=1ms age=2ms");
	buf_fini(&b);
}
END_TEST

START_TEST(single_fields)
{
	struct buf b;

	buf_init(&b);
	reply_field_num(&b, FIELD_LOCKS, 0);
	reply_field_num(&b, FIELD_VALID, 4000);
	reply_field_str(&b, FIELD_LABEL, span("cron"));
	reply_field_str(&b, FIELD_KEY, span(""));
	expect(&b, " locks=0 valid=4000ms label=cron key=");
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
	reply_field_str(&b, FIELD_LABEL, value);
	expect(&b, strcat(strcpy(want, " label="), clean));
	reply_fields(&b, &field, 1, dirty);
	expect(&b, want);
	reply_event(&b, EVENT_FREE, value, NULL, 0, NULL);
	expect(&b, strcat(strcat(strcpy(want, "!FREE "), clean), "\r\n"));
	buf_fini(&b);
}
END_TEST

START_TEST(errors_are_one_line)
{
	char longer[5000];
	struct buf b;

	buf_init(&b);
	buf_adds(&b, "before\r\n");
	reply_error(&b, no_tag, ERR_INTERNAL, "a\r\nOK b\x01\x7f\xff %d%%", 5);
	expect(&b, "before\r\nERR internal a??OK b??? 5%\r\n");
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	reply_error(&b, no_tag, ERR_LIMIT, "%s", longer);
	ck_assert_uint_eq(buf_len(&b), 10 + sizeof(longer) - 1 + 2);
	buf_fini(&b);
}
END_TEST

/* Also where the head of the buffer was consumed and the rest moves. */
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
		reply_error(&b, tag7, ERR_LOST, "%s\n", "gone for good");
		expect(&b, ".@7 ERR lost gone for good?\r\n");
		buf_fini(&b);
	}
}
END_TEST

#define WORD(id, word)                                     \
	do {                                               \
		reply_error(&b, no_tag, ERR_##id, "text"); \
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
	reply_event(&b, EVENT_LOST, span("a"), lost, 2, text);
	expect(&b, "!LOST a fence=12 reason=reason\r\n");
	reply_event(&b, EVENT_ATRISK, span("a"), atrisk, 2, NULL);
	expect(&b, "!ATRISK a fence=12 left=3000ms\r\n");
	reply_event(&b, EVENT_SAFE, span("a"), atrisk, 1, NULL);
	expect(&b, "!SAFE a fence=12\r\n");
	reply_event(&b, EVENT_HELD, span("a"), held, 2, text);
	expect(&b, "!HELD a fence=12 broker=broker-1\r\n");
	reply_event(&b, EVENT_FREE, span("caf\xc3\xa9"), NULL, 0, NULL);
	expect(&b, "!FREE caf\xc3\xa9\r\n");
	reply_event(&b, EVENT_SHUTDOWN, no_tag, NULL, 0, NULL);
	expect(&b, "!SHUTDOWN\r\n");
	buf_fini(&b);
}
END_TEST

START_TEST(an_error_begun_as_a_reply_aborts)
{
	struct buf b;

	buf_init(&b);
	reply_begin(&b, no_tag, STATUS_ERR);
}
END_TEST

START_TEST(a_text_field_as_a_number_aborts)
{
	struct buf b;

	buf_init(&b);
	reply_field_num(&b, FIELD_LABEL, 1);
}
END_TEST

TCase *
reply_cases(void)
{
	TCase *tc = tcase_create("reply");

	tcase_add_test(tc, statuses);
	tcase_add_test(tc, replies_follow_each_other);
	tcase_add_test(tc, fields_of_each_kind);
	tcase_add_test(tc, numbers_of_several_names_are_joined);
	tcase_add_test(tc, single_fields);
	tcase_add_test(tc, values_are_cleaned);
	tcase_add_test(tc, errors_are_one_line);
	tcase_add_test(tc, errors_in_a_buffer_that_moves);
	tcase_add_test(tc, every_code_has_its_word);
	tcase_add_test(tc, events);
	tcase_add_test_raise_signal(
	    tc, an_error_begun_as_a_reply_aborts, SIGABRT);
	tcase_add_test_raise_signal(
	    tc, a_text_field_as_a_number_aborts, SIGABRT);
	return tc;
}
