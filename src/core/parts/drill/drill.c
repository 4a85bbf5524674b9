/*
 * DRILL: a holder is told that it has lost a name, which no one else gets until
 * the holder has released it.  How long did the holder go on?
 *
 * See DESIGN.  The holder's broker has a struct drill of the name, the broker
 * that was asked has a struct asker; they may be the same broker.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/text.h"
#include "base/xmalloc.h"
#include "core/kernel/guard/guard.h"
#include "core/kernel/lock/broker_message.h"
#include "core/kernel/lock/hold.h"
#include "core/kernel/lock/hooks.h"
#include "core/kernel/lock/lock.h"
#include "core/kernel/lock/names.h"
#include "core/kernel/lock/queue.h"
#include "core/kernel/lock/stored.h"
#include "core/kernel/session/claim.h"
#include "core/kernel/session/quota.h"
#include "core/kernel/session/record.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/work.h"
#include "core/parts/ids.h"
#include "core/parts/views/about.h"

#define REASON "drill"

/* What the part keeps of a name; meaningless without a hold. */
struct drill {
	struct hold *hold;
	int64_t since_ms;
	struct timer let_go; /* the session has released: the hold ends */
	uint64_t asker;	     /* here, or ... */
	char token[ABOUT_TOKEN_BYTES]; /* ... at another broker; "" */
};

/* One DRILL.  Freed with its claim. */
struct asker {
	struct claim claim;
	struct table_link by_id;
	uint64_t id;
	int64_t max_ms;
	bool begun;
	char *holder; /* owned; NULL: not known yet */
	size_t name_len;
	char name[];
};

struct drills {
	struct table by_id; /* askers */
};

/* Why there is no drill; brokers send each other the code. */
static const struct refusal {
	const char *code;
	enum err_code err;
	const char *text;
} refusals[] = {
	{ "gone", ERR_NOT_FOUND, "the lock has no holder" },
	{ "exists", ERR_EXISTS, "a drill of it is under way" },
	{ "shared", ERR_UNSUPPORTED,
	    "the lock is shared; a drill needs one holder" },
	{ "token", ERR_UNSUPPORTED,
	    "a token of a Redis client holds it, and gets no events" },
	{ "away", ERR_UNSUPPORTED,
	    "its session has no connection now, and gets no events" },
	{ "deaf", ERR_UNSUPPORTED,
	    "its session speaks RESP2, and gets no events" },
	{ "reentered", ERR_UNSUPPORTED,
	    "its session holds it more than once; try again later" },
};

enum { GONE, EXISTS, SHARED, TOKEN, AWAY, DEAF, REENTERED, REFUSALS };

static struct drills *
drills_of(const struct core *core)
{
	return core->part[PART_DRILL];
}

static struct asker *
find_asker(const struct core *core, uint64_t id)
{
	return container_or_null(
	    table_find_key(&drills_of(core)->by_id, &id), struct asker, by_id);
}

static struct drill *
drill_of(const struct lock *l)
{
	struct drill *d = lock_part(l, PART_DRILL);

	return d != NULL && d->hold != NULL ? d : NULL;
}

/* Who asks. */

static struct asker *
asker_of(struct claim *c)
{
	return container_of(c, struct asker, claim);
}

static void
asker_free(struct core *core, struct asker *a)
{
	table_remove(&drills_of(core)->by_id, &a->by_id);
	a->claim.owner->nuncounted--;
	claim_end(core, &a->claim);
	free(a->holder);
	free(a);
}

static void
withdraw(struct core *core, struct claim *c)
{
	core_visit(core, 1);
	asker_free(core, asker_of(c));
}

static void
emit_ok(struct core *core, const struct asker *a)
{
	emit_reply(core, a->claim.owner->id, a->claim.ref, STATUS_OK);
	if (a->holder != NULL)
		emit_text(core, FIELD_HELD_BY, a->holder);
}

static void
fail(struct core *core, struct asker *a, enum err_code code, const char *text)
{
	emit_error(core, a->claim.owner->id, a->claim.ref, code, "%s", text);
	asker_free(core, a);
}

