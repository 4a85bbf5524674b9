/*
 * The step: time first, then the event.
 *
 *	turn_begin      the time of the step
 *	agenda_run      what is due and what was left, losses first
 *	handler         the event
 *	agenda_settle   the names and objects that either has touched
 *	agenda_tell     warnings and watchers
 *	...             what waits for the end of a step: below
 *
 * A step runs the timers that are due before it looks at anything else, so that
 * leases that ran out while the process was frozen are lost before it serves
 * any request.
 *
 * This file also has all tables by which modules call those above them, and the
 * order in which modules begin and end.
 */
#include "config.h"

#include <string.h>

#include "base/times.h"
#include "base/xmalloc.h"
#include "core/agenda.h"
#include "core/fleet.h"
#include "core/guard/guard_wait.h"
#include "core/guard/quorum.h"
#include "core/guard/sweep.h"
#include "core/lease/lease.h"
#include "core/lease/pace.h"
#include "core/lease/tell.h"
#include "core/lease/votes.h"
#include "core/leave.h"
#include "core/life.h"
#include "core/lock/about.h"
#include "core/lock/broker_message.h"
#include "core/lock/force.h"
#include "core/lock/grant.h"
#include "core/lock/hold.h"
#include "core/lock/lock.h"
#include "core/lock/queue.h"
#include "core/lock/recall.h"
#include "core/lock/unowned.h"
#include "core/lock/warm.h"
#include "core/lock/watch.h"
#include "core/lock/watchers.h"
#include "core/measure/count.h"
#include "core/obstacle.h"
#include "core/replay.h"
#include "core/session/notify.h"
#include "core/session/place.h"
#include "core/session/valid.h"
#include "core/status.h"
#include "core/stop.h"
#include "core/sync/semaphore.h"
#include "core/sync/sync.h"
#include "core/token/adopt.h"
#include "core/token/call.h"
#include "core/token/poll.h"
#include "core/token/token_record.h"
#include "core/turn/emit.h"
#include "core/turn/job.h"
#include "core/turn/tally.h"
#include "core/turn/work.h"

/* Tables of what a module tells those above it; calls downwards need none. */

/* Urgent: what the broker vouches for, and what ends holds at their time.  The
 * others may come a few steps later. */
static const struct timer_row timers[TIMER_MAX] = {
	[TIMER_LEASE] = { AGENDA_URGENT, lease_timer },
	[TIMER_SYNC] = { AGENDA_URGENT, sync_timer },
	[TIMER_HOLD] = { AGENDA_URGENT, unlock_timer },
	[TIMER_PERMITS] = { AGENDA_URGENT, permits_timer },
	[TIMER_GUARD] = { AGENDA_URGENT, guard_timer },
	[TIMER_VOTE] = { AGENDA_URGENT, votes_timer },
	[TIMER_CLAIM] = { AGENDA_PATIENT, claim_timer },
	[TIMER_SESSION] = { AGENDA_PATIENT, session_timer },
	[TIMER_WATCH] = { AGENDA_PATIENT, watch_timer },
	[TIMER_FORCE] = { AGENDA_PATIENT, force_timer },
	[TIMER_STOP] = { AGENDA_PATIENT, stop_timer },
	[TIMER_LATCH_COUNT] = { AGENDA_PATIENT, latch_count_timer },
	[TIMER_TOKEN] = { AGENDA_PATIENT, token_timer },
	[TIMER_TOKEN_RECORD] = { AGENDA_PATIENT, token_record_timer },
	[TIMER_ADOPT] = { AGENDA_PATIENT, adopt_timer },
	[TIMER_POLLERS] = { AGENDA_PATIENT, poll_timer },
	[TIMER_RECALL] = { AGENDA_PATIENT, recall_timer },
	[TIMER_ABOUT] = { AGENDA_PATIENT, about_timer },
	[TIMER_VALID] = { AGENDA_PATIENT, valid_timer },
	[TIMER_FLEET] = { AGENDA_PATIENT, fleet_timer },
};

