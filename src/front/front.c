/*
 * Turns: which connections hand out requests, which write replies, and which
 * are closed.
 *
 *	accepted -> ready -> front_run: opened, lines, drain, gone
 *	                         |  ^
 *	              deferred --+  +-- answered, or more lines than a share
 *
 * A connection is queued at most once.  In one turn each connection gets at
 * most LINES_PER_TURN lines and SHARE_US; if it has more, it goes to the end of
 * the queue, and the next turn comes at once.  So a client that floods costs
 * every other client one share of a turn and no more.  All connections together
 * get TURN_US, so that a turn stays short whatever its lines cost: once a turn,
 * the broker reads the replies of Redis and sends renewals.  The next turn
 * continues where this one stopped.
 *
 * Nothing is freed while a handler runs: conn_kill() marks the connection, and
 * front_run() ends it.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/now.h"
#include "base/xmalloc.h"
#include "front/conn.h"
#include "front/front.h"
#include "front/gate.h"
#include "front/listener.h"
#include "front/sockopt.h"
#include "front/state.h"

#define LINES_PER_TURN 64 /* of one connection */
#define SHARE_US 250	  /* of one connection */
#define TURN_US 1000	  /* of all */

/*
 * Reloads: each connection takes note of the new settings.
 *
 * A connection does so before its next request is handed out, so the new rules
 * apply from then on.  A walk over all connections takes care of the others; it
 * looks at a limited number of them in a turn, because there may be very many.
 * A connection opened during the walk has the new rules from its start.
 * Another reload makes the walk begin again.
 */

#define LOOKS_PER_TURN 100

void
front_set_limits(struct front *f, const struct client_limits *limits)
{
	f->reloads++;
	if (limits->unreachable_ms != f->limits.unreachable_ms)
		f->unreachable_at = f->reloads;
	f->limits = *limits;
	f->reloading = true;
	table_rewind(&f->conns, &f->reload);
}

void
conn_note_reload(struct conn *c)
{
	struct front *f = c->front;
	bool unreachable = c->reloads < f->unreachable_at;

	if (c->reloads == f->reloads)
		return;
	c->reloads = f->reloads;
	if (c->tcp && !c->relayed && unreachable)
		sockopt_client(c->fd, f->limits.unreachable_ms);
	timeouts_changed(c);
	if (c->opened)
		f->handler->reloaded(f->arg, c);
}

static void
reload_go_on(struct front *f)
{
	struct table_link *link;
	unsigned looked = 0;

	if (!f->reloading)
		return;
	link = table_go_on(&f->reload);
	for (; link != NULL; link = table_next(&f->reload)) {
		conn_note_reload(container_of(link, struct conn, by_id));
		if (++looked >= LOOKS_PER_TURN && table_rests(&f->reload))
			return;
	}
	f->reloading = false;
	timeouts_sorted(f);
	f->handler->reload_over(f->arg);
}

