/*
 * LIST, QUEUE and NAMES, made in parts while sessions and names come and go.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/dump.h"
#include "core/parts/token/token.h"
#include "suite.h"
#include "work_rig.h"

#define PART 256 /* things looked at in one part */

/* The rows so far, a word each: a name, or the session of a row without one. */
struct seen {
	char **words;
	size_t n, in_part, most_in_part;
	unsigned anew;
};

static void
forget(struct seen *s)
{
	while (s->n > 0)
		free(s->words[--s->n]);
}

static void
on_row(void *arg, const struct core_row *row)
{
	struct seen *s = arg;
	char word[300] = "";
	size_t i;

	if (row == NULL) {
		forget(s);
		s->anew++;
		return;
	}
	if (row->name != NULL)
		(void)snprintf(
		    word, sizeof(word), "%.*s", (int)row->name_len, row->name);
	for (i = 0; row->name == NULL && i < row->nfields; i++)
		if (row->fields[i].id == FIELD_SESSION)
			(void)snprintf(word, sizeof(word), "%s %d", row->word,
			    (int)row->fields[i].num);
	s->words = realloc(s->words, (s->n + 1) * sizeof(char *));
	s->words[s->n++] = strdup(word);
	if (++s->in_part > s->most_in_part)
		s->most_in_part = s->in_part;
}

static bool
part(struct seen *s, struct listing *g)
{
	s->in_part = 0;
	return core_listing_part(rig.core, g, rig.now_ms, on_row, s);
}

/* Makes the rest of the list; returns how many parts it took. */
static unsigned
finish(struct seen *s, struct listing *g)
{
	unsigned parts = 1;

	while (part(s, g))
		parts++;
	ck_assert_uint_le(s->most_in_part, PART);
	core_listing_end(g);
	return parts;
}

static void
fini(struct seen *s)
{
	forget(s);
	free(s->words);
}

static bool
has(const struct seen *s, const char *word)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (strcmp(s->words[i], word) == 0)
			return true;
	return false;
}

static void
expect(const struct seen *s, size_t i, const char *word)
{
	ck_assert_uint_lt(i, s->n);
	ck_assert_str_eq(s->words[i], word);
}

static void
lock(uint64_t session, const char *name, bool shared, int64_t hold_ms)
{
	struct core_request rq = work_request(VERB_LOCK);

	rq.shared = shared;
	rq.hold_ms = hold_ms;
	rq.has_hold = hold_ms > 0;
	work_ask(&rig, session, &rq, name);
	work_settle(&rig);
}

static void
gone(uint64_t session)
{
	work_gone(&rig, session, true);
	work_settle(&rig);
}

static const char *
name_of(unsigned i)
{
	static char name[32];

	(void)snprintf(name, sizeof(name), "n%05u", i);
	return name;
}

static void
lock_many(uint64_t session, unsigned from, unsigned to)
{
	for (; from < to; from++)
		lock(session, name_of(from), false, 0);
}

static void
unlock_many(uint64_t session, unsigned from, unsigned to)
{
	struct core_request rq = work_request(VERB_UNLOCK);

	for (; from < to; from++) {
		work_ask(&rig, session, &rq, name_of(from));
		work_settle(&rig);
	}
}

START_TEST(a_list_comes_in_parts)
{
	struct seen s = { 0 };
	unsigned i;

	work_init(&rig, 2);
	lock_many(1, 0, 1000);
	ck_assert_uint_ge(finish(&s, core_list_begin(rig.core, 1)), 4);
	ck_assert_uint_eq(s.n, 1000);
	for (i = 0; i < s.n; i++)
		expect(&s, i, name_of(i));
	forget(&s);
	(void)finish(&s, core_list_begin(rig.core, 2));
	(void)finish(&s, core_list_begin(rig.core, 12345));
	ck_assert_uint_eq(s.n, 0);
	fini(&s);
}
END_TEST

