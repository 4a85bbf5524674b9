/*
 * Measurements: what was recorded can be read back, and nothing grows.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/parts/observe/count.h"
#include "suite.h"

#define MINUTE 60000

static struct measure *m;

static void
set_up(void)
{
	m = measure_new();
}

static void
tear_down(void)
{
	measure_free(m);
}

/* Classes as "name pattern pattern", up to NULL. */
static void
configure(const char *const *classes)
{
	struct metrics_class v[METRICS_CLASSES_MAX] = { { NULL, NULL, 0 } };
	struct metrics_settings settings = { v, 0 };
	char text[256], *word, *rest, *names[METRICS_CLASSES_MAX][8];
	char *texts[METRICS_CLASSES_MAX];
	size_t i;

	for (i = 0; classes[i] != NULL; i++) {
		(void)snprintf(text, sizeof(text), "%s", classes[i]);
		texts[i] = strdup(text);
		v[i].name = strtok_r(texts[i], " ", &rest);
		v[i].names = names[i];
		while ((word = strtok_r(NULL, " ", &rest)) != NULL)
			names[i][v[i].n++] = word;
		settings.n++;
	}
	measure_configure(m, &settings);
	for (i = 0; i < settings.n; i++)
		free(texts[i]);
}
#define CONFIGURE(...) configure((const char *const[]){ __VA_ARGS__, NULL })

static struct measure_mark
mark_of(const char *name)
{
	struct measure_mark mark = { 0, 0 };

	measure_classify(m, &mark, name, strlen(name), 0);
	return mark;
}

/* One row: of a family, a class and a second label, or NULL. */
struct wanted {
	enum measure_id id;
	const char *class, *value;
	struct measure_row found;
	unsigned n;
};

static void
look_at(void *arg, const struct measure_row *row)
{
	struct wanted *w = arg;

	if (row->family->id != w->id || strcmp(row->class, w->class) != 0 ||
	    (w->value != NULL &&
		(row->value == NULL || strcmp(row->value, w->value) != 0)))
		return;
	w->found = *row;
	w->n++;
}

static struct measure_row
row(enum measure_id id, const char *class, const char *value, int64_t now_ms)
{
	struct wanted w = { .id = id, .class = class, .value = value };

	measure_each(m, now_ms, look_at, &w);
	ck_assert_msg(
	    w.n == 1, "%u rows of family %d, class %s", w.n, (int)id, class);
	return w.found;
}

static uint64_t
number(enum measure_id id, const char *class, const char *value, int64_t now_ms)
{
	return row(id, class, value, now_ms).number;
}

/* Buckets. */

static void
check_bounds(const struct measure_scale *scale)
{
	unsigned i;

	ck_assert_uint_lt(scale->n, MEASURE_BUCKETS);
	for (i = 0; i < scale->n; i++) {
		ck_assert_uint_eq(measure_bucket(scale, scale->le_ms[i]), i);
		ck_assert_uint_eq(
		    measure_bucket(scale, scale->le_ms[i] + 1), i + 1);
		if (i > 0)
			ck_assert_int_gt(scale->le_ms[i], scale->le_ms[i - 1]);
	}
}

START_TEST(values_go_to_the_bucket_of_their_bound)
{
	struct measure_histogram h = { .scale = &measure_wait_scale };

	check_bounds(&measure_wait_scale);
	check_bounds(&measure_hold_scale);
	check_bounds(&measure_handover_scale);
	check_bounds(&measure_margin_scale);
	measure_add(&h, 0);
	measure_add(&h, 1);
	measure_add(&h, 2);
	measure_add(&h, 299 * 1000);
	measure_add(&h, 301 * 1000);
	measure_add(&h, -5);
	ck_assert_uint_eq(h.counts[0], 3);
	ck_assert_uint_eq(h.counts[1], 1);
	ck_assert_uint_eq(h.counts[h.scale->n - 1], 1);
	ck_assert_uint_eq(h.counts[h.scale->n], 1);
	ck_assert_uint_eq(h.count, 6);
	ck_assert_uint_eq(h.sum_ms, 600003);
}
END_TEST

