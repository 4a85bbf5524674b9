/*
 * The timer heap, against a list that is searched in full.
 */
#include "config.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "suite.h"
#include "test_base.h"

#define TIMERS 200

START_TEST(empty)
{
	struct timer t = { 0 };
	struct heap h;

	heap_init(&h);
	ck_assert_ptr_null(heap_first(&h));
	ck_assert(!timer_armed(&t));
	heap_remove(&h, &t);
	heap_fini(&h);
}
END_TEST

START_TEST(equal_deadlines_fire_as_they_were_set)
{
	struct timer t[50] = { 0 };
	struct heap h;
	unsigned i;

	heap_init(&h);
	for (i = 0; i < 50; i++)
		heap_set(&h, &t[i], 1000);
	/* A timer that is set again goes behind the others. */
	heap_set(&h, &t[0], 1000);
	for (i = 1; i < 50; i++) {
		ck_assert_ptr_eq(heap_first(&h), &t[i]);
		heap_remove(&h, &t[i]);
	}
	ck_assert_ptr_eq(heap_first(&h), &t[0]);
	heap_fini(&h);
	ck_assert(!timer_armed(&t[0]));
}
END_TEST

START_TEST(extreme_deadlines)
{
	struct timer t[3] = { 0 };
	struct heap h;

	heap_init(&h);
	heap_set(&h, &t[0], INT64_MAX);
	heap_set(&h, &t[1], 0);
	heap_set(&h, &t[2], INT64_MIN);
	ck_assert_ptr_eq(heap_first(&h), &t[2]);
	heap_remove(&h, &t[2]);
	ck_assert_ptr_eq(heap_first(&h), &t[1]);
	heap_remove(&h, &t[1]);
	ck_assert_ptr_eq(heap_first(&h), &t[0]);
	heap_fini(&h);
}
END_TEST

/* When a timer is due, and how many were set before it. */
struct due {
	int64_t at_ms;
	int order;
};

/* The earliest armed timer, found by looking at all of them. */
static struct timer *
model_first(struct timer *timers, const struct due *due)
{
	unsigned i, best = TIMERS;

	for (i = 0; i < TIMERS; i++) {
		if (!timer_armed(&timers[i]))
			continue;
		if (best == TIMERS || due[i].at_ms < due[best].at_ms ||
		    (due[i].at_ms == due[best].at_ms &&
			due[i].order < due[best].order))
			best = i;
	}
	return best < TIMERS ? &timers[best] : NULL;
}

static unsigned
model_count(const struct timer *timers)
{
	unsigned i, n = 0;

	for (i = 0; i < TIMERS; i++)
		n += timer_armed(&timers[i]) ? 1 : 0;
	return n;
}

START_TEST(random_operations_match_the_model)
{
	unsigned seed = 4711 + (unsigned)_i;
	struct timer timers[TIMERS];
	struct due due[TIMERS];
	struct heap h;
	int step;

	heap_init(&h);
	memset(timers, 0, sizeof(timers));
	for (step = 0; step < 4000; step++) {
		unsigned i = (unsigned)rand_r(&seed) % TIMERS;
		struct timer *first;

		if (rand_r(&seed) % 3 == 0) {
			heap_remove(&h, &timers[i]);
		} else {
			due[i].at_ms = rand_r(&seed) % 50;
			due[i].order = step;
			heap_set(&h, &timers[i], due[i].at_ms);
		}
		ck_assert_uint_eq(h.len, model_count(timers));
		first = model_first(timers, due);
		ck_assert_ptr_eq(heap_first(&h), first);
		if (timer_armed(&timers[i]))
			ck_assert_int_eq(
			    heap_at_ms(&h, &timers[i]), due[i].at_ms);
		if (first && rand_r(&seed) % 4 == 0)
			heap_remove(&h, first);
	}
	while (heap_first(&h)) {
		ck_assert_ptr_eq(heap_first(&h), model_first(timers, due));
		heap_remove(&h, heap_first(&h));
	}
	ck_assert_uint_eq(model_count(timers), 0);
	heap_fini(&h);
}
END_TEST

START_TEST(a_timer_of_another_heap_aborts)
{
	struct timer t = { 0 };
	struct heap a, b;

	heap_init(&a);
	heap_init(&b);
	heap_set(&a, &t, 1);
	heap_remove(&b, &t);
}
END_TEST

TCase *
heap_cases(void)
{
	TCase *tc = tcase_create("heap");

	tcase_add_test(tc, empty);
	tcase_add_test(tc, equal_deadlines_fire_as_they_were_set);
	tcase_add_test(tc, extreme_deadlines);
	tcase_add_loop_test(tc, random_operations_match_the_model, 0, 10);
	tcase_add_test_raise_signal(
	    tc, a_timer_of_another_heap_aborts, SIGABRT);
	return tc;
}