/* The client hears of the loss first: the list may not contain the name. */
START_TEST(what_is_lost_meanwhile_is_not_listed)
{
	struct seen s = { 0 };
	struct listing *g;
	unsigned i;

	work_init(&rig, 1);
	lock(1, "brief", false, 1000);
	lock_many(1, 0, 1000);
	g = core_list_begin(rig.core, 1);
	ck_assert(part(&s, g));
	ck_assert(has(&s, "brief"));
	work_pass(&rig, 1000);
	(void)finish(&s, g);
	ck_assert_uint_eq(s.anew, 1);
	ck_assert(!has(&s, "brief"));
	ck_assert_uint_eq(s.n, 1000);
	/* However often it begins again: in the end it is made at once. */
	forget(&s);
	g = core_list_begin(rig.core, 1);
	for (i = 0; i < 3; i++) {
		ck_assert(part(&s, g));
		unlock_many(1, i, i + 1);
	}
	ck_assert(!part(&s, g));
	ck_assert_uint_eq(s.n, 997);
	expect(&s, 0, "n00003");
	core_listing_end(g);
	fini(&s);
}
END_TEST

START_TEST(a_session_ends_while_it_is_listed)
{
	struct seen s = { 0 };
	struct listing *g;

	work_init(&rig, 1);
	lock_many(1, 0, 1000);
	g = core_list_begin(rig.core, 1);
	ck_assert(part(&s, g));
	gone(1);
	(void)finish(&s, g);
	ck_assert_uint_eq(s.n, 0);
	fini(&s);
}
END_TEST

#define CROWD 600

/* Sessions 1 to CROWD share the name; CROWD more wait to have it alone. */
static void
crowd(void)
{
	unsigned i;

	work_init(&rig, 2 * CROWD);
	for (i = 1; i <= 2 * CROWD; i++)
		lock(i, "a", i <= CROWD, 0);
}

START_TEST(a_queue_is_in_order)
{
	struct seen s = { 0 };
	struct listing *g;
	char word[32];
	unsigned i;

	crowd();
	g = core_queue_begin(rig.core, "a", 1, SIZE_MAX);
	ck_assert_uint_eq(core_listing_waiters(rig.core, g), CROWD);
	ck_assert_uint_ge(finish(&s, g), 4);
	ck_assert_uint_eq(s.n, 2 * CROWD);
	for (i = 1; i <= s.n; i++) {
		(void)snprintf(word, sizeof(word), "%s %u",
		    i <= CROWD ? "holder" : "waiter", i);
		expect(&s, i - 1, word);
	}
	fini(&s);
}
END_TEST

START_TEST(a_queue_is_cut_at_its_limit)
{
	static const size_t limits[] = { 1, CROWD, CROWD + 1, 2 * CROWD + 1 };
	struct seen s = { 0 };
	size_t i;

	crowd();
	for (i = 0; i < COUNT(limits); i++) {
		(void)finish(&s, core_queue_begin(rig.core, "a", 1, limits[i]));
		ck_assert_uint_eq(
		    s.n, limits[i] < 2 * CROWD ? limits[i] : 2 * CROWD);
		expect(&s, 0, "holder 1");
		forget(&s);
	}
	(void)finish(&s, core_queue_begin(rig.core, "b", 1, 100));
	ck_assert_uint_eq(s.n, 0);
	fini(&s);
}
END_TEST

static void
expect_session(const struct seen *s, size_t i, const char *word, size_t session)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%s %zu", word, session);
	expect(s, i, text);
}

/* Those who have permits, and twice as many who wait, may leave while they are
 * listed: each that stays is told once. */
START_TEST(a_line_is_listed_while_it_moves)
{
	struct core_request rq = work_request(VERB_ACQUIRE);
	struct seen s = { 0 };
	struct listing *g;
	unsigned i;

	work_init(&rig, 3 * CROWD);
	rig.permits = CROWD;
	rq.limit = CROWD;
	rq.number = 1;
	rq.wait_ms = CORE_WAIT_FOREVER;
	for (i = 1; i <= 3 * CROWD; i++) {
		work_ask(&rig, i, &rq, "a");
		work_settle(&rig);
	}
	g = core_line_begin(rig.core, KIND_SEMAPHORE, "a", 1, SIZE_MAX);
	ck_assert_uint_eq(core_listing_waiters(rig.core, g), 2 * CROWD);
	ck_assert(part(&s, g));
	expect_session(&s, 0, "holder", 1);
	ck_assert_uint_eq(s.n, PART);
	/* The next to be told goes, and so do the first who wait: one goes, and
	 * the others are granted what was given back. */
	gone(PART + 1);
	gone(CROWD + 1);
	gone(1);
	(void)finish(&s, g);
	ck_assert(!has(&s, "holder 257"));
	ck_assert(has(&s, "holder 258"));
	expect_session(&s, s.n - 1, "waiter", 3 * CROWD);
	for (i = 1; i < s.n; i++)
		ck_assert_str_ne(s.words[i], s.words[i - 1]);
	fini(&s);
}
END_TEST

