/*
 * Calls: a request about token holds, from its arrival to its answer.
 *
 *	request --> an operation a name --> answer
 *	        --> to take several names: one after the other
 *	        --> if all of several must match: a look at each first
 *
 * request.c makes them, and ending.c answers them.  Redis decides, in one
 * script a name; so the broker keeps no answer back for a FLUSH, and does not
 * rely on its own memory.  A call takes several names in byte order, so that
 * one of two such calls gets all of them; it gives back what it has taken in
 * vain.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "core/guard/guard.h"
#include "core/token/call.h"
#include "core/token/measured.h"
#include "core/token/park.h"
#include "core/token/parts.h"
#include "core/token/result.h"
#include "core/token/ward.h"
#include "core/turn/emit.h"
#include "core/turn/work.h"

#define WHY_SIZE 256

struct token_call *
call_find(const struct core *core, uint64_t id)
{
	struct table_link *link =
	    table_find(&core->tokens->by_id, (const char *)&id, sizeof(id));

	return link == NULL ? NULL
			    : container_of(link, struct token_call, by_id);
}

void
call_stop_waiting(struct core *core, struct token_call *c)
{
	if (c->waits)
		TAILQ_REMOVE(&core->tokens->waiting, c, in_waiting);
	core->tokens->nwaiting -= c->waits;
	c->waits = false;
}

void
call_drop(struct core *core, struct token_call *c)
{
	unsigned i;

	if (c->parked) {
		token_waited(core, c);
		park_leave(core, c);
	}
	TAILQ_REMOVE(&core->tokens->calls, c, link);
	table_remove(&core->tokens->by_id, &c->by_id);
	call_stop_waiting(core, c);
	core_disarm(core, &c->deadline);
	for (i = 0; i < c->n; i++) {
		free(c->names[i].name);
		free(c->names[i].text);
	}
	free(c->client);
	free(c->other);
	free(c);
}

struct owner *
call_asker(const struct core *core, const struct token_call *c)
{
	if (core->above->conn_of(core, c->session) == 0)
		return NULL;
	return owner_find(core, c->session);
}

bool
call_in_flight(const struct token_call *c)
{
	const struct token_name *n;

	for (n = c->names; n < c->names + c->n; n++)
		if (n->asked)
			return true;
	return false;
}

/* Sending. */

/* The call waits until its guard lets it ask Redis, or its time is up. */
static void
wait_for_guard(struct core *core, struct token_call *c)
{
	if (c->waits)
		return;
	c->waits = true;
	core->tokens->nwaiting++;
	TAILQ_INSERT_TAIL(&core->tokens->waiting, c, in_waiting);
}

bool
call_takes(const struct token_call *c)
{
	return c->op == TOKEN_ACQUIRE || (c->op == TOKEN_EXTEND && c->either);
}

/*
 * A CLAIM has first the hold to make, then those that the call means.  A TOKEN
 * has them the other way round, and no second one if the hold that is meant has
 * that token already.
 */
static void
emit_clients(struct core *core, struct op *op, const struct token_call *c)
{
	bool acquires = c->op == TOKEN_ACQUIRE;
	const char *made = acquires ? c->client : c->other;
	const char *meant = acquires ? c->other : c->client;
	bool same = c->how[1] == 'x' && strcmp(made, meant) == 0;

	if (op->kind == OP_CLAIM)
		emit_op_client(core, op, made[0] != '\0' ? made : meant, meant);
	else
		emit_op_client(core, op, meant, same ? "" : made);
}

static struct op *
submit(struct core *core, struct token_call *c, struct token_name *n,
    enum op_kind kind)
{
	struct slot *slot;
	struct op *op;

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
	return op;
}

/*
 * If another token waits here for the name that the call releases, one
 * operation does both.  Returns false if none does.
 */
static bool
hand_over(struct core *core, struct token_call *c, struct token_name *n)
{
	struct token_call *heir;

	if (c->op != TOKEN_RELEASE || c->n > 1 || c->how[1] != 'x')
		return false;
	heir = park_heir(core, n);
	if (heir == NULL)
		return false;
	park_pass(core, submit(core, c, n, OP_PASS), c, heir);
	return true;
}

