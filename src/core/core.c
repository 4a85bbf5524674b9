/*
 * The step: time first, then the event.
 *
 * Timers that are due are run before anything else is looked at, so that
 * leases that ran out while the process was frozen are lost before any request
 * is served.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/crc16.h"
#include "base/xmalloc.h"
#include "core/agenda.h"
#include "core/barrier.h"
#include "core/force.h"
#include "core/guard.h"
#include "core/hold.h"
#include "core/kept.h"
#include "core/latch.h"
#include "core/lease.h"
#include "core/lock.h"
#include "core/message.h"
#include "core/notify.h"
#include "core/pace.h"
#include "core/queue.h"
#include "core/quorum.h"
#include "core/semaphore.h"
#include "core/session.h"
#include "core/status.h"
#include "core/stop.h"
#include "core/unlock.h"
#include "core/unowned.h"
#include "core/watch.h"
#include "core/work.h"

static int64_t
clamp_ms(int64_t ms, int64_t low, int64_t high)
{
	if (ms < low)
		return low;
	return ms > high ? high : ms;
}

static void
copy_nodes(struct core *core, const struct core_config *config)
{
	char number[24];
	unsigned i;

	core->config.nodes = NULL;
	if (!config->quorum)
		return;
	core->nodes = xcalloc(config->shards, sizeof(*core->nodes));
	for (i = 0; i < config->shards; i++) {
		snprintf(number, sizeof(number), "server %u", i + 1);
		core->nodes[i] =
		    xstrdup(config->nodes != NULL ? config->nodes[i] : number);
	}
}

struct core *
core_new(const struct core_config *config)
{
	struct core *core = xcalloc(1, sizeof(*core));
	int64_t lease_ms = config->lease_ms;

	assert(strlen(config->broker) <= BROKER_MAX_BYTES);
	assert(config->shards > 0 && config->shards <= UINT16_MAX);
	assert(lease_ms >= 1000);
	core->config = *config;
	core->work = xcalloc(1, sizeof(*core->work));
	if (core->config.lanes == 0)
		core->config.lanes = 1;
	strcpy(core->broker, config->broker);
	core->config.broker = core->broker;
	core->address = xstrdup(config->address != NULL ? config->address : "");
	core->config.address = core->address;
	copy_nodes(core, config);
	core->pad_ms = clamp_ms(lease_ms * 3 / 10, 500, 3000);
	core->stall_ms = core->pad_ms;
	core->grace_ms = lease_ms + lease_ms / 100 + core->pad_ms + 500;
	core->vouch_ms = lease_ms - lease_ms / 100 - 2;
	core->random[0] = config->seed[0];
	core->random[1] = config->seed[1] | 1;
	core->free_slot = UINT32_MAX;
	TAILQ_INIT(&core->granted);
	LIST_INIT(&core->listings);
	TAILQ_INIT(&core->asks);
	TAILQ_INIT(&core->votes);
	TAILQ_INIT(&core->watched_touched);
	TAILQ_INIT(&core->forces);
	LIST_INIT(&core->made);
	core->stop.kind = TIMER_STOP;
	agenda_init(core);
	guard_init(core);
	sync_init(core);
	return core;
}

void
core_free(struct core *core)
{
	uint32_t i;

	if (core == NULL)
		return;
	session_free_all(core);
	force_free_all(core);
	sync_free_all(core);
	assert(core->nholds == 0 && core->npermits == 0 && core->nclaims == 0);
	assert(LIST_EMPTY(&core->listings));
	quorum_free_all(core);
	unowned_fini(core);
	agenda_fini(core);
	for (i = 0; core->nodes != NULL && i < core->config.shards; i++)
		free(core->nodes[i]);
	free(core->nodes);
	guard_fini(core);
	for (i = 0; i < core->nslots; i++)
		free(core->slots[i].name);
	free(core->slots);
	free(core->work);
	free(core->address);
	free(core);
}

void
core_reconfigure(struct core *core, const struct core_config *config)
{
	core->config.max_hold_ms = config->max_hold_ms;
	core->config.default_hold_ms = config->default_hold_ms;
	core->config.max_grace_ms = config->max_grace_ms;
	core->config.debug = config->debug;
	core->config.handovers = config->handovers;
	core->config.max_holds = config->max_holds;
	core->config.max_waiters = config->max_waiters;
	core->config.max_detached = config->max_detached;
	core->config.max_keep_ms = config->max_keep_ms;
	core->config.max_delay_ms = config->max_delay_ms;
	core->config.max_ttl_ms = config->max_ttl_ms;
	core->config.max_unowned = config->max_unowned;
}

/* xorshift128+ (Vigna, 2014): for jitter and seeds, nothing secret. */
uint64_t
core_random(struct core *core)
{
	uint64_t x = core->random[0], y = core->random[1];

	core->random[0] = y;
	x ^= x << 23;
	core->random[1] = x ^ y ^ (x >> 17) ^ (y >> 26);
	return core->random[1] + y;
}