START_TEST(who_comes_next_may_leave)
{
	struct seen s = { 0 };
	struct listing *g;
	size_t n;

	crowd();
	g = core_queue_begin(rig.core, "a", 1, SIZE_MAX);
	gone(1);
	ck_assert(part(&s, g));
	n = s.n;
	ck_assert_uint_lt(n, CROWD - 3);
	expect_session(&s, 0, "holder", 2);
	expect_session(&s, n - 1, "holder", n + 1);
	gone(n + 2);
	gone(n + 3);
	while (s.n < CROWD)
		ck_assert(part(&s, g));
	expect_session(&s, n, "holder", n + 4);
	expect_session(&s, CROWD - 4, "holder", CROWD);
	expect_session(&s, CROWD - 3, "waiter", CROWD + 1);
	n = s.n;
	expect_session(&s, n - 1, "waiter", n + 3);
	gone(n + 4);
	gone(2 * CROWD);
	(void)finish(&s, g);
	expect_session(&s, n, "waiter", n + 5);
	expect_session(&s, s.n - 1, "waiter", 2 * CROWD - 1);
	ck_assert_uint_eq(s.n, 2 * CROWD - 5);
	fini(&s);
}
END_TEST

/* All leave at which the list would begin. */
START_TEST(all_may_leave_at_the_beginning)
{
	struct seen s = { 0 };
	struct listing *g;
	unsigned i;

	crowd();
	g = core_queue_begin(rig.core, "a", 1, SIZE_MAX);
	for (i = 1; i < CROWD; i++)
		gone(i);
	(void)finish(&s, g);
	ck_assert_uint_eq(s.n, CROWD + 1);
	expect_session(&s, 0, "holder", CROWD);
	expect_session(&s, 1, "waiter", CROWD + 1);
	fini(&s);
}
END_TEST

START_TEST(a_name_may_be_over)
{
	struct seen s = { 0 };
	struct listing *g;
	size_t n;
	unsigned i;

	crowd();
	g = core_queue_begin(rig.core, "a", 1, SIZE_MAX);
	while (s.n == 0)
		ck_assert(part(&s, g));
	n = s.n;
	for (i = 1; i <= 2 * CROWD; i++)
		gone(i);
	(void)finish(&s, g);
	ck_assert_uint_eq(s.n, n);
	g = core_queue_begin(rig.core, "a", 1, SIZE_MAX);
	ck_assert_uint_eq(core_listing_waiters(rig.core, g), 0);
	core_listing_end(g);
	fini(&s);
}
END_TEST

#define NAMES 3000

START_TEST(the_busiest_names)
{
	static const char *const busy[] = { "n01000", "n00007", "n02999",
		"n00000", "n00001" };
	struct seen s = { 0 };
	unsigned i, j;

	work_init(&rig, 20);
	lock_many(1, 0, NAMES);
	for (i = 0; i < 3; i++)
		for (j = i; j < 3; j++)
			lock(2 + j, busy[i], false, 0);
	for (i = 1; i <= COUNT(busy); i++) {
		ck_assert_uint_ge(finish(&s, core_names_begin(rig.core, i)), 4);
		ck_assert_uint_eq(s.n, i);
		for (j = 0; j < i; j++)
			expect(&s, j, busy[j]);
		forget(&s);
	}
	(void)finish(&s, core_names_begin(rig.core, SIZE_MAX));
	ck_assert_uint_eq(s.n, NAMES);
	expect(&s, 2, "n02999");
	for (i = 3; i < NAMES - 1; i++)
		ck_assert_str_lt(s.words[i], s.words[i + 1]);
	fini(&s);
}
END_TEST

