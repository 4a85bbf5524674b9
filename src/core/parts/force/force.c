/*
 * Forced releases under way.
 *
 *	request --> [here: ending] --> gone in Redis --+--> OK
 *	        --> [asked others] --> key changed ----+
 *	                           --> time is up, or the server has another
 *	                               history -----------> ERR unavailable
 *
 * A shared name may be in both brackets; so may one that only lingers here, if
 * its tombstone is over by the clock of Redis.  This broker asks the others
 * before it ends its own lease, in the same call: once the lease has ended, the
 * name may be granted to a client that is not meant.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/human.h"
#include "base/xmalloc.h"
#include "core/kernel/guard/clock.h"
#include "core/kernel/guard/guard.h"
#include "core/kernel/lease/lease.h"
#include "core/kernel/lease/tell.h"
#include "core/kernel/lock/hold.h"
#include "core/kernel/lock/hooks.h"
#include "core/kernel/lock/lock.h"
#include "core/kernel/lock/stored.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/job.h"
#include "core/kernel/turn/work.h"
#include "core/parts/force/force_state.h"
#include "core/parts/ids.h"
#include "core/parts/observe/notify.h"
#include "core/parts/views/about.h"

#define PAUSE_MS 10	 /* before the first check whether others have ended */
#define PAUSE_MS_MAX 200 /* it doubles up to this */

static void
refuse(struct core *core, struct force *f, enum err_code code, const char *why)
{
	assert(!f->over);
	emit_error(core, f->session, f->ref, code, "%s", why);
	force_end(core, f);
}

/* If all of it is done, answers the request and frees it. */
static void
finish_if_done(struct core *core, struct force *f)
{
	assert(!f->over);
	if (f->here || f->there)
		return;
	emit_reply(core, f->session, f->ref, STATUS_OK);
	force_end(core, f);
}

static void
submit_force(struct core *core, struct force *f, enum op_kind kind)
{
	uint32_t shard = guard_shard(core, f->name, f->name_len);
	struct slot *slot;
	struct op *op;

	f->looking = true;
	op = slot_submit(
	    core, &slot, kind, SLOT_FORCE, shard, f->name, f->name_len);
	slot->ref = f->id;
	slot->again = slot->again || kind != OP_FORCE;
	if (kind != OP_FORCE)
		return;
	/* The answer may come when it is no longer waited for. */
	slot->name = xstrndup(f->name, f->name_len);
	slot->name_len = f->name_len;
	/* The call may sit in a socket until others have the name. */
	op->until_ms = (uint64_t)guard_server_ms(core, shard, f->until_ms);
	op->fence = f->fence;
	op->have = f->sure;
	memcpy(op->pend, f->by, sizeof(op->pend));
}

/* No look is planned while one is in flight: its outcome plans the next. */
static void
arm(struct core *core, struct force *f)
{
	int64_t at_ms = f->until_ms;

	if (f->there && !f->looking && core->now_ms + f->pause_ms < at_ms)
		at_ms = core->now_ms + f->pause_ms;
	core_arm(core, &f->timer, at_ms);
}

/* Does a session here hold the name, or does it linger for its last holder? */
static bool
is_here(const struct core *core, const struct lock *l)
{
	return l != NULL &&
	       (!TAILQ_EMPTY(&l->holders) ||
		   (lease_rare(&l->lease)->linger_ms > core->now_ms &&
		       (l->lease.state == LEASE_LINGERING ||
			   l->lease.state == LEASE_ENDING)));
}

bool
force_is_of(const struct lock *l, uint64_t fence)
{
	return !TAILQ_EMPTY(&l->holders) && hold_first(l)->fence == fence;
}

/* a: NULL: the holder is not known. */
static void
emit_mismatch(struct core *core, uint64_t session, uint64_t ref, uint64_t fence,
    const struct about *a)
{
	struct span who = { "", 0 };
	char age[HUMAN_SIZE];

	if (a != NULL)
		who = a->label.n > 0 ? a->label : a->peer;
	if (fence == 0)
		emit_error(core, session, ref, ERR_MISMATCH,
		    "no current hold has a fence");
	else if (a == NULL || a->age_ms < 0)
		emit_error(core, session, ref, ERR_MISMATCH,
		    "the fence is %" PRIu64 " now", fence);
	else
		emit_error(core, session, ref, ERR_MISMATCH,
		    "the fence is %" PRIu64 " now (%.*s%sfor %s)", fence,
		    (int)who.n, who.p, who.n > 0 ? ", " : "",
		    human_ms(age, a->age_ms));
}

/* Runs when all that are meant have lost the name.  A linger from before the
 * demand ends, too; and so does the lease, if no one has the name then. */