static bool (*const jobs[JOB_MAX])(struct core *core) = {
	[JOB_RETELL] = kept_tell_on,
	[JOB_LOSE] = tell_losses_on,
	[JOB_WITHDRAW] = leave_withdraw_on,
	[JOB_STOP] = stop_on,
	[JOB_LET_GO] = leave_let_go_on,
	[JOB_HASTEN] = hasten_on,
	[JOB_GONE] = unowned_go_on,
	[JOB_REENTER] = reenter_on,
	[JOB_SWEEP] = sweep_run,
	[JOB_TOUCHED_LOCKS] = lock_run_touched,
	[JOB_TOUCHED_SYNCS] = sync_settle,
	[JOB_FORCE] = force_run,
	[JOB_GUARD_WAITS] = guard_waits_run,
	[JOB_TOKEN_RECORDS] = token_records_run,
	[JOB_FORGET] = kept_free_over,
	[JOB_VOUCH] = valid_run_on,
	[JOB_WARN] = tell_risks_on,
	[JOB_WATCHED] = watch_run,
	[JOB_WATCHERS] = watchers_tell_on,
};

/* Operations: who takes their outcomes, and which are sent again when a name has
 * been recalled. */

static void
lease_slot_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o)
{
	lease_outcome(core, slot->lease, slot->op, slot->sent_ms, o);
}

static void
lease_slot_again(struct core *core, const struct slot *slot, int64_t left_ms)
{
	(void)left_ms; /* who does not wait has a deadline of its own */
	lease_again(core, slot->lease);
}

/* What it has ended in Redis, or may have ended, may be a token hold that is
 * looked after here. */
static void
on_force(struct core *core, const struct slot *slot, const struct outcome *o)
{
	if (slot->op == OP_FORCE)
		token_record_forced(core, slot, o, force_by(core, slot));
	force_outcome(core, slot, o);
}

/* Nobody waits for a stray. */
static const struct slot_row slot_rows[SLOT_MAX] = {
	[SLOT_LEASE] = { .outcome = lease_slot_outcome,
	    .again = lease_slot_again },
	[SLOT_VOTE] = { .outcome = votes_outcome },
	[SLOT_GUARD] = { .outcome = guard_outcome },
	[SLOT_ASK] = { .outcome = status_outcome,
	    .again = status_again,
	    .told = status_told },
	[SLOT_SYNC] = { .outcome = sync_outcome },
	[SLOT_WATCH] = { .outcome = watch_outcome, .again = watch_again },
	[SLOT_FORCE] = { .outcome = on_force, .told = force_told },
	[SLOT_TOKEN] = { .outcome = token_outcome,
	    .again = token_again,
	    .name = token_slot_name },
	[SLOT_TOKEN_RECORD] = { .outcome = token_record_outcome },
	[SLOT_ADOPT] = { .outcome = adopt_outcome },
	[SLOT_POLLERS] = { .outcome = poll_outcome },
	[SLOT_FLEET] = { .outcome = fleet_outcome },
	[SLOT_RECALL] = { .outcome = recall_outcome },
	[SLOT_ABOUT] = { .outcome = about_outcome },
};

static const struct turn_listener of_turn = {
	.timers = timers,
	.conn_of = session_conn,
	.slots = slot_rows,
	.jobs = jobs,
};

static void
on_bare(struct core *core, struct owner *owner)
{
	stop_bare(core, owner);
	place_look(core, session_of(owner));
}

static const struct owner_listener of_owners = {
	.bare = on_bare,
	.refused = obstacle_tell,
};

static const struct holding_class *const of_holdings[HOLDING_KINDS] = {
	[HOLDING_NAME] = &hold_class,
	[HOLDING_PERMITS] = &permits_class,
};

static void
guard_changed(struct core *core, uint32_t shard)
{
	if (core->guards[quorum_first(core, shard)].nblocked > 0)
		sweep_plan(core, shard, SWEEP_UNBLOCK);
	if (warm_any(core) && !guard_ready(core, shard))
		sweep_plan(core, shard, SWEEP_WARM);
	job_run(core, JOB_SWEEP);
	token_records_guard_changed(core, shard);
	fleet_guard_changed(core);
	guard_waits_retry(core);
}

static void
history_changed(struct core *core, uint32_t shard)
{
	sweep_plan(core, shard, SWEEP_RECLAIM | SWEEP_WARM);
	job_run(core, JOB_SWEEP);
}

static bool
all_over(const struct core *core)
{
	return sync_all_over(core) && names_all_over(core) &&
	       token_all_over(core) && stop_all_over(core);
}

/* Objects of sync count for all guards: few brokers have any. */
static bool
has_nothing(const struct core *core, uint32_t shard)
{
	return sync_all_over(core) && names_has_nothing(core, shard) &&
	       token_has_nothing(core, shard) && watch_has_nothing(core);
}

static size_t
left_behind(const struct core *core)
{
	return names_left_behind(core) + core->tokens->nleft;
}

