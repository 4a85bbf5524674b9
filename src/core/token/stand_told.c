/*
 * What Redis and other brokers tell a stand, and how it is handed the name.
 *
 * An answer comes for the stand, and only then for a call: the call that the
 * operation was for may be over by now, or its client gone.  Then the hold is
 * given back, and the stand asks again for the first token that is here.
 * Nothing is granted by what the broker remembers.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/xmalloc.h"
#include "core/guard/guard.h"
#include "core/lock/lock.h"
#include "core/token/parts.h"
#include "core/token/stand.h"
#include "core/turn/emit.h"
#include "core/turn/work.h"

/* Answers and messages. */

/* The stand has the name for a user, and knows it by its place in the queue. */
static void
keep(struct core *core, struct stand *st, uint64_t seq,
    const struct token_call *c, int64_t sent_ms)
{
	const struct place *p = stand_place(core, st, c);

	st->seq = seq;
	/* Half of its time, so that the other half is there to extend it in. */
	st->kept_ms = sent_ms + c->ttl_ms / 2;
	st->kept_since_ms = c->since_ms;
	free(st->kept_for);
	st->kept_for = xstrdup(c->client);
	free(st->kept_of);
	st->kept_of = xstrdup(p->client);
	st->kept_by = c->session;
	st->kept_ref = c->ref;
}

/* Redis has granted the stand the name, for a call that may be over by now. */
static void
granted(struct core *core, struct stand *st, uint64_t call, int64_t sent_ms,
    const struct outcome *o)
{
	struct token_call *c = call_find(core, call);
	uint64_t seq = st->seq;

	/* Nobody is there to be granted it. */
	if (c == NULL || !c->parked || call_asker(core, c) == NULL) {
		stand_give_back(core, st);
		st->look = true;
		if (c != NULL)
			call_drop(core, c);
		return;
	}
	/* The token is that of a hold now.  The stand gets in line again under
	 * a new one if others are here. */
	st->seq = 0;
	st->sure_ms = 0;
	st->look = true;
	if (c->awaits && core->now_ms < sent_ms + c->ttl_ms)
		keep(core, st, seq, c, sent_ms);
	c->names[0].seq = seq;
	call_settle(core, c, sent_ms, o);
}

/* After UNSENT and PENDING nothing was done, and the call stays parked.
 * Anything else is told to its client. */
static void
failed(struct core *core, struct stand *st, uint64_t call, int64_t sent_ms,
    const struct outcome *o)
{
	struct token_call *c = call_find(core, call);

	if (o->status == OUTCOME_UNKNOWN)
		stand_give_back(core, st);
	if (o->status == OUTCOME_UNSENT || o->status == OUTCOME_PENDING) {
		st->wake_ms = core->now_ms + AGAIN_MS;
		return;
	}
	st->look = true;
	if (c != NULL && c->parked)
		call_settle(core, c, sent_ms, o);
}

/* Returns for how long the key that is in the way lives: that of a token hold
 * by a pad longer than the hold, if nobody ends it. */
static int64_t
key_left_ms(const struct core *core, const struct outcome *o)
{
	if (o->first != TOKEN_HELD || o->ttl_ms < 0)
		return o->ttl_ms;
	return o->ttl_ms + core->pad_ms;
}

void
park_outcome(struct core *core, const struct slot *slot, int64_t sent_ms,
    const struct outcome *o)
{
	struct stand *st = stand_find(core, slot->name, slot->name_len);
	struct outcome unknown = { .status = OUTCOME_UNKNOWN, .text = "" };
	struct token_call *c;
	uint64_t call;

	if (st != NULL && call_doubts(core, st->shard, st->epoch, sent_ms, o))
		o = &unknown;
	assert(st != NULL && st->asked_for != 0 && st->seq == slot->ref);
	call = st->asked_for;
	if (o->status == OUTCOME_GRANTED) {
		granted(core, st, call, sent_ms, o);
	} else if (o->status == OUTCOME_BUSY) {
		/* The call may learn what is in its way; the sessions that have
		 * the name here learn that somebody waits. */
		c = call_find(core, call);
		if (c != NULL && c->parked)
			call_note(core, c, o);
		stand_in_queue(core, st, key_left_ms(core, o));
		lock_contended(core, st->name, st->name_len);
	} else {
		failed(core, st, call, sent_ms, o);
	}
	/* Only now, so that nothing above begins another operation. */
	st->asked_for = 0;
	stand_next(core, st);
}

/* Handing over. */

/*
 * Nobody, while an operation of the stand is in flight, since Redis may be
 * granting it the name; or while the name is kept for a user.  A call that
 * awaits the name is no heir, either: only the answer to a CLAIM begins to keep
 * a name (keep()).
 */
