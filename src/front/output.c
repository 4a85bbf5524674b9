/*
 * Limits the unread output of all clients together.
 *
 * Each client may leave limits.output unread, and many may do so at a time, so
 * there is a limit for all together, too.  Beyond it, the front drops some of
 * the clients with the most.  It counts the memory that the output takes.
 */
#include "config.h"

#include <assert.h>

#include "base/log.h"
#include "front/conn.h"
#include "front/state.h"

/*
 * The unread output of all clients together: this many bytes or, if that is
 * more, a multiple of the limit of one client.
 */
#define ALL_BYTES ((size_t)64 << 20)
#define ALL_TIMES 8
#define SPARE 16 /* this part of it is free after drops */

void
output_forget(struct conn *c)
{
	if (c->counted == 0)
		return;
	assert(c->front->stats.unread >= c->counted);
	TAILQ_REMOVE(&c->front->unread, c, unread_link);
	c->front->stats.unread -= c->counted;
	c->counted = 0;
}

void
output_count(struct conn *c)
{
	output_forget(c);
	c->counted = buf_len(&c->out) > 0 ? c->out.size : 0;
	assert(c->counted >= buf_len(&c->out));
	if (c->counted == 0)
		return;
	TAILQ_INSERT_TAIL(&c->front->unread, c, unread_link);
	c->front->stats.unread += c->counted;
}

static size_t
most_unread(const struct front *f)
{
	const struct conn *c;
	size_t most = 0;

	TAILQ_FOREACH (c, &f->unread, unread_link)
		if (c->counted > most)
			most = c->counted;
	return most;
}

void
front_too_slow(struct conn *c)
{
	assert(c->stage == CONN_LIVE);
	c->front->stats.too_slow++;
	LOG(NOTICE, "client-too-slow", LOG_S("peer", c->peer),
	    LOG_N("client", c->id), LOG_N("bytes", buf_len(&c->out)));
	front_end(c, CONN_END_DEAD);
}

/* Drops a client: nothing can be delivered to it any more. */
static void
drop(struct conn *c)
{
	if (c->stage == CONN_LIVE)
		front_too_slow(c);
	else
		front_end(c, CONN_END_DEAD);
	output_forget(c);
	buf_fini(&c->out);
	c->stuck = false;
	c->deaf = true;
	conn_arm(c);
}

void
front_bound_output(struct front *f, size_t bytes)
{
	f->output_bound = bytes;
}

static size_t
output_max(const struct front *f)
{
	size_t bytes = ALL_TIMES * f->limits.output;

	if (f->output_bound > 0)
		return f->output_bound;
	return bytes > ALL_BYTES ? bytes : ALL_BYTES;
}

/*
 * Drops first the clients that have read nothing for the longest time.  It
 * drops more than necessary, so that it need not look at all clients with
 * unread output again for each byte beyond the limit.
 */
static void
drop_from(struct front *f, size_t bytes, size_t enough)
{
	struct conn *c, *next;

	TAILQ_FOREACH_SAFE (c, &f->unread, unread_link, next) {
		if (f->stats.unread <= enough)
			return;
		if (c->counted >= bytes)
			drop(c);
	}
}

void
output_bound(struct front *f)
{
	size_t enough = output_max(f) - output_max(f) / SPARE;

	if (f->stats.unread <= output_max(f))
		return;
	if (front_is_news(&f->full_ms))
		LOG(WARNING, "output-exhausted",
		    LOG_N("bytes", f->stats.unread),
		    LOG_N("limit", output_max(f)));
	while (f->stats.unread > enough)
		drop_from(f, most_unread(f) / 2 + 1, enough);
}