static const struct guard_listener of_guards = {
	.changed = guard_changed,
	.history_changed = history_changed,
	.all_over = all_over,
	.has_nothing = has_nothing,
	.left_behind = left_behind,
	.hands_over = token_hands_over,
	.broker_gone = adopt_begin,
};

static const struct swept *const swept[] = { &syncs_swept, &names_swept,
	&token_records_swept, NULL };

static const struct lock_listener of_locks = {
	.comes_before = poll_comes_before,
	.disowned = adopt_disowned,
	.token_held = status_of_token,
};

static const struct term_lessee *const of_terms[TERM_KINDS] = {
	[TERM_LEASE] = &lock_of_term,
	[TERM_PERMITS] = &semaphore_of_term,
};

static const struct sync_class *const sync_classes[KIND_MAX] = {
	[KIND_SEMAPHORE] = &semaphore_class,
	[KIND_LATCH] = &latch_class,
	[KIND_BARRIER] = &barrier_class,
};

/* Times that follow from the lease (core/guard/DESIGN). */
static void
set_times(struct core *core, int64_t lease_ms)
{
	core->pad_ms = times_pad_ms(lease_ms);
	core->stall_ms = core->pad_ms;
	core->recovery_ms = times_recovery_ms(lease_ms);
}

struct core *
core_new(const struct core_config *config)
{
	struct core *core = xcalloc(1, sizeof(*core));

	assert(strlen(config->broker) <= BROKER_MAX_BYTES);
	assert(config->shards > 0 && config->shards <= UINT16_MAX);
	assert(config->lease_ms >= 1000);
	core->config = *config;
	if (core->config.lanes == 0)
		core->config.lanes = 1;
	strcpy(core->broker, config->broker);
	core->config.broker = core->broker;
	core->address = xstrdup(config->address != NULL ? config->address : "");
	core->config.address = core->address;
	set_times(core, config->lease_ms);
	turn_init(core, &of_turn);
	session_init(core);
	core->owners->above = &of_owners;
	core->owners->classes = of_holdings;
	guard_init(core, &of_guards);
	sweep_init(core, swept);
	core->config.nodes = NULL; /* copied */
	core->measure = measure_new();
	if (config->metrics != NULL)
		measure_configure(core->measure, config->metrics);
	core->config.metrics = NULL; /* copied */
	names_init(core, &of_locks, &waiter_class);
	warm_init(core);
	warm_configure(core, &config->locks);
	core->config.locks.warm_names.v = NULL; /* copied */
	terms_init(core, of_terms);
	leases_init(core, &lock_lessee);
	watch_init(core);
	force_init(core);
	recall_init(core);
	about_init(core);
	fleet_init(core);
	sync_init(core, sync_classes);
	token_init(core);
	permits_init(core);
	stop_init(core);
	return core;
}

/*
 * Sessions go first, with all that they hold and wait for, and then the names.
 * So nothing of what is left belongs to anybody, and each module frees its own.
 */
void
core_free(struct core *core)
{
	if (core == NULL)
		return;
	leave_drop_all(core);
	stop_fini(core);
	token_fini(core);
	latch_count_fini(core);
	sync_fini(core);
	fleet_fini(core);
	about_fini(core);
	recall_fini(core);
	force_fini(core);
	watch_fini(core);
	leases_fini(core);
	terms_fini(core);
	warm_fini(core);
	names_fini(core);
	measure_free(core->measure);
	sweep_fini(core);
	guard_fini(core);
	kept_fini(core);
	session_fini(core);
	turn_fini(core);
	free(core->address);
	free(core);
}

/* Settings have changed, or the broker leaves: gives back, in later steps, what
 * is warm and may not stay so. */
static void
cool_down(struct core *core)
{
	if (warm_any(core))
		sweep_plan_all(core, SWEEP_WARM);
}

/* All else needs a new start: the servers, the names of keys, and the lease, on
 * which all brokers must agree. */
void
core_reconfigure(struct core *core, const struct lock_limits *locks,
    const struct client_limits *limits, const struct metrics_settings *metrics,
    bool audit, bool debug)
{
	core->config.locks = *locks;
	warm_configure(core, locks);
	guard_say_again(core);
	core->config.locks.warm_names.v = NULL; /* copied */
	cool_down(core);
	core->config.limits = *limits;
	measure_configure(core->measure, metrics);
	core->config.audit = audit;
	core->config.debug = debug;
}

/* agenda_run() has done all there is to do. */
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
	/* The driver has losses to write first; it comes with another FLUSH. */
	if (core->told_loss) {
		core->told_loss = false;
		return;
	}
	claims_tell(core);
}