static void
time_up(struct core *core, struct claim *c)
{
	struct asker *a = asker_of(c);

	if (!a->begun) {
		fail(core, a, ERR_UNAVAILABLE,
		    "the holder's broker did not answer; an earlier version"
		    " does not support drills");
		return;
	}
	emit_ok(core, a);
	emit_text(core, FIELD_TOOK_MAX, "max");
	asker_free(core, a);
}

static const struct claim_class asker_class = {
	.kind = CLAIM_ASK,
	.time_up = time_up,
	.cancel = claim_cancel,
	.hasten = claim_hasten,
	.withdraw = withdraw,
	.refuse = claim_refuse,
};

static struct asker *
asker_new(struct core *core, struct owner *owner, const struct core_request *rq)
{
	const struct core_name *name = &rq->names[0];
	struct asker *a = xcalloc(1, sizeof(*a) + name->n);

	claim_begin(core, &a->claim, &asker_class, owner, rq);
	claim_list(core, &a->claim);
	owner->nuncounted++;
	a->id = ++core->last_seq;
	a->max_ms = rq->max_ms;
	a->name_len = name->n;
	memcpy(a->name, name->p, name->n);
	table_add(&drills_of(core)->by_id, &a->by_id);
	core_arm(core, &a->claim.deadline,
	    core->now_ms + core->config.reply_timeout_ms);
	return a;
}

static void
began(struct core *core, struct asker *a)
{
	a->begun = true;
	core_arm(core, &a->claim.deadline, core->now_ms + a->max_ms);
}

static void
ended(struct core *core, struct asker *a, int64_t took_ms)
{
	emit_ok(core, a);
	emit_num(core, FIELD_TOOK, (uint64_t)took_ms);
	asker_free(core, a);
}

/* The hold ended by a loss in earnest, or by force: nothing was learnt. */
#define LOST_TEXT "the holder really lost the lock during the drill"

/* At the broker that has the hold. */

static void
tell(struct core *core, const char *name, size_t len, const char *token,
    const char *code, int64_t ms)
{
	char text[64];

	snprintf(text, sizeof(text), "drilled %s %" PRId64, code, ms);
	about_send(core, SLOT_STRAY, name, len, span_of(token), text);
}

/* Returns why the name cannot be drilled; NULL: it can. */
static const struct refusal *
obstacle(struct core *core, const struct lock *l)
{
	const struct hold *h = hold_first(l);
	const struct session *s = session_seen(h->holding.owner);

	if (l->shared_hold)
		return &refusals[SHARED];
	if (drill_of(l) != NULL)
		return &refusals[EXISTS];
	if (!hold_was_told(h))
		return &refusals[GONE];
	if (core->above->conn_of(core, s->owner.id) == 0)
		return &refusals[AWAY];
	if (s->deaf)
		return &refusals[DEAF];
	/* An UNLOCK of one level may have been sent before the loss was read:
	 * its session would not have let go. */
	return hold_told_depth(h) > 1 ? &refusals[REENTERED] : NULL;
}

/* Requires that nothing is in the way.  The drill is known from the moment at
 * which the loss is told. */
static struct drill *
begin(struct core *core, struct lock *l, const char *by)
{
	struct drill *d = lock_need_part(l, PART_DRILL, sizeof(*d));

	memset(d, 0, sizeof(*d));
	d->let_go.kind = TIMER_DRILL;
	d->since_ms = core->now_ms;
	hold_forfeit(core, hold_first(l), REASON, by);
	d->hold = hold_first(l);
	lock_touch(core, l); /* on_changed() */
	return d;
}

static void
over(struct core *core, const struct lock *l, struct drill *d, bool lost)
{
	struct asker *a = find_asker(core, d->asker);
	int64_t took_ms = core->now_ms - d->since_ms;

	core_disarm(core, &d->let_go);
	d->hold = NULL;
	if (core->fx == NULL) /* in core_free(): nobody is left */
		return;
	if (a != NULL && lost)
		fail(core, a, ERR_LOST, LOST_TEXT);
	else if (a != NULL)
		ended(core, a, took_ms);
	else if (d->token[0] != '\0' && !core->stopping)
		tell(core, l->name, l->name_len, d->token,
		    lost ? "lost" : "over", took_ms);
}