START_TEST(percentiles_are_bounds_of_buckets)
{
	uint32_t counts[MEASURE_BUCKETS] = { 0 };

	ck_assert_int_eq(
	    measure_percentile_ms(&measure_wait_scale, counts, 50), -1);
	counts[0] = 50; /* 1 ms */
	counts[4] = 45; /* 50 ms */
	counts[15] = 5; /* beyond */
	ck_assert_int_eq(
	    measure_percentile_ms(&measure_wait_scale, counts, 50), 1);
	ck_assert_int_eq(
	    measure_percentile_ms(&measure_wait_scale, counts, 51), 50);
	ck_assert_int_eq(
	    measure_percentile_ms(&measure_wait_scale, counts, 95), 50);
	ck_assert_int_eq(
	    measure_percentile_ms(&measure_wait_scale, counts, 96), -1);
}
END_TEST

/* Classes. */

START_TEST(the_first_class_that_fits_is_taken)
{
	struct measure_wait w[5];
	static const char *const names[] = { "deploy/a", "deploy", "job",
		"jobs", "x" };
	unsigned i;

	CONFIGURE("deploy deploy/*", "job job one two*", "late deploy* jo*");
	for (i = 0; i < 5; i++)
		measure_waits(m, &w[i], mark_of(names[i]), 1000 + i);
	ck_assert_uint_eq(number(MEASURE_OF_WAITERS, "deploy", NULL, 2000), 1);
	ck_assert_uint_eq(number(MEASURE_OF_WAITERS, "job", NULL, 2000), 1);
	ck_assert_uint_eq(number(MEASURE_OF_WAITERS, "late", NULL, 2000), 2);
	ck_assert_uint_eq(number(MEASURE_OF_WAITERS, "other", NULL, 2000), 1);
	ck_assert_uint_eq(number(MEASURE_OF_OLDEST, "late", NULL, 2000), 999);
	ck_assert_uint_eq(number(MEASURE_OF_OLDEST, "other", NULL, 2000), 996);
	for (i = 0; i < 5; i++)
		measure_waited(m, &w[i], RESULT_NONE, 2000);
	ck_assert_uint_eq(number(MEASURE_OF_OLDEST, "late", NULL, 2000), 0);
	ck_assert_int_eq(measure_class(m, 2, 2000).oldest_ms, -1);
	ck_assert_str_eq(measure_class(m, 3, 2000).name, "other");
	ck_assert_uint_eq(measure_classes(m), 4);
}
END_TEST

START_TEST(the_oldest_is_known_whoever_goes_first)
{
	struct measure_wait w[4];
	struct measure_mark mark = mark_of("a");
	int i;

	for (i = 0; i < 4; i++)
		measure_waits(m, &w[i], mark, i * 10);
	measure_waited(m, &w[1], RESULT_GRANTED, 100);
	ck_assert_uint_eq(number(MEASURE_OF_OLDEST, "other", NULL, 100), 100);
	measure_waited(m, &w[0], RESULT_TIMEOUT, 100);
	ck_assert_uint_eq(number(MEASURE_OF_OLDEST, "other", NULL, 100), 80);
	measure_waited(m, &w[3], RESULT_CANCELLED, 100);
	ck_assert_uint_eq(number(MEASURE_OF_WAITERS, "other", NULL, 100), 1);
	measure_waited(m, &w[2], RESULT_REFUSED, 100);
	ck_assert_uint_eq(number(MEASURE_OF_WAITERS, "other", NULL, 100), 0);
}
END_TEST

