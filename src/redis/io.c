/*
 * Clocks and timers by libevent and the kernel.
 */
#include "config.h"

#include <event2/event.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/now.h"
#include "base/timeval.h"
#include "base/xmalloc.h"
#include "redis/io_state.h"
#include "redis/resolve.h"

struct timer {
	struct event *event;
	timer_fired *fired;
	void *arg;
};

struct io *
io_new(struct event_base *base, struct relay *relay)
{
	struct io *io = xcalloc(1, sizeof(*io));

	io->base = base;
	io->relay = relay;
	io->resolver = resolver_new(base);
	return io;
}

void
io_free(struct io *io)
{
	if (io == NULL)
		return;
	resolver_free(io->resolver);
	free(io);
}

int64_t
io_now_ms(const struct io *io)
{
	(void)io;
	return now_ms();
}

int64_t
io_awake_us(const struct io *io)
{
	(void)io;
	return now_awake_us();
}

uint64_t
io_wall_us(const struct io *io)
{
	(void)io;
	return (uint64_t)now_wall_us();
}

void
io_random(struct io *io, void *out, size_t n)
{
	(void)io;
	if (getrandom(out, n, 0) != (ssize_t)n)
		abort();
}

static void
on_event(evutil_socket_t fd, short what, void *arg)
{
	const struct timer *t = arg;

	(void)fd;
	(void)what;
	t->fired(t->arg);
}

struct timer *
timer_new(struct io *io, timer_fired *fired, void *arg)
{
	struct timer *t = xcalloc(1, sizeof(*t));

	t->fired = fired;
	t->arg = arg;
	t->event = evtimer_new(io->base, on_event, t);
	if (t->event == NULL)
		abort();
	return t;
}

void
timer_free(struct timer *t)
{
	if (t == NULL)
		return;
	event_free(t->event);
	free(t);
}

void
timer_in(struct timer *t, int64_t ms)
{
	struct timeval tv = ms_to_timeval(ms);

	(void)evtimer_add(t->event, &tv);
}

void
timer_stop(struct timer *t)
{
	(void)evtimer_del(t->event);
}