/* Names 0 to n are there all the time: each of them is listed once. */
static void
expect_once(struct seen *s, unsigned n)
{
	unsigned i;

	for (i = 1; i < s->n; i++)
		ck_assert_str_lt(s->words[i - 1], s->words[i]);
	for (i = 0; i < n; i++)
		ck_assert_msg(has(s, name_of(i)), "%s", name_of(i));
}

/* After _i parts. */
START_TEST(names_are_listed_once_while_tables_grow)
{
	struct seen s = { 0 };
	struct listing *g;
	int i;

	work_init(&rig, 1);
	lock_many(1, 0, NAMES);
	g = core_names_begin(rig.core, SIZE_MAX);
	for (i = 0; i < _i; i++)
		ck_assert(part(&s, g));
	lock_many(1, NAMES, 4 * NAMES);
	(void)finish(&s, g);
	expect_once(&s, NAMES);
	fini(&s);
}
END_TEST

START_TEST(names_are_listed_once_while_tables_shrink)
{
	struct seen s = { 0 };
	struct listing *g;
	int i;

	work_init(&rig, 1);
	lock_many(1, 0, NAMES);
	g = core_names_begin(rig.core, SIZE_MAX);
	for (i = 0; i < _i; i++)
		ck_assert(part(&s, g));
	unlock_many(1, 20, NAMES);
	/* With each name that is added, the table shrinks by half. */
	lock_many(1, NAMES, NAMES + 10);
	(void)finish(&s, g);
	expect_once(&s, 20);
	fini(&s);
}
END_TEST

START_TEST(there_may_be_no_names)
{
	struct seen s = { 0 };

	work_init(&rig, 1);
	(void)finish(&s, core_names_begin(rig.core, 100));
	ck_assert_uint_eq(s.n, 0);
	lock(1, "a", false, 0);
	core_listing_end(core_names_begin(rig.core, 100));
	fini(&s);
}
END_TEST

/* Token holds. */

static void
token(uint64_t session, const char *name, const char *text,
    enum outcome_status status)
{
	struct core_name one = { name, strlen(name) };
	struct token_request rq = { .op = TOKEN_ACQUIRE,
		.names = &one,
		.nnames = 1,
		.token = text,
		.token_len = strlen(text),
		.ttl_ms = 60000,
		.park_ms = 1000 };
	struct core_event ev = { .kind = CORE_TOKEN };

	rig.token = (struct outcome){
		.status = status, .text = "", .fence = 7, .ttl_ms = 60000
	};
	ev.u.token.session = session;
	ev.u.token.request = &rq;
	work_step(&rig, &ev);
	work_settle(&rig);
}

/* A token that was refused comes back, and waits. */
static void
token_waits(uint64_t session, const char *name, const char *text)
{
	token(session, name, text, OUTCOME_BUSY);
	token(session, name, text, OUTCOME_BUSY);
}

/* As on_row(), with the state, the waiters and the age of the oldest. */
static void
on_name(void *arg, const struct core_row *row)
{
	struct seen *s = arg;
	char word[80];

	ck_assert_ptr_nonnull(row);
	/* Holder and age are told if the name is held here. */
	ck_assert(row->nfields == 4 || row->nfields == 6);
	(void)snprintf(word, sizeof(word), "%.*s %.*s %d %d",
	    (int)row->name_len, row->name, (int)row->fields[0].len,
	    row->text + row->fields[0].str,
	    (int)row->fields[row->nfields - 3].num,
	    (int)row->fields[row->nfields - 1].num);
	s->words = realloc(s->words, (s->n + 1) * sizeof(char *));
	s->words[s->n++] = strdup(word);
}

static void
list_names(struct seen *s, size_t limit)
{
	struct listing *g = core_names_begin(rig.core, limit);

	forget(s);
	while (core_listing_part(rig.core, g, rig.now_ms, on_name, s))
		;
	core_listing_end(g);
}