static void
then_forced(struct core *core, struct term *t, int64_t since_ms)
{
	struct lock *l = container_of(t, struct lock, lease.term);

	if ((lease_is_held(&l->lease) || l->lease.state == LEASE_LINGERING ||
		l->lease.state == LEASE_ENDING) &&
	    lock_rare(l)->linger_since_ms <= since_ms)
		lease_linger_over(&l->lease);
	if (!TAILQ_EMPTY(&l->holders) ||
	    lease_rare(&l->lease)->linger_ms > core->now_ms ||
	    (!lease_is_held(&l->lease) && l->lease.state != LEASE_LINGERING))
		return;
	lease_set_state(core, &l->lease, LEASE_ENDING);
	lock_next(core, l);
}

/*
 * Ends the holds that were granted at `since_ms` or before, and their linger;
 * and then the lease, unless it has later holders.  A lease that is ending
 * already, and leaves a tombstone, is ended once more when the tombstone is
 * there (lease/outcome.c).
 */
static void
end_lease(struct core *core, struct lock *l, int64_t since_ms, const char *by,
    bool tell_by)
{
	tell_loss(core, &l->lease.term,
	    &(struct loss){ .reason = "forced",
		.since_ms = since_ms,
		.by = by,
		.tell_by = tell_by,
		.then = then_forced });
}

/* Is there a hold or a linger of that time?  The oldest hold is the last. */
static bool
is_meant(const struct lock *l, int64_t asked_ms)
{
	const struct holding *h = TAILQ_LAST(&l->holders, holding_list);

	return (h != NULL ? h->since_ms : lock_rare(l)->linger_since_ms) <=
	       asked_ms;
}

void
force_message(
    struct core *core, struct lock *l, int64_t asked_ms, const char *by)
{
	if (!is_meant(l, asked_ms))
		return;
	if (TAILQ_EMPTY(&l->holders))
		LOCK_HOOK(forced, core, l, NULL, by);
	end_lease(core, l, asked_ms, by, true);
}

/* Ends what this broker has; `f` waits until it has ended in Redis. */
static void
end_here(struct core *core, struct force *f, struct lock *l)
{
	f->here = true;
	f->seq = l->lease.seq;
	force_list(&forces_of(core)->touched, f);
	job_set(core, JOB_FORCE, true);
	end_lease(core, l, core->now_ms, f->by, false);
}

/* Writes the name of the asker as one word, because it goes into a message. */
static void
describe_asker(
    const struct core *core, const struct owner *owner, char by[PEND_MAX_BYTES])
{
	char uid[32] = "";

	if (owner->uid >= 0)
		snprintf(uid, sizeof(uid), "uid=%" PRId64 ",", owner->uid);
	snprintf(by, PEND_MAX_BYTES, "%s%s,session=%" PRIu64 ",broker=%s", uid,
	    owner->peer, owner->id, core->broker);
}

/*
 * The name may be here, elsewhere, or both, if it is shared.  Without a link,
 * only holds here can be ended: they are lost at once, and the answer waits
 * until Redis has heard of it, or the time is up.
 */
void
force_request(
    struct core *core, struct owner *owner, const struct core_request *rq)
{
	const struct core_name *name = &rq->names[0];
	uint32_t shard = guard_shard(core, name->p, name->n);
	struct lock *l;
	bool here;
	struct force *f;
	struct about has;
	char why[GUARD_WHY_SIZE];

	lock_recall(core, name->p, name->n);
	l = lock_find(core, name->p, name->n);
	if (l != NULL)
		lock_look(core, l, owner);
	here = is_here(core, l);
	if (here && rq->fence != 0 && !force_is_of(l, rq->fence)) {
		(void)about_here(core, l, &has);
		emit_mismatch(core, owner->id, rq->ref, has.fence, &has);
		return;
	}
	if (!here && !guard_up(core, shard)) {
		emit_error(core, owner->id, rq->ref, ERR_UNAVAILABLE, "%s",
		    guard_excuse(core, shard, NULL, why));
		return;
	}
	notify_force(
	    core, owner, here ? hold_first(l) : NULL, name->p, name->n);
	f = xcalloc(1, sizeof(*f) + name->n);
	f->id = ++forces_of(core)->last;
	f->session = owner->id;
	f->ref = rq->ref;
	describe_asker(core, owner, f->by);
	f->timer.kind = TIMER_FORCE;
	f->until_ms = core->now_ms + core->config.reply_timeout_ms;
	f->pause_ms = PAUSE_MS;
	f->fence = rq->fence;
	f->name_len = name->n;
	memcpy(f->name, name->p, name->n);
	TAILQ_INSERT_TAIL(&forces_of(core)->list, f, link);
	table_add(&forces_of(core)->by_id, &f->by_id);
	f->shared = here && l->lease.shared;
	f->there = !here || f->shared || TAILQ_EMPTY(&l->holders);
	if (f->there)
		submit_force(core, f, OP_FORCE);
	if (here)
		end_here(core, f, l);
	arm(core, f);
}

