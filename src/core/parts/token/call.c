/*
 * Calls: a request about token holds, from its arrival to its answer.
 *
 *	request --> an operation a name --> answer
 *	        --> to take several names: one after the other
 *	        --> if all of several must match: a look at each first
 *
 * answer.c takes the answer of Redis for each name, and answers the call.
 * Redis decides, in one script per name: no answer is kept back for a FLUSH.  A
 * call takes several names in byte order, so that one of two such calls gets
 * all of them; it gives back what it has taken in vain.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "core/kernel/guard/guard.h"
#include "core/kernel/lock/lock.h"
#include "core/kernel/lock/names.h"
#include "core/kernel/session/quota.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/work.h"
#include "core/parts/token/call.h"
#include "core/parts/token/measured.h"
#include "core/parts/token/newcomer.h"
#include "core/parts/token/parts.h"
#include "core/parts/token/poll.h"
#include "core/parts/token/token_record.h"

/* Sending. */

static void
retry(struct core *core, struct guard_wait *w)
{
	struct token_call *c = container_of(w, struct token_call, wait);

	if (!call_in_flight(c))
		call_send(core, c);
}

/* The call waits until its guard lets it ask Redis, or its time is up. */
static void
wait_for_guard(struct core *core, struct token_call *c)
{
	assert(!c->parked || c->wait.waits);
	c->wait.retry = retry;
	guard_wait_begin(core, &c->wait);
}

/*
 * A CLAIM has first the hold to make, then the holds that the call means.  A
 * TOKEN has them the other way round, and no second one if the hold that is
 * meant has that token already.
 */
static void
emit_holders(struct core *core, struct op *op, const struct token_call *c)
{
	bool acquires = c->op == TOKEN_ACQUIRE;
	const char *made = acquires ? c->holder : c->other;
	const char *meant = acquires ? c->other : c->holder;
	bool latched = c->latched != NULL && op->kind == OP_TOKEN;
	bool same = c->how.match == HOW_EXACT && strcmp(made, meant) == 0;

	if (op->kind == OP_CLAIM)
		emit_op_holder(core, op, made[0] != '\0' ? made : meant, meant);
	else
		emit_op_holder(
		    core, op, latched ? c->latched : meant, same ? "" : made);
}

/* The answer finds its name by its index in the call.  The outcome of a PASS is
 * about the poll queue, too, which is found by the name itself. */
static struct op *
submit_call(struct core *core, struct token_call *c, struct token_name *n,
    enum op_kind kind)
{
	struct slot *slot;
	struct op *op;

	assert(!n->asked && !n->settled);
	lock_recall(core, n->name, n->len);
	op = slot_submit(core, &slot, kind, SLOT_TOKEN,
	    guard_shard(core, n->name, n->len), n->name, n->len);
	if (kind == OP_PASS) {
		slot->name = xstrndup(n->name, n->len);
		slot->name_len = n->len;
	}
	slot->ref = c->id;
	slot->limit = (uint64_t)(n - c->names);
	n->seq = op->seq = ++core->last_seq;
	n->epoch = guard_epoch(core, op->shard);
	n->asked = true;
	n->asked_ms = core->now_ms;
	return op;
}

/* A PASS ends a hold whose depth is 1, and no other. */
static bool
may_pass(const struct core *core, const struct token_call *c,
    const struct token_name *n)
{
	const struct token_record *r = token_record_find(core, n->name, n->len);

	if (c->op != TOKEN_RELEASE || c->n > 1 || n->passed)
		return false;
	return c->how.match == HOW_EXACT ||
	       (c->how.match == HOW_COUNTED && r != NULL &&
		   strcmp(r->holder, c->holder) == 0);
}

/*
 * If another token waits here for the name that the call releases, one
 * operation does both.  Returns false if none does.
 */
static bool
hand_over(struct core *core, struct token_call *c, struct token_name *n)
{
	struct token_call *heir;

	if (!may_pass(core, c, n))
		return false;
	heir = poll_heir(core, n);
	if (heir == NULL)
		return false;
	poll_pass(core, submit_call(core, c, n, OP_PASS), c, heir);
	return true;
}

/* Takes a free name by a CLAIM; everything else is a TOKEN.  A call that looks
 * first only asks. */
static void
send_one(struct core *core, struct token_call *c, struct token_name *n)
{
	bool claim = call_takes(c) && !c->looks && !n->extends;
	struct op *op;

	if (hand_over(core, c, n))
		return;
	op = submit_call(core, c, n, claim ? OP_CLAIM : OP_TOKEN);
	n->claimed |= claim;
	n->extended |= n->extends;
	op->ttl_ms = c->ttl_ms;
	op->most_ms = c->most_ms;
	op->how = c->how;
	if (c->looks)
		op->how.act = HOW_ASK;
	emit_holders(core, op, c);
}