START_TEST(waits_are_told_by_how_they_ended)
{
	static const struct {
		enum measure_result result;
		const char *name;
		int64_t ms;
	} ends[] = {
		{ RESULT_GRANTED, "granted", 7 },
		{ RESULT_TIMEOUT, "timeout", 3000 },
		{ RESULT_CANCELLED, "cancelled", 200 },
		{ RESULT_REFUSED, "refused", 1 },
	};
	const struct measure_histogram *h;
	struct measure_wait w;
	unsigned i;

	for (i = 0; i < 4; i++) {
		measure_waits(m, &w, mark_of("a"), 1000);
		measure_waited(m, &w, ends[i].result, 1000 + ends[i].ms);
		h = row(MEASURE_OF_WAIT, "other", ends[i].name, 0).histogram;
		ck_assert_uint_eq(h->count, 1);
		ck_assert_uint_eq(h->sum_ms, (uint64_t)ends[i].ms);
	}
	measure_waits(m, &w, mark_of("a"), 1000);
	measure_waited(m, &w, RESULT_BUSY, 1000);
	measure_busy(m, mark_of("a"), 1000);
	ck_assert_uint_eq(number(MEASURE_OF_BUSY, "other", NULL, 0), 2);
	ck_assert_uint_eq(measure_minute(m, 0, 0, 5000)->granted, 1);
	ck_assert_uint_eq(measure_minute(m, 0, 0, 5000)->timeout, 1);
	ck_assert_uint_eq(measure_minute(m, 0, 0, 5000)->cancelled, 1);
	ck_assert_uint_eq(measure_minute(m, 0, 0, 5000)->refused, 1);
	ck_assert_uint_eq(measure_minute(m, 0, 0, 5000)->busy, 2);
	ck_assert_int_eq(measure_minute(m, 0, 0, 5000)->wait_max_ms, 3000);
}
END_TEST

/* Reloads. */

START_TEST(a_class_keeps_its_numbers_over_a_reload)
{
	struct measure_mark mark;
	struct measure_wait w;

	CONFIGURE("a a*", "b b*");
	mark = mark_of("a1");
	measure_waits(m, &w, mark, 0);
	measure_waited(m, &w, RESULT_GRANTED, 5);
	CONFIGURE("new n*", "a a*");
	ck_assert_uint_eq(
	    row(MEASURE_OF_WAIT, "a", "granted", 0).histogram->count, 1);
	mark = mark_of("a1");
	measure_holds(m, mark);
	CONFIGURE("a a*", "new n*");
	ck_assert_uint_eq(number(MEASURE_OF_HELD, "a", NULL, 0), 1);
	measure_classify(m, &mark, "a1", 2, 1);
	ck_assert_uint_eq(number(MEASURE_OF_HELD, "a", NULL, 0), 1);
	measure_holds_not(m, mark);
	ck_assert_uint_eq(number(MEASURE_OF_HELD, "a", NULL, 0), 0);
}
END_TEST

START_TEST(what_is_left_of_a_class_is_other)
{
	struct measure_mark mark;
	struct measure_wait w;

	CONFIGURE("a a*");
	mark = mark_of("a1");
	measure_waits(m, &w, mark, 10);
	measure_holds(m, mark);
	CONFIGURE("b b*");
	ck_assert_uint_eq(number(MEASURE_OF_WAITERS, "other", NULL, 30), 1);
	ck_assert_uint_eq(number(MEASURE_OF_HELD, "other", NULL, 30), 1);
	ck_assert_uint_eq(number(MEASURE_OF_OLDEST, "other", NULL, 30), 20);
	measure_waited(m, &w, RESULT_TIMEOUT, 40);
	ck_assert_uint_eq(
	    row(MEASURE_OF_WAIT, "other", "timeout", 0).histogram->count, 1);
	CONFIGURE("c a*");
	measure_classify(m, &mark, "a1", 2, 1);
	ck_assert_uint_eq(number(MEASURE_OF_HELD, "c", NULL, 30), 1);
	ck_assert_uint_eq(number(MEASURE_OF_HELD, "other", NULL, 30), 0);
	measure_holds_not(m, mark);
}
END_TEST

/* Each reload brings other classes, and somebody waits in each of them. */
START_TEST(reloads_do_not_use_up_the_classes)
{
	struct measure_wait w[400];
	char class[32];
	int i;

	for (i = 0; i < 400; i++) {
		(void)snprintf(class, sizeof(class), "c%d *", i);
		CONFIGURE(class);
		measure_waits(m, &w[i], mark_of("a"), i);
	}
	ck_assert_uint_eq(number(MEASURE_OF_WAITERS, "other", NULL, 400), 400);
	for (i = 0; i < 400; i++)
		measure_waited(m, &w[i], RESULT_GRANTED, 400);
	CONFIGURE("last *");
	measure_waits(m, &w[0], mark_of("a"), 400);
	ck_assert_uint_eq(number(MEASURE_OF_WAITERS, "last", NULL, 400), 1);
	measure_waited(m, &w[0], RESULT_GRANTED, 400);
}
END_TEST

