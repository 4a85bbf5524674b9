/*
 * Tells the core what happens: events from the front and from Redis, and the
 * time; and ends each turn.  effects_run.c carries out what the core decides,
 * broker_life.c makes and frees all of it.
 *
 * A session has the id of the connection that it began with, and may go on over
 * another connection.  Only ids cross from one turn to the next.
 */
#include "config.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/now.h"
#include "base/xmalloc.h"
#include "daemon/bridge/alarm.h"
#include "daemon/bridge/bridge.h"
#include "daemon/bridge/broker.h"
#include "daemon/monitor/monitor.h"
#include "daemon/replace/upgrade.h"
#include "daemon/resp/resp.h"
#include "daemon/users/identity.h"

/* From the front. */

static void
on_catch_up(void *arg)
{
	bridge_catch_up(arg);
}

static void
on_opened(void *arg, struct conn *c)
{
	struct broker *b = arg;
	struct core_event ev = { .kind = CORE_OPEN };
	struct client *client = xcalloc(1, sizeof(*client));

	client->session = conn_id(c);
	client->late = b->keeps_local;
	conn_set_data(c, client);
	b->clients_total++;
	ev.u.open.session = conn_id(c);
	ev.u.open.peer = conn_peer(c);
	ev.u.open.uid = conn_uid(c);
	ev.u.open.tcp = conn_is_tcp(c);
	ev.u.open.proxied = conn_is_proxied(c);
	bridge_step(b, &ev);
	identity_opened(b->identity, c);
}

static void
on_drain(void *arg, struct conn *c)
{
	struct core_event ev = { .kind = CORE_DRAIN };

	ev.u.gone.session = bridge_session(c);
	if (ev.u.gone.session == 0)
		return;
	bridge_step(arg, &ev);
}

static void
on_pressed(void *arg, struct conn *c)
{
	struct core_event ev = { .kind = CORE_PRESS };

	ev.u.gone.session = bridge_session(c);
	if (ev.u.gone.session != 0 && resp_is_parked(c))
		bridge_step(arg, &ev);
}

static void
on_gone(void *arg, struct conn *c, bool orderly)
{
	struct broker *b = arg;
	struct core_event ev = { .kind = CORE_GONE };
	struct client *client = conn_data(c);

	ev.u.gone.session = client->session;
	ev.u.gone.orderly = orderly;
	ev.u.gone.quit = client->quit;
	resp_free(arg, client->resp);
	identity_gone(b->identity, client);
	free(client);
	conn_set_data(c, NULL);
	if (ev.u.gone.session != 0)
		bridge_step(arg, &ev);
}

static void
on_reloaded(void *arg, struct conn *c)
{
	struct broker *b = arg;

	identity_reloaded(b->identity, c);
}

static void
on_reload_over(void *arg)
{
	struct broker *b = arg;

	identity_reload_over(b->identity);
}

static void
on_request(void *arg, struct conn *c, const struct request *r)
{
	if (!resp_multi_takes(c, r))
		handler_request(arg, c, r);
}

static void
on_refused(void *arg, struct conn *c)
{
	(void)arg;
	resp_multi_spoil(c, "a command was refused before");
}

const struct front_handler bridge_front_handler = {
	.opened = on_opened,
	.catch_up = on_catch_up,
	.request = on_request,
	.command = resp_command,
	.refused = on_refused,
	.drain = on_drain,
	.pressed = on_pressed,
	.gone = on_gone,
	.reloaded = on_reloaded,
	.reload_over = on_reload_over,
};

/* From parts below. */

/* Is it the answer to a request that the broker has made for a client? */
static bool
takes(struct broker *b, struct conn *c, uint64_t ref,
    const struct wire_reply *reply)
{
	return resp_spring_woken(b, c, ref, NULL) ||
	       resp_part_told(c, ref, NULL, reply);
}

const struct bridge_hooks bridge_hooks = {
	.carry_out = bridge_run_effects,
	.takes = takes,
	.told = resp_takes_reply,
};

/* From Redis. */

