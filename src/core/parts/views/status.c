/*
 * STATUS and QUEUE.  The broker reports from memory what it holds itself; for
 * everything else, and for other kinds of the same name, it asks the store.
 *
 *	request --> held here, and nothing else asked --> from memory
 *	        --> this broker stops --> refused: a call would sign it on anew
 *	        --> server can be reached --> LOOK --> from the key, and memory
 *	        --> it cannot --> waits for it, a reply timeout at most
 *	                         (QUEUE does not: it shows what is known here)
 *
 * The answer to a LOOK is put together with what this broker knows by then,
 * which may be more than when it asked.  If another broker has the name, that
 * one is asked, too (views/about.h).
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/times.h"
#include "base/xmalloc.h"
#include "core/kernel/guard/guard.h"
#include "core/kernel/guard/guard_wait.h"
#include "core/kernel/lease/lease.h"
#include "core/kernel/lock/hold.h"
#include "core/kernel/lock/hooks.h"
#include "core/kernel/lock/lock.h"
#include "core/kernel/lock/stored.h"
#include "core/kernel/session/quota.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/work.h"
#include "core/parts/ids.h"
#include "core/parts/sync/semaphore.h"
#include "core/parts/sync/sync.h"
#include "core/parts/token/state.h"
#include "core/parts/views/about.h"
#include "core/parts/views/obstacle.h"

static void
emit_ms(struct core *core, enum field_id id, int64_t ms)
{
	emit_num(core, id, ms > 0 ? (uint64_t)ms : 0);
}

/* Names the other kinds that the name has: the KIND_BITs of `others`. */
static void
emit_other(struct core *core, unsigned others)
{
	char text[64] = "";
	unsigned i;

	for (i = KIND_SYNC; i < KIND_MAX; i++) {
		if ((others & KIND_BIT(i)) == 0)
			continue;
		if (text[0] != '\0')
			strcat(text, ",");
		strcat(text, kind_words[i]);
	}
	if (text[0] != '\0')
		emit_text(core, FIELD_OTHER, text);
}

/* Reports who has the name, and until when; below 0: not known. */
static void
emit_about(
    struct core *core, const struct about *a, int64_t ttl_ms, bool at_risk)
{
	if (a->session != 0)
		emit_num(core, FIELD_SESSION, a->session);
	if (a->label.n > 0)
		emit_str(core, FIELD_LABEL, a->label.p, a->label.n);
	if (a->peer.n > 0)
		emit_str(core, FIELD_PEER, a->peer.p, a->peer.n);
	if (a->value.n > 0)
		emit_str(core, FIELD_VALUE, a->value.p, a->value.n);
	if (a->fence != 0)
		emit_num(core, FIELD_FENCE, a->fence);
	if (ttl_ms >= 0)
		emit_ms(core, FIELD_TTL, ttl_ms);
	if (at_risk)
		emit_ms(core, FIELD_AT_RISK, ttl_ms);
	if (a->age_ms >= 0)
		emit_ms(core, FIELD_AGE, a->age_ms);
	if (a->until_ms >= 0)
		emit_ms(core, FIELD_UNTIL, a->until_ms);
	if (a->fence == 0 && a->session == 0 && a->until_ms >= 0)
		emit_ms(core, FIELD_KEPT, a->until_ms);
	if (a->was.n > 0)
		emit_str(core, FIELD_WAS, a->was.p, a->was.n);
}

/* Sessions and tokens that wait for the name here. */
static uint64_t
count_waiters(
    const struct core *core, const struct lock *l, const char *name, size_t len)
{
	return (l == NULL ? 0 : queue_of(l)->n) +
	       (uint64_t)poll_each(core, name, len, NULL, NULL);
}

/* A name that lingers has no holder, but is held for somebody: the time that is
 * left is both its ttl and the end. */