START_TEST(as_many_classes_as_there_may_be)
{
	char texts[METRICS_CLASSES_MAX][32];
	const char *classes[METRICS_CLASSES_MAX + 1] = { NULL };
	struct measure_wait w;
	int i;

	for (i = 0; i < METRICS_CLASSES_MAX; i++) {
		(void)snprintf(texts[i], sizeof(texts[i]), "c%d n%d", i, i);
		classes[i] = texts[i];
	}
	configure(classes);
	ck_assert_uint_eq(measure_classes(m), MEASURE_CLASSES);
	measure_waits(m, &w, mark_of("n63"), 0);
	ck_assert_uint_eq(number(MEASURE_OF_WAITERS, "c63", NULL, 0), 1);
	measure_waited(m, &w, RESULT_GRANTED, 0);
}
END_TEST

/* Minutes. */

static void
grant_at(int64_t ms)
{
	struct measure_wait w;

	measure_waits(m, &w, mark_of("a"), ms);
	measure_waited(m, &w, RESULT_GRANTED, ms);
}

START_TEST(an_hour_is_remembered_by_minutes)
{
	unsigned i;

	for (i = 0; i < 3; i++)
		grant_at(100 * MINUTE + i);
	grant_at(101 * MINUTE);
	ck_assert_uint_eq(measure_minute(m, 0, 0, 101 * MINUTE)->granted, 1);
	ck_assert_uint_eq(measure_minute(m, 0, 1, 101 * MINUTE)->granted, 3);
	ck_assert_ptr_null(measure_minute(m, 0, 2, 101 * MINUTE));
	ck_assert_uint_eq(measure_minute(m, 0, 59, 159 * MINUTE)->granted, 3);
	ck_assert_ptr_null(measure_minute(m, 0, 0, 160 * MINUTE));
	grant_at(160 * MINUTE); /* in the place of the first */
	ck_assert_uint_eq(measure_minute(m, 0, 0, 160 * MINUTE)->granted, 1);
	ck_assert_uint_eq(measure_minute(m, 0, 59, 160 * MINUTE)->granted, 1);
	for (i = 1; i < 59; i++)
		ck_assert_ptr_null(measure_minute(m, 0, i, 160 * MINUTE));
}
END_TEST

START_TEST(a_minute_knows_the_most_that_waited)
{
	struct measure_wait w[3];
	int i;

	for (i = 0; i < 3; i++)
		measure_waits(m, &w[i], mark_of("a"), i);
	measure_waited(m, &w[0], RESULT_GRANTED, 10);
	measure_waited(m, &w[1], RESULT_GRANTED, MINUTE);
	ck_assert_uint_eq(measure_minute(m, 0, 1, MINUTE)->waiters_max, 3);
	ck_assert_uint_le(measure_minute(m, 0, 0, MINUTE)->waiters_max, 2);
	measure_waited(m, &w[2], RESULT_GRANTED, MINUTE);
}
END_TEST

/* Past holds. */

static void
end_hold(const char *name, uint64_t session, int64_t ended_ms, const char *end)
{
	struct measure_hold h = { .name = name,
		.name_len = strlen(name),
		.session = session,
		.label = session % 2 == 0 ? "even" : NULL,
		.peer = "127.0.0.1:5",
		.fence = session * 10,
		.granted_ms = ended_ms - 7,
		.ended_ms = ended_ms,
		.waited_ms = 3,
		.end = end };

	measure_held(m, mark_of(name), &h,
	    strcmp(end, "released") != 0 && strcmp(end, "dropped") != 0);
}

static unsigned
count_past(const char *name)
{
	struct measure_hold h;
	const void *place = NULL;
	unsigned n = 0;

	while (measure_past_of(m, name, strlen(name), &place, &h)) {
		ck_assert_mem_eq(h.name, name, h.name_len);
		n++;
	}
	return n;
}