START_TEST(names_of_token_holds)
{
	struct seen s = { 0 };

	work_init(&rig, 9);
	lock(1, "native", false, 0);
	token(2, "token", "t", OUTCOME_GRANTED);
	token(2, "awaited", "t", OUTCOME_GRANTED);
	token_waits(3, "awaited", "u");
	work_pass(&rig, 10);
	token_waits(4, "awaited", "v");
	/* Another broker looks after this hold. */
	token_waits(5, "elsewhere", "u");
	/* Nobody waits at this broker. */
	token(6, "refused", "u", OUTCOME_BUSY);
	work_pass(&rig, 10);
	list_names(&s, 10);
	ck_assert_uint_eq(s.n, 4);
	expect(&s, 0, "awaited held 2 20");
	expect(&s, 1, "elsewhere held 1 10");
	expect(&s, 2, "native held 0 0");
	expect(&s, 3, "token held 0 0");
	list_names(&s, 1);
	ck_assert_uint_eq(s.n, 1);
	expect(&s, 0, "awaited held 2 20");
	/* A name that sessions and tokens wait for: the list counts all of
	 * them, once. */
	lock(7, "native", false, 0);
	work_pass(&rig, 10);
	token_waits(8, "native", "u");
	work_pass(&rig, 10);
	list_names(&s, 10);
	ck_assert_uint_eq(s.n, 4);
	expect(&s, 0, "awaited held 2 40");
	expect(&s, 1, "native held 2 20");
	fini(&s);
}
END_TEST

/* After _i parts, names pass from sessions to tokens. */
START_TEST(names_are_listed_once_while_they_change)
{
	struct seen s = { 0 };
	struct listing *g;
	int i;

	work_init(&rig, 1);
	lock_many(1, 0, NAMES);
	g = core_names_begin(rig.core, SIZE_MAX);
	for (i = 0; i < _i; i++)
		ck_assert(part(&s, g));
	unlock_many(1, 0, 100);
	for (i = 0; i < 100; i++)
		token(1, name_of((unsigned)i), "t", OUTCOME_GRANTED);
	(void)finish(&s, g);
	ck_assert_uint_eq(s.n, NAMES);
	expect_once(&s, NAMES);
	fini(&s);
}
END_TEST

START_TEST(gauges_are_kept)
{
	struct core_gauges gauges;

	work_init(&rig, 3);
	lock_many(1, 0, 10);
	lock(2, "n00003", false, 0);
	lock(2, "b", true, 0);
	lock(3, "b", true, 0);
	core_gauges(rig.core, rig.now_ms, &gauges);
	ck_assert_uint_eq(gauges.locks_held, 12);
	ck_assert_uint_eq(gauges.waiters, 1);
	ck_assert_uint_eq(gauges.names, 11);
	gone(1);
	gone(3);
	core_gauges(rig.core, rig.now_ms, &gauges);
	ck_assert_uint_eq(gauges.locks_held, 1 + 1);
	ck_assert_uint_eq(gauges.waiters, 0);
}
END_TEST

static TCase *
listing_cases(void)
{
	TCase *tc = tcase_create("listing");

	tcase_set_timeout(tc, 20);
	tcase_add_checked_fixture(tc, NULL, work_over);
	tcase_add_test(tc, a_list_comes_in_parts);
	tcase_add_test(tc, what_is_lost_meanwhile_is_not_listed);
	tcase_add_test(tc, a_session_ends_while_it_is_listed);
	tcase_add_test(tc, a_queue_is_in_order);
	tcase_add_test(tc, a_queue_is_cut_at_its_limit);
	tcase_add_test(tc, a_line_is_listed_while_it_moves);
	tcase_add_test(tc, who_comes_next_may_leave);
	tcase_add_test(tc, all_may_leave_at_the_beginning);
	tcase_add_test(tc, a_name_may_be_over);
	tcase_add_test(tc, the_busiest_names);
	tcase_add_loop_test(tc, names_are_listed_once_while_tables_grow, 1, 5);
	tcase_add_loop_test(
	    tc, names_are_listed_once_while_tables_shrink, 1, 5);
	tcase_add_test(tc, there_may_be_no_names);
	tcase_add_test(tc, names_of_token_holds);
	tcase_add_loop_test(tc, names_are_listed_once_while_they_change, 0, 8);
	tcase_add_test(tc, gauges_are_kept);
	return tc;
}

int
main(void)
{
	static const suite_case cases[] = { listing_cases };

	return suite_run("listing", cases, COUNT(cases));
}