static void
on_guard(void *arg, uint32_t shard, int64_t sent_ms,
    const struct guard_report *report)
{
	struct core_event ev = { .kind = CORE_GUARD };

	ev.u.guard.shard = shard;
	ev.u.guard.sent_ms = sent_ms;
	ev.u.guard.report = report;
	bridge_step(arg, &ev);
}

static void
on_outcome(
    void *arg, uint64_t op, int64_t sent_ms, const struct outcome *outcome)
{
	struct core_event ev = { .kind = CORE_OUTCOME };

	ev.u.outcome.op = op;
	ev.u.outcome.sent_ms = sent_ms;
	ev.u.outcome.outcome = outcome;
	bridge_step(arg, &ev);
}

static void
on_link(void *arg, uint32_t shard, bool up, const char *why)
{
	struct core_event ev = { .kind = CORE_LINK };

	ev.u.link.shard = shard;
	ev.u.link.up = up;
	ev.u.link.why = why;
	bridge_step(arg, &ev);
}

static void
on_message(void *arg, const char *text, size_t len, const char *history)
{
	struct core_event ev = { .kind = CORE_MESSAGE };

	ev.u.message.text = text;
	ev.u.message.len = len;
	ev.u.message.history = history;
	bridge_step(arg, &ev);
}

static void
on_resubscribed(void *arg)
{
	struct core_event ev = { .kind = CORE_RESUBSCRIBED };

	bridge_step(arg, &ev);
}

static void
on_fatal(void *arg, const char *why)
{
	struct broker *b = arg;

	LOG(ERROR, "redis-impossible", LOG_S("why", why));
	b->failed = true;
}

const struct redis_handler bridge_redis_handler = {
	.guard = on_guard,
	.outcome = on_outcome,
	.link = on_link,
	.message = on_message,
	.resubscribed = on_resubscribed,
	.fatal = on_fatal,
};

/* The turn. */

void
bridge_on_alarm(void *arg)
{
	struct core_event ev = { .kind = CORE_TIME };

	bridge_step(arg, &ev);
}

static void
set_alarm(struct broker *b)
{
	int64_t at_ms = core_deadline(b->core);

	if (b->accept_ms > 0 && b->accept_ms < at_ms)
		at_ms = b->accept_ms;
	if (b->leaving_ms > 0 && b->leave_ms < at_ms)
		at_ms = b->leave_ms;
	alarm_set(b->alarm, at_ms);
}

#define GRANTS_US 500 /* for sending grants in a turn */

/*
 * Very many grants at once take some turns: meanwhile answers of Redis are
 * read, renewals leave, and losses are told.  A request that a client sent
 * after the granted one, as libraries ask for `valid=`, is answered along with
 * it.
 */
static void
tell_grants(struct broker *b)
{
	int64_t until_us = now_awake_us() + GRANTS_US;
	struct core_event flush = { .kind = CORE_FLUSH };

	do {
		if (core_has_grants(b->core))
			bridge_step(b, &flush);
		front_hurry(b->front);
		front_run_on(b->front);
		bridge_catch_up(b);
	} while (core_has_grants(b->core) && now_awake_us() < until_us);
	if (core_has_grants(b->core))
		front_wake(b->front);
}

/*
 * Clients that have lost something are told before Redis, from which other
 * brokers would learn it, and before any other client here.  front_hurry()
 * tells them; it comes before each redis_flush(), and first of all in
 * front_flush().
 */
bool
broker_turn(struct broker *b)
{
	broker_accept_when_ready(b);
	bridge_catch_up(b);
	front_hurry(b->front);
	front_run(b->front);
	lists_run(b);
	resp_spring_run(b);
	resp_audience_run(b);
	resp_look_run(b);
	monitor_run(b->monitor);
	bridge_catch_up(b);
	front_hurry(b->front);
	redis_flush(b->redis);
	tell_grants(b);
	front_flush(b->front);
	core_written(b->core);
	redis_flush(b->redis);
	front_hurry(b->front);
	upgrade_turn(b->upgrade);
	set_alarm(b);
	return core_asks(b->core);
}
