/*
 * How the loop waits for events.
 */
#include "config.h"

#include <event2/event.h>
#include <sys/time.h>
#include <unistd.h>

#include "daemon/process/loop.h"
#include "suite.h"

/* Later than a busy machine lets us look for it. */
#define LATE_MS 200

static void
on_event(evutil_socket_t fd, short what, void *arg)
{
	unsigned *times = arg;

	(void)fd;
	(void)what;
	++*times;
}

/* Waits for one event that comes so late.  It must be handled. */
static void
wait_for(struct event_base *base, struct loop_look *look, unsigned late_ms)
{
	const struct timeval late = { 0, (suseconds_t)late_ms * 1000 };
	unsigned times = 0;
	struct event *e = event_new(base, -1, 0, on_event, &times);

	ck_assert_int_eq(event_add(e, &late), 0);
	ck_assert(loop_once(base, look));
	ck_assert_uint_eq(times, 1);
	event_free(e);
}

START_TEST(what_is_there_already_is_handled)
{
	struct event_base *base = loop_new();
	struct loop_look look = { 0 };
	unsigned times = 0;
	struct event *e = event_new(base, -1, 0, on_event, &times);

	event_active(e, EV_READ, 1);
	ck_assert(loop_once(base, &look));
	ck_assert_uint_eq(times, 1);
	ck_assert_uint_eq(look.pause, 0);
	event_free(e);
	event_base_free(base);
}
END_TEST

START_TEST(a_look_in_vain_puts_off_the_next_ones)
{
	struct event_base *base = loop_new();
	struct loop_look look = { 0 }, other = { 0 };
	unsigned i;

	wait_for(base, &other, LATE_MS);
	wait_for(base, &look, 0);
	ck_assert_uint_eq(look.pause, 0);
	wait_for(base, &look, LATE_MS);
	ck_assert_uint_eq(look.pause, 1);
	ck_assert_uint_eq(look.left, 1);
	wait_for(base, &look, 0);
	ck_assert_uint_eq(look.pause, 1);
	ck_assert_uint_eq(look.left, 0);
	wait_for(base, &look, LATE_MS);
	ck_assert_uint_eq(look.pause, 3);
	for (i = 0; i < 3 + 1; i++)
		wait_for(base, &look, 0);
	ck_assert_uint_eq(look.pause, 1);
	wait_for(base, &look, 0);
	ck_assert_uint_eq(look.pause, 0);
	event_base_free(base);
}
END_TEST

/* A client that has closed its connection is read from until the turn ends. */
START_TEST(what_stays_active_does_not_hold_up_the_turn)
{
	struct event_base *base = loop_new();
	struct loop_look look = { 0 };
	unsigned times = 0;
	int ends[2];
	struct event *e;

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(close(ends[1]), 0);
	e = event_new(base, ends[0], EV_READ | EV_PERSIST, on_event, &times);
	ck_assert_int_eq(event_add(e, NULL), 0);
	ck_assert(loop_once(base, &look));
	ck_assert_uint_eq(times, 1);
	event_free(e);
	event_base_free(base);
	ck_assert_int_eq(close(ends[0]), 0);
}
END_TEST

static TCase *
loop_cases(void)
{
	TCase *t = tcase_create("loop");

	tcase_add_test(t, what_is_there_already_is_handled);
	tcase_add_test(t, what_stays_active_does_not_hold_up_the_turn);
	tcase_add_test(t, a_look_in_vain_puts_off_the_next_ones);
	return t;
}

int
main(void)
{
	static const suite_case cases[] = { loop_cases };

	return suite_run("loop", cases, COUNT(cases));
}
