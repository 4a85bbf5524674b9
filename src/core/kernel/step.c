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
 * This file also has the kernel's tables by which modules call those above
 * them, and joins those of the parts to them.
 */
#include "config.h"

#include <string.h>

#include "base/times.h"
#include "base/xmalloc.h"
#include "core/kernel/agenda.h"
#include "core/kernel/guard/guard_wait.h"
#include "core/kernel/guard/sweep.h"
#include "core/kernel/lease/lease.h"
#include "core/kernel/lease/pace.h"
#include "core/kernel/lease/tell.h"
#include "core/kernel/leave.h"
#include "core/kernel/life.h"
#include "core/kernel/lock/broker_message.h"
#include "core/kernel/lock/grant.h"
#include "core/kernel/lock/hold.h"
#include "core/kernel/lock/lock.h"
#include "core/kernel/session/notify.h"
#include "core/kernel/session/place.h"
#include "core/kernel/session/valid.h"
#include "core/kernel/step.h"
#include "core/kernel/stop.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/job.h"
#include "core/kernel/turn/part.h"
#include "core/kernel/turn/tally.h"
#include "core/kernel/turn/work.h"

/* The rows of the kernel. */

/* Urgent: what the broker vouches for, and what ends holds at their time.  The
 * others may come a few steps later. */
static const struct part_timer timers[] = {
	{ TIMER_LEASE, { AGENDA_URGENT, lease_timer } },
	{ TIMER_HOLD, { AGENDA_URGENT, unlock_timer } },
	{ TIMER_GUARD, { AGENDA_URGENT, guard_timer } },
	{ TIMER_CLAIM, { AGENDA_PATIENT, claim_timer } },
	{ TIMER_SESSION, { AGENDA_PATIENT, session_timer } },
	{ TIMER_STOP, { AGENDA_PATIENT, stop_timer } },
	{ TIMER_VALID, { AGENDA_PATIENT, valid_timer } },
	{ 0 },
};

static const struct part_job jobs[] = {
	{ JOB_LOSE, tell_losses_on },
	{ JOB_WITHDRAW, leave_withdraw_on },
	{ JOB_STOP, stop_on },
	{ JOB_LET_GO, leave_let_go_on },
	{ JOB_HASTEN, hasten_on },
	{ JOB_REENTER, reenter_on },
	{ JOB_SWEEP, sweep_run },
	{ JOB_TOUCHED_LOCKS, lock_run_touched },
	{ JOB_GUARD_WAITS, guard_waits_run },
	{ JOB_VOUCH, valid_run_on },
	{ JOB_WARN, tell_risks_on },
	{ 0 },
};

static void
lease_slot_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o)
{
	lease_outcome(core, slot->lease, slot->op, slot->sent_ms, o);
}

static void
lease_slot_again(struct core *core, const struct slot *slot, int64_t left_ms)
{
	(void)left_ms; /* waits only as long as its own deadline allows */
	lease_again(core, slot->lease);
}

/* Nobody waits for a stray. */
static const struct part_slot slots[] = {
	{ SLOT_LEASE,
	    { .outcome = lease_slot_outcome, .again = lease_slot_again } },
	{ SLOT_GUARD, { .outcome = guard_outcome } },
	{ 0 },
};

/* Flags are those of all verbs; parts answer more of them. */
struct core_verb {
	core_answer_fn answer; /* NULL: the core does not */
	unsigned flags;	       /* enum verb_flag */
};

static const struct core_verb verbs[VERB_MAX] = {
#define CORE(function) function
#define PART(function) NULL
#define BROKER(function) NULL
#define F(x) VERB_FLAG_##x
#define VERB(id, word, min, max, kind, options, required, answer, wait_ms, \
    right, flags, ...)                                                     \
	[VERB_##id] = { answer, flags },
#include "base/verbs.def"
#undef VERB
#undef F
#undef BROKER
#undef PART
#undef CORE
};