static void
from_here(struct core *core, uint64_t session, uint64_t ref,
    const struct lock *l, unsigned others)
{
	bool held = !TAILQ_EMPTY(&l->holders);
	const struct term *t = &l->lease.term;
	struct about a;

	(void)about_here(core, l, &a);
	emit_reply(core, session, ref, STATUS_OK);
	emit_text(
	    core, FIELD_STATE, held && l->shared_hold ? "shared" : "held");
	emit_num(
	    core, FIELD_WAITERS, count_waiters(core, l, l->name, l->name_len));
	emit_text(core, FIELD_BROKER, core->broker);
	if (core->address[0] != '\0')
		emit_text(core, FIELD_ADDRESS, core->address);
	emit_about(core, &a,
	    held ? max_ms(term_deadline_ms(core, t) - core->now_ms, 0)
		 : a.until_ms,
	    held && t->state == TERM_ATRISK);
	if (held && l->shared_hold)
		emit_num(core, FIELD_HOLDERS, l->nholders);
	emit_other(core, others);
}

/* Does this broker know who has the name? */
static bool
told_here(const struct lock *l)
{
	return l != NULL &&
	       (!TAILQ_EMPTY(&l->holders) || l->lease.state == LEASE_LINGERING);
}

/* The client's question. */
struct question {
	enum verb_id verb;
	enum kind kind;
	uint64_t limit;	   /* QUEUE: of lines */
	int64_t waited_ms; /* for Redis, before it is asked */
};

/* The answer reaches no client if the session has no connection by then:
 * replies to it go nowhere. */
static void
look(struct core *core, uint64_t session, uint64_t ref, struct question q,
    const char *name, size_t len)
{
	struct slot *slot;
	struct op *op = slot_submit(core, &slot, OP_STATUS, SLOT_ASK,
	    guard_shard(core, name, len), name, len);

	op->look = q.kind == KIND_ANY ? KIND_LOCK : q.kind;
	op->timeout_ms -= q.waited_ms;
	slot->waited_ms = q.waited_ms;
	slot->session = session;
	slot->ref = ref;
	slot->verb = (uint8_t)q.verb;
	slot->about = (uint8_t)q.kind;
	slot->limit = q.limit;
	slot->name = xstrndup(name, len);
	slot->name_len = len;
}

/* A STATUS that waits until Redis can be reached.  Freed when the broker asks
 * Redis, or answers. */
struct ask {
	struct claim claim;
	struct guard_wait wait;
	uint32_t shard;
	uint8_t kind; /* enum kind */
	size_t name_len;
	char name[];
};

static struct ask *
ask_of(struct claim *c)
{
	return container_of(c, struct ask, claim);
}

/* It does not count in limits.holds. */
static void
ask_free(struct core *core, struct ask *ask)
{
	guard_wait_end(core, &ask->wait);
	ask->claim.owner->nuncounted--;
	claim_end(core, &ask->claim);
	free(ask);
}

static void
withdraw(struct core *core, struct claim *c)
{
	core_visit(core, 1);
	ask_free(core, ask_of(c));
}

/* The guard says why, since it is the guard of a server that cannot be
 * reached. */
static void
time_up(struct core *core, struct claim *c)
{
	char why[GUARD_WHY_SIZE];

	emit_error(core, c->owner->id, c->ref, ERR_UNAVAILABLE, "%s",
	    guard_excuse(core, ask_of(c)->shard, NULL, why));
	ask_free(core, ask_of(c));
}

static const struct claim_class ask_class = {
	.kind = CLAIM_ASK,
	.time_up = time_up,
	.cancel = claim_cancel,
	.hasten = claim_hasten,
	.withdraw = withdraw,
	.refuse = claim_refuse,
};

static void
ask_now(struct core *core, struct ask *ask)
{
	struct question q = { .verb = VERB_STATUS,
		.kind = (enum kind)ask->kind,
		.waited_ms = core->config.reply_timeout_ms -
			     (core_armed_ms(core, &ask->claim.deadline) -
				 core->now_ms) };

	look(core, ask->claim.owner->id, ask->claim.ref, q, ask->name,
	    ask->name_len);
	ask_free(core, ask);
}

static void
retry(struct core *core, struct guard_wait *w)
{
	struct ask *ask = container_of(w, struct ask, wait);

	if (guard_up(core, ask->shard))
		ask_now(core, ask);
	else
		guard_wait_begin(core, w);
}

