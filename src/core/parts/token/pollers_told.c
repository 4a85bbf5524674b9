/*
 * Answers of Redis and messages of other brokers to a poll queue, and how it is
 * handed the name.
 *
 * An answer comes for the poll queue, and only then for a call: the call that
 * the operation was for may be over by now, or its client gone.  Then the hold
 * is given back, and the poll queue asks again for the first token that is
 * here. Nothing is granted by what the broker remembers.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/times.h"
#include "base/xmalloc.h"
#include "core/kernel/guard/guard.h"
#include "core/kernel/lock/lock.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/work.h"
#include "core/parts/token/parts.h"
#include "core/parts/token/pollers.h"

/* Answers and messages. */

/* The poll queue has the name for a user, and knows it by its place in the
 * queue. */
static void
keep(struct core *core, struct pollers *ps, uint64_t seq,
    const struct token_call *c, int64_t sent_ms)
{
	const struct poller *p = poller_of(core, ps, c);

	ps->seq = seq;
	/* Not for all of its time: some is kept for extending it. */
	if (c->session == 0)
		ps->kept_ms = min_ms(core->now_ms + c->ttl_ms - KEPT_MORE_MS,
		    sent_ms + c->ttl_ms - KEPT_MORE_MS / 2);
	else
		ps->kept_ms = sent_ms + c->ttl_ms / 2;
	ps->kept_since_ms = c->since_ms;
	free(ps->kept_for);
	ps->kept_for = xstrdup(c->holder);
	free(ps->kept_of);
	ps->kept_of = xstrdup(p->holder);
	ps->kept_told_ms = core->now_ms;
	ps->kept_came = core->last_come;
	ps->kept_again = 0;
	ps->kept_audience = c->audience;
}

/* Redis has granted the poll queue the name, for a call that may be over by
 * now. */
static void
granted(struct core *core, struct pollers *ps, uint64_t call, int64_t sent_ms,
    const struct outcome *o)
{
	struct token_call *c = call_find(core, call);
	uint64_t seq = ps->seq;

	/* No client is there to be granted it. */
	if (c == NULL || !c->parked || !call_is_heard(core, c)) {
		pollers_give_back(core, ps);
		pollers_pass_over(core, ps, NULL);
		ps->look = true;
		if (c != NULL)
			call_drop(core, c);
		return;
	}
	/* The token is that of a hold now.  The poll queue gets in line again
	 * under a new token if others are here. */
	ps->seq = 0;
	ps->sure_ms = 0;
	ps->look = true;
	pollers_pass_over(core, ps, poller_of(core, ps, c));
	if (c->awaits && core->now_ms < sent_ms + c->ttl_ms)
		keep(core, ps, seq, c, sent_ms);
	c->names[0].seq = seq;
	call_settle(core, c, sent_ms, o);
}

/* After UNSENT and PENDING nothing was done, and the call stays parked.  So
 * does a call by which an audience listens: its client asks no one meanwhile,
 * and a hold that may have been made for it is ended.  Any other outcome is
 * told to the client. */
static void
failed(struct core *core, struct pollers *ps, uint64_t call, int64_t sent_ms,
    const struct outcome *o)
{
	struct token_call *c = call_find(core, call);

	if (o->status == OUTCOME_UNKNOWN)
		pollers_give_back(core, ps);
	if (o->status == OUTCOME_UNSENT || o->status == OUTCOME_PENDING ||
	    (o->status == OUTCOME_UNKNOWN && c != NULL && c->awaits)) {
		ps->wake_ms = core->now_ms + AGAIN_MS;
		return;
	}
	ps->look = true;
	if (c != NULL && c->parked)
		call_settle(core, c, sent_ms, o);
}

/* Returns for how long the key that is in the way lives: the key of a token
 * hold by a pad longer than the hold, if no one ends it. */
static int64_t
key_left_ms(const struct core *core, const struct outcome *o)
{
	if (o->key_kind != KEY_TOKEN_HOLD || o->ttl_ms < 0)
		return o->ttl_ms;
	return o->ttl_ms + core->pad_ms;
}

void
poll_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o)
{
	struct pollers *ps = pollers_find(core, slot->name, slot->name_len);
	struct outcome unknown = { .status = OUTCOME_UNKNOWN, .text = "" };
	struct token_call *c;
	uint64_t call;

	if (ps != NULL &&
	    call_doubts(core, ps->shard, ps->epoch, slot->sent_ms, o))
		o = &unknown;
	assert(ps != NULL && ps->asked_for != 0 && ps->seq == slot->ref);
	call = ps->asked_for;
	if (o->status == OUTCOME_GRANTED) {
		granted(core, ps, call, slot->sent_ms, o);
	} else if (o->status == OUTCOME_BUSY) {
		/* The call may learn what is in its way, or that this is its
		 * answer; the sessions that have the name here learn that
		 * another client waits. */
		c = call_find(core, call);
		if (c != NULL && c->parked)
			call_note(core, c, o);
		if (c != NULL && c->parked && c->pressed)
			call_answer(core, c, TOKEN_BUSY);
		pollers_in_queue(core, ps, key_left_ms(core, o));
		lock_contended(core, ps->name, ps->name_len);
	} else {
		failed(core, ps, call, slot->sent_ms, o);
	}
	/* Only now, so that nothing above begins another operation. */
	ps->asked_for = 0;
	pollers_next(core, ps);
}

/* Handing over. */

/*
 * No one, while an operation of the poll queue is in flight, since Redis may be
 * granting it the name; or while the name is kept for a user.
 */
