/*
 * Answers of several processes make one.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "daemon/replace/merge.h"
#include "suite.h"

#define OLD                                                             \
	"OK lines=3 waiters=1\r\n"                                      \
	"holder session=3 label=x mode=exclusive fence=7 age=900ms\r\n" \
	"waiter session=4 away=80ms mode=shared age=200ms\r\n"          \
	"waiter session=5 peer=pid:1 mode=shared age=700ms\r\n"

/* Gives the parts one after the other, `step` bytes at once, and expects the
 * answer. */
static void
check_in_steps(enum verb_id verb, uint64_t limit, const char *const parts[],
    size_t nparts, const char *expected, size_t step)
{
	struct merge *m = merge_new(verb, limit, nparts, &wire_lines);
	struct wire_reply reply = { .verb = verb };
	const struct buf *rows;
	struct buf out;
	size_t i, at, n, nrows;

	for (i = 0; i < nparts; i++) {
		for (at = 0; at < strlen(parts[i]); at += n) {
			n = strlen(parts[i]) - at;
			if (n > step)
				n = step;
			ck_assert(merge_read(m, i, parts[i] + at, n));
		}
		ck_assert_int_eq(merge_whole(m, i), parts[i][0] != '\0');
	}
	while (merge_go_on(m))
		;
	buf_init(&out);
	if (!merge_reply(m, &reply)) {
		buf_adds(&out, "nothing");
	} else if (verb != VERB_STATUS && reply.status == STATUS_OK) {
		rows = merge_rows(m, &nrows);
		wire_lines.rows(&out, &reply, nrows, rows);
	} else {
		wire_lines.reply(&out, &reply);
	}
	buf_addc(&out, '\0');
	ck_assert_str_eq(buf_data(&out), expected);
	buf_fini(&out);
	merge_free(m);
}

static void
check_merge(enum verb_id verb, uint64_t limit, const char *const parts[],
    size_t nparts, const char *expected)
{
	check_in_steps(verb, limit, parts, nparts, expected, 1);
	check_in_steps(verb, limit, parts, nparts, expected, 50);
	check_in_steps(verb, limit, parts, nparts, expected, SIZE_MAX);
}

#define CHECK(verb, limit, expected, ...)                              \
	check_merge(verb, limit, (const char *const[]){ __VA_ARGS__ }, \
	    COUNT(((const char *const[]){ __VA_ARGS__ })), expected)

START_TEST(a_status_is_of_the_one_who_knows)
{
	/* Who has it is known to one; the others know how many wait. */
	CHECK(VERB_STATUS, 0,
	    "OK state=held waiters=6 session=3 fence=7 age=5ms leaving=1\r\n",
	    "OK state=held waiters=1 broker=b fence=6 ttl=9ms\r\n",
	    "OK state=held waiters=2 session=3 fence=7 age=5ms\r\n",
	    "!LEAVING left=3ms\r\nOK state=held waiters=3 broker=b\r\n");
	CHECK(VERB_STATUS, 0,
	    "OK state=shared waiters=0 session=1 holders=3\r\n",
	    "OK state=shared waiters=0 session=1 holders=2\r\n",
	    "OK state=shared waiters=0 session=9 holders=1\r\n");
	/* The process that was asked is believed where nobody knows more. */
	CHECK(VERB_STATUS, 0, "OK state=free waiters=1\r\n",
	    "OK state=free waiters=0\r\n",
	    "OK state=held waiters=1 broker=b\r\n");
	CHECK(VERB_STATUS, 0, "OK state=held waiters=0 session=3 leaving=1\r\n",
	    "ERR unavailable Redis is away\r\n",
	    "OK state=held waiters=0 session=3\r\n", "");
	CHECK(VERB_STATUS, 0, "ERR not-found there is none\r\n",
	    "ERR not-found there is none\r\n", "ERR denied another\r\n");
	CHECK(VERB_STATUS, 0, "CANCELLED\r\n", "CANCELLED\r\n", "");
	CHECK(VERB_STATUS, 0, "nothing", "", "");
}
END_TEST

