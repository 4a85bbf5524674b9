/*
 * The stages of a broker's life: it accepts clients, leaves, drains, stops.
 */
#include "config.h"

#include <assert.h>

#include "base/log.h"
#include "base/now.h"
#include "config/config.h"
#include "daemon/bridge.h"
#include "daemon/broker.h"
#include "daemon/monitor.h"
#include "daemon/resumption.h"
#include "daemon/succession.h"
#include "daemon/tls.h"

/* Clients come. */

bool
broker_accepts(const struct broker *b)
{
	return b->accept_ms == 0 && !succession_pending(b->succession);
}

void
broker_hold_back(struct broker *b, bool hold)
{
	front_hold_back(b->front, hold);
	tls_accept(b, !hold);
	monitor_hold_back(b->monitor, hold);
}

void
broker_take_over(struct broker *b)
{
	front_share_paths(b->front, false);
	(void)redis_own(b->redis, true);
	if (broker_accepts(b))
		broker_hold_back(b, false);
}

void
broker_accept_when_ready(struct broker *b)
{
	struct core_gauges gauges;

	if (b->accept_ms == 0)
		return;
	core_gauges(b->core, now_ms(), &gauges);
	/* If the length of the wait is known, clients may as well hear it. */
	if (!gauges.ready && gauges.grace_ms == 0 && now_ms() < b->accept_ms)
		return;
	b->accept_ms = 0;
	if (broker_accepts(b))
		broker_hold_back(b, false);
}

/* No more of them. */

static void
close_places(struct broker *b)
{
	front_stop_listening(b->front);
	tls_stop_listening(b);
}

static void
leave(struct broker *b)
{
	struct core_event ev = { .kind = CORE_LEAVE };
	int64_t most_ms = b->config->broker.leave_ms;

	/* One that was replaced may be drained, too: its time runs on. */
	if (b->leaving_ms == 0) {
		b->leaving_ms = now_ms();
		b->leave_ms = most_ms > 0 ? b->leaving_ms + most_ms : INT64_MAX;
	}
	if (!b->may_return)
		close_places(b);
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
	b->may_return = false;
	close_places(b);
	monitor_stop_listening(b->monitor);
}

void
broker_return(struct broker *b)
{
	struct core_event ev = { .kind = CORE_STAY };

	assert(b->may_return && !b->draining && !b->stopping);
	b->may_return = false;
	b->leaving_ms = b->leave_ms = 0;
	front_share_paths(b->front, false);
	(void)redis_own(b->redis, true);
	redis_leave(b->redis, false);
	bridge_step(b, &ev);
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
	b->may_return = false;
	succession_drain(b->succession);
	LOG(NOTICE, "draining", LOG_N("sessions", (long long)n.sessions),
	    LOG_N("locks", (long long)n.locks),
	    LOG_N("waiters", (long long)n.waiters));
	leave(b);
}

bool
broker_leaving(const struct broker *b)
{
	return b->leaving_ms != 0 && !b->draining;
}

/* Are all gone who came through the places of this process? */
static bool
is_deserted(const struct broker *b)
{
	/* While the places are kept, nobody tells who shakes hands. */
	return front_count(b->front) == 0 && !tls_shakes(b) &&
	       !(b->may_return && b->relay != NULL) &&
	       !monitor_is_visited(b->monitor) &&
	       !resumption_expects(succession_resumption(b->succession));
}

bool
broker_left(const struct broker *b)
{
	if (b->leaving_ms == 0)
		return false;
	return now_ms() >= b->leave_ms ||
	       (core_left(b->core) &&
		   (b->draining ? succession_stopped(b->succession)
				: is_deserted(b)));
}

void
broker_tell_left(struct broker *b)
{
	struct broker_counts n = broker_counts(b);

	LOG(NOTICE, "left", LOG_N("after_ms", now_ms() - b->leaving_ms),
	    LOG_N("clients", front_count(b->front)),
	    LOG_N("locks", (long long)n.locks));
}

void
broker_stop(struct broker *b)
{
	struct core_event ev = { .kind = CORE_STOP };

	b->stopping = true;
	close_places(b);
	bridge_step(b, &ev);
	/* This may be called between turns. */
	front_wake(b->front);
}

bool
broker_stopped(const struct broker *b)
{
	return core_stopped(b->core);
}