int64_t
core_jitter(struct core *core, int64_t ms)
{
	return ms <= 1 ? 0 : (int64_t)(core_random(core) % (uint64_t)ms);
}

/* One server is one shard; a cluster has a fixed number of buckets. */
uint32_t
core_shard(const struct core *core, const char *name, size_t len)
{
	if (core->config.shards == 1)
		return 0;
	if (core->config.quorum)
		return guard_any(core);
	return crc16(name, len) % core->config.shards;
}

static void
on_time(struct core *core, const struct core_event *ev)
{
	(void)core;
	(void)ev;
}

static void
on_flush(struct core *core, const struct core_event *ev)
{
	(void)ev;
	if (core->told_loss) {
		core->told_loss = false;
		return;
	}
	lock_tell_granted(core);
	sync_tell_granted(core);
}

static void
on_open(struct core *core, const struct core_event *ev)
{
	struct session *s;

	session_open(core, ev->u.open.session, ev->u.open.peer, ev->u.open.tcp,
	    ev->u.open.proxied);
	s = session_find(core, ev->u.open.session);
	s->uid = ev->u.open.uid;
	notify_session(core, NOTICE_SESSION_BEGINS, s);
}

/* The verbs that the core answers. */
static const struct {
	void (*answer)(struct core *core, struct session *s,
	    const struct core_request *rq);
	unsigned flags; /* enum verb_flag */
} requests[VERB_MAX] = {
#define CORE(function) function
#define BROKER(function) NULL
#define F(x) VERB_FLAG_##x
#define VERB(id, word, min, max, kind, options, required, answer, wait_ms, \
    right, flags, ...)                                                     \
	[VERB_##id] = { answer, flags },
#include "base/verbs.def"
#undef VERB
#undef F
#undef BROKER
#undef CORE
};

static void
on_request(struct core *core, const struct core_event *ev)
{
	struct session *s = session_find(core, ev->u.request.session);
	const struct core_request *rq = ev->u.request.request;

	assert(s != NULL && !s->detached);
	assert(rq->verb < VERB_MAX && requests[rq->verb].answer != NULL);
	assert(!core->config.quorum ||
	       !(requests[rq->verb].flags & VERB_FLAG_ONE_SERVER));
	kept_forget(core, s);
	requests[rq->verb].answer(core, s, rq);
}

static void
on_tenure(struct core *core, const struct core_event *ev)
{
	struct session *s = session_find(core, ev->u.tenure.session);

	assert(s != NULL && !s->detached);
	kept_forget(core, s);
	session_tenure(core, s, ev->u.tenure.tenure);
}

static void
on_resume(struct core *core, const struct core_event *ev)
{
	struct session *s = session_find(core, ev->u.resume.session);

	assert(s != NULL && !s->detached);
	session_resume(
	    core, s, ev->u.resume.ref, ev->u.resume.key, ev->u.resume.key_len);
}

static void
on_user(struct core *core, const struct core_event *ev)
{
	struct session *s = session_find(core, ev->u.user.session);

	assert(s != NULL && !s->detached);
	session_set_user(s, ev->u.user.name);
}

static void
on_cancel(struct core *core, const struct core_event *ev)
{
	struct session *s = session_find(core, ev->u.cancel.session);

	assert(s != NULL);
	if (!sync_cancel(core, s, ev->u.cancel.ref, ev->u.cancel.by))
		queue_cancel(core, s, ev->u.cancel.ref, ev->u.cancel.by);
}

static void
on_drain(struct core *core, const struct core_event *ev)
{
	struct session *s = session_find(core, ev->u.gone.session);

	assert(s != NULL);
	session_drain(core, s);
}

