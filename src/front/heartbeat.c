/*
 * Heartbeats: clients that have promised to send lines at a minimum rate
 * (SESSION in lockbroker-protocol(7)).
 *
 * Each client has a time of its own, so they are in a heap.  For each line only
 * its time is noted; a timer that fires too early because of that is set again.
 * No line is due while the broker does not listen: while an untagged request
 * waits, and while lines of the client are still unread.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/now.h"
#include "base/timeval.h"
#include "front/conn.h"
#include "front/state.h"

#define LOOK_AGAIN_MS 20

/* Makes libevent call when the first line is due. */
static void
beats_arm(struct front *f, int64_t now)
{
	const struct timer *first = heap_first(&f->beats);
	int64_t at_ms;
	struct timeval tv;

	if (first == NULL)
		return;
	at_ms = heap_at_ms(&f->beats, first);
	tv = ms_to_timeval(at_ms > now ? at_ms - now : 1);
	(void)event_add(f->beat, &tv);
}

/* Has the client sent anything that was not read yet? */
static bool
beat_unheard(const struct conn *c)
{
	return c->ready || (buf_len(&c->in) > 0 && conn_behind(c));
}

static void
beat_due(struct conn *c, int64_t now)
{
	struct front *f = c->front;

	assert(c->stage == CONN_LIVE && c->heartbeat_ms > 0);
	heap_remove(&f->beats, &c->beat);
	if (c->blocked || c->busy || c->eof || c->quit || c->end)
		return;
	if (c->heard_ms + c->heartbeat_ms > now) {
		heap_set(&f->beats, &c->beat, c->heard_ms + c->heartbeat_ms);
	} else if (beat_unheard(c)) {
		heap_set(&f->beats, &c->beat, now + LOOK_AGAIN_MS);
	} else {
		LOG(NOTICE, "heartbeat-missed", LOG_S("peer", c->peer),
		    LOG_N("client", c->id));
		front_end(c, CONN_END_DEAD);
	}
}

static void
beats_look(evutil_socket_t fd, short what, void *arg)
{
	struct front *f = arg;
	int64_t now = now_awake_ms();
	struct timer *t;

	(void)fd;
	(void)what;
	while ((t = heap_first(&f->beats)) != NULL &&
	       heap_at_ms(&f->beats, t) <= now)
		beat_due(container_of(t, struct conn, beat), now);
	beats_arm(f, now);
}

void
heartbeat_init(struct front *f)
{
	heap_init(&f->beats);
	f->beat = event_new(f->base, -1, 0, beats_look, f);
	if (!f->beat)
		abort();
}

void
heartbeat_anew(struct conn *c)
{
	struct front *f = c->front;

	assert(c->heartbeat_ms > 0 && c->stage == CONN_LIVE);
	c->heard_ms = now_awake_ms();
	if (timer_armed(&c->beat))
		return;
	heap_set(&f->beats, &c->beat, c->heard_ms + c->heartbeat_ms);
	if (heap_first(&f->beats) == &c->beat)
		beats_arm(f, c->heard_ms);
}

void
heartbeat_forget(struct conn *c)
{
	c->heartbeat_ms = 0;
	heap_remove(&c->front->beats, &c->beat);
}

void
conn_set_heartbeat(struct conn *c, int64_t ms)
{
	heartbeat_forget(c);
	if (c->stage != CONN_LIVE)
		return;
	c->heartbeat_ms = ms;
	heartbeat_heard(c);
}
