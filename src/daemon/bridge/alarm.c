/*
 * The alarm is a timerfd, because libevent's timers run on CLOCK_BOOTTIME,
 * which stands still while the machine sleeps: an event that fell due during
 * the sleep would come late by the remaining time when the machine fell asleep.
 *
 * Most deadlines are put off before they come, and an alarm that comes too
 * early does no harm.  So an alarm is only ever moved forward, and most turns
 * make no system call for it.
 */
#include "config.h"

#include <assert.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/xmalloc.h"
#include "daemon/bridge/alarm.h"

/* The broker frees it. */
struct alarm {
	struct event *event;
	int64_t at_ms; /* when it comes; INT64_MAX: never */
	alarm_cb cb;
	void *arg;
	int fd;
};

static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct alarm *a = arg;
	uint64_t times;

	(void)what;
	/* Nothing to read: the alarm was moved after the loop had seen it. */
	if (read(fd, &times, sizeof(times)) != sizeof(times))
		return;
	a->at_ms = INT64_MAX;
	a->cb(a->arg);
}

struct alarm *
alarm_new(struct event_base *base, alarm_cb cb, void *arg)
{
	struct alarm *a;
	int fd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);

	if (fd < 0)
		return NULL;
	a = xcalloc(1, sizeof(*a));
	a->fd = fd;
	a->at_ms = INT64_MAX;
	a->cb = cb;
	a->arg = arg;
	a->event = event_new(base, fd, EV_READ | EV_PERSIST, on_readable, a);
	if (a->event == NULL || event_add(a->event, NULL) < 0)
		abort();
	return a;
}

void
alarm_free(struct alarm *a)
{
	if (a == NULL)
		return;
	event_free(a->event);
	(void)close(a->fd);
	free(a);
}

void
alarm_set(struct alarm *a, int64_t at_ms)
{
	struct itimerspec spec;

	assert(a->fd >= 0 && a->event != NULL);
	if (at_ms >= a->at_ms)
		return;
	a->at_ms = at_ms;
	/* Zero would mean never. */
	if (at_ms < 1)
		at_ms = 1;
	memset(&spec, 0, sizeof(spec));
	spec.it_value.tv_sec = (time_t)(at_ms / 1000);
	spec.it_value.tv_nsec = (long)(at_ms % 1000 * 1000000);
	if (timerfd_settime(a->fd, TFD_TIMER_ABSTIME, &spec, NULL) < 0)
		abort();
}