static void
on_lost(
    struct core *core, const struct hold *h, const char *reason, const char *by)
{
	struct drill *d = drill_of(h->lock);

	(void)reason;
	(void)by;
	if (d != NULL)
		over(core, h->lock, d, true);
}

static void
on_ends(struct core *core, const struct hold *h)
{
	struct drill *d = drill_of(h->lock);

	if (d != NULL && d->hold == h)
		over(core, h->lock, d, false);
}

/* The session has sent UNLOCK.  The hold ends outside of this hook. */
static void
on_let_go(
    struct core *core, const struct owner *owner, const char *name, size_t len)
{
	const struct lock *l = lock_find(core, name, len);
	struct drill *d = l != NULL ? drill_of(l) : NULL;

	if (d != NULL && d->hold->holding.owner == owner)
		core_arm(core, &d->let_go, core->now_ms);
}

static void
on_timer(struct core *core, struct timer *t)
{
	struct hold *h = container_of(t, struct drill, let_go)->hold;
	struct lock *l = h->lock;

	hold_end(core, h, true);
	lock_next(core, l);
}

#define STILL "this session has lost %.*s (" REASON "); it must UNLOCK it first"

/* A session that asks again before its release would wait for itself. */
static bool
admits(struct core *core, struct owner *owner, const struct core_request *rq)
{
	const struct drill *d;
	const struct lock *l;
	unsigned i;

	for (i = 0; i < rq->nnames; i++) {
		l = lock_find(core, rq->names[i].p, rq->names[i].n);
		d = l != NULL ? drill_of(l) : NULL;
		if (d == NULL || d->hold->holding.owner != owner)
			continue;
		emit_error(core, owner->id, rq->ref, ERR_LOST, STILL,
		    (int)l->name_len, l->name);
		return false;
	}
	return true;
}

static bool
waits_for(const struct waiter *w, const struct lock *l)
{
	const struct group *g = w->group;
	unsigned i;

	for (i = 0; g != NULL && i < g->n; i++)
		if (g->members[i] != NULL && g->members[i]->lock == l)
			return true;
	return w->lock == l;
}

/* So would a session whose untagged request waits already, because its UNLOCK is
 * not read meanwhile.  Of the requests of a session the untagged one is the
 * first. */
static void
on_changed(struct core *core, struct lock *l)
{
	const struct drill *d = drill_of(l);
	struct claim *c =
	    d != NULL ? TAILQ_FIRST(&d->hold->holding.owner->waiting) : NULL;
	struct waiter *w = c != NULL && c->untagged ? waiter_of(c) : NULL;
	char why[sizeof(STILL) + NAME_MAX_BYTES];

	if (w == NULL || !waits_for(w, l))
		return;
	snprintf(why, sizeof(why), STILL, (int)l->name_len, l->name);
	waiter_error(core, w, ERR_LOST, why);
}

/* A re-entry that was granted before the loss was told has to wait. */
static bool
may_grant(const struct core *core, const struct lock *l, const struct waiter *w)
{
	const struct drill *d = drill_of(l);

	(void)core;
	return d == NULL || d->hold->holding.owner != w->claim.owner;
}

/* At the broker that is asked. */

static void
hear_holder(struct asker *a, const struct about *has)
{
	struct span who = has->label.n > 0 ? has->label : has->peer;

	free(a->holder);
	a->holder = who.n > 0 ? xstrndup(who.p, who.n) : NULL;
}

static void
look(struct core *core, const struct asker *a)
{
	struct slot *slot;
	struct op *op = slot_submit(core, &slot, OP_STATUS, SLOT_DRILL,
	    guard_shard(core, a->name, a->name_len), a->name, a->name_len);

	op->look = KIND_LOCK;
	slot->ref = a->id;
	slot->name = xstrndup(a->name, a->name_len);
	slot->name_len = a->name_len;
}