/* All rows, by kind. */
struct rows {
	struct turn_listener above;
	struct timer_row timers[TIMER_MAX];
	struct slot_row slots[SLOT_MAX];
	bool (*jobs[JOB_MAX])(struct core *core);
	struct core_verb verbs[VERB_MAX];
	const struct holding_class *holdings[HOLDING_KINDS];
	const struct term_lessee *terms[TERM_KINDS];
	/* In the order in which a walk visits them; NULL at the end. */
	const struct swept *swept[2 * PART_MAX + 2];
};

static void
add_rows(struct rows *rows, const struct part_timer *t,
    const struct part_slot *s, const struct part_job *j)
{
	for (; t != NULL && t->row.run != NULL; t++) {
		assert(t->kind < TIMER_MAX && !rows->timers[t->kind].run);
		rows->timers[t->kind] = t->row;
	}
	for (; s != NULL && s->row.outcome != NULL; s++) {
		assert(s->kind < SLOT_MAX && !rows->slots[s->kind].outcome);
		rows->slots[s->kind] = s->row;
	}
	for (; j != NULL && j->run != NULL; j++) {
		assert(rows->jobs[j->job] == NULL);
		rows->jobs[j->job] = j->run;
	}
}

static void
add_classes(struct rows *rows, const struct holding_class *holding,
    const struct term_lessee *term)
{
	assert(holding == NULL || rows->holdings[holding->kind] == NULL);
	assert(term == NULL || rows->terms[term->kind] == NULL);
	if (holding != NULL)
		rows->holdings[holding->kind] = holding;
	if (term != NULL)
		rows->terms[term->kind] = term;
}

static void
add_swept(struct rows *rows, const struct core_part *const *parts)
{
	const struct core_part *const *part;
	const struct swept **at = rows->swept;

	for (part = parts; *part != NULL; part++)
		if ((*part)->swept_first != NULL)
			*at++ = (*part)->swept_first;
	*at++ = &names_swept;
	for (part = parts; *part != NULL; part++)
		if ((*part)->swept_last != NULL)
			*at++ = (*part)->swept_last;
}

static void
add_verbs(struct rows *rows, const core_answer_fn *answers)
{
	enum verb_id id;

	memcpy(rows->verbs, verbs, sizeof(verbs));
	for (id = 0; answers != NULL && id < VERB_MAX; id++)
		if (answers[id] != NULL)
			rows->verbs[id].answer = answers[id];
}

static struct rows *
make_rows(const struct core_part *const *parts, const core_answer_fn *answers)
{
	struct rows *rows = xcalloc(1, sizeof(*rows));

	rows->above = (struct turn_listener){ .timers = rows->timers,
		.conn_of = session_conn,
		.slots = rows->slots,
		.jobs = rows->jobs };
	add_rows(rows, timers, slots, jobs);
	add_classes(rows, &hold_class, &lock_of_term);
	add_swept(rows, parts);
	add_verbs(rows, answers);
	for (; *parts != NULL; parts++) {
		add_rows(
		    rows, (*parts)->timers, (*parts)->slots, (*parts)->jobs);
		add_classes(rows, (*parts)->holding, (*parts)->term);
	}
	return rows;
}

/* Notices of a module to those above it; calls downwards need no table. */

static void
on_bare(struct core *core, struct owner *owner)
{
	stop_bare(core, owner);
	place_look(core, session_of(owner));
}

static void
guard_changed(struct core *core, uint32_t shard)
{
	unsigned what = (unsigned)PARTS_SUM(sweeps, core, shard);

	if (core->guards[guard_first(core, shard)].nblocked > 0)
		what |= SWEEP_UNBLOCK;
	if (what != 0)
		sweep_plan(core, shard, what);
	job_run(core, JOB_SWEEP);
	PARTS_CALL(guard_changed, core, shard);
	guard_waits_retry(core);
}

static void
history_changed(struct core *core, uint32_t shard)
{
	sweep_plan(core, shard, SWEEP_RECLAIM | SWEEP_WARM);
	job_run(core, JOB_SWEEP);
}

