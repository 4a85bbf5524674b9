/*
 * What all parts of the bridge stand on: a step of the core, and an answer to a
 * client.  It calls none of them but through struct bridge_hooks.
 */
#include "config.h"

#include <assert.h>
#include <inttypes.h>
#include <time.h>

#include "base/human.h"
#include "base/now.h"
#include "base/times.h"
#include "config/config.h"
#include "daemon/bridge/bridge.h"
#include "daemon/bridge/broker.h"

static void
step(struct broker *b, struct core_event *ev)
{
	assert(b->effects.n == 0);
	core_step(b->core, ev, &b->effects);
	b->hooks->carry_out(b);
}

/* Has the core report all losses before the event, however many there are.  At
 * the time of the event, for which the core was asked, none is due. */
void
bridge_step(struct broker *b, struct core_event *ev)
{
	struct core_event time = { .kind = CORE_TIME };

	assert(b->hooks != NULL);
	ev->now_ms = now_ms();
	while (core_has_losses(b->core, ev->now_ms)) {
		time.now_ms = ev->now_ms;
		step(b, &time);
		ev->now_ms = now_ms();
	}
	step(b, ev);
}

void
bridge_catch_up(struct broker *b)
{
	struct core_event ev = { .kind = CORE_TIME };

	if (core_deadline(b->core) <= now_ms())
		bridge_step(b, &ev);
}

uint64_t
bridge_session(const struct conn *c)
{
	const struct client *client = conn_data(c);

	return client->session;
}

bool
bridge_answer(
    struct broker *b, struct conn *c, uint64_t ref, struct wire_reply *reply)
{
	char mem[TAG_MAX_BYTES + 1];

	assert(b->hooks != NULL);
	if (b->hooks->takes(b, c, ref, reply) ||
	    !conn_answered(c, ref, mem, reply))
		return false;
	if (!b->hooks->told(b, c, reply))
		conn_reply(c, reply);
	/* The tag does not outlive this call. */
	reply->tag = (struct span){ NULL, 0 };
	return true;
}

/*
 * What a broker is doing, in a few words: for the log, and for users.
 */

struct upgrade *
broker_succession(const struct broker *b)
{
	return b->upgrade;
}

int64_t
broker_leave_left_ms(const struct broker *b)
{
	if (b->leaving_ms == 0)
		return b->config->broker.leave_ms;
	if (b->leave_ms == INT64_MAX)
		return 0;
	return max_ms(b->leave_ms - now_ms(), 0);
}

bool
broker_failed(const struct broker *b)
{
	return b->failed;
}

struct broker_counts
broker_counts(struct broker *b)
{
	struct core_gauges gauges;

	core_gauges(b->core, now_ms(), &gauges);
	return (struct broker_counts){ gauges.sessions, gauges.locks_held,
		gauges.waiters,
		gauges.locks_held - gauges.tokens + gauges.permits_held };
}

/* Two calls return the same second, unless the clock is set. */
int64_t
broker_paused_since_ms(const struct core_gauges *gauges)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000 -
	       gauges->paused_ms;
}

void
broker_why(const struct core_gauges *gauges, struct buf *out)
{
	time_t since = (time_t)(broker_paused_since_ms(gauges) / 1000);
	char at[16] = "", lasts[HUMAN_SIZE];
	struct tm tm;

	buf_adds(out, gauges->why);
	if (gauges->paused_ms == 0 || gmtime_r(&since, &tm) == NULL)
		return;
	(void)strftime(at, sizeof(at), "%H:%M:%S", &tm);
	buf_addf(out, "; no new locks since %s UTC (%s)", at,
	    human_ms(lasts, gauges->paused_ms));
}

void
broker_status(struct broker *b, struct buf *out)
{
	struct core_gauges gauges;

	core_gauges(b->core, now_ms(), &gauges);
	buf_addf(out, "%s; %" PRIu64 " locks held, %" PRIu64 " waiters",
	    gauges.ready ? "Redis up" : gauges.why, gauges.locks_held,
	    gauges.waiters);
}
