/*
 * Timeouts of connections: for a header, a first line, a login, reading output,
 * and lingering.
 *
 * All connections of one kind have the same time, so a list in the order of
 * arrival is in the order of time, and one timer looks at the heads.  It is
 * coarse on purpose: no lease depends on it.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/now.h"
#include "base/timeval.h"
#include "front/conn.h"
#include "front/state.h"

#define LINGER_MS 1000
#define UNREAD_MS 2000
#define PART_MS 10000
#define FLUSH_MS_DEFAULT 30000
#define LOOK_MS_MIN 5

/* 0: no limit. */
static int64_t
timeout_ms(const struct front *f, enum timeout timeout)
{
	switch (timeout) {
	case TIMEOUT_HEADER:
		return proxy_header_ms(f->limits.first_line_ms);
	case TIMEOUT_SILENT:
		return f->limits.first_line_ms;
	case TIMEOUT_STRANGER:
		return STRANGER_MS;
	case TIMEOUT_UNREAD:
		return UNREAD_MS;
	case TIMEOUT_PART:
		return PART_MS;
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

		if (c != NULL && c->until_ms < at_ms)
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

/*
 * An unauthenticated client whose last password is still being compared gets
 * the time once more.
 */
static void
stranger_expire(struct conn *c)
{
	assert(c->stage == CONN_LIVE && c->stranger);
	if (conn_owes(c) && !c->overdue) {
		c->overdue = true;
		timeouts_set(c, TIMEOUT_STRANGER);
		return;
	}
	if (front_is_news(&c->front->stranger_ms))
		LOG(NOTICE, "client-stranger", LOG_S("peer", c->peer),
		    LOG_N("client", c->id));
	timeouts_remove(c);
	conn_refuse(c, NULL, ERR_AUTH, "not logged in within %d seconds",
	    STRANGER_MS / 1000);
	front_end(c, CONN_END_REFUSED);
}

/*
 * Has the client read since?  Perhaps the broker stood still, not the client:
 * the timer may fire before the write that would have shown it.
 */
static bool
unread_moves(struct conn *c)
{
	size_t len = buf_len(&c->out);

	assert(c->stage == CONN_LIVE);
	c->stuck = false;
	if (!conn_write(c) || buf_len(&c->out) >= len)
		return false;
	timeouts_set(c, TIMEOUT_UNREAD);
	front_dirty(c);
	return true;
}

static void
timeouts_expire(struct conn *c)
{
	assert(c->timed);
	if (c->stage != CONN_LIVE) {
		timeouts_remove(c);
		front_end(c, CONN_END_DEAD);
		return;
	}
	if (c->timeout == TIMEOUT_STRANGER) {
		stranger_expire(c);
		return;
	}
	if (c->timeout == TIMEOUT_HEADER) {
		timeouts_remove(c);
		front_wrong_header(c,
		    "no PROXY protocol header has arrived in time, which "
		    "`proxied: header` in `listen` requires");
		return;
	}
	if (c->timeout == TIMEOUT_UNREAD && unread_moves(c))
		return;
	LOG(NOTICE,
	    c->timeout == TIMEOUT_SILENT ? "client-silent" : "client-too-slow",
	    LOG_S("peer", c->peer), LOG_N("client", c->id));
	if (c->timeout == TIMEOUT_PART) {
		timeouts_remove(c);
		conn_refuse(c, NULL, ERR_LIMIT,
		    "the rest of a request of more than limits.line (%zu bytes)"
		    " did not come within %d seconds",
		    c->front->limits.line, PART_MS / 1000);
		front_end(c, CONN_END_REFUSED);
		return;
	}
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
timeouts_remove(struct conn *c)
{
	if (!c->timed)
		return;
	c->timed = false;
	assert(c->timeout < TIMEOUT_MAX);
	TAILQ_REMOVE(&c->front->timed[c->timeout], c, timed_link);
}

void
timeouts_set(struct conn *c, enum timeout timeout)
{
	struct front *f = c->front;
	int64_t ms = timeout_ms(f, timeout);
	int64_t now;

	assert(timeout < TIMEOUT_MAX);
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

void
timeouts_over(struct conn *c, enum timeout timeout)
{
	if (c->timed && c->timeout == timeout)
		timeouts_remove(c);
}

void
timeouts_spoke(struct conn *c)
{
	timeouts_over(c, TIMEOUT_SILENT);
	if (c->stranger && !c->timed)
		timeouts_set(c, TIMEOUT_STRANGER);
}

/* Only requests in RESP are larger than a line may be. */
void
timeouts_part(struct conn *c)
{
	if (!c->timed && buf_len(&c->in) > c->front->limits.line)
		timeouts_set(c, TIMEOUT_PART);
}

/* The shorter timeout runs first; the other begins with the first line. */
void
conn_set_stranger(struct conn *c, bool stranger)
{
	int64_t first_ms = c->front->limits.first_line_ms;

	if (stranger == c->stranger || c->stage != CONN_LIVE)
		return;
	c->stranger = stranger;
	if (!stranger) {
		timeouts_over(c, TIMEOUT_STRANGER);
		if (!c->spoke && !c->timed)
			timeouts_set(c, TIMEOUT_SILENT);
	} else if (c->spoke || first_ms == 0 || first_ms > STRANGER_MS) {
		timeouts_set(c, TIMEOUT_STRANGER);
	}
}

bool
timeouts_make_room(struct front *f)
{
	struct conn *c = TAILQ_FIRST(&f->timed[TIMEOUT_STRANGER]);

	if (c == NULL)
		c = TAILQ_FIRST(&f->timed[TIMEOUT_SILENT]);
	if (c == NULL || !c->stranger)
		c = TAILQ_FIRST(&f->timed[TIMEOUT_HEADER]);
	if (c == NULL || f->nleaving == LEAVERS_MAX)
		return false;
	timeouts_remove(c);
	assert(c->stage == CONN_LIVE && !c->leaving);
	c->leaving = true;
	f->nleaving++;
	front_end(c, CONN_END_DEAD);
	return true;
}

/*
 * A client that has sent no line gets the new time from now on.  Until all of
 * them have it, the list is not in order: clients at its end may be due first.
 */
void
timeouts_changed(struct conn *c)
{
	if (c->headless)
		timeouts_set(c, TIMEOUT_HEADER);
	else if (!c->spoke && !(c->timed && c->timeout == TIMEOUT_STRANGER))
		timeouts_set(c, TIMEOUT_SILENT);
}

void
timeouts_sorted(struct front *f)
{
	timeouts_arm(f, now_awake_ms());
}
