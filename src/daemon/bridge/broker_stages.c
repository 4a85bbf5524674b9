/*
 * The stages of a broker's life: it leaves, drains, stops.
 */
#include "config.h"

#include <assert.h>

#include "base/log.h"
#include "base/now.h"
#include "config/config.h"
#include "daemon/bridge/bridge.h"
#include "daemon/bridge/broker.h"
#include "daemon/bridge/tls.h"
#include "daemon/monitor/monitor.h"
#include "daemon/replace/resume_elsewhere.h"
#include "daemon/replace/upgrade.h"

/* No more clients. */

static void
leave(struct broker *b)
{
	struct core_event ev = { .kind = CORE_LEAVE };
	int64_t most_ms = b->config->broker.leave_ms;

	/* A replaced process may be drained, too: its time continues. */
	if (b->leaving_ms == 0) {
		b->leaving_ms = now_ms();
		b->leave_ms = most_ms > 0 ? b->leaving_ms + most_ms : INT64_MAX;
	}
	if (b->keeps_local)
		broker_local_only(b);
	else if (!b->may_return)
		broker_close_places(b);
	redis_leave(b->redis, true);
	ev.u.leave.until_ms = b->leave_ms;
	ev.u.leave.drain = b->draining;
	bridge_step(b, &ev);
}

void
broker_leave(struct broker *b, bool may_return)
{
	b->may_return = may_return;
	front_share_paths(b->front, true);
	if (!may_return)
		monitor_stop_listening(b->monitor);
	b->server_stays = redis_own(b->redis, false);
	leave(b);
}

void
broker_return_no_more(struct broker *b)
{
	assert(b->leaving_ms != 0);
	b->may_return = false;
	broker_give_up_places(b);
}

static void
stay(struct broker *b)
{
	struct core_event ev = { .kind = CORE_STAY };

	assert(b->leaving_ms != 0);
	b->leaving_ms = b->leave_ms = 0;
	redis_leave(b->redis, false);
	bridge_step(b, &ev);
}

void
broker_return(struct broker *b)
{
	assert(b->may_return && !b->draining && !b->stopping);
	b->may_return = false;
	front_share_paths(b->front, false);
	(void)redis_own(b->redis, true);
	stay(b);
	broker_hold_back(b, false);
}

void
broker_inherit(struct broker *b)
{
	struct core_event ev = { .kind = CORE_HEIR };

	bridge_step(b, &ev);
}

/* The places of the monitor stay open to the end. */
void
broker_drain(struct broker *b)
{
	struct broker_counts n = broker_counts(b);

	if (b->draining || b->stopping)
		return;
	b->draining = true;
	b->keeps_local = b->leaving_ms == 0;
	b->may_return = false;
	upgrade_tell_leaving(b->upgrade, "drain");
	LOG(NOTICE, "draining", LOG_N("sessions", (long long)n.sessions),
	    LOG_N("locks", (long long)n.locks),
	    LOG_N("waiters", (long long)n.waiters));
	leave(b);
}

/* Returns false if it cannot. */
static bool
take_back(struct broker *b, struct buf *why)
{
	if (b->stopping) {
		buf_adds(why, "the broker is stopping");
		return false;
	}
	if (b->keeps_local)
		return broker_listen_again(b, why);
	if (upgrade_stays(b->upgrade) || b->server_stays)
		return true;
	buf_adds(
	    why, "its Redis has ended with the process that replaced this one");
	return false;
}

bool
broker_drain_no_more(struct broker *b, struct buf *why)
{
	struct broker_counts n = broker_counts(b);

	if (!b->draining)
		return true;
	if (!take_back(b, why))
		return false;
	LOG(NOTICE, "drain-aborted",
	    LOG_N("after_ms", now_ms() - b->leaving_ms),
	    LOG_N("sessions", (long long)n.sessions),
	    LOG_N("locks", (long long)n.locks));
	b->draining = false;
	upgrade_tell_leaving(b->upgrade, "drain-no-more");
	if (b->keeps_local)
		stay(b);
	else
		leave(b);
	b->keeps_local = false;
	return true;
}

bool
broker_leaving(const struct broker *b)
{
	return b->leaving_ms != 0 && !b->draining;
}

/* Have all clients gone that came through the places of this process? */
static bool
is_deserted(const struct broker *b)
{
	/* While the places are kept, TLS handshakes are not reported. */
	return front_count(b->front) == 0 && !tls_shakes(b) &&
	       !front_keeps(b->front, false) && !front_keeps(b->front, true) &&
	       !(b->may_return && b->relay != NULL) &&
	       !monitor_is_visited(b->monitor) &&
	       !resume_elsewhere_expects(upgrade_resume_elsewhere(b->upgrade));
}

bool
broker_left(const struct broker *b)
{
	if (b->leaving_ms == 0)
		return false;
	return now_ms() >= b->leave_ms ||
	       (core_left(b->core) && (b->draining ? upgrade_stopped(b->upgrade)
						   : is_deserted(b)));
}

void
broker_tell_left(struct broker *b)
{
	struct broker_counts n = broker_counts(b);

	assert(b->leaving_ms != 0);
	LOG(NOTICE, "left", LOG_N("after_ms", now_ms() - b->leaving_ms),
	    LOG_N("clients", front_count(b->front)),
	    LOG_N("locks", (long long)n.locks));
}

void
broker_stop(struct broker *b)
{
	struct core_event ev = { .kind = CORE_STOP };

	b->stopping = true;
	broker_close_places(b);
	bridge_step(b, &ev);
	/* This may be called between turns. */
	front_wake(b->front);
}

bool
broker_stopped(const struct broker *b)
{
	return core_stopped(b->core);
}