void
call_send(struct core *core, struct token_call *c)
{
	bool one_by_one = call_takes(c) && !c->looks;
	struct token_name *n;
	uint32_t shard;

	for (n = c->names; n < c->names + c->n; n++) {
		if (n->asked || n->settled)
			continue;
		/* The next one is taken only when this one has been granted. */
		if (one_by_one && call_in_flight(c))
			return;
		shard = guard_shard(core, n->name, n->len);
		if (c->how.act == HOW_ASK || c->looks
			? !guard_up(core, shard)
			: !guard_ready(core, shard)) {
			wait_for_guard(core, c);
			return;
		}
		core_visit(core, 1);
		send_one(core, c, n);
	}
}

/* A token that has come back has its turn.  A call that awaits has no place. */
static void
yield_over(struct core *core, struct token_call *c)
{
	c->yields = false;
	if (c->awaits) {
		call_answer(core, c,
		    core->now_ms >= c->since_ms + c->park_ms ? TOKEN_BUSY
							     : TOKEN_DONE);
		return;
	}
	core_arm(
	    core, &c->deadline, core->now_ms + core->config.reply_timeout_ms);
	if (call_asker(core, c) == NULL)
		call_drop(core, c);
	else if (newcomer_turn_ms(core, c) == INT64_MAX)
		call_answer(core, c, TOKEN_BUSY);
	else
		call_send(core, c);
}

/* The time of the call is up.  A parked call has waited for others, and is BUSY
 * if anything can be granted; any other call has waited for Redis. */
void
token_timer(struct core *core, struct timer *t)
{
	struct token_call *c = container_of(t, struct token_call, deadline);
	const struct token_name *n = c->names;

	/* An operation in flight has a time limit of its own. */
	if (call_in_flight(c))
		return;
	if (c->yields) {
		yield_over(core, c);
		return;
	}
	if (c->parked &&
	    guard_ready(core, guard_shard(core, n->name, n->len))) {
		call_answer(core, c, TOKEN_BUSY);
		return;
	}
	while (n->settled && n < c->names + c->n - 1)
		n++;
	call_unavailable(core, c, guard_shard(core, n->name, n->len));
}

static void
drop_awaiting(struct core *core, const struct owner *asker)
{
	struct token_call *c, *next;

	if (!asker->awaits)
		return;
	TAILQ_FOREACH_SAFE (c, &tokens_of(core)->calls, link, next) {
		core_visit(core, 1);
		if (c->session == asker->id && c->awaits &&
		    (c->parked || c->yields))
			call_drop(core, c);
	}
}

/* A parked call would wait, unless another client listens for it by now.  Any
 * other call is answered in a moment. */
void
token_drain(struct core *core, const struct owner *asker)
{
	struct token_call *c = call_find(core, asker->parked);

	if (c != NULL && c->parked && c->session == asker->id)
		call_answer(core, c, TOKEN_BUSY);
	drop_awaiting(core, asker);
}

/* Its token may come back over another connection, and keeps its place. */
void
token_gone(struct core *core, const struct owner *asker)
{
	struct token_call *c;

	drop_awaiting(core, asker);
	c = call_find(core, asker->parked);
	if (c != NULL && c->parked && c->session == asker->id)
		call_drop(core, c);
}

void
token_user_changes(struct core *core, const struct owner *asker)
{
	drop_awaiting(core, asker);
}

/*
 * Calls that take a free name, or extend a hold that the client has already.
 *
 *	take or extend:  CLAIM --busy, and the hold is meant--> TOKEN
 *	     if others come first:  TOKEN --not held--> the call is parked
 *	extend or take:  TOKEN --free--> CLAIM
 *
 * These are two operations, and never one: if a CLAIM is not answered, the
 * broker ends the hold that it may have made, and a hold that the client had
 * before must not end so.  Each is tried once.  A hold kept for the client's
 * user (poll.h) is not one that it had before: extending it is a grant.
 */

/* Does this broker look after the hold of a token that takes it once more? */
static bool
has_it(const struct core *core, const struct token_call *c,
    const struct token_name *n)
{
	const struct token_record *r = token_record_find(core, n->name, n->len);

	return c->how.match == HOW_COUNTED && r != NULL &&
	       holder_same_counted(r->holder, c->holder);
}