static void
front_woken(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

static struct conn *
conn_of(struct table_link *link)
{
	return container_or_null(link, struct conn, by_id);
}

/* The first of all connections, in no order; and the next one. */
static struct conn *
front_first(const struct front *f, struct table_walk *walk)
{
	return conn_of(table_first(&f->conns, walk));
}

static struct conn *
front_next(struct table_walk *walk)
{
	return conn_of(table_next(walk));
}

struct front *
front_new(struct event_base *base, const struct client_limits *limits,
    const struct front_handler *handler, void *arg)
{
	struct front *f = xcalloc(1, sizeof(*f));

	f->base = base;
	f->limits = *limits;
	f->handler = handler;
	f->arg = arg;
	TAILQ_INIT(&f->ready);
	TAILQ_INIT(&f->dirty);
	TAILQ_INIT(&f->hurried);
	TAILQ_INIT(&f->unread);
	table_init_key(&f->conns, struct conn, by_id, id);
	table_init_key(&f->by_ref, struct pending, by_ref, ref);
	table_init_key(&f->by_tag, struct pending, by_tag, key);
	table_init_key(&f->relayed, struct conn, by_relay, relay);
	timeouts_init(f);
	heartbeat_init(f);
	listeners_init(f);
	buf_init(&f->why);
	buf_init(&f->text);
	f->scratch = xmalloc(FRONT_READ_BYTES);
	f->wake = event_new(base, -1, 0, front_woken, f);
	if (!f->wake)
		abort();
	return f;
}

/* No part of the front refers to it any more, except the lists of turns. */
static void
front_forget(struct conn *c)
{
	timeouts_remove(c);
	heartbeat_forget(c);
	output_forget(c);
	conn_forget(c);
}

static void
front_drop(struct conn *c)
{
	(void)conn_write(c);
	(void)conn_linger(c);
	front_forget(c);
	conn_free(c);
}

void
front_free(struct front *f)
{
	struct table_walk walk;
	struct conn *c;
	int i;

	if (f == NULL)
		return;
	front_stop_listening(f);
	listeners_fini(f);
	/* A closing connection is either timed or still to be written to. */
	while ((c = front_next_dirty(f)) != NULL) {
		front_clean(c);
		if (c->stage != CONN_LIVE && !c->timed)
			front_drop(c);
	}
	for (i = 0; i < TIMEOUT_MAX; i++) {
		while ((c = TAILQ_FIRST(&f->timed[i])) != NULL) {
			timeouts_remove(c);
			if (c->stage != CONN_LIVE)
				front_drop(c);
		}
	}
	for (c = front_first(f, &walk); c; c = front_next(&walk)) {
		table_remove(&f->conns, &c->by_id);
		relayed_forget(c);
		front_drop(c);
	}
	table_fini(&f->conns);
	table_fini(&f->by_ref);
	table_fini(&f->by_tag);
	table_fini(&f->relayed);
	heap_fini(&f->beats);
	event_free(f->clock);
	event_free(f->beat);
	event_free(f->wake);
	buf_fini(&f->why);
	buf_fini(&f->text);
	free(f->scratch);
	free(f);
}

/* Removes a closing connection from all lists and frees it. */
static void
front_close(struct conn *c)
{
	struct front *f = c->front;

	assert(f->nflushing + f->nlingering > 0);
	assert(c->stage != CONN_LIVE && !c->ready);
	if (c->stage == CONN_FLUSHING)
		f->nflushing--;
	else
		f->nlingering--;
	front_clean(c);
	front_forget(c);
	conn_free(c);
}

/* Ends the life of a connection: only its replies are left to deliver. */
static void
front_gone(struct conn *c, bool orderly)
{
	struct front *f = c->front;

	assert(c->stage == CONN_LIVE && !c->ready && f->nlive > 0);
	assert(f->nleaving >= c->leaving);
	if (c->opened)
		f->handler->gone(f->arg, c, orderly);
	table_remove(&f->conns, &c->by_id);
	relayed_forget(c);
	f->nlive--;
	f->stats.resp -= c->protocol != &wire_lines;
	f->nleaving -= c->leaving;
	timeouts_remove(c);
	heartbeat_forget(c);
	conn_forget(c);
	buf_fini(&c->in);
	c->stage = CONN_FLUSHING;
	f->nflushing++;
	if (c->end == CONN_END_DEAD) {
		front_close(c);
		return;
	}
	front_dirty(c);
	conn_arm(c);
}

/* May the next line be handed out? */
static bool
front_may_hand(const struct conn *c)
{
	if (c->blocked != 0 || c->busy > 0 || c->choked)
		return false;
	return !c->quit && !c->end && !conn_behind(c);
}

/* Does a client begin a TLS handshake on a port without TLS? */
static bool
front_meets_tls(struct conn *c)
{
	const char *data = buf_data(&c->in);

	if (c->spoke || c->relayed || buf_len(&c->in) < 2 || data[0] != 0x16 ||
	    data[1] != 3)
		return false;
	if (front_is_news(&c->front->tls_ms))
		LOG(NOTICE, "tls-on-plain-port", LOG_S("peer", c->peer),
		    LOG_S("advice", "use a `tls:` port of `listen`"));
	front_end(c, CONN_END_REFUSED);
	return true;
}

/* The first byte of a connection determines its protocol. */
static void
front_choose_protocol(struct conn *c)
{
	if (c->spoke || c->protocol != &wire_lines || buf_len(&c->in) == 0 ||
	    buf_data(&c->in)[0] != '*')
		return;
	c->protocol = &wire_resp2;
	c->front->stats.resp++;
}

/* Hands out one request.  Returns false if none is complete. */
static bool
front_hand(struct conn *c)
{
	struct front *f = c->front;
	enum err_code code = ERR_NONE;
	struct wire_frame frame;

	if (front_meets_tls(c) || proxied_meets_header(c))
		return false;
	front_choose_protocol(c);
	buf_clear(&f->why);
	switch (conn_frame(c, &frame, &code, &f->why)) {
	case FRAME_REFUSED:
		f->handler->catch_up(f->arg);
		conn_refuse_with(c, NULL, code, &f->why);
		front_end(c, CONN_END_REFUSED);
		/* FALLTHROUGH */
	case FRAME_PART:
		/* A full buffer without a complete request: read on. */
		if (c->full && c->stranger)
			front_end(c, CONN_END_REFUSED);
		c->full = false;
		timeouts_part(c);
		return false;
	case FRAME_WHOLE:
		timeouts_over(c, TIMEOUT_PART);
		break;
	}
	if (!c->spoke) {
		conn_speaks(c);
		timeouts_spoke(c);
	}
	heartbeat_heard(c);
	f->handler->catch_up(f->arg);
	switch (gate_pass(c, &frame)) {
	case GATE_LATER:
		c->choked = true;
		return true;
	case GATE_CLOSED:
		front_end(c, CONN_END_REFUSED);
		break;
	case GATE_DONE:
		break;
	}
	conn_frame_done(c);
	return true;
}

/* Has everything been read, handed out and answered? */
static bool
front_is_over(const struct conn *c)
{
	if (conn_owes(c))
		return false;
	return c->quit || (c->eof && c->idle);
}

static void
front_open(struct conn *c)
{
	struct front *f = c->front;

	assert(!c->opened && f->nunopened > 0);
	c->opened = true;
	f->nunopened--;
	f->handler->opened(f->arg, c);
}

struct conn *
front_receive(struct front *f, const struct front_passed *passed)
{
	struct conn *c = conn_new_passed(f, passed);

	f->stats.resp += c->protocol != &wire_lines;
	front_admit(c);
	front_open(c);
	conn_speaks(c);
	timeouts_spoke(c);
	if (buf_len(&c->out) > 0)
		front_dirty(c);
	return c;
}

/* A program with several users of one connection may have sent, after a
 * request, the very request that this one waits for. */
static void
front_press(struct conn *c)
{
	if (c->blocked == 0 || c->pressed || buf_len(&c->in) == 0 ||
	    c->protocol == &wire_lines)
		return;
	c->pressed = true;
	c->front->handler->pressed(c->front->arg, c);
}

/* One turn of one connection: calls the handler for everything that is due. */
static void
front_serve_lines(struct conn *c)
{
	int64_t until_us = now_awake_us() + SHARE_US;
	struct front *f = c->front;
	unsigned n;

	conn_note_reload(c);
	if (!proxied_told(c))
		return;
	if (!c->opened)
		front_open(c);
	if (!c->drained && !c->end && (c->eof || c->hup || c->quit)) {
		c->drained = true;
		f->handler->drain(f->arg, c);
	}
	c->idle = false;
	for (n = 0; n < LINES_PER_TURN && front_may_hand(c); n++) {
		if (!front_hand(c)) {
			c->idle = true;
			break;
		}
		if (now_awake_us() >= until_us)
			break;
	}
	front_press(c);
	buf_trim(&c->in, 0);
}

static void
front_serve(struct conn *c)
{
	assert(c->stage == CONN_LIVE);
	c->serving = true;
	front_serve_lines(c);
	if (c->end || front_is_over(c)) {
		front_gone(c, c->end == CONN_END_NONE && !c->unsigned_end);
		return;
	}
	c->serving = false;
	if ((c->quit && !c->drained) || (!c->idle && front_may_hand(c)))
		front_ready(c);
	conn_arm(c);
}

/* Connections queued during this turn are served in the next one. */
static void
front_serve_ready(struct front *f, int64_t us)
{
	int64_t until_us = now_awake_us() + us;
	unsigned n = f->nready;
	struct conn *c;

	while (n-- > 0 && now_awake_us() < until_us &&
	       (c = TAILQ_FIRST(&f->ready)) != NULL) {
		TAILQ_REMOVE(&f->ready, c, ready_link);
		f->nready--;
		c->ready = false;
		front_serve(c);
	}
}

void
front_run(struct front *f)
{
	reload_go_on(f);
	front_serve_ready(f, TURN_US);
}

void
front_run_on(struct front *f)
{
	if (f->nready > 0)
		front_serve_ready(f, SHARE_US);
}

/*
 * Drops a client that does not read.  A single reply may be longer than the
 * limit: a client that keeps reading it is left alone, but no further output
 * may be added until then.
 */
static void
front_flush_live(struct conn *c, bool was_behind)
{
	size_t len = buf_len(&c->out);

	assert(c->stage == CONN_LIVE);
	if (len <= c->front->limits.output) {
		timeouts_over(c, TIMEOUT_UNREAD);
	} else if (c->unread > 0 && len > c->unread) {
		front_too_slow(c);
	} else if (len != c->unread && !c->stranger) {
		timeouts_set(c, TIMEOUT_UNREAD);
	}
	c->unread = len;
	if (c->choked && c->counted == 0) {
		c->choked = false;
		front_ready(c);
	}
	if (was_behind && !conn_behind(c))
		front_ready(c);
	conn_arm(c);
}

/* Delivers the output, which is all that is left of the connection. */
static void
front_flush_closing(struct conn *c)
{
	struct front *f = c->front;

	assert(c->stage == CONN_FLUSHING && f->nflushing > 0);
	if (c->stuck) {
		timeouts_set(c, TIMEOUT_FLUSH);
		conn_arm(c);
		return;
	}
	f->nflushing--;
	f->nlingering++;
	timeouts_set(c, TIMEOUT_LINGER);
	if (!conn_linger(c)) {
		front_close(c);
		return;
	}
	conn_arm(c);
	if (f->nlingering > LINGERERS_MAX)
		front_close(TAILQ_FIRST(&f->timed[TIMEOUT_LINGER]));
}

static void
front_flush_one(struct conn *c)
{
	bool was_behind = conn_behind(c);

	if (c->stage != CONN_LIVE && c->end == CONN_END_DEAD) {
		front_close(c);
		return;
	}
	if (!c->stuck && !conn_write(c)) {
		front_end(c, CONN_END_DEAD);
		return;
	}
	output_count(c);
	if (c->stage == CONN_LIVE)
		front_flush_live(c, was_behind);
	else
		front_flush_closing(c);
}

/*
 * Writes a loss at once.  A client with unread bytes in its socket cannot be
 * told in time: the line is behind these bytes, and the name passes on.
 */
static void
front_flush_hurried(struct conn *c)
{
	bool live = c->stage == CONN_LIVE;

	front_clean(c);
	front_flush_one(c);
	if (live && c->stuck)
		LOG(NOTICE, "loss-unread", LOG_S("peer", c->peer),
		    LOG_N("client", c->id), LOG_N("bytes", buf_len(&c->out)));
}

void
front_hurry(struct front *f)
{
	struct conn *c;

	while ((c = TAILQ_FIRST(&f->hurried)) != NULL)
		front_flush_hurried(c);
}

static void
front_flush_all(struct front *f)
{
	struct conn *c;

	while ((c = front_next_dirty(f)) != NULL) {
		front_clean(c);
		front_flush_one(c);
	}
}

void
front_flush(struct front *f)
{
	front_hurry(f);
	front_flush_all(f);
	output_bound(f);
	front_flush_all(f); /* frees closing connections that are done */
	if (f->nready > 0 || f->reloading)
		front_wake(f);
}

void
front_wake(struct front *f)
{
	event_active(f->wake, EV_TIMEOUT, 0);
}

struct conn *
front_find(const struct front *f, uint64_t id)
{
	return conn_of(table_find_key(&f->conns, &id));
}

unsigned
front_count(const struct front *f)
{
	return f->nlive;
}

const struct front_stats *
front_stats(const struct front *f)
{
	return &f->stats;
}

void
front_each(struct front *f, void (*fn)(void *arg, struct conn *c), void *arg)
{
	struct table_walk walk;
	struct conn *c;

	for (c = front_first(f, &walk); c; c = front_next(&walk))
		fn(arg, c);
}
