/*
 * Watched names, and their watchers.
 *
 *	session --watches--> watch <--watches-- watched
 *
 * A watched name exists apart from the lock of that name, which comes and goes.
 * Its `now` is the state that its watchers are told (watchers.h).  A change of
 * the lock touches the watched name; at the end of the step tell_touched()
 * compares `now` with the state of the lock then, so that quick changes are
 * told as one.
 */
#include "config.h"

#include <string.h>

#include "base/xmalloc.h"
#include "core/kernel/guard/guard.h"
#include "core/kernel/lock/hooks.h"
#include "core/kernel/lock/lock.h"
#include "core/kernel/lock/stored.h"
#include "core/kernel/session/quota.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/job.h"
#include "core/kernel/turn/work.h"
#include "core/parts/ids.h"
#include "core/parts/notes/notes.h"
#include "core/parts/views/about.h"
#include "core/parts/watch/watch.h"
#include "core/parts/watch/watchers.h"

#define REACH_MS 50 /* between looks whether Redis can be reached */
#define NO_VALUE ((struct span){ NULL, 0 })
#define PASSED_MS 20 /* until another broker has adopted what it was given */

static struct watched *
find_watched(const struct core *core, const char *name, size_t len)
{
	return container_or_null(
	    table_find(&watches_of(core)->by_name, name, len), struct watched,
	    by_name);
}

static struct watched *
get(struct core *core, const char *name, size_t len)
{
	struct watched *w = find_watched(core, name, len);

	if (w != NULL)
		return w;
	assert(len > 0 && len <= UINT8_MAX);
	w = xcalloc(1, sizeof(*w) + len);
	TAILQ_INIT(&w->watches);
	TAILQ_INIT(&w->asking);
	w->timer.kind = TIMER_WATCH;
	w->shard = guard_shard(core, name, len);
	w->name_len = (uint8_t)len;
	memcpy(w->name, name, len);
	table_add(&watches_of(core)->by_name, &w->by_name);
	return w;
}

static bool
leave(struct core *core, struct owner *owner)
{
	while (work_left(core) && !TAILQ_EMPTY(&owner->watches)) {
		core_visit(core, 1);
		watchers_leave(core, TAILQ_FIRST(&owner->watches));
	}
	return TAILQ_EMPTY(&owner->watches);
}

/* Looks are a little less than a lease apart, as the protocol promises. */
static void
plan_look(struct core *core, struct watched *w)
{
	int64_t slack_ms = core->config.lease_ms / 8;

	core_arm(core, &w->timer,
	    core->now_ms + core->config.lease_ms - slack_ms -
		core_jitter(core, slack_ms));
}

/* The slot has the name, and no pointer: the last watcher may leave before the
 * answer comes. */
static void
look_within(struct core *core, struct watched *w, int64_t timeout_ms)
{
	struct slot *slot;

	plan_look(core, w);
	if (w->looking || !guard_up(core, w->shard))
		return;
	/* Over a quorum any server will do, if it can be reached. */
	w->shard = guard_shard(core, w->name, w->name_len);
	w->looking = true;
	slot_submit(
	    core, &slot, OP_PEEK, SLOT_WATCH, w->shard, w->name, w->name_len)
	    ->timeout_ms = timeout_ms;
	slot->name = xstrndup(w->name, w->name_len);
	slot->name_len = w->name_len;
}

static void
look(struct core *core, struct watched *w)
{
	look_within(core, w, core->config.reply_timeout_ms);
}

/* Does the name linger for its last holder, whatever the lease is doing? */
static bool
is_kept_back(const struct core *core, const struct lock *l)
{
	return lease_rare(&l->lease)->linger_ms > core->now_ms &&
	       l->lease.state >= LEASE_CONFIRMING;
}

/*
 * Reports what this broker itself knows of the name.  False: nothing.  A name
 * that lingers counts as held.  Its hold is gone, so the fence is the one that
 * watchers were told last, if the name was here then.
 */