/* Only tombstones may be left, which end without this broker. */
static bool
all_over(const struct core *core)
{
	return core->leases->n == core->leases->nlingering &&
	       stop_all_over(core) && PARTS_ALL(all_over, core);
}

static bool
has_nothing(const struct core *core, uint32_t shard)
{
	return core->locks->names[shard].n == 0 &&
	       PARTS_ALL(has_nothing, core, shard);
}

static size_t
left_behind(const struct core *core)
{
	return core->leases->nlingering + PARTS_SUM(left_behind, core);
}

static uint64_t
hands_over(const struct core *core)
{
	return PARTS_SUM(hands_over, core);
}

static void
broker_gone(struct core *core, uint32_t shard)
{
	PARTS_CALL(broker_gone, core, shard);
}

static const struct guard_listener of_guards = {
	.changed = guard_changed,
	.history_changed = history_changed,
	.all_over = all_over,
	.has_nothing = has_nothing,
	.left_behind = left_behind,
	.hands_over = hands_over,
	.broker_gone = broker_gone,
};

/* Times that follow from the lease (core/kernel/guard/DESIGN). */
static void
set_times(struct core *core, int64_t lease_ms)
{
	core->pad_ms = times_pad_ms(lease_ms);
	core->stall_ms = core->pad_ms;
	core->recovery_ms = times_recovery_ms(lease_ms);
}

/* The part by which several servers decide together. */
static const struct core_part *
find_quorum(const struct core_part *const *part)
{
	while (*part != NULL && (*part)->electorate == NULL)
		part++;
	assert(*part != NULL && (*part)->way != NULL);
	return *part;
}

struct core *
core_begin(const struct core_config *config,
    const struct core_part *const *parts, const core_answer_fn *answers)
{
	static const struct core_part none;
	struct core *core = xcalloc(1, sizeof(*core));
	const struct core_part *const *part, *quorum = &none;

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
	core->parts = parts;
	parts_init(core);
	if (config->quorum)
		quorum = find_quorum(core->parts);
	core->rows = make_rows(parts, answers);
	turn_init(core, &core->rows->above);
	session_init(core);
	core->owners->bare = on_bare;
	core->owners->classes = core->rows->holdings;
	guard_init(core, &of_guards, quorum->electorate);
	sweep_init(core, core->rows->swept);
	names_init(core, &waiter_class);
	terms_init(core, core->rows->terms);
	leases_init(core, &lock_lessee, quorum->way);
	stop_init(core);
	for (part = core->parts; *part != NULL; part++)
		if ((*part)->init != NULL)
			(*part)->init(core);
	PARTS_CALL(configure, core, config->metrics);
	core->config.nodes = NULL;		/* copied */
	core->config.metrics = NULL;		/* copied */
	core->config.locks.warm_names.v = NULL; /* copied */
	return core;
}

/*
 * Sessions go first, with all that they hold and wait for, then the parts, and
 * then the names.  So nothing that is left belongs to a session, and each
 * module frees its own.
 */
void
core_free(struct core *core)
{
	size_t n = 0;

	if (core == NULL)
		return;
	leave_drop_all(core);
	stop_fini(core);
	while (core->parts[n] != NULL)
		n++;
	while (n-- > 0)
		if (core->parts[n]->fini != NULL)
			core->parts[n]->fini(core);
	leases_fini(core);
	terms_fini(core);
	names_fini(core);
	sweep_fini(core);
	guard_fini(core);
	session_fini(core);
	turn_fini(core);
	parts_fini(core);
	free(core->rows);
	free(core->address);
	free(core);
}

/* All else needs a new start: the servers, the names of keys, and the lease, on
 * which all brokers must agree. */