/* Redis cannot be reached: the request waits as long as an answer may take. */
static void
ask_later(struct core *core, struct owner *owner, const struct core_request *rq)
{
	const struct core_name *name = &rq->names[0];
	struct ask *ask = xcalloc(1, sizeof(*ask) + name->n);

	claim_begin(core, &ask->claim, &ask_class, owner, rq);
	claim_list(core, &ask->claim);
	owner->nuncounted++;
	ask->kind = (uint8_t)rq->kind;
	ask->shard = guard_shard(core, name->p, name->n);
	ask->name_len = name->n;
	memcpy(ask->name, name->p, name->n);
	ask->wait.retry = retry;
	guard_wait_begin(core, &ask->wait);
	core_arm(core, &ask->claim.deadline,
	    core->now_ms + core->config.reply_timeout_ms);
}

static void
ask_again(struct core *core, const struct slot *slot, int64_t left_ms)
{
	struct question q = { .verb = (enum verb_id)slot->verb,
		.kind = (enum kind)slot->about,
		.limit = slot->limit,
		.waited_ms = core->config.reply_timeout_ms - left_ms };

	look(core, slot->session, slot->ref, q, slot->name, slot->name_len);
}

/*
 * Can the broker answer from memory?  It can if it knows who has the lock and
 * the client asks for nothing else, as over a quorum there is nothing else; or
 * if Redis does not answer or must no longer be asked, since then its memory
 * must do.
 */
static bool
known_here(const struct core *core, const struct lock *l,
    const struct core_request *rq)
{
	uint32_t shard = guard_shard(core, rq->names[0].p, rq->names[0].n);

	if (rq->verb == VERB_QUEUE)
		return told_here(l) || !guard_up(core, shard);
	if (rq->kind > KIND_LOCK || !told_here(l))
		return false;
	return rq->kind == KIND_LOCK || core->config.quorum || core->stopping ||
	       l->lease.term.state == TERM_ATRISK || !guard_up(core, shard);
}

/* Returns what a key says about others.  A lease of ours without a holder is on
 * its way in or out, and counts as free. */
static struct stored
elsewhere(
    const struct core *core, const struct lock *l, const struct outcome *o)
{
	bool ours = l != NULL && stored_is_ours(core, o->text, o->text_len);

	return stored_parse(o->text, ours ? 0 : o->text_len);
}

/* Reports which broker has the name, and its address. */
static void
emit_broker(struct core *core, const struct stored *v, const struct outcome *o)
{
	if (v->broker_len == 0)
		return;
	emit_str(core, FIELD_BROKER, o->text, v->broker_len);
	if (o->also_len > 0)
		emit_str(core, FIELD_ADDRESS, o->also, o->also_len);
}

/* Returns the record of the token hold that the key is, or NULL. */
static const struct token_record *
record_of(
    const struct core *core, const struct slot *slot, const struct stored *v)
{
	const struct token_record *r =
	    token_record_find(core, slot->name, slot->name_len);

	return r != NULL && r->fence == v->fence ? r : NULL;
}

/* A hold that was adopted from another broker has no session. */
static bool
token_has(
    const struct core *core, const char *name, size_t len, struct about *out)
{
	const struct token_record *r = token_record_find(core, name, len);

	*out = ABOUT_NOTHING;
	if (r == NULL)
		return false;
	out->fence = r->fence;
	out->age_ms = core->now_ms - r->since_ms;
	if (r->session == 0)
		return true;
	out->session = r->session;
	if (r->label != NULL)
		out->label = span_of(r->label);
	if (r->peer != NULL)
		out->peer = span_of(r->peer);
	if (r->until_ms != INT64_MAX)
		out->until_ms = r->until_ms - core->now_ms;
	return true;
}

/* Redis cannot say who has the name.  The broker reports the token hold that it
 * looks after; returns false if there is none. */