static void
drill_here(struct core *core, struct lock *l, struct owner *owner,
    const struct core_request *rq)
{
	const struct refusal *why = obstacle(core, l);
	struct about has;
	struct asker *a;

	if (why != NULL) {
		emit_error(core, owner->id, rq->ref, why->err, "%s", why->text);
		return;
	}
	(void)about_here(core, l, &has);
	a = asker_new(core, owner, rq);
	hear_holder(a, &has);
	began(core, a);
	begin(core, l, owner->peer)->asker = a->id;
}

void
drill_request(
    struct core *core, struct owner *owner, const struct core_request *rq)
{
	const struct core_name *name = &rq->names[0];
	uint32_t shard = guard_shard(core, name->p, name->n);
	struct lock *l = lock_find(core, name->p, name->n);
	const struct refusal *why = NULL;
	char text[GUARD_WHY_SIZE];
	struct about has;

	if (!quota_open(core, owner, rq->ref))
		return;
	if (owner->draining) {
		emit_reply(core, owner->id, rq->ref, STATUS_CANCELLED);
		return;
	}
	if (l != NULL)
		lock_look(core, l, owner);
	if (l != NULL && !TAILQ_EMPTY(&l->holders)) {
		drill_here(core, l, owner, rq);
		return;
	}
	if (about_here(core, l, &has))
		why = &refusals[GONE];
	else if (LOCK_ASK(token_held, core, name->p, name->n, &has) != 0)
		why = &refusals[TOKEN];
	if (why != NULL)
		emit_error(core, owner->id, rq->ref, why->err, "%s", why->text);
	else if (!guard_up(core, shard))
		emit_error(core, owner->id, rq->ref, ERR_UNAVAILABLE, "%s",
		    guard_excuse(core, shard, NULL, text));
	else
		look(core, asker_new(core, owner, rq));
}

static void
on_again(struct core *core, const struct slot *slot, int64_t left_ms)
{
	const struct asker *a = find_asker(core, slot->ref);

	(void)left_ms;
	if (a != NULL)
		look(core, a);
}

/* Its broker has said who holds the name, and is asked now; or it has not. */
static void
on_told(struct core *core, const struct slot *slot, const struct outcome *o,
    const struct about *has)
{
	struct asker *a = find_asker(core, slot->ref);
	const char *bar = memchr(o->text, '|', o->text_len);
	char token[ABOUT_TOKEN_BYTES], text[ABOUT_TOKEN_BYTES + 64];

	if (a == NULL)
		return;
	if (has == NULL || bar == NULL) {
		fail(core, a, ERR_UNAVAILABLE,
		    "the holder's broker did not answer");
		return;
	}
	if (has->fence == 0) {
		fail(core, a, ERR_NOT_FOUND, refusals[GONE].text);
		return;
	}
	hear_holder(a, has);
	about_token(core, a->id, token);
	snprintf(text, sizeof(text), "drill %s %" PRIu64, token, has->fence);
	about_send(core, SLOT_DRILL, a->name, a->name_len,
	    (struct span){ o->text, (size_t)(bar - o->text) }, text)
	    ->ref = a->id;
}

/* Who has the name, by its key. */
static void
on_look(struct core *core, struct asker *a, const struct slot *slot,
    const struct outcome *o)
{
	struct stored v = stored_parse(o->text, o->text_len);
	char why[GUARD_WHY_SIZE];

	if (o->status != OUTCOME_VALUE && o->status != OUTCOME_GONE)
		fail(core, a, ERR_UNAVAILABLE,
		    guard_excuse(core, slot->shard, o, why));
	else if (v.free || stored_is_ours(core, o->text, o->text_len))
		fail(core, a, ERR_NOT_FOUND, refusals[GONE].text);
	else if (strcmp(v.state, "shared") == 0)
		fail(core, a, ERR_UNSUPPORTED, refusals[SHARED].text);
	else if (!v.lease)
		fail(core, a, ERR_UNSUPPORTED, refusals[TOKEN].text);
	else if (!about_ask(core, slot, o, ABOUT_EACH_SECOND))
		fail(core, a, ERR_UNAVAILABLE,
		    "the holder's broker cannot be asked now; try again");
}