static void
on_gone(struct core *core, const struct core_event *ev)
{
	struct session *s = session_find(core, ev->u.gone.session);

	assert(s != NULL);
	session_gone(core, s, ev->u.gone.orderly, ev->u.gone.quit);
}

static void
on_link(struct core *core, const struct core_event *ev)
{
	guard_link(core, ev->u.link.shard, ev->u.link.up, ev->u.link.why);
}

static void
on_guard(struct core *core, const struct core_event *ev)
{
	guard_report(
	    core, ev->u.guard.shard, ev->u.guard.sent_ms, ev->u.guard.report);
}

static void
on_outcome(struct core *core, const struct core_event *ev)
{
	struct slot *slot = slot_find(core, ev->u.outcome.op), was;

	assert(slot != NULL);
	was = *slot;
	slot->name = NULL;
	slot_free(core, slot);
	if (was.kind == SLOT_VOTE)
		quorum_outcome(
		    core, &was, ev->u.outcome.sent_ms, ev->u.outcome.outcome);
	else if (was.kind == SLOT_LEASE)
		lease_outcome(core, was.lock, was.op, ev->u.outcome.sent_ms,
		    ev->u.outcome.outcome);
	else if (was.kind == SLOT_SYNC)
		sync_outcome(
		    core, &was, ev->u.outcome.sent_ms, ev->u.outcome.outcome);
	else if (was.kind == SLOT_GUARD)
		guard_outcome(core, was.shard, was.op, ev->u.outcome.outcome);
	else if (was.kind == SLOT_WATCH)
		watch_outcome(core, &was, ev->u.outcome.outcome);
	else if (was.kind == SLOT_FORCE)
		force_outcome(core, &was, ev->u.outcome.outcome);
	else if (was.kind != SLOT_STRAY)
		status_outcome(core, &was, ev->u.outcome.outcome);
	free(was.name);
}

static void
on_message(struct core *core, const struct core_event *ev)
{
	if (!sync_message(core, ev->u.message.text, ev->u.message.len))
		message_take(core, ev->u.message.text, ev->u.message.len);
}

static void
on_resubscribed(struct core *core, const struct core_event *ev)
{
	(void)ev;
	message_resubscribed(core);
	sync_look_all(core);
}

static void
on_stop(struct core *core, const struct core_event *ev)
{
	(void)ev;
	if (core->stopping)
		return;
	core->stopping = true;
	stop_begin(core);
}

static void (*const handlers[])(
    struct core *core, const struct core_event *ev) = {
	[CORE_TIME] = on_time,
	[CORE_FLUSH] = on_flush,
	[CORE_OPEN] = on_open,
	[CORE_REQUEST] = on_request,
	[CORE_TENURE] = on_tenure,
	[CORE_RESUME] = on_resume,
	[CORE_USER] = on_user,
	[CORE_CANCEL] = on_cancel,
	[CORE_DRAIN] = on_drain,
	[CORE_GONE] = on_gone,
	[CORE_LINK] = on_link,
	[CORE_GUARD] = on_guard,
	[CORE_OUTCOME] = on_outcome,
	[CORE_MESSAGE] = on_message,
	[CORE_RESUBSCRIBED] = on_resubscribed,
	[CORE_STOP] = on_stop,
};

void
core_step(struct core *core, const struct core_event *event, struct effects *fx)
{
	if (event->now_ms > core->now_ms)
		core->now_ms = event->now_ms;
	core->fx = fx;
	core->fx_first = fx->n;
	work_begin(core);
	agenda_run(core, event->kind == CORE_TIME);
	handlers[event->kind](core, event);
	agenda_settle(core);
	force_run(core);
	watch_run(core);
	pace_send_along(core);
	notify_run(core);
	if (core->nkeepers > 0)
		kept_collect(core, core->fx_first);
	quorum_send(core);
	if (core->stopping)
		guard_sign_off(core);
	work_end(core);
	core->fx = NULL;
}

int64_t
core_deadline(const struct core *core)
{
	return agenda_deadline(core);
}

int64_t
core_promised_ms(const struct core *core)
{
	return core->stopping ? core->left_ms : core->promised_ms;
}

bool
core_has_grants(const struct core *core)
{
	return !TAILQ_EMPTY(&core->granted) ||
	       !TAILQ_EMPTY(&core->sync_granted);
}