struct token_call *
park_heir(struct core *core, const struct token_name *n)
{
	struct stand *st = stand_find(core, n->name, n->len);
	struct token_call *c;
	struct place *first;

	if (st == NULL || st->asked_for != 0 || st->kept_ms > 0)
		return NULL;
	first = stand_first_here(core, st);
	if (first == NULL) {
		stand_next(core, st); /* all places may be gone */
		return NULL;
	}
	c = call_find(core, first->call);
	return call_asker(core, c) != NULL && !c->awaits ? c : NULL;
}

/*
 * From now on the stand has an operation in flight, though it is one of the
 * call that releases.  The script takes the stand out of the queue if no other
 * token is here.
 */
void
park_pass(struct core *core, struct op *op, const struct token_call *from,
    const struct token_call *heir)
{
	struct stand *st = stand_of(core, heir);

	st->asked_for = heir->id;
	st->passed = op->seq;
	st->epoch = guard_epoch(core, st->shard);
	op->ttl_ms = heir->ttl_ms;
	op->again = st->seq;
	op->need = stand_count_here(core, st) - 1;
	emit_op_client(core, op, from->client, heir->client);
}

/* The name was handed to a call that may be over by now. */
static void
inherit(struct core *core, struct stand *st, int64_t sent_ms,
    const struct outcome *o)
{
	struct token_call *c = call_find(core, st->asked_for);
	const struct token_name n = { .name = st->name,
		.len = st->name_len,
		.seq = st->passed,
		.left_ms = -1 };

	if (c != NULL && call_asker(core, c) == NULL) {
		call_drop(core, c);
		c = NULL;
	}
	/* Also if the outcome is unknown: the hold may have been made.  The
	 * heir stays parked then. */
	if (c == NULL || o->status == OUTCOME_UNKNOWN) {
		token_record_orphan(core, &n);
		st->look = true;
		return;
	}
	/* It kept its place in the queue, behind the hold that it has made. */
	if (o->waiting) {
		stand_in_queue(
		    core, st, c->ttl_ms > 0 ? c->ttl_ms + core->pad_ms : -1);
	} else {
		st->seq = 0;
		st->sure_ms = 0;
		st->look = true;
	}
	c->names[0].seq = st->passed;
	call_settle(core, c, sent_ms, o);
}

/* ENDED: the name was released, and is with the first in the queue.  If the
 * stand is in it, a message will tell it. */
void
park_passed(struct core *core, const struct slot *slot, int64_t sent_ms,
    const struct outcome *o)
{
	struct stand *st = stand_find(core, slot->name, slot->name_len);
	struct outcome unknown = { .status = OUTCOME_UNKNOWN, .text = "" };

	assert(st != NULL && st->asked_for != 0 && st->passed != 0);
	if (call_doubts(core, st->shard, st->epoch, sent_ms, o))
		o = &unknown;
	if (o->status == OUTCOME_GRANTED || o->status == OUTCOME_UNKNOWN)
		inherit(core, st, sent_ms, o);
	else if (o->status != OUTCOME_ENDED || st->seq == 0)
		st->look = true; /* something is not as this broker thought */
	st->asked_for = st->passed = 0;
	stand_next(core, st);
}

/*
 * Goes by the number of the stand's place alone: a message of whatever word for
 * an earlier place is old, and says nothing.  If nobody is here, the name is
 * passed on at once.  A name that is kept may have been taken at another broker:
 * then the stand gets in line again.
 */
bool
park_message(struct core *core, const char *text, size_t len)
{
	const char *seq = memchr(text, ' ', len), *end, *name;
	struct stand *st;
	uint64_t n;
	bool taken;

	if (seq == NULL || core->tokens->stands.n == 0)
		return false;
	seq++;
	end = memchr(seq, ' ', len - (size_t)(seq - text));
	name = memrchr(text, ' ', len);
	if (end == NULL ||
	    !parse_number(seq, (size_t)(end - seq), UINT64_MAX, &n))
		return false;
	st = stand_find(core, name + 1, len - (size_t)(name + 1 - text));
	taken = memcmp(text, "took ", 5) == 0;
	/* The answer to a CLAIM may come behind this: that is for
	 * token_record.c. */
	if (st == NULL || st->seq != n || n == 0 || (taken && st->kept_ms == 0))
		return false;
	st->look = true;
	if (taken)
		st->seq = st->kept_ms = 0;
	if (st->asked_for == 0 && st->kept_ms == 0 &&
	    stand_first_here(core, st) == NULL)
		stand_give_back(core, st);
	stand_next(core, st);
	return true;
}