static void
on_outcome(struct core *core, const struct slot *slot, const struct outcome *o)
{
	struct asker *a = find_asker(core, slot->ref);

	if (a == NULL)
		return;
	if (slot->op == OP_STATUS)
		on_look(core, a, slot, o);
	else if (o->status != OUTCOME_DONE && !a->begun)
		fail(core, a, ERR_UNAVAILABLE,
		    "the holder's broker is unreachable");
}

/* Messages. */

static void
on_drill_message(struct core *core, struct lock *l, const struct message *m)
{
	const struct refusal *why = &refusals[GONE];
	char by[BROKER_MAX_BYTES + 16];
	struct drill *d;
	uint64_t fence;
	size_t n = stored_broker(m->more[0].p, m->more[0].n);

	if (n == 0 || m->more[0].n >= ABOUT_TOKEN_BYTES ||
	    !message_number(m, 1, FENCE_MAX, &fence))
		return;
	snprintf(by, sizeof(by), "broker=%.*s", (int)n, m->more[0].p);
	if (l != NULL && hold_first(l) != NULL && hold_first(l)->fence == fence)
		why = obstacle(core, l);
	if (why == NULL) {
		d = begin(core, l, by);
		snprintf(d->token, sizeof(d->token), "%.*s", (int)m->more[0].n,
		    m->more[0].p);
		tell(core, m->name, m->name_len, d->token, "begun", 0);
		return;
	}
	snprintf(by, sizeof(by), "drilled %s 0", why->code);
	about_send(core, SLOT_STRAY, m->name, m->name_len,
	    (struct span){ m->more[0].p, m->more[0].n }, by);
}

static void
on_drilled_message(struct core *core, struct lock *l, const struct message *m)
{
	struct span code = { m->more[0].p, m->more[0].n };
	struct asker *a = find_asker(core, m->seq);
	uint64_t ms;
	unsigned i;

	(void)l;
	if (a == NULL || !message_number(m, 1, INT64_MAX / 2, &ms) ||
	    !span_same((struct span){ a->name, a->name_len },
		(struct span){ m->name, m->name_len }))
		return;
	if (!a->begun && span_is(code, "begun"))
		began(core, a);
	else if (span_is(code, "over"))
		ended(core, a, (int64_t)ms);
	else if (span_is(code, "lost"))
		fail(core, a, ERR_LOST, LOST_TEXT);
	else
		for (i = 0; i < REFUSALS; i++)
			if (span_is(code, refusals[i].code)) {
				fail(
				    core, a, refusals[i].err, refusals[i].text);
				return;
			}
}

static const struct message_word words[] = {
	{ "drill", 2, TO_BROKER, on_drill_message },
	{ "drilled", 2, TO_BROKER, on_drilled_message },
	{ .word = NULL },
};

/* As a part. */

static void
init(struct core *core)
{
	core->part[PART_DRILL] = xcalloc(1, sizeof(struct drills));
	table_init_key(&drills_of(core)->by_id, struct asker, by_id, id);
}

/* No claim is left by then. */
static void
fini(struct core *core)
{
	assert(drills_of(core)->by_id.n == 0);
	table_fini(&drills_of(core)->by_id);
	free(drills_of(core));
}

static const struct part_timer timers[] = {
	{ TIMER_DRILL, { AGENDA_PATIENT, on_timer } },
	{ 0 },
};

static const struct part_slot slots[] = {
	{ SLOT_DRILL,
	    { .outcome = on_outcome, .again = on_again, .told = on_told } },
	{ 0 },
};

static const struct lock_hooks hooks = {
	.admits = admits,
	.may_grant = may_grant,
	.changed = on_changed,
	.lost = on_lost,
	.ends = on_ends,
	.let_go = on_let_go,
	.words = words,
};

const struct core_part drill_part = {
	.id = PART_DRILL,
	.lock = &hooks,
	.init = init,
	.fini = fini,
	.timers = timers,
	.slots = slots,
};