static void
send_one(struct core *core, struct token_call *c, struct token_name *n)
{
	bool claim = call_takes(c) && !c->looks && !n->extends;
	struct op *op;

	if (hand_over(core, c, n))
		return;
	op = submit(core, c, n, claim ? OP_CLAIM : OP_TOKEN);
	n->claimed |= claim;
	n->extended |= n->extends;
	op->ttl_ms = c->ttl_ms;
	op->most_ms = core->config.locks.max_hold_ms;
	memcpy(op->how, c->how, sizeof(op->how));
	if (c->looks)
		op->how[0] = 'q';
	emit_clients(core, op, c);
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
		if (one_by_one && call_in_flight(c))
			return;
		shard = guard_shard(core, n->name, n->len);
		if (c->how[0] == 'q' || c->looks ? !guard_up(core, shard)
						 : !guard_ready(core, shard)) {
			wait_for_guard(core, c);
			return;
		}
		core_visit(core, 1);
		send_one(core, c, n);
	}
}

void
token_timer(struct core *core, struct timer *t)
{
	struct token_call *c = container_of(t, struct token_call, deadline);
	const struct token_name *n = c->names;

	/* An operation in flight has a time limit of its own. */
	if (call_in_flight(c))
		return;
	if (c->parked &&
	    guard_ready(core, guard_shard(core, n->name, n->len))) {
		call_answer(core, c, TOKEN_BUSY);
		return;
	}
	while (n->settled && n < c->names + c->n - 1)
		n++;
	call_unavailable(core, c, guard_shard(core, n->name, n->len));
}

void
token_drain(struct core *core, const struct owner *asker)
{
	struct token_call *c = call_find(core, asker->parked);

	if (c != NULL && c->parked)
		call_answer(core, c, TOKEN_BUSY);
}

void
token_gone(struct core *core, const struct owner *asker)
{
	struct token_call *c = call_find(core, asker->parked);

	if (c != NULL && c->awaits && c->parked)
		call_drop(core, c);
}

/* Answers of Redis. */

/* All names match: now the call changes them. */
static void
second_round(struct core *core, struct token_call *c)
{
	struct token_name *n;

	c->looks = false;
	for (n = c->names; n < c->names + c->n; n++)
		n->settled = false;
	call_send(core, c);
}

/* Returns what the first name in the way says; DONE if none is. */
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
go_on(struct core *core, struct token_call *c)
{
	enum token_answer how;
	const struct token_name *n;

	if (c->either && either_goes_on(core, c))
		return;
	how = verdict(c);
	if (how != TOKEN_DONE) {
		call_answer(core, c, how);
		return;
	}
	call_send(core, c);
	if (c->waits || call_in_flight(c))
		return;
	for (n = c->names; n < c->names + c->n; n++)
		assert(n->settled);
	if (c->looks)
		second_round(core, c);
	else
		call_answer(core, c, how);
}

bool
call_doubts(const struct core *core, uint32_t shard, uint32_t epoch,
    const struct outcome *o)
{
	return (o->status == OUTCOME_GRANTED || o->status == OUTCOME_RENEWED) &&
	       epoch != guard_epoch(core, shard);
}

bool
call_outdated(const struct outcome *o)
{
	return o->alone &&
	       (o->status == OUTCOME_LOST || o->status == OUTCOME_GONE);
}

/*
 * Has the time of a grant run out before the client is told?  Then it is none:
 * others may have been granted the name since, and been told so.
 */
static bool
is_over(const struct core *core, const struct token_call *c, int64_t sent_ms)
{
	return c->ttl_ms > 0 && core->now_ms >= sent_ms + c->ttl_ms;
}