START_TEST(a_queue_goes_by_age)
{
	static const char own[] = "OK lines=2 waiters=1\r\n"
				  "holder broker=b mode=exclusive\r\n"
				  "waiter session=3 peer=p age=300ms\r\n";

	/* A process is in order, also if one of its waiters has gone ahead. */
	CHECK(VERB_QUEUE, 100,
	    "OK lines=4 waiters=2\r\n"
	    "holder session=3 label=x mode=exclusive fence=7 age=900ms"
	    " leaving=1\r\n"
	    "waiter session=3 peer=p age=300ms\r\n"
	    "waiter session=4 away=80ms mode=shared age=200ms leaving=1\r\n"
	    "waiter session=5 peer=pid:1 mode=shared age=700ms leaving=1\r\n",
	    own, OLD);
	CHECK(VERB_QUEUE, 2,
	    "OK lines=2 waiters=2\r\n"
	    "holder session=3 label=x mode=exclusive fence=7 age=900ms"
	    " leaving=1\r\n"
	    "waiter session=3 peer=p age=300ms\r\n",
	    own, OLD);
	/* What others know of a holder is told by the one that was asked. */
	CHECK(VERB_QUEUE, 100,
	    "OK lines=2 waiters=1\r\n"
	    "holder broker=b mode=exclusive\r\n"
	    "waiter session=3 peer=p age=300ms\r\n",
	    own, "OK lines=1 waiters=0\r\nholder broker=b mode=exclusive\r\n");
	CHECK(VERB_QUEUE, 100, "OK lines=0 waiters=0\r\n",
	    "OK lines=0 waiters=0\r\n", "ERR denied no\r\n");
}
END_TEST

START_TEST(the_latest_come_first)
{
	CHECK(VERB_HISTORY, 3,
	    "OK lines=3\r\n"
	    "hold session=1 end=held ago=0ms\r\n"
	    "hold session=9 end=held ago=0ms leaving=1\r\n"
	    "hold session=8 end=lost ago=4ms leaving=1\r\n",
	    "OK lines=2\r\nhold session=1 end=held ago=0ms\r\n"
	    "hold session=2 end=released ago=5ms\r\n",
	    "OK lines=2\r\nhold session=9 end=held ago=0ms\r\n"
	    "hold session=8 end=lost ago=4ms\r\n");
}
END_TEST

START_TEST(a_name_is_told_once)
{
	static const char own[] =
	    "OK lines=3 total=5\r\n"
	    "b state=held waiters=2 handovers=4 oldest=9ms\r\n"
	    "a state=held holder=x age=3ms waiters=0 handovers=7 oldest=0ms\r\n"
	    "b kind=latch state=held waiters=0 handovers=0 oldest=0ms\r\n";
	static const char old[] =
	    "OK lines=2 total=4\r\n"
	    "c state=shared holder=z age=1ms waiters=3 handovers=1"
	    " oldest=2ms\r\n"
	    "b state=held holder=y age=8ms at_risk=6ms waiters=2 handovers=1"
	    " oldest=5ms\r\n";

	CHECK(VERB_NAMES, 100,
	    "OK lines=4 total=8\r\n"
	    "b state=held holder=y age=8ms at_risk=6ms waiters=4 handovers=5"
	    " oldest=9ms leaving=1\r\n"
	    "c state=shared holder=z age=1ms waiters=3 handovers=1"
	    " oldest=2ms leaving=1\r\n"
	    "a state=held holder=x age=3ms waiters=0 handovers=7 oldest=0ms\r\n"
	    "b kind=latch state=held waiters=0 handovers=0 oldest=0ms\r\n",
	    own, old);
	CHECK(VERB_NAMES, 1,
	    "OK lines=1 total=8\r\n"
	    "b state=held holder=y age=8ms at_risk=6ms waiters=4 handovers=5"
	    " oldest=9ms\r\n",
	    old, own);
	CHECK(VERB_NAMES, 1, "OK lines=0 total=0\r\n", "OK lines=0 total=0\r\n",
	    "OK lines=0 total=0\r\n");
}
END_TEST

/* Reads the parts, the last one first, and returns the text of all rows. */
static const char *
names_of(bool by_age, const char *const parts[], size_t n, struct buf *out)
{
	struct merge *m = merge_new(VERB_NAMES, 100, n, &wire_lines);
	const struct buf *rows;
	size_t i;

	if (by_age)
		merge_by_age(m);
	for (i = n; i-- > 0;)
		ck_assert(merge_read(m, i, parts[i], strlen(parts[i])));
	while (merge_go_on(m))
		;
	rows = merge_rows(m, &i);
	buf_add(out, buf_data(rows), buf_len(rows));
	buf_addc(out, '\0');
	merge_free(m);
	return buf_data(out);
}