static bool
look_here(struct core *core, struct watched *w)
{
	const struct lock *l = lock_find(core, w->name, w->name_len);
	const struct hold *h = l == NULL ? NULL : hold_first(l);
	struct snapshot now = { .held = true };

	if (h == NULL && (l == NULL || !is_kept_back(core, l)))
		return false;
	if (h != NULL)
		now.fence = h->fence;
	else if (w->here)
		now.fence = w->now.fence;
	now.broker_len = strlen(core->broker);
	memcpy(now.broker, core->broker, now.broker_len);
	w->here = true;
	watchers_change(core, w, now, notes_of(core, h, NOTE_VALUE));
	return true;
}

/* Is the lease here?  If the name has no holder, it is granted again, or the
 * lease ends; or it is warm, which counts as free. */
static bool
between(const struct lock *l)
{
	return (lease_is_held(&l->lease) && !lock_is_warm(l)) ||
	       l->lease.state == LEASE_ENDING;
}

/* When the lease has ended here, may another broker have the name, because it
 * waits for it or shares it? */
static bool
goes_on(const struct lock *l)
{
	return lease_contended(&l->lease) || l->lease.shared;
}

/*
 * The name is no longer here: it is free, or a look shows where it is.  If
 * another broker may have it already, watchers are not told that it is free:
 * the look comes a moment later, and they are told who has it.
 */
static void
gone_from_here(struct core *core, struct watched *w)
{
	w->here = false;
	if (w->passing) {
		w->passing = false;
		core_arm(core, &w->timer, core->now_ms + PASSED_MS);
		return;
	}
	watchers_change(core, w, (struct snapshot){ 0 }, NO_VALUE);
	watchers_answer(core, w, NULL);
	plan_look(core, w);
}

static void look_if_up(struct core *core, struct watched *w);

/*
 * The name is here; or on its way, and will be touched again when it has
 * arrived or gone; or it has gone just now; or it is elsewhere, which needs a
 * look only if it is news.
 */
static void
settle(struct core *core, struct watched *w)
{
	const struct lock *l = lock_find(core, w->name, w->name_len);
	bool taken = w->taken;

	w->taken = false;
	if (look_here(core, w)) {
		w->passing = false;
		core_disarm(core, &w->timer);
		watchers_answer(core, w, NULL);
	} else if (l != NULL && between(l)) {
		w->passing = goes_on(l);
	} else if (w->here) {
		gone_from_here(core, w);
	} else if (taken && !w->now.held) {
		look_if_up(core, w);
	}
}

/* Called for each change of each name: if none is watched, that must cost
 * nothing. */
static void
note_change(struct core *core, const struct lock *l, bool taken)
{
	struct watched *w;

	if (watches_of(core)->by_name.n == 0)
		return;
	w = find_watched(core, l->name, l->name_len);
	if (w == NULL)
		return;
	w->taken = w->taken || taken;
	/* settle() may run in a later step, when the lease has forgotten. */
	if (TAILQ_EMPTY(&l->holders) && between(l))
		w->passing = goes_on(l);
	if (w->touched)
		return;
	w->touched = true;
	TAILQ_INSERT_TAIL(&watches_of(core)->touched, w, in_touched);
	job_set(core, JOB_WATCHED, true);
}

/* A name may have changed: its watchers are told at the end of the step, or, if
 * they are many, of one of the next. */
static void
touch(struct core *core, struct lock *l)
{
	note_change(core, l, false);
}

/* Another broker has been seen to have the name. */
static void
taken(struct core *core, struct lock *l)
{
	note_change(core, l, true);
}

void
watch_stir(struct core *core, const char *name, size_t len)
{
	struct watched *w;

	if (watches_of(core)->by_name.n == 0)
		return;
	w = find_watched(core, name, len);
	if (w != NULL && !w->here)
		core_arm(core, &w->timer, core->now_ms);
}

static bool
tell_touched(struct core *core)
{
	struct watched *w;

	while (work_left(core) &&
	       (w = TAILQ_FIRST(&watches_of(core)->touched)) != NULL) {
		core_visit(core, 1);
		w->touched = false;
		TAILQ_REMOVE(&watches_of(core)->touched, w, in_touched);
		settle(core, w);
	}
	return !TAILQ_EMPTY(&watches_of(core)->touched);
}