static void
on_open(struct core *core, const struct core_event *ev)
{
	struct session *s;

	session_open(core, ev->u.open.session, ev->u.open.peer, ev->u.open.tcp,
	    ev->u.open.proxied);
	s = session_find(core, ev->u.open.session);
	s->owner.uid = ev->u.open.uid;
	stop_opened(core, s);
	notify_session(core, NOTICE_SESSION_BEGINS, &s->owner);
}

/* Verbs; `answer` is NULL for those that the core does not answer. */
static const struct {
	void (*answer)(struct core *core, struct owner *owner,
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
	/* The client has said something: events are kept anew from here on. */
	kept_heard(core, s);
	requests[rq->verb].answer(core, &s->owner, rq);
}

static void
on_token(struct core *core, const struct core_event *ev)
{
	struct session *s = session_find(core, ev->u.token.session);

	assert(s != NULL && !s->detached);
	kept_heard(core, s);
	token_take(core, &s->owner, ev->u.token.request);
}

static void
on_session_options(struct core *core, const struct core_event *ev)
{
	struct session *s = session_find(core, ev->u.options.session);

	assert(s != NULL && !s->detached);
	kept_heard(core, s);
	session_set_options(core, s, ev->u.options.options);
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
	token_user_changes(core, &s->owner);
	session_set_user(core, s, ev->u.user.name);
}

/* The cancelled request is answered first, as the protocol has it. */
static void
on_cancel(struct core *core, const struct core_event *ev)
{
	struct session *s = session_find(core, ev->u.cancel.session);
	uint64_t by = ev->u.cancel.by;
	struct claim *c;

	assert(s != NULL);
	c = claim_find(core, &s->owner, ev->u.cancel.ref);
	if (c == NULL)
		emit_error(core, s->owner.id, by, ERR_NOT_FOUND,
		    "no request with that tag is waiting");
	else
		c->class->cancel(core, c, by);
}

static void
on_drain(struct core *core, const struct core_event *ev)
{
	struct session *s = session_find(core, ev->u.gone.session);

	assert(s != NULL);
	session_drain(core, s);
	token_drain(core, &s->owner);
}

static void
on_press(struct core *core, const struct core_event *ev)
{
	struct session *s = session_find(core, ev->u.gone.session);

	assert(s != NULL);
	poll_press(core, &s->owner);
}

/* The session may end at once, so the call by which it awaits a name goes
 * first. */
static void
on_gone(struct core *core, const struct core_event *ev)
{
	struct session *s = session_find(core, ev->u.gone.session);

	assert(s != NULL);
	token_gone(core, &s->owner);
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

/* The slot is freed before its module hears of the outcome, and the module gets
 * a copy: it may send the next operation, for which slots may move. */
static void
on_outcome(struct core *core, const struct core_event *ev)
{
	struct slot *slot = slot_find(core, ev->u.outcome.op), was;

	assert(slot != NULL);
	was = *slot;
	slot->name = NULL;
	slot_free(core, slot);
	was.sent_ms = ev->u.outcome.sent_ms;
	if (recall_first(core, &was, ev->u.outcome.outcome))
		return;
	if (was.kind != SLOT_STRAY)
		slot_rows[was.kind].outcome(core, &was, ev->u.outcome.outcome);
	free(was.name);
}

/*
 * Words tell which module a message is for, but `given`, `look` and `took` may
 * be for a poll queue of tokens: the number in the message tells that.  So poll
 * queues come before token records and locks.
 */
static void
on_message(struct core *core, const struct core_event *ev)
{
	if (!sync_message(core, ev->u.message.text, ev->u.message.len) &&
	    !poll_message(core, ev->u.message.text, ev->u.message.len) &&
	    !token_record_message(core, ev->u.message.text, ev->u.message.len))
		broker_message_take(core, ev->u.message.text, ev->u.message.len,
		    ev->u.message.history);
}

/* Stands of tokens are not among these: they ask once a lease anyway, and
 * whenever a token comes back a second after the last answer. */
static void
on_resubscribed(struct core *core, const struct core_event *ev)
{
	(void)ev;
	sweep_plan_all(core, SWEEP_LOOK);
	job_run(core, JOB_SWEEP);
}

static void
on_leave(struct core *core, const struct core_event *ev)
{
	if (core->stopping)
		return;
	core->leaving = true;
	if (ev->u.leave.drain && !core->draining)
		core->drain_ms = core->now_ms;
	core->draining = ev->u.leave.drain;
	core->leave_ms = ev->u.leave.until_ms;
	guard_say_again(core);
	cool_down(core);
	if (!core->draining)
		sweep_plan_all(core, SWEEP_HAND_ON);
	stop_leave(core);
}

/* What is handed on by now stays so.  Who was told of the end is not told that
 * it does not come. */
static void
on_stay(struct core *core, const struct core_event *ev)
{
	uint32_t i;

	(void)ev;
	if (core->stopping)
		return;
	core->leaving = core->draining = false;
	stop_stay(core);
	/* The next successor is told anew what is handed over. */
	for (i = 0; i < core->config.shards; i++)
		guard_hand_over(core, i);
}

/* It has told Redis by now which token holds it hands over. */
static void
on_heir(struct core *core, const struct core_event *ev)
{
	(void)ev;
	guard_say_again(core);
}

static void
on_stop(struct core *core, const struct core_event *ev)
{
	(void)ev;
	if (core->stopping)
		return;
	core->stopping = true;
	recall_stop(core);
	about_stop(core);
	cool_down(core);
	stop_begin(core);
	token_stop(core);
}

static void (*const handlers[])(
    struct core *core, const struct core_event *ev) = {
	[CORE_TIME] = on_time,
	[CORE_FLUSH] = on_flush,
	[CORE_OPEN] = on_open,
	[CORE_REQUEST] = on_request,
	[CORE_TOKEN] = on_token,
	[CORE_SESSION_OPTIONS] = on_session_options,
	[CORE_RESUME] = on_resume,
	[CORE_USER] = on_user,
	[CORE_CANCEL] = on_cancel,
	[CORE_DRAIN] = on_drain,
	[CORE_PRESS] = on_press,
	[CORE_GONE] = on_gone,
	[CORE_LINK] = on_link,
	[CORE_GUARD] = on_guard,
	[CORE_OUTCOME] = on_outcome,
	[CORE_MESSAGE] = on_message,
	[CORE_RESUBSCRIBED] = on_resubscribed,
	[CORE_LEAVE] = on_leave,
	[CORE_STAY] = on_stay,
	[CORE_HEIR] = on_heir,
	[CORE_STOP] = on_stop,
};

/* After how many steps to check; a build with --enable-checks does at each. */
#ifdef CORE_CHECKS
#define CHECK_EVERY(core) ((core)->config.check > 0 ? (core)->config.check : 1)
#else
#define CHECK_EVERY(core) ((core)->config.check)
#endif

void
core_check(const struct core *core)
{
	slot_check(core);
	session_check(core);
	guard_check(core);
	terms_check(core);
	leases_check(core);
	sweep_check(
	    core, locks_check(core) + sync_check(core) + token_check(core));
	guard_waits_check(core);
	job_check(core, JOB_STOP, stop_has_more(core));
}

void
core_step(struct core *core, const struct core_event *event, struct effects *fx)
{
	turn_begin(core, event->now_ms, fx);
	agenda_run(core, event->kind == CORE_TIME);
	handlers[event->kind](core, event);
	agenda_settle(core);
	agenda_tell(core, event->kind == CORE_TIME);
	/* An end that was sent above has room for renewals in its call. */
	pace_piggyback(core);
	/* One line for what the step had to say about very many names. */
	tally_run(core);
	/* All events of the step are there by now. */
	if (core->sessions->nkeepers > 0)
		kept_collect(core, core->fx_first);
	votes_send(core);
	/* By now there may be nothing left to give back. */
	if (core->stopping)
		guard_sign_off(core, core->sessions->left_ms > core->now_ms);
	turn_end(core);
	if (CHECK_EVERY(core) > 0 && ++core->unchecked >= CHECK_EVERY(core)) {
		core->unchecked = 0;
		core_check(core);
	}
}

bool
core_left(const struct core *core)
{
	return core->leaving && core->locks->nholds == 0 &&
	       core->syncs->npermits == 0 &&
	       (core->draining ||
		   core->locks->nwaiting + core->syncs->nentries == 0);
}

/*
 * Everything is given back, nothing is in flight, and each guard that can be
 * reached has been told.  A server that can't be reached keeps nobody waiting:
 * what it has of ours runs out.
 */
bool
core_stopped(const struct core *core)
{
	return core->stopping && core->slots->inflight == 0 &&
	       guard_all_over(core) && guard_signed_off(core);
}

bool
core_asks(const struct core *core)
{
	return core->slots->inflight > 0;
}

bool
core_has_grants(const struct core *core)
{
	return !TAILQ_EMPTY(&core->owners->granted);
}
