/*
 * Time-outs of connections: for a first line, for reading what is told, for
 * lingering.
 *
 * All connections of one kind have the same time, so a list in the order of
 * arrival is in the order of time, and one timer looks at the heads.  It is
 * coarse on purpose: nothing of this is about leases.
 */
#include "config.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/now.h"
#include "base/timeval.h"
#include "front/conn.h"
#include "front/state.h"

#define LINGER_MS 1000
#define UNREAD_MS 2000
#define FLUSH_MS_DEFAULT 30000
#define LOOK_MS_MIN 5

/* 0: no limit. */
static int64_t
timeout_ms(const struct front *f, enum timeout timeout)
{
	switch (timeout) {
	case TIMEOUT_SILENT:
		return f->limits.first_line_ms;
	case TIMEOUT_UNREAD:
		return UNREAD_MS;
	case TIMEOUT_FLUSH:
		return f->limits.unreachable_ms > 0 ? f->limits.unreachable_ms
						    : FLUSH_MS_DEFAULT;
	default:
		return LINGER_MS;
	}
}

static void
timeouts_arm(struct front *f, int64_t now)
{
	int64_t at_ms = INT64_MAX;
	int64_t in_ms;
	struct timeval tv;
	int i;

	for (i = 0; i < TIMEOUT_MAX; i++) {
		const struct conn *c = TAILQ_FIRST(&f->timed[i]);

		if (c && c->until_ms < at_ms)
			at_ms = c->until_ms;
	}
	f->look_ms = at_ms;
	if (at_ms == INT64_MAX)
		return;
	in_ms = at_ms - now;
	if (in_ms < LOOK_MS_MIN)
		in_ms = LOOK_MS_MIN;
	tv = ms_to_timeval(in_ms);
	(void)event_add(f->clock, &tv);
}

static void
timeouts_expire(struct conn *c)
{
	if (c->stage != CONN_LIVE) {
		front_close(c);
		return;
	}
	LOG(NOTICE,
	    c->timeout == TIMEOUT_SILENT ? "client-silent" : "client-too-slow",
	    LOG_S("peer", c->peer), LOG_N("client", c->id));
	timeouts_remove(c);
	front_end(c, CONN_END_DEAD);
}

static void
timeouts_look(evutil_socket_t fd, short what, void *arg)
{
	struct front *f = arg;
	int64_t now = now_awake_ms();
	struct conn *c;
	int i;

	(void)fd;
	(void)what;
	for (i = 0; i < TIMEOUT_MAX; i++) {
		while ((c = TAILQ_FIRST(&f->timed[i])) != NULL &&
		       c->until_ms <= now)
			timeouts_expire(c);
	}
	timeouts_arm(f, now);
}

void
timeouts_init(struct front *f)
{
	int i;

	f->look_ms = INT64_MAX;
	for (i = 0; i < TIMEOUT_MAX; i++)
		TAILQ_INIT(&f->timed[i]);
	f->clock = event_new(f->base, -1, 0, timeouts_look, f);
	if (!f->clock)
		abort();
}

void
timeouts_fini(struct front *f)
{
	event_free(f->clock);
}

void
timeouts_remove(struct conn *c)
{
	if (!c->timed)
		return;
	c->timed = false;
	TAILQ_REMOVE(&c->front->timed[c->timeout], c, timed_link);
}

void
timeouts_set(struct conn *c, enum timeout timeout)
{
	struct front *f = c->front;
	int64_t ms = timeout_ms(f, timeout);
	int64_t now;

	timeouts_remove(c);
	if (ms <= 0)
		return;
	c->timed = true;
	c->timeout = (uint8_t)timeout;
	now = now_awake_ms();
	c->until_ms = now + ms;
	TAILQ_INSERT_TAIL(&f->timed[timeout], c, timed_link);
	if (c->until_ms < f->look_ms)
		timeouts_arm(f, now);
}

/* Whoever is waited for is given the new time from now on. */
void
timeouts_changed(struct front *f)
{
	struct table_walk walk;
	struct conn *c;

	for (c = front_first(f, &walk); c; c = front_next(&walk))
		if (!c->spoke)
			timeouts_set(c, TIMEOUT_SILENT);
}