/*
 * Can a hold of the token be one that no client was told of, and that is about
 * to end?  It must not be counted as the client's hold.
 */
static bool
doubts(const struct core *core, const struct token_call *c,
    const struct token_name *n)
{
	return c->how.match == HOW_COUNTED && c->op == TOKEN_ACQUIRE &&
	       !has_it(core, c, n) &&
	       (poll_asks(core, c) ||
		   token_record_orphaned(core, n->name, n->len));
}

static void
either_begin(struct core *core, struct token_call *c)
{
	bool extends = c->op == TOKEN_EXTEND || c->inherits ||
		       has_it(core, c, c->names) ||
		       (c->park_ms > 0 && poll_matters(core, c) &&
			   !doubts(core, c, c->names));
	struct token_name *n;

	for (n = c->names; n < c->names + c->n; n++)
		n->extends = extends;
}

/*
 * Goes over to the other operation if the answer to the last one calls for it.
 * Each is tried once: otherwise a name that changes hands all the time would be
 * asked about for ever.
 */
static void
turn(const struct core *core, const struct token_call *c, struct token_name *n)
{
	bool meant = n->kind == TOKEN_HELD &&
		     (n->key_bits & KEY_IS_MEANT) != 0 && !doubts(core, c, n);

	if (n->status == OUTCOME_BUSY && meant && !n->extended && c->n == 1)
		n->extends = true;
	else if (n->status == OUTCOME_GONE && n->extends && !n->claimed)
		n->extends = false;
	else
		return;
	n->settled = false;
}

/*
 * A call for several names takes all of them, or extends all of them, like a
 * MSETNX followed by a look at all.  If it has the first one, it looks whether
 * it has the others; if it has a later one, that is in the way.
 */
static void
look_at_all(struct token_call *c)
{
	struct token_name *n = c->names;

	if (c->n == 1 || c->op != TOKEN_ACQUIRE || !n->settled || n->extended ||
	    n->status != OUTCOME_BUSY || n->kind != TOKEN_HELD ||
	    (n->key_bits & KEY_IS_MEANT) == 0)
		return;
	c->looks = true;
	for (; n < c->names + c->n; n++) {
		n->extends = n->claimed = true;
		n->settled = false;
	}
}

/* Another broker keeps the name for the program of the client: it is the turn
 * of one of its threads, whichever broker they ask. */
static bool
takes_turn(const struct core *core, struct token_call *c, struct token_name *n)
{
	if (c->program == NULL || c->inherits || n->text == NULL ||
	    (n->status != OUTCOME_BUSY && n->status != OUTCOME_LOST) ||
	    n->kind != TOKEN_HELD || strcmp(n->text, c->program) != 0 ||
	    poll_keeps(core, c))
		return false;
	call_inherits(c, c->program);
	n->extends = true;
	n->settled = false;
	return true;
}

/* The token does not have the name, and others came before it. */
static bool
gives_way(struct core *core, struct token_call *c)
{
	struct token_name *n = &c->names[0];
	int64_t turn_ms;

	if (call_asker(core, c) != NULL && poll_join(core, c))
		return true;
	turn_ms = newcomer_turn_ms(core, c);
	if (turn_ms <= core->now_ms)
		return false;
	if (turn_ms < INT64_MAX && n->status == OUTCOME_GONE &&
	    newcomer_yields(core, c, turn_ms))
		return true;
	n->settled = true;
	n->status = OUTCOME_BUSY;
	return false;
}

/*
 * A call that would wait has asked for its hold first.  If its token does not
 * have the name, it waits; or it is BUSY, if others come first; otherwise it
 * goes on and takes the name.
 */
static bool
either_goes_on(struct core *core, struct token_call *c)
{
	struct token_name *n;

	for (n = c->names; n < c->names + c->n; n++)
		if (n->settled)
			turn(core, c, n);
	look_at_all(c);
	n = &c->names[0];
	if (takes_turn(core, c, n))
		return false;
	if (c->park_ms == 0 || n->claimed ||
	    (n->status != OUTCOME_GONE && n->status != OUTCOME_LOST))
		return false;
	return gives_way(core, c);
}

/* Answers of Redis. */

/*
 * Sends what comes next.  If Redis has answered so late that the time of the
 * call was up before, the call does not wait for its guard as well: nothing
 * would end that wait.  Then it is over, and the result is false.
 */
static bool
send_next(struct core *core, struct token_call *c)
{
	call_send(core, c);
	if (!c->wait.waits || call_in_flight(c) || timer_armed(&c->deadline))
		return true;
	token_timer(core, &c->deadline);
	return false;
}