/* Outcomes of looks. */

static void
refuse_all(struct core *core, struct watched *w, const struct outcome *o)
{
	char why[GUARD_WHY_SIZE];

	watchers_answer(core, w, xstrdup(guard_excuse(core, w->shard, o, why)));
}

/*
 * Redis cannot be reached: watchers that asked wait for it, but only for a
 * time.  All wait equally long, so the time of those that asked first is up
 * first.  At least one is looked at, even if the step has no work left.
 */
static void
wait_for_redis(struct core *core, struct watched *w)
{
	struct watch *one;
	int64_t again_ms = core->now_ms;
	char why[GUARD_WHY_SIZE];

	guard_why(core, w->shard, why, sizeof(why));
	plan_look(core, w);
	while ((one = TAILQ_FIRST(&w->asking)) != NULL) {
		core_visit(core, 1);
		if (core->now_ms < one->until_ms) {
			again_ms += REACH_MS;
			break;
		}
		if (watchers_refuse(core, one, why))
			return;
		if (!work_left(core))
			break;
	}
	if (!TAILQ_EMPTY(&w->asking))
		core_arm(core, &w->timer, again_ms);
}

static void
look_if_up(struct core *core, struct watched *w)
{
	if (guard_up(core, w->shard))
		look(core, w);
	else
		wait_for_redis(core, w);
}

static void
on_again(struct core *core, const struct slot *slot, int64_t left_ms)
{
	struct watched *w = find_watched(core, slot->name, slot->name_len);

	if (w == NULL || !w->looking)
		return;
	w->looking = false;
	if (guard_up(core, w->shard))
		look_within(core, w, left_ms);
	else
		wait_for_redis(core, w);
}

static void
on_timer(struct core *core, struct timer *t)
{
	look_if_up(core, container_of(t, struct watched, timer));
}

/* The value that watchers were told still holds, as far as the key says: the
 * same broker has the name on the same lease. */
static struct span
value_until_told(const struct watched *w, const struct snapshot *now)
{
	if (w->value == NULL || w->here || w->now.fence != now->fence ||
	    !span_same((struct span){ w->now.broker, w->now.broker_len },
		(struct span){ now->broker, now->broker_len }))
		return NO_VALUE;
	return span_of(w->value);
}

/*
 * Reports the state in the key, unless the key is a lease of this broker, which
 * is just coming or going, and will touch the name when that is over; the first
 * look is told in any case, because a WATCH waits for it.  A name that is only
 * warm counts as free.
 */
static void
look_there(struct core *core, struct watched *w, const struct outcome *o)
{
	const struct lock *l = lock_find(core, w->name, w->name_len);
	struct stored v = stored_parse(o->text, o->text_len);
	struct snapshot now = { .held = o->text_len > 0, .fence = v.fence };

	if (l != NULL && lock_is_warm(l))
		now = (struct snapshot){ 0 };
	else if (w->known && stored_is_ours(core, o->text, o->text_len))
		return;
	else if (v.broker_len <= sizeof(now.broker))
		now.broker_len = v.broker_len;
	memcpy(now.broker, o->text, now.broker_len);
	watchers_change(core, w, now, value_until_told(w, &now));
}

/* If this broker has got the name while the answer was on its way, it knows
 * better.  The broker that has the name reports what the key does not show. */
static void
on_outcome(struct core *core, const struct slot *slot, const struct outcome *o)
{
	struct watched *w = find_watched(core, slot->name, slot->name_len);

	if (w == NULL)
		return;
	w->looking = false;
	if (o->status != OUTCOME_VALUE) {
		refuse_all(core, w, o);
		return;
	}
	if (!look_here(core, w)) {
		look_there(core, w, o);
		if (o->text_len > 0 &&
		    !stored_is_ours(core, o->text, o->text_len) &&
		    stored_parse(o->text, o->text_len).lease)
			(void)about_ask(core, slot, o, ABOUT_LOOKS);
	}
	watchers_answer(core, w, NULL);
}

/* That broker has answered, or has not (told: NULL).  The name may have passed
 * on meanwhile. */