/* The lock whose lease `f` has to end here; NULL: the lease has ended. */
static struct lock *
still_here(const struct core *core, const struct force *f)
{
	struct lock *l = lock_find(core, f->name, f->name_len);

	if (l == NULL || l->lease.seq != f->seq || l->lease.state == LEASE_NONE)
		return NULL;
	return l;
}

/* Ends again what may have come back, and waits for the next change, until the
 * lease has ended. */
static void
end_again(struct core *core, struct force *f)
{
	struct lock *l = still_here(core, f);

	if (l != NULL && (f->fence == 0 || force_is_of(l, f->fence)))
		end_lease(core, l, core->now_ms, f->by, false);
	l = still_here(core, f);
	if (l != NULL) {
		force_await(l, f);
		return;
	}
	f->here = false;
	finish_if_done(core, f);
}

bool
force_run(struct core *core)
{
	struct force *f;

	while (work_left(core) && !TAILQ_EMPTY(&forces_of(core)->touched)) {
		core_visit(core, 1);
		f = force_next_touched(core);
		if (f == NULL)
			continue;
		forces_of(core)->running = true;
		end_again(core, f);
		forces_of(core)->running = false;
	}
	return !TAILQ_EMPTY(&forces_of(core)->touched);
}

/* Looks at the key until the others have ended, or the time is up.  Nothing is
 * undone then: what was ended here stays ended. */
void
force_timer(struct core *core, struct timer *t)
{
	struct force *f = container_of(t, struct force, timer);

	if (core->now_ms < f->until_ms) {
		submit_force(core, f, OP_PEEK);
		arm(core, f);
		return;
	}
	refuse(core, f, ERR_UNAVAILABLE,
	    f->here ? "Redis did not confirm it in time; the holder has lost "
		      "the lock"
	    : f->fence != 0
		? "the broker holding the lock did not release that hold in "
		  "time; a broker of an earlier version cannot compare "
		  "fences, and releases nothing"
		: "the broker holding the lock did not release it in time; "
		  "its lease will expire");
}

/* Outcomes. */

/* How much of a value stays the same while others have the name: its token; or
 * all of it for a phase of sharing, behind which there may be the sharers. */
static size_t
term_len(const char *value, size_t n)
{
	bool shared = n > 0 && value[0] == '@';
	const char *end = memchr(value, shared ? ',' : '|', n);

	return end != NULL ? (size_t)(end - value) : n;
}

/* Does the key still show one of the brokers that had the name when they were
 * asked?  One that was the last to share it may have it alone now. */
static bool
still_there(const struct force *f, const struct outcome *o)
{
	size_t n = term_len(o->text, o->text_len);
	size_t was = term_len(f->value, f->value_len);
	const char *at = f->value + was, *end = f->value + f->value_len;

	if (n == was && memcmp(o->text, f->value, n) == 0)
		return true;
	while (n > 0 && end - at > (ptrdiff_t)n) {
		at++; /* behind the comma */
		if (memcmp(at, o->text, n) == 0 &&
		    (at + n == end || at[n] == ','))
			return true;
		at = memchr(at, ',', (size_t)(end - at));
		if (at == NULL)
			break;
	}
	return false;
}

/* While the store may have forgotten something, a client may hold the name
 * without the store showing it, and its broker will write that again. */
static bool
is_told_all(struct core *core, struct force *f, const struct outcome *o)
{
	uint32_t shard = guard_shard(core, f->name, f->name_len);
	char why[GUARD_WHY_SIZE];

	if (guard_ready(core, shard) && !o->alone)
		return true;
	refuse(core, f, ERR_UNAVAILABLE,
	    guard_excuse(core, shard, o->alone ? o : NULL, why));
	return false;
}

/*
 * The key is ours, but when the forced release was asked for, no session here
 * had the name, or sessions shared it.  A session that has it now got it later,
 * and is not meant.
 */
static void
found_ours(struct core *core, struct force *f, const struct outcome *o)
{
	if ((f->shared || o->alone) && !is_told_all(core, f, o))
		return;
	f->there = false;
	if (f->here)
		return;
	refuse(core, f, ERR_NOT_HELD,
	    is_here(core, lock_find(core, f->name, f->name_len))
		? "the lock was not held at that time; check STATUS"
		: "the lock is not held");
}

static void
not_there(struct core *core, struct force *f, const struct outcome *o)
{
	if (!is_told_all(core, f, o))
		return;
	f->there = false;
	if (!f->here)
		refuse(core, f, ERR_NOT_HELD, "the lock is not held");
}

/* A broker has the name: this one, or another, which got the message if it
 * listens. */