const char *
token_slot_name(const struct core *core, const struct slot *slot, size_t *len)
{
	const struct token_name *n =
	    &call_find(core, slot->ref)->names[slot->limit];

	*len = n->len;
	return n->name;
}

/* A call that has failed for another name is answered when this one's turn is
 * over, as with any operation. */
void
token_again(struct core *core, const struct slot *slot, int64_t left_ms)
{
	struct token_call *c = call_find(core, slot->ref);

	(void)left_ms; /* each operation of a call has a reply timeout */
	assert(c != NULL && slot->limit < c->n && c->names[slot->limit].asked);
	c->names[slot->limit].asked = false;
	if (call_in_flight(c))
		return;
	if (c->broken)
		call_unavailable(core, c, slot->shard);
	else
		(void)send_next(core, c);
}

/* All names match: now the call changes them. */
static void
second_round(struct core *core, struct token_call *c)
{
	struct token_name *n;

	assert(c->looks && !call_in_flight(c));
	c->looks = false;
	for (n = c->names; n < c->names + c->n; n++)
		n->settled = false;
	(void)send_next(core, c);
}

/* Returns the answer for the first name in the way; DONE if none is. */
static enum token_answer
verdict(const struct token_call *c)
{
	enum token_answer how = TOKEN_DONE;
	const struct token_name *n;

	if (c->op == TOKEN_RELEASE && !c->all && c->n > 1)
		return TOKEN_DONE;
	for (n = c->names; n < c->names + c->n && how == TOKEN_DONE; n++)
		if (n->settled)
			how = result_of(c, n);
	return how;
}

static void
go_on_call(struct core *core, struct token_call *c)
{
	enum token_answer how;
	const struct token_name *n;

	if ((c->either && either_goes_on(core, c)) ||
	    (c->op == TOKEN_ACQUIRE && c->n == 1 && newcomer_waits(core, c)))
		return;
	/* One name in the way is the end; the names taken before it are given
	 * back. */
	how = verdict(c);
	if (how != TOKEN_DONE) {
		call_answer(core, c, how);
		return;
	}
	if (!send_next(core, c) || c->wait.waits || call_in_flight(c))
		return;
	for (n = c->names; n < c->names + c->n; n++)
		assert(n->settled);
	if (c->looks)
		second_round(core, c);
	else
		call_answer(core, c, how);
}

/*
 * An outcome in doubt counts as unknown.  After UNSENT and PENDING nothing was
 * done: the name is asked for again when its guard allows it, while the call
 * has time.  The call goes on once all its operations are answered; if one of
 * them was not, its own answer is `unavailable`.
 */
static void
take_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o)
{
	struct token_call *c = call_find(core, slot->ref);
	struct outcome unknown = { .status = OUTCOME_UNKNOWN, .text = "" };
	struct token_name *n;

	assert(c != NULL && slot->limit < c->n);
	n = &c->names[slot->limit];
	if (call_doubts(core, slot->shard, n->epoch, slot->sent_ms, o) ||
	    (c->op != TOKEN_ACQUIRE && call_outdated(o)))
		o = &unknown;
	assert(n->asked);
	n->asked = false;
	if (o->status == OUTCOME_UNKNOWN || o->status == OUTCOME_REFUSED ||
	    ((o->status == OUTCOME_UNSENT || o->status == OUTCOME_PENDING) &&
		!timer_armed(&c->deadline))) {
		call_failed(core, c, n, o);
		return;
	}
	if (o->status == OUTCOME_UNSENT || o->status == OUTCOME_PENDING) {
		wait_for_guard(core, c);
		return;
	}
	call_keep(core, c, n, slot->sent_ms, o);
	if (call_in_flight(c))
		return;
	if (c->broken)
		call_unavailable(core, c, guard_shard(core, n->name, n->len));
	else
		go_on_call(core, c);
}

/* A PASS has found another depth than this broker knew of. */
static void
release_again(struct core *core, struct token_call *c, struct token_name *n)
{
	assert(n->asked);
	n->asked = false;
	n->passed = true;
	(void)send_next(core, c);
}

/* For the call that releases, a PASS that has made the next hold is a release
 * like any other.  Only after that is the heir told of its grant. */