static bool
from_record(struct core *core, uint64_t session, uint64_t ref, enum kind kind,
    const char *name, size_t len)
{
	const struct token_record *r = token_record_find(core, name, len);
	struct about a;

	if (kind > KIND_LOCK || !token_has(core, name, len, &a))
		return false;
	emit_reply(core, session, ref, STATUS_OK);
	emit_text(core, FIELD_STATE, "held");
	emit_num(core, FIELD_WAITERS, count_waiters(core, NULL, name, len));
	emit_about(core, &a,
	    r->until_ms != INT64_MAX ? max_ms(r->until_ms - core->now_ms, 0)
				     : -1,
	    false);
	return true;
}

/* The key says who has the name.  If it is a token hold that this broker looks
 * after, the record adds which session has taken it, and when; otherwise its
 * broker may have said so.  Of a lease, the key says where its fences begin. */
static void
from_key(struct core *core, const struct slot *slot, const struct lock *l,
    const struct outcome *o, const struct about *told)
{
	struct stored v = elsewhere(core, l, o);
	struct about a = ABOUT_NOTHING;

	if (told != NULL)
		a = *told;
	else if (record_of(core, slot, &v) != NULL)
		(void)token_has(core, slot->name, slot->name_len, &a);
	if (a.fence == 0 && !v.lease)
		a.fence = v.fence;
	emit_reply(core, slot->session, slot->ref, STATUS_OK);
	emit_text(core, FIELD_STATE, v.state);
	emit_num(core, FIELD_WAITERS,
	    count_waiters(core, l, slot->name, slot->name_len));
	emit_broker(core, &v, o);
	if (a.fence == 0 && a.until_ms < 0 && v.fence > 0)
		emit_num(core, FIELD_LEASE_FENCE, v.fence);
	emit_about(core, &a, v.free ? -1 : o->ttl_ms, false);
	if (slot->about == KIND_ANY)
		emit_other(core, (unsigned)o->also_bits);
}

/* Adds a holder at another broker, or a plain client; core_queue_begin() lists
 * those of this broker. */
static void
queue_outcome(struct core *core, const struct slot *slot, const struct lock *l,
    const struct outcome *o)
{
	struct stored v = { .free = true };
	struct about a;

	emit_queue(core, slot->session, slot->ref, KIND_LOCK, slot->limit,
	    slot->name, slot->name_len);
	if (o->status == OUTCOME_VALUE && !told_here(l))
		v = elsewhere(core, l, o);
	if (v.free)
		return;
	emit_broker(core, &v, o);
	emit_text(core, FIELD_MODE,
	    strcmp(v.state, "shared") == 0 ? "shared" : "exclusive");
	if (o->ttl_ms >= 0)
		emit_num(core, FIELD_TTL, (uint64_t)o->ttl_ms);
	if (record_of(core, slot, &v) == NULL)
		return;
	(void)token_has(core, slot->name, slot->name_len, &a);
	a.until_ms = -1;
	emit_about(core, &a, -1, false);
}

void
status_request(
    struct core *core, struct owner *owner, const struct core_request *rq)
{
	const struct core_name *name = &rq->names[0];
	struct lock *l = lock_find(core, name->p, name->n);
	struct question q = { rq->verb, rq->kind, rq->limit, 0 };

	/* The holders of permits and the waiters here are known here. */
	if (rq->verb == VERB_QUEUE && rq->kind > KIND_LOCK) {
		emit_queue(core, owner->id, rq->ref, rq->kind, q.limit, name->p,
		    name->n);
		return;
	}
	/* The owner is told of a loss of the name before the answer
	 * (lock_look()). */
	if (l != NULL)
		lock_look(core, l, owner);
	if (known_here(core, l, rq) && rq->verb == VERB_QUEUE)
		emit_queue(core, owner->id, rq->ref, KIND_LOCK, q.limit,
		    name->p, name->n);
	else if (known_here(core, l, rq))
		from_here(core, owner->id, rq->ref, l, 0);
	else if (!quota_open(core, owner, rq->ref))
		return;
	else if (guard_up(core, guard_shard(core, name->p, name->n)))
		look(core, owner->id, rq->ref, q, name->p, name->n);
	else if (from_record(
		     core, owner->id, rq->ref, rq->kind, name->p, name->n))
		return;
	else if (owner->draining)
		emit_reply(core, owner->id, rq->ref, STATUS_CANCELLED);
	else
		ask_later(core, owner, rq);
}