static void
watch_told(struct core *core, const struct slot *slot, const struct outcome *o,
    const struct about *told)
{
	struct watched *w = find_watched(core, slot->name, slot->name_len);
	size_t n = stored_parse(o->text, o->text_len).broker_len;

	if (w == NULL || told == NULL || w->here || !w->now.held ||
	    !span_same((struct span){ o->text, n },
		(struct span){ w->now.broker, w->now.broker_len }))
		return;
	watchers_change(core, w, w->now, told->value);
}

/* Requests. */

/* The present state follows right after the OK, so a look comes first. */
static void
begin_watch(struct core *core, struct watch *one, uint64_t ref)
{
	struct watched *w = one->key.watched;

	watchers_ask(one, ref);
	if (look_here(core, w)) {
		watchers_welcome(core, one);
		return;
	}
	one->until_ms = core->now_ms + core->config.reply_timeout_ms;
	look_if_up(core, w);
}

/* A session that watches the name already is told its state once more. */
void
watch_request(
    struct core *core, struct owner *owner, const struct core_request *rq)
{
	const struct core_name *name = &rq->names[0];
	struct watched *w = find_watched(core, name->p, name->n);
	struct watch *one = w == NULL ? NULL : watchers_find(core, owner, w);

	if (one != NULL && one->asking) {
		emit_error(core, owner->id, rq->ref, ERR_BAD_REQUEST,
		    "this session is already about to watch it");
		return;
	}
	if (one == NULL) {
		if (!quota_admits(core, owner, rq, 1))
			return;
		one = watchers_join(core, owner, get(core, name->p, name->n));
	}
	begin_watch(core, one, rq->ref);
}

void
watch_end_request(
    struct core *core, struct owner *owner, const struct core_request *rq)
{
	const struct core_name *name = &rq->names[0];
	struct watched *w = find_watched(core, name->p, name->n);
	struct watch *one = w == NULL ? NULL : watchers_find(core, owner, w);

	if (one == NULL) {
		emit_error(core, owner->id, rq->ref, ERR_NOT_FOUND,
		    "this session does not watch %.*s", (int)name->n, name->p);
		return;
	}
	if (one->asking)
		emit_reply(core, owner->id, one->ref, STATUS_CANCELLED);
	watchers_leave(core, one);
	emit_reply(core, owner->id, rq->ref, STATUS_OK);
}

bool
watch_has(struct core *core, struct owner *owner, const char *name, size_t len)
{
	struct watched *w = find_watched(core, name, len);

	return w != NULL && watchers_find(core, owner, w) != NULL;
}

/* As a part. */

/* While any name is watched, of whatever guard, the broker stays away from no
 * server (guard/guard_heartbeat.c). */
static bool
has_nothing(const struct core *core, uint32_t shard)
{
	(void)shard;
	return watches_of(core)->by_name.n == 0;
}

static size_t
check_watches(const struct core *core)
{
	const struct watches *all = watches_of(core);

	job_check(core, JOB_WATCHED, !TAILQ_EMPTY(&all->touched));
	job_check(core, JOB_WATCHERS, !TAILQ_EMPTY(&all->telling));
	return 0;
}

static const struct part_timer timers[] = {
	{ TIMER_WATCH, { AGENDA_PATIENT, on_timer } },
	{ 0 },
};

static const struct part_slot slots[] = {
	{ SLOT_WATCH,
	    { .outcome = on_outcome, .again = on_again, .told = watch_told } },
	{ 0 },
};

static const struct part_job jobs[] = {
	{ JOB_WATCHED, tell_touched },
	{ JOB_WATCHERS, watchers_tell_on },
	{ 0 },
};

static const struct lock_hooks hooks = {
	.changed = touch,
	.elsewhere = taken,
};

const struct core_part watch_part = {
	.id = PART_WATCH,
	.lock = &hooks,
	.init = watch_init,
	.fini = watch_fini,
	.leave = leave,
	.has_nothing = has_nothing,
	.check = check_watches,
	.timers = timers,
	.slots = slots,
	.jobs = jobs,
};
