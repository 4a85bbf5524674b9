/*
 * The step: time first, then the event.
 *
 * Timers that are due are run before anything else is looked at, so that
 * leases that ran out while the process was frozen are lost before any request
 * is served.
 */
#include "config.h"

#include <string.h>

#include "base/crc16.h"
#include "base/xmalloc.h"
#include "core/force.h"
#include "core/guard.h"
#include "core/hold.h"
#include "core/kept.h"
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
#include "core/watch.h"
#include "core/work.h"

/* Renewals that one step may send; the rest follow in the next one. */
#define RENEWALS_A_STEP 1000

/* A process that was away for longer may have been frozen. */
#define JUMP_MS 50

static int64_t
clamp_ms(int64_t ms, int64_t low, int64_t high)
{
	if (ms < low)
		return low;
	return ms > high ? high : ms;
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
	core->pad_ms = clamp_ms(lease_ms * 3 / 10, 500, 3000);
	core->stall_ms = core->pad_ms;
	core->grace_ms = lease_ms + lease_ms / 100 + core->pad_ms + 500;
	core->vouch_ms = lease_ms - lease_ms / 100 - 2;
	core->random[0] = config->seed[0];
	core->random[1] = config->seed[1] | 1;
	core->free_slot = UINT32_MAX;
	TAILQ_INIT(&core->granted);
	TAILQ_INIT(&core->asks);
	TAILQ_INIT(&core->votes);
	TAILQ_INIT(&core->watched_touched);
	TAILQ_INIT(&core->forces);
	core->stop.kind = TIMER_STOP;
	heap_init(&core->timers);
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
	quorum_free_all(core);
	free(core->touched);
	heap_fini(&core->timers);
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

void
core_arm(struct core *core, struct timer *t, int64_t at_ms)
{
	heap_set(&core->timers, t, at_ms);
}

void
core_disarm(struct core *core, struct timer *t)
{
	heap_remove(&core->timers, t);
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
timer_run(struct core *core, struct timer *t)
{
	switch ((enum timer_kind)t->kind) {
	case TIMER_LEASE:
		lease_timer(core, container_of(t, struct lock, timer));
		return;
	case TIMER_WAITER:
		waiter_timer(core, container_of(t, struct waiter, deadline));
		return;
	case TIMER_HOLD:
		hold_timer(core, container_of(t, struct terms, bound)->hold);
		return;
	case TIMER_SESSION:
		session_timer(core, container_of(t, struct session, end));
		return;
	case TIMER_GUARD:
		guard_timer(core, container_of(t, struct guard, timer));
		return;
	case TIMER_ASK:
		status_timer(core, container_of(t, struct ask, deadline));
		return;
	case TIMER_SYNC:
		sync_timer(core, container_of(t, struct sync, timer));
		return;
	case TIMER_CLAIM:
		claim_timer(core, container_of(t, struct claim, deadline));
		return;
	case TIMER_PERMITS:
		permits_timer(core, container_of(t, struct permits, bound));
		return;
	case TIMER_WATCH:
		watch_timer(core, watch_of_timer(t));
		return;
	case TIMER_FORCE:
		force_timer(core, force_of_timer(t));
		return;
	case TIMER_VOTE:
		quorum_timer(core, t);
		return;
	case TIMER_STOP:
		stop_timer(core);
		return;
	case TIMER_MAX:
		break;
	}
	abort();
}

/* Of a lease, or of permits, that has run out. */
static bool
tells_loss(const struct core *core, struct timer *t)
{
	if (t->kind == TIMER_SYNC)
		return sync_overdue(core, container_of(t, struct sync, timer));
	return t->kind == TIMER_LEASE &&
	       lease_overdue(core, container_of(t, struct lock, timer));
}

/*
 * What was lost is told before anything else that is due, whatever was due
 * first, and before what comes of it: the answers to those who wait.
 */
static void
tell_losses(struct core *core)
{
	struct timer **due =
	    xmalloc((core->timers.len + 1) * sizeof(struct timer *));
	struct timer *t;
	uint32_t i, n = 0;

	for (i = 0; i < core->timers.len; i++) {
		core_visit(core, 1);
		t = core->timers.slots[i].timer;
		if (core->timers.slots[i].at_ms <= core->now_ms &&
		    tells_loss(core, t))
			due[n++] = t;
	}
	for (i = 0; i < n; i++)
		core_disarm(core, due[i]);
	for (i = 0; i < n; i++)
		if (due[i]->kind == TIMER_LEASE)
			lease_run_out(
			    core, container_of(due[i], struct lock, timer));
	for (i = 0; i < n; i++)
		if (due[i]->kind != TIMER_LEASE)
			timer_run(core, due[i]);
	free(due);
}

static void
run_timers(struct core *core)
{
	struct timer *t;

	while ((t = heap_first(&core->timers)) != NULL &&
	       heap_at_ms(&core->timers, t) <= core->now_ms) {
		if (tells_loss(core, t)) {
			tell_losses(core);
			continue;
		}
		core_visit(core, 1);
		heap_remove(&core->timers, t);
		timer_run(core, t);
	}
}

void
core_touch(struct core *core, struct lock *l)
{
	if (l->touched)
		return;
	if (core->ntouched == core->touched_size) {
		core->touched_size = 2 * core->touched_size + 16;
		core->touched = xrealloc(
		    core->touched, core->touched_size * sizeof(struct lock *));
	}
	l->touched = true;
	core->touched[core->ntouched++] = l;
}

void
core_untouch(struct core *core, struct lock *l)
{
	size_t i = core->ntouched;

	if (!l->touched)
		return;
	l->touched = false;
	while (core->touched[--i] != l)
		;
	core->touched[i] = NULL;
}

static void
run_touched(struct core *core)
{
	struct lock *l;
	size_t i;

	for (i = 0; i < core->ntouched; i++) {
		l = core->touched[i];
		if (l == NULL)
			continue;
		core_visit(core, 1);
		l->touched = false;
		core->touched[i] = NULL;
		lease_next(core, l);
	}
	core->ntouched = 0;
	sync_settle(core);
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

static void
on_request(struct core *core, const struct core_event *ev)
{
	struct session *s = session_find(core, ev->u.request.session);

	assert(s != NULL && !s->detached);
	kept_forget(s);
	if (sync_takes(ev->u.request.request->verb))
		sync_request(core, s, ev->u.request.request);
	else
		lock_request(core, s, ev->u.request.request);
}

static void
on_tenure(struct core *core, const struct core_event *ev)
{
	struct session *s = session_find(core, ev->u.tenure.session);

	assert(s != NULL && !s->detached);
	kept_forget(s);
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
	else
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
	bool jumped = event->now_ms > core->now_ms + JUMP_MS;

	if (event->now_ms > core->now_ms)
		core->now_ms = event->now_ms;
	core->fx = fx;
	core->fx_first = fx->n;
	core->renewals_left = RENEWALS_A_STEP;
	work_begin(core, event->kind == CORE_TIME);
	if (jumped)
		tell_losses(core);
	run_timers(core);
	run_touched(core);
	handlers[event->kind](core, event);
	run_touched(core);
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
	const struct timer *t = heap_first(&core->timers);

	return t == NULL ? INT64_MAX : heap_at_ms(&core->timers, t);
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