/* A synchronizer.  Its waiters are those of this broker: the store knows which
 * brokers wait, and not for how many clients. */
static void
object_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o)
{
	const struct sync_class *class = syncs_of(core)->classes[slot->about];
	const char *word = kind_words[slot->about];
	const struct sync *y =
	    sync_find(core, slot->about, slot->name, slot->name_len);

	if (o->status == OUTCOME_GONE) {
		emit_error(core, slot->session, slot->ref, ERR_NOT_FOUND,
		    "%s %.*s does not exist", word, (int)slot->name_len,
		    slot->name);
		return;
	}
	emit_reply(core, slot->session, slot->ref, STATUS_OK);
	emit_text(core, FIELD_KIND, word);
	emit_num(core, class->told[0], o->first);
	if (class->told[1] != FIELD_MAX)
		emit_num(core, class->told[1], o->second);
	if (class->tells_waiters)
		emit_num(core, FIELD_WAITERS, y == NULL ? 0 : y->nentries);
}

/* Redis refused, or was silent: says why, in its words or in the guard's. */
static void
not_answered(
    struct core *core, const struct slot *slot, const struct outcome *o)
{
	uint32_t shard = guard_shard(core, slot->name, slot->name_len);
	char why[GUARD_WHY_SIZE];

	if (from_record(core, slot->session, slot->ref, slot->about, slot->name,
		slot->name_len))
		return;
	emit_error(core, slot->session, slot->ref, ERR_UNAVAILABLE, "%s",
	    guard_excuse(core, shard, o, why));
}

static bool
is_of_this_run(const struct core *core, const struct outcome *o)
{
	char id[BROKER_MAX_BYTES + 32];
	int n = snprintf(id, sizeof(id), "%s.%016" PRIx64 ".", core->broker,
	    core->config.instance);

	return o->text_len >= (size_t)n && memcmp(o->text, id, (size_t)n) == 0;
}

/* Does another broker, or an old process, know more than the key says? */
static bool
ask_broker(struct core *core, const struct slot *slot, const struct lock *l,
    const struct outcome *o)
{
	struct stored v = elsewhere(core, l, o);

	if (v.broker_len == 0 || record_of(core, slot, &v) != NULL ||
	    is_of_this_run(core, o))
		return false;
	return about_ask(core, slot, o, ABOUT_EACH_SECOND);
}

static void
on_status(struct core *core, const struct slot *slot, const struct outcome *o)
{
	struct lock *l = lock_find(core, slot->name, slot->name_len);
	bool answered = o->status == OUTCOME_VALUE || o->status == OUTCOME_GONE;

	/* This broker may have the name by now: then its memory knows more. */
	if (slot->verb == VERB_QUEUE)
		queue_outcome(core, slot, l, o);
	else if (slot->about <= KIND_LOCK && told_here(l))
		from_here(core, slot->session, slot->ref, l,
		    answered && slot->about == KIND_ANY ? (unsigned)o->also_bits
							: 0);
	else if (!answered)
		not_answered(core, slot, o);
	else if (slot->about > KIND_LOCK)
		object_outcome(core, slot, o);
	else if (!ask_broker(core, slot, l, o))
		from_key(core, slot, l, o, NULL);
}

/* The broker that has the name has answered; told: NULL: it has not. */
static void
on_status_told(struct core *core, const struct slot *slot,
    const struct outcome *o, const struct about *told)
{
	struct lock *l = lock_find(core, slot->name, slot->name_len);

	if (told_here(l))
		from_here(core, slot->session, slot->ref, l,
		    slot->about == KIND_ANY ? (unsigned)o->also_bits : 0);
	else
		from_key(core, slot, l, o, told);
}

/* As a part. */

static const struct part_slot slots[] = {
	{ SLOT_ASK, { .outcome = on_status,
			.again = ask_again,
			.told = on_status_told } },
	{ 0 },
};

static const struct lock_hooks hooks = {
	.token_held = token_has,
};

const struct core_part views_part = {
	.id = PART_VIEWS,
	.lock = &hooks,
	.refused = obstacle_tell,
	.slots = slots,
};