START_TEST(the_past_of_a_name_comes_latest_first)
{
	struct measure_hold h;
	const void *place = NULL;

	end_hold("a", 1, 10, "released");
	end_hold("b", 2, 20, "dropped");
	end_hold("a", 4, 30, "unreachable");
	ck_assert(measure_past_of(m, "a", 1, &place, &h));
	ck_assert_uint_eq(h.session, 4);
	ck_assert_uint_eq(h.fence, 40);
	ck_assert_str_eq(h.label, "even");
	ck_assert_str_eq(h.end, "unreachable");
	ck_assert(measure_past_of(m, "a", 1, &place, &h));
	ck_assert_uint_eq(h.session, 1);
	ck_assert_ptr_null(h.label);
	ck_assert_str_eq(h.peer, "127.0.0.1:5");
	ck_assert(!measure_past_of(m, "a", 1, &place, &h));
	ck_assert_uint_eq(count_past("c"), 0);
	place = NULL;
	ck_assert(measure_losses(m, &place, &h));
	ck_assert_uint_eq(h.session, 4);
	ck_assert(!measure_losses(m, &place, &h));
	ck_assert_uint_eq(
	    number(MEASURE_OF_LOST, "other", "unreachable", 0), 1);
	ck_assert_uint_eq(number(MEASURE_OF_LOST, "other", "forced", 0), 0);
	ck_assert_uint_eq(
	    row(MEASURE_OF_HOLD, "other", NULL, 0).histogram->sum_ms, 21);
}
END_TEST

START_TEST(one_busy_name_pushes_no_other_out)
{
	uint64_t i;

	end_hold("quiet", 1, 0, "released");
	for (i = 0; i < 3 * MEASURE_HOLDS; i++)
		end_hold("busy", i, (int64_t)i, "released");
	ck_assert_uint_eq(count_past("quiet"), 1);
	ck_assert_uint_eq(count_past("busy"), MEASURE_NAME_HOLDS);
}
END_TEST

START_TEST(the_past_is_bounded_in_all)
{
	char name[32];
	uint64_t i;

	for (i = 0; i < MEASURE_HOLDS + 10; i++) {
		(void)snprintf(name, sizeof(name), "n%d", (int)i);
		end_hold(name, i, (int64_t)i, "taken");
	}
	ck_assert_uint_eq(count_past("n9"), 0);
	ck_assert_uint_eq(count_past("n10"), 1);
	ck_assert_uint_eq(count_past(name), 1);
	ck_assert_uint_eq(
	    number(MEASURE_OF_LOST, "other", "taken", 0), MEASURE_HOLDS + 10);
}
END_TEST

START_TEST(losses_are_bounded)
{
	struct measure_hold h;
	const void *place = NULL;
	unsigned n = 0;
	uint64_t i;

	for (i = 0; i < 2 * MEASURE_LOSSES; i++)
		end_hold("a", i, (int64_t)i, "forced");
	while (measure_losses(m, &place, &h))
		ck_assert_uint_eq(h.session, 2 * MEASURE_LOSSES - ++n);
	ck_assert_uint_eq(n, MEASURE_LOSSES);
	ck_assert_uint_eq(
	    measure_minute(m, 0, 0, 0)->forced, 2 * MEASURE_LOSSES);
}
END_TEST

static TCase *
measure_case(void)
{
	TCase *tc = tcase_create("measure");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, values_go_to_the_bucket_of_their_bound);
	tcase_add_test(tc, percentiles_are_bounds_of_buckets);
	tcase_add_test(tc, the_first_class_that_fits_is_taken);
	tcase_add_test(tc, the_oldest_is_known_whoever_goes_first);
	tcase_add_test(tc, waits_are_told_by_how_they_ended);
	tcase_add_test(tc, a_class_keeps_its_numbers_over_a_reload);
	tcase_add_test(tc, what_is_left_of_a_class_is_other);
	tcase_add_test(tc, reloads_do_not_use_up_the_classes);
	tcase_add_test(tc, as_many_classes_as_there_may_be);
	tcase_add_test(tc, an_hour_is_remembered_by_minutes);
	tcase_add_test(tc, a_minute_knows_the_most_that_waited);
	tcase_add_test(tc, the_past_of_a_name_comes_latest_first);
	tcase_add_test(tc, one_busy_name_pushes_no_other_out);
	tcase_add_test(tc, the_past_is_bounded_in_all);
	tcase_add_test(tc, losses_are_bounded);
	return tc;
}

int
main(void)
{
	const suite_case cases[] = { measure_case };

	return suite_run("measure", cases, COUNT(cases));
}
