/*
 * Slow hashes, in a thread of their own: here the loop only waits for events.
 */
#include "config.h"

#include <event2/event.h>
#include <string.h>

#include "auth/hasher.h"
#include "suite.h"
#include "test_auth.h"

#define HASH                                    \
	"$5$rounds=1000$saltsalt$eKLZU9t9OoPWr" \
	"qOQsoTIKG0aYkZ5rGOoOQhiIvoSWX2"

static const struct span here = { "10.0.0.1", 8 };
static const struct span there = { "10.0.0.2", 8 };
static const struct span right_one = { "secret", 6 };
static const struct span wrong_one = { "secreT", 6 };

/* What the hasher said. */
struct answers {
	unsigned n;
	unsigned nright;
	unsigned npushed;
	unsigned right_at; /* so many were told before the last right one */
	uint64_t last;
};

static struct event_base *base;
static struct hasher *hasher;
static struct answers answers;

static void
on_done(void *arg, uint64_t id, enum hasher_result result)
{
	struct answers *a = arg;

	if (result == HASHER_IS_RIGHT)
		a->right_at = a->n;
	a->n++;
	a->nright += result == HASHER_IS_RIGHT;
	a->npushed += result == HASHER_PUSHED_OUT;
	a->last = id;
}

static void
setup(void)
{
	memset(&answers, 0, sizeof(answers));
	base = event_base_new();
	ck_assert_ptr_nonnull(base);
	hasher = hasher_new(base, on_done, &answers);
}

static void
teardown(void)
{
	hasher_free(hasher);
	event_base_free(base);
}

static void
run_until(unsigned n)
{
	while (answers.n < n)
		ck_assert_int_eq(event_base_loop(base, EVLOOP_ONCE), 0);
}

START_TEST(right_and_wrong)
{
	ck_assert_int_eq(
	    hasher_check(hasher, 7, here, right_one, HASH, 0), HASHER_LATER);
	run_until(1);
	ck_assert_uint_eq(answers.last, 7);
	ck_assert_uint_eq(answers.nright, 1);
	ck_assert_int_eq(
	    hasher_check(hasher, 8, here, wrong_one, HASH, 0), HASHER_LATER);
	run_until(2);
	ck_assert_uint_eq(answers.last, 8);
	ck_assert_uint_eq(answers.nright, 1);
}
END_TEST

START_TEST(what_was_right_is_known_for_a_while)
{
	ck_assert_int_eq(
	    hasher_check(hasher, 1, here, right_one, HASH, 1000), HASHER_LATER);
	run_until(1);
	ck_assert_int_eq(hasher_check(hasher, 2, here, right_one, HASH,
			     999 + HASHER_REMEMBERS_MS),
	    HASHER_RIGHT);
	ck_assert_int_eq(hasher_check(hasher, 3, here, right_one, HASH,
			     1000 + HASHER_REMEMBERS_MS),
	    HASHER_LATER);
	run_until(2);
}
END_TEST

START_TEST(what_was_wrong_is_asked_again)
{
	ck_assert_int_eq(
	    hasher_check(hasher, 1, here, wrong_one, HASH, 0), HASHER_LATER);
	run_until(1);
	ck_assert_int_eq(
	    hasher_check(hasher, 2, here, wrong_one, HASH, 0), HASHER_LATER);
	run_until(2);
	ck_assert_uint_eq(answers.nright, 0);
}
END_TEST

/* A success counts for one hash and one password only. */
START_TEST(a_success_is_for_one_hash)
{
	ck_assert_int_eq(
	    hasher_check(hasher, 1, here, right_one, HASH, 0), HASHER_LATER);
	run_until(1);
	ck_assert_int_eq(
	    hasher_check(hasher, 2, here, right_one, "$5$saltsalt$x", 0),
	    HASHER_LATER);
	run_until(2);
	ck_assert_uint_eq(answers.nright, 1);
}
END_TEST

START_TEST(jobs_are_bounded)
{
	uint64_t i;

	for (i = 0; i < HASHER_JOBS_MAX; i++)
		ck_assert_int_eq(
		    hasher_check(hasher, i, here, wrong_one, HASH, 0),
		    HASHER_LATER);
	ck_assert_int_eq(
	    hasher_check(hasher, i, here, wrong_one, HASH, 0), HASHER_FULL);
	run_until(1);
	ck_assert_int_eq(
	    hasher_check(hasher, i, here, wrong_one, HASH, 0), HASHER_LATER);
	run_until(HASHER_JOBS_MAX + 1);
}
END_TEST

/* One address fills the queue.  A client of another one pushes out its newest
 * job, and has its turn after the one that is under way and one more. */
START_TEST(addresses_take_turns)
{
	uint64_t i;

	for (i = 0; i < HASHER_JOBS_MAX; i++)
		ck_assert_int_eq(
		    hasher_check(hasher, i, here, wrong_one, HASH, 0),
		    HASHER_LATER);
	ck_assert_int_eq(
	    hasher_check(hasher, 99, there, right_one, HASH, 0), HASHER_LATER);
	run_until(HASHER_JOBS_MAX + 1);
	ck_assert_uint_eq(answers.npushed, 1);
	ck_assert_uint_eq(answers.nright, 1);
	ck_assert_uint_le(answers.right_at, HASHER_JOBS_MAX / 2);
}
END_TEST

/* The hasher is freed with work to do: nobody is called, and nothing leaks. */
START_TEST(an_end_in_between)
{
	uint64_t i;

	for (i = 0; i < 10; i++)
		ck_assert_int_eq(
		    hasher_check(hasher, i, here, wrong_one, HASH, 0),
		    HASHER_LATER);
	hasher_free(hasher);
	hasher = NULL;
	ck_assert_uint_eq(answers.n, 0);
}
END_TEST

TCase *
hasher_cases(void)
{
	TCase *tc = tcase_create("hasher");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, right_and_wrong);
	tcase_add_test(tc, what_was_right_is_known_for_a_while);
	tcase_add_test(tc, what_was_wrong_is_asked_again);
	tcase_add_test(tc, a_success_is_for_one_hash);
	tcase_add_test(tc, jobs_are_bounded);
	tcase_add_test(tc, addresses_take_turns);
	tcase_add_test(tc, an_end_in_between);
	return tc;
}
