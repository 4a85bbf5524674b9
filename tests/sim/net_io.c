/*
 * io.h for a simulated broker: its own clock, and timers that fire in virtual
 * time.  They run in the next turn of the broker, so none runs while it is
 * frozen.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "redis/io.h"

#include "world.h"

/* Its owner is the code that set it. */
struct timer {
	TAILQ_ENTRY(timer) entry;
	struct broker *broker;
	timer_fired *fired;
	void *arg;
	struct timer_list *in; /* the list that it is in, or NULL */
	uint64_t tag;	       /* of the only event that counts */
};

/* Owned by the struct redis of a broker. */
struct io {
	struct broker *broker;
};

struct io *
io_new(struct event_base *base, struct relay *relay)
{
	struct io *io = xcalloc(1, sizeof(*io));

	assert(relay == NULL);
	io->broker = base->broker;
	return io;
}

void
io_free(struct io *io)
{
	free(io);
}

struct broker *
net_broker(const struct io *io)
{
	return io->broker;
}

int64_t
io_now_ms(const struct io *io)
{
	return broker_clock_ms(io->broker);
}

int64_t
io_awake_us(const struct io *io)
{
	return world_now(io->broker->w);
}

uint64_t
io_wall_us(const struct io *io)
{
	return (uint64_t)(io->broker->wall_us + world_now(io->broker->w));
}

void
io_random(struct io *io, void *out, size_t n)
{
	unsigned char *p = out;
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = (unsigned char)prng_below(&io->broker->w->prng, 256);
}

/* Timers. */

static void
unlist(struct timer *t)
{
	if (t->in != NULL)
		TAILQ_REMOVE(t->in, t, entry);
	t->in = NULL;
}

static void
enlist(struct timer *t, struct timer_list *list)
{
	unlist(t);
	TAILQ_INSERT_TAIL(list, t, entry);
	t->in = list;
}

/* The timer may be gone, or set anew: its tag says which event it awaits. */
static void
on_time(void *object, uint64_t tag)
{
	struct broker *b = object;
	struct timer *t;

	TAILQ_FOREACH (t, &b->net.set, entry)
		if (t->tag == tag)
			break;
	if (t == NULL)
		return;
	enlist(t, &b->net.due);
	broker_wake(b);
}

struct timer *
timer_new(struct io *io, timer_fired *fired, void *arg)
{
	struct timer *t = xcalloc(1, sizeof(*t));

	t->broker = io->broker;
	t->fired = fired;
	t->arg = arg;
	return t;
}

void
timer_free(struct timer *t)
{
	if (t == NULL)
		return;
	unlist(t);
	free(t);
}

void
timer_in(struct timer *t, int64_t ms)
{
	struct broker *b = t->broker;
	int64_t at_us = world_now(b->w);

	if (ms > 0)
		at_us = broker_world_us(b, broker_clock_ms(b) + ms);
	t->tag = ++b->w->next_timer;
	enlist(t, &b->net.set);
	events_at(&b->w->events, at_us, on_time, b, t->tag);
}

void
timer_stop(struct timer *t)
{
	unlist(t);
}

bool
net_has_timers(const struct broker *b)
{
	return !TAILQ_EMPTY(&b->net.due);
}

void
net_run_timers(struct broker *b)
{
	struct timer *t;

	while ((t = TAILQ_FIRST(&b->net.due)) != NULL && !b->w->failed) {
		unlist(t);
		t->fired(t->arg);
	}
}

void
net_init(struct broker *b)
{
	b->net.base.broker = b;
	TAILQ_INIT(&b->net.set);
	TAILQ_INIT(&b->net.due);
	TAILQ_INIT(&b->net.links);
}