struct token_call *
poll_heir(struct core *core, const struct token_name *n)
{
	struct pollers *ps = pollers_find(core, n->name, n->len);
	struct token_call *c;
	struct poller *first;

	if (ps == NULL || ps->asked_for != 0 || ps->kept_ms > 0)
		return NULL;
	first = pollers_first_here(core, ps);
	if (first == NULL) {
		pollers_next(core, ps); /* all pollers may be gone */
		return NULL;
	}
	c = call_find(core, first->call);
	return call_is_heard(core, c) ? c : NULL;
}

/*
 * From now on the poll queue has an operation in flight, though it is one of
 * the call that releases.  The script takes the poll queue out of the queue if
 * no other token is here; or if the name is to be kept, as the poll queue then
 * has no place but that.
 */
void
poll_pass(struct core *core, struct op *op, const struct token_call *from,
    struct token_call *heir)
{
	struct pollers *ps = pollers_of(core, heir);

	pollers_set_kept(core, heir);
	ps->asked_for = heir->id;
	ps->passed = op->seq;
	ps->epoch = guard_epoch(core, ps->shard);
	op->ttl_ms = heir->ttl_ms;
	op->line_seq = ps->seq;
	op->behind = heir->awaits ? 0 : pollers_count_here(core, ps) - 1;
	emit_op_holder(core, op, from->holder, heir->holder);
}

/* The name was handed to a call that may be over by now. */
static void
inherit(struct core *core, struct pollers *ps, int64_t sent_ms,
    const struct outcome *o)
{
	struct token_call *c = call_find(core, ps->asked_for);
	const struct token_name n = { .name = ps->name,
		.len = ps->name_len,
		.seq = ps->passed,
		.left_ms = -1 };

	if (c != NULL && !call_is_heard(core, c)) {
		call_drop(core, c);
		c = NULL;
	}
	/* Also if the outcome is unknown: the hold may have been made.  The
	 * heir stays parked then. */
	if (c == NULL || o->status == OUTCOME_UNKNOWN) {
		token_record_orphan(core, &n);
		ps->look = true;
		return;
	}
	pollers_pass_over(core, ps, poller_of(core, ps, c));
	/* It kept its place in the queue, behind the hold that it has made. */
	if (o->waiting) {
		pollers_in_queue(
		    core, ps, c->ttl_ms > 0 ? c->ttl_ms + core->pad_ms : -1);
	} else {
		ps->seq = 0;
		ps->sure_ms = 0;
		ps->look = true;
	}
	if (c->awaits && core->now_ms < sent_ms + c->ttl_ms)
		keep(core, ps, ps->passed, c, sent_ms);
	c->names[0].seq = ps->passed;
	call_settle(core, c, sent_ms, o);
}

/* ENDED: the name was released, and is with the first in the queue.  If the
 * poll queue is in it, a message will say so. */
void
poll_passed(struct core *core, const struct slot *slot, const struct outcome *o)
{
	struct pollers *ps = pollers_find(core, slot->name, slot->name_len);
	struct outcome unknown = { .status = OUTCOME_UNKNOWN, .text = "" };

	assert(ps != NULL && ps->asked_for != 0 && ps->passed != 0);
	if (call_doubts(core, ps->shard, ps->epoch, slot->sent_ms, o))
		o = &unknown;
	if (o->status == OUTCOME_GRANTED || o->status == OUTCOME_UNKNOWN)
		inherit(core, ps, slot->sent_ms, o);
	else if (o->status != OUTCOME_ENDED || ps->seq == 0)
		ps->look = true; /* something is not as this broker thought */
	ps->asked_for = ps->passed = 0;
	pollers_next(core, ps);
}

/* The name is passed on at once; to look, a token is soon back. */
static void
told_in_vain(struct core *core, struct pollers *ps, bool given)
{
	if (!given && pollers_lately_ms(ps) > core->now_ms)
		return;
	pollers_give_back(core, ps);
	if (given)
		pollers_pass_over(core, ps, NULL);
}

/*
 * Goes by the number of the poll queue's place alone: a message of whatever
 * word for an earlier place is old, and says nothing.  A name that is kept may
 * have been taken at another broker: then the poll queue gets in line again.
 */
bool
poll_message(struct core *core, const char *text, size_t len)
{
	const char *seq = memchr(text, ' ', len), *end, *name;
	struct pollers *ps;
	uint64_t n;
	bool taken, given;

	if (seq == NULL || tokens_of(core)->pollers.n == 0)
		return false;
	seq++;
	end = memchr(seq, ' ', len - (size_t)(seq - text));
	name = memrchr(text, ' ', len);
	if (end == NULL ||
	    !parse_number(seq, (size_t)(end - seq), UINT64_MAX, &n))
		return false;
	ps = pollers_find(core, name + 1, len - (size_t)(name + 1 - text));
	taken = seq - text == 5 && memcmp(text, "took ", 5) == 0;
	given = seq - text == 6 && memcmp(text, "given ", 6) == 0;
	/* The answer to a CLAIM may come after this: that is for
	 * token_record.c. */
	if (ps == NULL || ps->seq != n || n == 0 || (taken && ps->kept_ms == 0))
		return false;
	ps->look = true;
	if (taken)
		ps->seq = ps->kept_ms = 0;
	if (ps->asked_for == 0 && ps->kept_ms == 0 &&
	    pollers_first_here(core, ps) == NULL)
		told_in_vain(core, ps, given);
	pollers_next(core, ps);
	return true;
}