void
token_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o)
{
	struct token_call *c = call_find(core, slot->ref);
	struct outcome ended = *o;

	assert(c != NULL);
	if (slot->op != OP_PASS) {
		take_outcome(core, slot, o);
		return;
	}
	if (o->status == OUTCOME_GRANTED)
		ended = (struct outcome){ .status = OUTCOME_ENDED,
			.fence = o->over_fence,
			.key_kind = KEY_TOKEN_HOLD,
			.key_bits = KEY_IS_MEANT | KEY_OF_SAME_USER,
			.text = c->holder,
			.text_len = strlen(c->holder) };
	if (o->status == OUTCOME_LOST && c->how.match == HOW_COUNTED)
		release_again(core, c, &c->names[slot->limit]);
	else
		take_outcome(core, slot, &ended);
	poll_passed(core, slot, o);
}

/* Requests. */

/* Only a request that may make a hold counts against limits.unowned. */
static bool
allowed(struct core *core, struct owner *asker, const struct token_request *rq)
{
	if (!quota_open(core, asker, rq->ref))
		return false;
	if (core->config.quorum) {
		emit_error(core, asker->id, rq->ref, ERR_UNSUPPORTED,
		    "token holds do not work over a quorum; use LOCK");
		return false;
	}
	return (rq->op != TOKEN_ACQUIRE && !rq->either) ||
	       (quota_grants(core, asker, rq->ref) &&
		   quota_admits_tokens(core, asker, rq->ref, rq->nnames) &&
		   quota_has_room(core, asker, rq->ref, rq->nnames,
		       "release some, or raise the limit"));
}

/*
 * Does this broker know that a name is taken?  Sessions that wait for it here
 * come first.
 */
static bool
is_taken(const struct core *core, const struct token_request *rq)
{
	const struct lock *l;
	unsigned i;

	for (i = 0; i < rq->nnames && rq->op == TOKEN_ACQUIRE; i++) {
		l = lock_find(core, rq->names[i].p, rq->names[i].n);
		if (l != NULL &&
		    (l->queue != NULL || (!TAILQ_EMPTY(&l->holders) &&
					     lease_is_held(&l->lease))))
			return true;
	}
	return false;
}

/*
 *	kept for others --> its place, or BUSY
 *	kept for the user, or `either` --> either_begin(), call_send()
 *	has a place, or awaits --> parked
 *	known to be taken, or others wait --> BUSY, without Redis
 *	others come first, and are away --> a look, and call_send() after them
 *	otherwise --> call_send()
 *
 * Redis decides whether a name is free.  The broker says BUSY by itself only if
 * Redis could not say anything else, or would let a token pass tokens that came
 * first.
 */
void
token_take(
    struct core *core, struct owner *asker, const struct token_request *rq)
{
	struct token_call *c;
	int64_t turn_ms;

	assert(rq->nnames > 0 && rq->nnames <= CORE_NAMES_MAX);
	assert(rq->ttl_ms >= (rq->op == TOKEN_ACQUIRE ? 0 : -TOKEN_MS_MAX) &&
	       rq->ttl_ms <= TOKEN_MS_MAX);
	assert(rq->op != TOKEN_ACQUIRE || rq->match != TOKEN_COUNTED ||
	       rq->either || rq->awaits);
	assert(rq->program <= rq->token_len &&
	       (rq->audience == 0 || rq->program > 0));
	assert(rq->token_len <= TOKEN_MAX_BYTES &&
	       rq->new_token_len <= TOKEN_MAX_BYTES);
	if (!allowed(core, asker, rq)) {
		emit_undone(core);
		return;
	}
	c = call_begin(core, asker, rq);
	if (rq->op == TOKEN_ACQUIRE && rq->nnames == 1)
		c->since_ms = poll_first_ms(core, c);
	if (c->park_ms > 0)
		poll_came(core, asker, c);
	if (c->awaits && c->park_ms == 0)
		poll_forget(core, c);
	if (!poll_take_kept(core, c) && poll_refuse_kept(core, c)) {
		if (!c->parked)
			call_answer(core, c, TOKEN_BUSY);
		return;
	}
	if (c->either) {
		either_begin(core, c);
		call_send(core, c);
		return;
	}
	if (c->park_ms > 0 && poll_join(core, c))
		return;
	turn_ms = c->park_ms > 0 ? newcomer_turn_ms(core, c) : 0;
	if (c->awaits || is_taken(core, rq) || turn_ms == INT64_MAX) {
		result_emit_busy(core, asker, rq);
		token_busy(core, c);
		/* The token has come once, and is expected back. */
		if (c->park_ms > 0 && !c->awaits)
			poll_refused(core, c);
		call_drop(core, c);
		return;
	}
	c->looks |= turn_ms > core->now_ms;
	call_send(core, c);
}