static void
asked(struct core *core, struct force *f, const struct slot *slot,
    const struct outcome *o)
{
	if (stored_is_ours(core, o->text, o->text_len)) {
		found_ours(core, f, o);
		return;
	}
	if (!o->waiting) {
		refuse(core, f, ERR_UNAVAILABLE,
		    "the broker holding the lock is unreachable; its lease "
		    "will expire");
		return;
	}
	emit_notice(core, NOTICE_FORCE_ASKED);
	emit_str(core, FIELD_NAME, f->name, f->name_len);
	emit_str(core, FIELD_BROKER, o->text,
	    stored_parse(o->text, o->text_len).broker_len);
	f->value = xstrndup(o->text, o->text_len);
	f->value_len = o->text_len;
	memcpy(
	    f->history, guard_history(core, slot->shard), sizeof(f->history));
	arm(core, f);
	/* That broker says whether its hold is another than the one that is
	 * meant. */
	if (f->fence != 0)
		(void)about_ask(core, slot, o, ABOUT_EACH_SECOND);
}

/* Another hold than the one that is meant: nothing was ended. */
static void
mismatch(
    struct core *core, struct force *f, uint64_t fence, const struct about *a)
{
	emit_mismatch(core, f->session, f->ref, fence, a);
	force_end(core, f);
}

/* Without an answer the key shows what becomes of it, or nothing does.  A name
 * without a holder there is on its way back, or reserved. */
void
force_told(struct core *core, const struct slot *slot, const struct outcome *o,
    const struct about *a)
{
	struct force *f = force_find(core, slot->ref);
	uint64_t fence = a != NULL && a->fence != 0 ? a->fence : o->fence;

	if (f == NULL)
		return;
	if (o->status == OUTCOME_LOST)
		mismatch(core, f, fence, a);
	else if (a != NULL && (a->until_ms >= 0 || a->fence != 0) &&
		 a->fence != f->fence)
		mismatch(core, f, a->fence, a);
}

/* ENDED: it was a plain client's key, or a token hold; no broker must be
 * told. */
static void
on_force(struct core *core, struct force *f, const struct slot *slot,
    const struct outcome *o)
{
	char why[GUARD_WHY_SIZE];
	struct about has;

	switch (o->status) {
	case OUTCOME_VALUE:
		asked(core, f, slot, o);
		return;
	case OUTCOME_GONE:
		not_there(core, f, o);
		return;
	case OUTCOME_ENDED:
		f->there = false;
		finish_if_done(core, f);
		return;
	case OUTCOME_LOST:
		if (LOCK_ASK(token_held, core, f->name, f->name_len, &has) != 0)
			mismatch(core, f, o->fence, &has);
		else if (!about_ask(core, slot, o, ABOUT_EACH_SECOND))
			mismatch(core, f, o->fence, NULL);
		return;
	default:
		refuse(core, f, ERR_UNAVAILABLE,
		    guard_excuse(core, slot->shard, o, why));
	}
}

/*
 * The value comes from another history, such as that of a former master: then
 * the present holder of the name may have had it before, and was not asked.  Or
 * it got the name later, so it is not asked now.
 */
static bool
is_unclear(const struct core *core, const struct force *f, uint32_t shard,
    const struct outcome *o)
{
	return o->text_len > 0 && memcmp(f->history, guard_history(core, shard),
				      sizeof(f->history)) != 0;
}

/* While the server may have forgotten keys, or has too few replicas, a key that
 * has changed proves nothing. */
static void
on_look(
    struct core *core, struct force *f, uint32_t shard, const struct outcome *o)
{
	if (o->status == OUTCOME_VALUE && !o->alone && !still_there(f, o) &&
	    guard_ready(core, shard)) {
		if (is_unclear(core, f, shard, o)) {
			refuse(core, f, ERR_UNAVAILABLE,
			    "Redis was restarted or replaced; check STATUS");
			return;
		}
		f->there = false;
		finish_if_done(core, f);
		return;
	}
	if (f->pause_ms < PAUSE_MS_MAX)
		f->pause_ms *= 2;
	arm(core, f);
}

/* The broker that has the name was asked whether it only keeps it reserved. */
void
force_again(struct core *core, const struct slot *slot, int64_t left_ms)
{
	struct force *f = force_find(core, slot->ref);

	(void)left_ms;
	if (f == NULL)
		return;
	f->sure = true;
	submit_force(core, f, OP_FORCE);
}

void
force_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o)
{
	struct force *f = force_find(core, slot->ref);

	if (o->status == OUTCOME_BUSY) {
		force_again(core, slot, 0);
		return;
	}
	if (slot->op == OP_FORCE)
		PARTS_CALL(forced, core, slot, o, f != NULL ? f->by : "");
	if (f == NULL)
		return;
	f->looking = false;
	if (slot->op == OP_FORCE)
		on_force(core, f, slot, o);
	else
		on_look(core, f, slot->shard, o);
}