START_TEST(names_go_by_age)
{
	static const char *const parts[] = {
		"OK lines=2 total=2\r\n"
		"a state=held holder=x age=3ms waiters=2 handovers=7"
		" oldest=0ms\r\n"
		"n state=free waiters=9 handovers=0 oldest=0ms\r\n",
		"OK lines=1 total=1\r\n"
		"b state=held holder=y age=8ms waiters=0 handovers=0"
		" oldest=0ms\r\n",
	};
	struct buf out;

	buf_init(&out);
	ck_assert_str_eq(names_of(true, parts, 2, &out),
	    "b state=held holder=y age=8ms waiters=0 handovers=0 oldest=0ms"
	    " leaving=1\r\n"
	    "a state=held holder=x age=3ms waiters=2 handovers=7"
	    " oldest=0ms\r\n"
	    "n state=free waiters=9 handovers=0 oldest=0ms\r\n");
	buf_fini(&out);
}
END_TEST

/* In whatever order they answer. */
START_TEST(the_process_that_was_asked_tells_who_has_it)
{
	static const char *const parts[] = {
		"OK lines=1 total=1\r\n"
		"a state=shared holder=here age=3ms waiters=0 handovers=0"
		" oldest=0ms\r\n",
		"OK lines=1 total=1\r\n"
		"a state=shared holder=there age=8ms waiters=0 handovers=0"
		" oldest=0ms\r\n",
	};
	struct buf out;

	buf_init(&out);
	ck_assert_str_eq(names_of(false, parts, 2, &out),
	    "a state=shared holder=here age=3ms waiters=0 handovers=0"
	    " oldest=0ms\r\n");
	buf_fini(&out);
}
END_TEST

START_TEST(nonsense_is_refused)
{
	static const char *const texts[] = { "HELLO\r\n", "\r\n",
		"OK\r\nOK\r\n", "OK lines=1\r\nholder a\r\nholder b\r\n" };
	struct merge *m;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		m = merge_new(VERB_QUEUE, 1, 1, &wire_lines);
		ck_assert(!merge_read(m, 0, texts[i], strlen(texts[i])));
		merge_free(m);
	}
}
END_TEST

/* More rows than are made at once. */
START_TEST(many_rows_are_made_in_parts)
{
	struct merge *m = merge_new(VERB_QUEUE, 3000, 2, &wire_lines);
	static const char head[] = "OK lines=2000 waiters=2000\r\n";
	struct wire_reply reply = { .verb = VERB_QUEUE };
	char row[64];
	size_t i, n;
	int parts = 0;

	ck_assert(merge_read(m, 0, head, strlen(head)));
	ck_assert(merge_read(m, 1, head, strlen(head)));
	for (i = 0; i < 4000; i++) {
		snprintf(row, sizeof(row), "waiter session=%zu age=%zums\r\n",
		    i, 9000 - i);
		ck_assert(merge_read(m, i % 2, row, strlen(row)));
	}
	while (merge_go_on(m))
		parts++;
	ck_assert_int_gt(parts, 3);
	ck_assert(merge_reply(m, &reply));
	ck_assert_uint_eq(reply.fields[0].num, 4000);
	(void)merge_rows(m, &n);
	ck_assert_uint_eq(n, 3000);
	merge_free(m);
}
END_TEST

static TCase *
merge_cases(void)
{
	TCase *t = tcase_create("merge");

	tcase_add_test(t, a_status_is_of_the_one_who_knows);
	tcase_add_test(t, a_queue_goes_by_age);
	tcase_add_test(t, the_latest_come_first);
	tcase_add_test(t, a_name_is_told_once);
	tcase_add_test(t, names_go_by_age);
	tcase_add_test(t, the_process_that_was_asked_tells_who_has_it);
	tcase_add_test(t, nonsense_is_refused);
	tcase_add_test(t, many_rows_are_made_in_parts);
	return t;
}

int
main(void)
{
	static const suite_case cases[] = { merge_cases };

	return suite_run("merge", cases, COUNT(cases));
}
