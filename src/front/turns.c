/*
 * The queues of connections: for their turn in front_run(), and for
 * front_flush().
 *
 * A connection is in each at most once.  Code that has work for a connection
 * queues it and returns; the work is done when its turn comes.
 */
#include "config.h"

#include <assert.h>

#include "base/log.h"
#include "base/now.h"
#include "front/conn.h"
#include "front/front.h"
#include "front/state.h"

#define SPELL_MS 10000 /* after this time, an event is logged again */

void
front_ready(struct conn *c)
{
	/* front_serve() itself finds the remaining work. */
	if (c->ready || c->serving || c->stage != CONN_LIVE)
		return;
	c->ready = true;
	c->front->nready++;
	TAILQ_INSERT_TAIL(&c->front->ready, c, ready_link);
}

/*
 * The order is that in which requests were read.  A new connection is queued
 * already, to be opened: with its first bytes it goes to the end, or it would
 * overtake connections that were read before it.
 */
void
front_heard(struct conn *c)
{
	if (c->ready && !c->opened) {
		TAILQ_REMOVE(&c->front->ready, c, ready_link);
		TAILQ_INSERT_TAIL(&c->front->ready, c, ready_link);
	}
	front_ready(c);
}

/* The list that a connection with output is on. */
static struct conn_list *
front_list_of(const struct conn *c)
{
	return c->hurried ? &c->front->hurried : &c->front->dirty;
}

void
front_clean(struct conn *c)
{
	if (!c->dirty)
		return;
	TAILQ_REMOVE(front_list_of(c), c, dirty_link);
	c->dirty = c->hurried = false;
}

/*
 * The last connection goes first: a grant comes after the answer to the UNLOCK
 * that made it possible, and a client waits for the grant.
 */
struct conn *
front_next_dirty(const struct front *f)
{
	if (!TAILQ_EMPTY(&f->hurried))
		return TAILQ_FIRST(&f->hurried);
	return TAILQ_LAST(&f->dirty, conn_list);
}

void
front_dirty(struct conn *c)
{
	if (c->dirty)
		return;
	c->dirty = true;
	TAILQ_INSERT_TAIL(front_list_of(c), c, dirty_link);
}

void
conn_hurry(struct conn *c)
{
	if (c->hurried)
		return;
	front_clean(c);
	c->hurried = true;
	assert(!c->dirty);
	front_dirty(c);
}

void
front_end(struct conn *c, enum conn_end end)
{
	assert(end != CONN_END_NONE);
	if (c->end < end)
		c->end = (uint8_t)end;
	if (c->stage == CONN_LIVE)
		front_ready(c);
	else if (end == CONN_END_DEAD)
		front_dirty(c);
}

bool
front_is_news(int64_t *last_ms)
{
	int64_t now = now_awake_ms();
	bool news = *last_ms == 0 || now - *last_ms >= SPELL_MS;

	*last_ms = now;
	return news;
}

void
front_wrong_header(struct conn *c, const char *why)
{
	if (front_is_news(&c->front->proxy_ms))
		LOG(NOTICE, "proxy-protocol", LOG_S("peer", c->peer),
		    LOG_S("text", why));
	front_end(c, CONN_END_REFUSED);
}