void
core_reconfigure(struct core *core, const struct lock_limits *locks,
    const struct client_limits *limits, const struct metrics_settings *metrics,
    bool audit, bool debug)
{
	core->config.locks = *locks;
	core->config.limits = *limits;
	core->config.audit = audit;
	core->config.debug = debug;
	guard_say_again(core);
	PARTS_CALL(configure, core, metrics);
	core->config.locks.warm_names.v = NULL; /* copied */
}

/* agenda_run() has done everything. */
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

static void
on_request(struct core *core, const struct core_event *ev)
{
	struct session *s = session_find(core, ev->u.request.session);
	const struct core_request *rq = ev->u.request.request;
	const struct core_verb *verb = &core->rows->verbs[rq->verb];

	assert(!s->detached && rq->verb < VERB_MAX && verb->answer != NULL);
	assert(!core->config.quorum || !(verb->flags & VERB_FLAG_ONE_SERVER));
	/* The client has said something: events are kept anew from here on. */
	PARTS_CALL(heard, core, s);
	s->deaf = rq->deaf;
	verb->answer(core, &s->owner, rq);
}

/* A request that is a part's. */
static void
on_token(struct core *core, const struct core_event *ev)
{
	struct session *s = session_find(core, ev->u.token.session);

	assert(s != NULL && !s->detached);
	PARTS_CALL(heard, core, s);
	(void)PARTS_ANY(event, core, &s->owner, ev);
}

static void
on_session_options(struct core *core, const struct core_event *ev)
{
	struct session *s = session_find(core, ev->u.options.session);

	assert(s != NULL && !s->detached);
	PARTS_CALL(heard, core, s);
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
	PARTS_CALL(user_changes, core, &s->owner);
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
	PARTS_CALL(drains, core, &s->owner);
}

static void
on_part(struct core *core, const struct core_event *ev)
{
	struct session *s = session_find(core, ev->u.gone.session);

	assert(s != NULL || ev->kind == CORE_UNHEARD);
	(void)PARTS_ANY(event, core, s == NULL ? NULL : &s->owner, ev);
}

/* The session may end at once: the call by which it awaits a name goes first. */
static void
on_gone(struct core *core, const struct core_event *ev)
{
	struct session *s = session_find(core, ev->u.gone.session);

	assert(s != NULL);
	PARTS_CALL(hangs_up, core, &s->owner);
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
	if (PARTS_ANY(puts_off, core, &was, ev->u.outcome.outcome))
		return;
	if (was.kind != SLOT_STRAY)
		core->above->slots[was.kind].outcome(
		    core, &was, ev->u.outcome.outcome);
	free(was.name);
}

/* Words say which module a message is for.  The same words may be for a part,
 * which recognizes the number in the message: so the parts come first. */
static void
on_message(struct core *core, const struct core_event *ev)
{
	if (!PARTS_ANY(message, core, ev->u.message.text, ev->u.message.len))
		broker_message_take(core, ev->u.message.text, ev->u.message.len,
		    ev->u.message.history);
}

/* Poll queues of tokens are not among these: they ask once a lease anyway, and
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
	PARTS_CALL(leaves, core);
	if (!core->draining)
		sweep_plan_all(core, SWEEP_HAND_ON);
	stop_leave(core);
}

/* What is handed on by now stays so.  A client that was told of the end is not
 * told that it is called off. */
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
	PARTS_CALL(stops, core);
	stop_begin(core);
	PARTS_CALL(stopped, core);
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
	[CORE_PRESS] = on_part,
	[CORE_UNHEARD] = on_part,
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
	sweep_check(core, locks_check(core) + PARTS_SUM(check, core));
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
	if (core->sessions->nkeepers > 0)
		PARTS_CALL(told, core, core->fx_first);
	leases_send(core);
	/* By now there may be nothing left to release. */
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
	       PARTS_SUM(held, core) == 0 &&
	       (core->draining ||
		   core->locks->nwaiting + PARTS_SUM(waiting, core) == 0);
}

/*
 * Everything is released, nothing is in flight, and each guard that can be
 * reached has been told.  A server that cannot be reached makes no one wait:
 * our keys there run out.
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