static void
keep_outcome(struct core *core, const struct token_call *c,
    struct token_name *n, int64_t sent_ms, const struct outcome *o)
{
	n->settled = true;
	n->status = c->inherits && o->status == OUTCOME_RENEWED
			? OUTCOME_GRANTED
			: o->status;
	n->fence = o->fence;
	n->left_ms = o->ttl_ms;
	if (n->status == OUTCOME_GRANTED)
		n->left_ms = c->ttl_ms > 0 ? c->ttl_ms : -1;
	n->waited_ms = core->now_ms - c->since_ms;
	n->kind = (unsigned)o->first;
	n->whose = (unsigned)o->second;
	free(n->text);
	n->text = xstrndup(o->text, o->text_len);
	if (ward_was_taken(core, n->seq) && n->status == OUTCOME_GRANTED)
		n->status = OUTCOME_BUSY;
	if (ward_was_taken(core, n->seq) && n->status == OUTCOME_RENEWED)
		n->status = OUTCOME_LOST;
	if (n->status != OUTCOME_GRANTED &&
	    (n->status != OUTCOME_RENEWED || c->op != TOKEN_ACQUIRE))
		return;
	if (!is_over(core, c, sent_ms))
		return;
	ward_stray(core, n);
	n->status = OUTCOME_BUSY;
}

/* The outcome is unknown, or Redis refused, or the time for retries is over. */
static void
failed(struct core *core, struct token_call *c, struct token_name *n,
    const struct outcome *o)
{
	uint32_t shard = guard_shard(core, n->name, n->len);
	char why[WHY_SIZE];

	if (o->status == OUTCOME_UNKNOWN && call_takes(c) && !c->looks &&
	    (!n->extends || c->inherits) && !c->parked) {
		n->left_ms = c->ttl_ms > 0 ? c->ttl_ms : -1;
		ward_stray(core, n);
	}
	if (call_in_flight(c)) {
		n->settled = true;
		n->status = OUTCOME_UNKNOWN;
		c->broken = true;
		return;
	}
	snprintf(why, sizeof(why), "%.*s", (int)o->text_len, o->text);
	if (o->status == OUTCOME_REFUSED)
		call_refuse(core, c, ERR_UNAVAILABLE, why);
	else
		call_unavailable(core, c, shard);
}

static void
take_outcome(struct core *core, const struct slot *slot, int64_t sent_ms,
    const struct outcome *o)
{
	struct token_call *c = call_find(core, slot->ref);
	struct outcome unknown = { .status = OUTCOME_UNKNOWN, .text = "" };
	struct token_name *n;

	assert(c != NULL && slot->limit < c->n);
	n = &c->names[slot->limit];
	if (call_doubts(core, slot->shard, n->epoch, o) ||
	    (c->op != TOKEN_ACQUIRE && call_outdated(o)))
		o = &unknown;
	assert(n->asked);
	n->asked = false;
	if (o->status == OUTCOME_UNKNOWN || o->status == OUTCOME_REFUSED ||
	    ((o->status == OUTCOME_UNSENT || o->status == OUTCOME_PENDING) &&
		!timer_armed(&c->deadline))) {
		failed(core, c, n, o);
		return;
	}
	if (o->status == OUTCOME_UNSENT || o->status == OUTCOME_PENDING) {
		wait_for_guard(core, c);
		return;
	}
	keep_outcome(core, c, n, sent_ms, o);
	if (call_in_flight(c))
		return;
	if (c->broken)
		call_unavailable(core, c, guard_shard(core, n->name, n->len));
	else
		go_on(core, c);
}

void
token_outcome(struct core *core, const struct slot *slot, int64_t sent_ms,
    const struct outcome *o)
{
	const struct token_call *c = call_find(core, slot->ref);
	struct outcome ended = *o;

	if (slot->op != OP_PASS) {
		take_outcome(core, slot, sent_ms, o);
		return;
	}
	if (o->status == OUTCOME_GRANTED)
		ended = (struct outcome){ .status = OUTCOME_ENDED,
			.fence = o->first,
			.first = TOKEN_HELD,
			.second = 3,
			.text = c->client,
			.text_len = strlen(c->client) };
	take_outcome(core, slot, sent_ms, &ended);
	park_passed(core, slot, sent_ms, o);
}

/* Parked calls, whose operations park.c sends. */

void
call_note(struct core *core, struct token_call *c, const struct outcome *o)
{
	keep_outcome(core, c, &c->names[0], 0, o);
}

void
call_settle(struct core *core, struct token_call *c, int64_t sent_ms,
    const struct outcome *o)
{
	if (o->status != OUTCOME_GRANTED) {
		failed(core, c, &c->names[0], o);
		return;
	}
	keep_outcome(core, c, &c->names[0], sent_ms, o);
	call_answer(core, c, result_of(c, &c->names[0]));
}
