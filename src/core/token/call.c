/*
 * Calls: a request about token holds, from its arrival to its answer.
 *
 *	request --> an operation a name --> answer
 *	        --> to take several names: one after the other
 *	        --> if all of several must match: a look at each first
 *
 * Redis decides, in one script a name; so the broker keeps no answer back for a
 * FLUSH, and does not rely on its own memory.  A call takes several names in
 * byte order, so that one of two such calls gets all of them; it gives back
 * what it has taken in vain.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/times.h"
#include "base/xmalloc.h"
#include "core/guard/guard.h"
#include "core/guard/quorum.h"
#include "core/lock/names.h"
#include "core/session/quota.h"
#include "core/token/call.h"
#include "core/token/measured.h"
#include "core/token/notify.h"
#include "core/token/park.h"
#include "core/token/result.h"
#include "core/token/ward.h"
#include "core/turn/emit.h"
#include "core/turn/work.h"

#define WHY_SIZE 256

static const char *
id_of(const struct table_link *link, size_t *len)
{
	const struct token_call *c =
	    container_of_const(link, struct token_call, by_id);

	*len = sizeof(c->id);
	return (const char *)&c->id;
}

void
token_init(struct core *core)
{
	core->tokens = xcalloc(1, sizeof(*core->tokens));
	TAILQ_INIT(&core->tokens->calls);
	TAILQ_INIT(&core->tokens->waiting);
	table_init(&core->tokens->by_id, id_of);
	wards_init(core);
	park_init(core);
}

static void
stop_waiting(struct core *core, struct token_call *c)
{
	if (c->waits)
		TAILQ_REMOVE(&core->tokens->waiting, c, in_waiting);
	core->tokens->nwaiting -= c->waits;
	c->waits = false;
}

static void
call_free(struct core *core, struct token_call *c)
{
	unsigned i;

	if (c->parked) {
		token_waited(core, c);
		park_leave(core, c);
	}
	TAILQ_REMOVE(&core->tokens->calls, c, link);
	table_remove(&core->tokens->by_id, &c->by_id);
	stop_waiting(core, c);
	core_disarm(core, &c->deadline);
	for (i = 0; i < c->n; i++) {
		free(c->names[i].name);
		free(c->names[i].text);
	}
	free(c->client);
	free(c->other);
	free(c);
}

void
token_fini(struct core *core)
{
	struct token_call *c;

	while ((c = TAILQ_FIRST(&core->tokens->calls)) != NULL) {
		if (c->parked)
			token_waited(core, c);
		c->parked = false; /* nobody else shall come in its place */
		call_free(core, c);
	}
	park_fini(core);
	table_fini(&core->tokens->by_id);
	wards_fini(core);
	free(core->tokens);
}

/* Returns the session that asked; NULL if nobody is there to be answered. */
static struct session *
asker(const struct core *core, const struct token_call *c)
{
	struct session *s = session_find(core, c->session);

	return s == NULL || s->over || s->detached ? NULL : s;
}

/* Endings. */

/* Gives back the names that the call was granted and nobody hears of. */
static void
give_back(struct core *core, struct token_call *c)
{
	struct token_name *n;

	for (n = c->names; n < c->names + c->n; n++)
		if (n->settled && n->status == OUTCOME_GRANTED)
			ward_stray(core, n);
}

static bool
in_flight(const struct token_call *c)
{
	const struct token_name *n;

	for (n = c->names; n < c->names + c->n; n++)
		if (n->asked)
			return true;
	return false;
}

static void
refuse(struct core *core, struct token_call *c, enum err_code code,
    const char *why)
{
	c->result = RESULT_REFUSED;
	give_back(core, c);
	emit_error(core, c->session, c->ref, code, "%s", why);
	call_free(core, c);
}

static void
unavailable(struct core *core, struct token_call *c, uint32_t shard)
{
	char why[WHY_SIZE] = "";

	if (!guard_ready(core, shard))
		guard_why(core, shard, why, sizeof(why));
	refuse(core, c, ERR_UNAVAILABLE,
	    why[0] != '\0' ? why : "Redis did not answer in time; try again");
}

/* From now on this broker looks after the hold. */
static void
note_hold(struct core *core, const struct token_call *c,
    const struct token_name *n, const struct session *s)
{
	const char *client = c->op == TOKEN_ACQUIRE ? c->client : c->other;

	notify_token(core, c, n, s);
	core->stats.grants += n->status == OUTCOME_GRANTED;
	if (n->status == OUTCOME_RENEWED)
		client = n->text;
	else if (client[0] == '\0')
		client = c->client;
	ward_take(core, n, client, s);
}

/* The hold is over, or not this broker's any more: drops the ward, unless the
 * ward is of a later operation. */
static void
note_gone(struct core *core, const struct token_call *c,
    const struct token_name *n, const struct session *s)
{
	struct ward *w = ward_find(core, n->name, n->len);

	if (n->status == OUTCOME_ENDED) {
		notify_token(core, c, n, s);
		core->stats.releases++;
	}
	if (w == NULL || w->seq >= n->seq)
		return;
	if (n->status == OUTCOME_ENDED && n->fence == w->fence)
		ward_drop(core, w, "released");
	else if (n->status == OUTCOME_ENDED || n->fence != w->fence)
		ward_gone(core, w);
}

static void
answer(struct core *core, struct token_call *c, enum token_answer how)
{
	const struct session *s = asker(core, c);
	bool keeps = s != NULL && how == TOKEN_DONE;
	const struct token_name *n;

	for (n = c->names; n < c->names + c->n; n++) {
		if (!n->settled || n->status == OUTCOME_LATE)
			continue;
		if (n->status == OUTCOME_RENEWED ||
		    (n->status == OUTCOME_GRANTED && keeps))
			note_hold(core, c, n, s);
		else if (n->status != OUTCOME_GRANTED)
			note_gone(core, c, n, s);
	}
	if (!keeps)
		give_back(core, c);
	if (s != NULL && !s->draining)
		c->result = keeps ? RESULT_GRANTED : RESULT_TIMEOUT;
	if (how == TOKEN_BUSY && !c->parked)
		token_busy(core, c);
	result_emit(core, c, how);
	if (c->park_ms > 0 && how == TOKEN_BUSY && !c->parked)
		park_refused(core, c);
	else if (c->park_ms > 0 && keeps)
		park_granted(core, c);
	call_free(core, c);
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

/* Does the call take free names? */
static bool
takes(const struct token_call *c)
{
	return c->op == TOKEN_ACQUIRE || (c->op == TOKEN_EXTEND && c->either);
}

static void
send_one(struct core *core, struct token_call *c, struct token_name *n)
{
	bool claim = takes(c) && !c->looks;
	struct slot *slot;
	struct op *op;

	op = slot_submit(core, &slot, claim ? OP_CLAIM : OP_TOKEN, SLOT_TOKEN,
	    guard_shard(core, n->name, n->len), n->name, n->len);
	slot->ref = c->id;
	slot->limit = (uint64_t)(n - c->names);
	n->seq = op->seq = ++core->last_seq;
	n->epoch = guard_epoch(core, op->shard);
	n->asked = true;
	op->ttl_ms = c->ttl_ms;
	op->most_ms = core->config.locks.max_hold_ms;
	memcpy(op->how, c->how, sizeof(op->how));
	if (c->looks)
		op->how[0] = 'q';
	/* A CLAIM has first the hold to make, then the holds to extend. */
	if (c->op == TOKEN_EXTEND && claim)
		emit_op_client(core, op,
		    c->other[0] != '\0' ? c->other : c->client, c->client);
	else
		emit_op_client(core, op, c->client, c->other);
}

/* Sends the operations: all at once, or one after the other to take names. */
static void
send(struct core *core, struct token_call *c)
{
	bool one_by_one = takes(c) && !c->looks;
	struct token_name *n;
	uint32_t shard;

	for (n = c->names; n < c->names + c->n; n++) {
		if (n->asked || n->settled)
			continue;
		if (one_by_one && in_flight(c))
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
	if (in_flight(c))
		return;
	if (c->parked &&
	    guard_ready(core, guard_shard(core, n->name, n->len))) {
		answer(core, c, TOKEN_BUSY);
		return;
	}
	while (n->settled && n < c->names + c->n - 1)
		n++;
	unavailable(core, c, guard_shard(core, n->name, n->len));
}

void
token_drain(struct core *core, const struct session *s)
{
	struct token_call *c = call_find(core, s->parked);

	if (c != NULL && c->parked)
		answer(core, c, TOKEN_BUSY);
}

void
token_changed(struct core *core, uint32_t shard)
{
	core->tokens->nretrying = core->tokens->nwaiting;
	ward_guard_changed(core, shard);
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
	send(core, c);
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
	enum token_answer how = verdict(c);
	const struct token_name *n;

	if (how != TOKEN_DONE) {
		answer(core, c, how);
		return;
	}
	send(core, c);
	if (c->waits || in_flight(c))
		return;
	for (n = c->names; n < c->names + c->n; n++)
		assert(n->settled);
	if (c->looks)
		second_round(core, c);
	else
		answer(core, c, how);
}

bool
call_doubts(const struct core *core, uint32_t shard, uint32_t epoch,
    const struct outcome *o)
{
	return (o->status == OUTCOME_GRANTED || o->status == OUTCOME_RENEWED) &&
	       epoch != guard_epoch(core, shard);
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
	n->status = o->status;
	n->fence = o->fence;
	n->left_ms = o->ttl_ms;
	if (o->status == OUTCOME_GRANTED)
		n->left_ms = c->ttl_ms > 0 ? c->ttl_ms : -1;
	n->waited_ms = core->now_ms - c->since_ms;
	n->kind = (unsigned)o->first;
	n->whose = (unsigned)o->second;
	free(n->text);
	n->text = xstrndup(o->text, o->text_len);
	if (ward_was_taken(core, n->seq) && o->status == OUTCOME_GRANTED)
		n->status = OUTCOME_BUSY;
	if (ward_was_taken(core, n->seq) && o->status == OUTCOME_RENEWED)
		n->status = OUTCOME_LOST;
	if (n->status != OUTCOME_GRANTED || !is_over(core, c, sent_ms))
		return;
	ward_stray(core, n);
	n->status = OUTCOME_BUSY;
}

struct token_call *
call_find(const struct core *core, uint64_t id)
{
	struct table_link *link =
	    table_find(&core->tokens->by_id, (const char *)&id, sizeof(id));

	return link == NULL ? NULL
			    : container_of(link, struct token_call, by_id);
}

/* The outcome is unknown, or Redis refused, or the time for retries is over. */
static void
failed(struct core *core, struct token_call *c, struct token_name *n,
    const struct outcome *o)
{
	uint32_t shard = guard_shard(core, n->name, n->len);
	char why[WHY_SIZE];

	if (o->status == OUTCOME_UNKNOWN && takes(c) && !c->looks &&
	    !c->parked) {
		n->left_ms = c->ttl_ms > 0 ? c->ttl_ms : -1;
		ward_stray(core, n);
	}
	if (in_flight(c)) {
		n->settled = true;
		n->status = OUTCOME_UNKNOWN;
		c->broken = true;
		return;
	}
	snprintf(why, sizeof(why), "%.*s", (int)o->text_len, o->text);
	if (o->status == OUTCOME_REFUSED)
		refuse(core, c, ERR_UNAVAILABLE, why);
	else
		unavailable(core, c, shard);
}

void
token_outcome(struct core *core, const struct slot *slot, int64_t sent_ms,
    const struct outcome *o)
{
	struct token_call *c = call_find(core, slot->ref);
	struct outcome unknown = { .status = OUTCOME_UNKNOWN, .text = "" };
	struct token_name *n;

	assert(c != NULL && slot->limit < c->n);
	n = &c->names[slot->limit];
	if (call_doubts(core, slot->shard, n->epoch, o))
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
	if (in_flight(c))
		return;
	if (c->broken)
		unavailable(core, c, guard_shard(core, n->name, n->len));
	else
		go_on(core, c);
}

/* Parked calls, whose operations park.c sends. */

bool
call_has_asker(const struct core *core, const struct token_call *c)
{
	return asker(core, c) != NULL;
}

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
	answer(core, c, result_of(c, &c->names[0]));
}

void
call_drop(struct core *core, struct token_call *c)
{
	call_free(core, c);
}

/* Requests. */

static int
by_bytes(const void *a, const void *b)
{
	const struct token_name *x = a, *y = b;
	size_t n = x->len < y->len ? x->len : y->len;
	int order = memcmp(x->name, y->name, n);

	return order != 0 ? order : (x->len > y->len) - (x->len < y->len);
}

static void
set_how(struct token_call *c, const struct token_request *rq)
{
	static const char ops[TOKEN_OP_MAX] = { 'e', 'e', 'r', 'q' };
	static const char matches[TOKEN_MATCH_MAX] = { 'x', 'p', 'n', 'a' };
	static const char bounds[TOKEN_BOUND_MAX] = { 'r', 'a', 'b', 'u', 'l',
		's' };

	assert(rq->op < TOKEN_OP_MAX && rq->match < TOKEN_MATCH_MAX &&
	       rq->bound < TOKEN_BOUND_MAX);
	c->how[0] = ops[rq->op];
	c->how[1] = matches[rq->match];
	c->how[2] = bounds[rq->bound];
	if (rq->op == TOKEN_ACQUIRE && !rq->either)
		c->how[1] = '-';
}

/* Sets which holds the call means, and what they become. */
static void
set_clients(struct token_call *c, const struct token_request *rq,
    const struct session *s)
{
	char *token = client_text(rq->token, rq->token_len, s->user);
	char *meant = client_text(rq->token,
	    rq->match == TOKEN_PREFIX ? rq->prefix : rq->token_len, s->user);

	if (rq->op == TOKEN_ACQUIRE) {
		c->client = token;
		c->other = meant;
		return;
	}
	free(token);
	c->client = meant;
	c->other = rq->new_token != NULL
		       ? client_text(rq->new_token, rq->new_token_len, s->user)
		       : xstrdup("");
}

static int64_t
bound_ms(const struct core *core, const struct token_request *rq)
{
	int64_t most_ms = core->config.locks.max_hold_ms, ms = rq->ttl_ms;

	if (rq->op == TOKEN_ACQUIRE && ms == 0)
		ms = core->config.locks.default_hold_ms;
	if (most_ms > 0 && rq->bound != TOKEN_ADD && (ms == 0 || ms > most_ms))
		ms = most_ms;
	return ms;
}

static struct token_call *
call_new(
    struct core *core, const struct session *s, const struct token_request *rq)
{
	struct token_call *c =
	    xcalloc(1, sizeof(*c) + rq->nnames * sizeof(c->names[0]));
	unsigned i;

	c->id = ++core->tokens->last_call;
	c->session = s->id;
	c->ref = rq->ref;
	c->since_ms = core->now_ms;
	c->result = RESULT_CANCELLED;
	c->op = rq->op;
	c->either = rq->either;
	c->all = rq->all;
	c->ttl_ms = bound_ms(core, rq);
	if (rq->op == TOKEN_ACQUIRE && rq->nnames == 1 && !rq->either)
		c->park_ms = rq->park_ms;
	c->deadline.kind = TIMER_TOKEN;
	c->n = rq->nnames;
	for (i = 0; i < c->n; i++) {
		c->names[i].name = xstrndup(rq->names[i].p, rq->names[i].n);
		c->names[i].len = rq->names[i].n;
	}
	set_how(c, rq);
	set_clients(c, rq, s);
	c->names[0].first = true;
	if (takes(c))
		qsort(c->names, c->n, sizeof(c->names[0]), by_bytes);
	c->looks =
	    c->n > 1 && !takes(c) &&
	    (rq->op == TOKEN_EXTEND || (rq->op == TOKEN_RELEASE && rq->all));
	TAILQ_INSERT_TAIL(&core->tokens->calls, c, link);
	table_add(&core->tokens->by_id, &c->by_id);
	core_arm(
	    core, &c->deadline, core->now_ms + core->config.reply_timeout_ms);
	return c;
}

static bool
allowed(struct core *core, struct session *s, const struct token_request *rq)
{
	if (core->stopping) {
		emit_error(core, s->id, rq->ref, ERR_SHUTDOWN,
		    "the broker is stopping; try another one");
		return false;
	}
	if (quorum_used(core)) {
		emit_error(core, s->id, rq->ref, ERR_UNSUPPORTED,
		    "there are no token holds over a quorum; use LOCK");
		return false;
	}
	if (rq->op != TOKEN_ACQUIRE && !rq->either)
		return true;
	return quota_has_room(
	    core, s, rq->ref, rq->nnames, "release some, or raise the limit");
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

	if (rq->op != TOKEN_ACQUIRE)
		return false;
	for (i = 0; i < rq->nnames; i++) {
		l = lock_find(core, rq->names[i].p, rq->names[i].n);
		if (l != NULL &&
		    (l->nwaiting > 0 || (!TAILQ_EMPTY(&l->holders) &&
					    lease_is_held(&l->lease))))
			return true;
	}
	return false;
}

void
token_take(struct core *core, struct session *s, const struct token_request *rq)
{
	struct token_call *c;

	assert(rq->nnames > 0 && rq->nnames <= CORE_NAMES_MAX);
	assert(rq->token_len <= TOKEN_MAX_BYTES &&
	       rq->new_token_len <= TOKEN_MAX_BYTES);
	if (!allowed(core, s, rq))
		return;
	c = call_new(core, s, rq);
	if (c->park_ms > 0 && park_join(core, c))
		return;
	if ((is_taken(core, rq) && !rq->either) ||
	    (c->park_ms > 0 && park_others_first(core, c))) {
		result_emit_busy(core, s, rq);
		token_busy(core, c);
		if (c->park_ms > 0)
			park_refused(core, c);
		call_free(core, c);
		return;
	}
	send(core, c);
}

/* In parts. */

void
token_run(struct core *core)
{
	struct token_call *c;

	while (work_left(core) && core->tokens->nretrying > 0) {
		core->tokens->nretrying--;
		core_visit(core, 1);
		c = TAILQ_FIRST(&core->tokens->waiting);
		if (c == NULL)
			continue;
		stop_waiting(core, c);
		if (!in_flight(c))
			send(core, c);
	}
	if (core->stopping)
		(void)ward_leave_all(core);
	else
		(void)ward_run(core);
}

bool
token_has_more(const struct core *core)
{
	return core->tokens->nretrying > 0 || core->tokens->sweep != NULL ||
	       (core->stopping && core->tokens->nwards > 0);
}

void
token_stop(struct core *core)
{
	struct token_call *c, *next;

	notify_tokens_left(core);
	TAILQ_FOREACH_SAFE (c, &core->tokens->calls, link, next)
		if (!in_flight(c))
			refuse(core, c, ERR_SHUTDOWN,
			    "the broker is stopping; try another one");
	park_stop(core);
}

bool
token_all_over(const struct core *core)
{
	return TAILQ_EMPTY(&core->tokens->calls) && core->tokens->nwards == 0 &&
	       core->tokens->stands.n == 0;
}

void
token_check(const struct core *core)
{
	const struct token_call *c;
	unsigned nwaiting = 0;

	TAILQ_FOREACH (c, &core->tokens->calls, link) {
		/* Each waits for something. */
		assert(in_flight(c) || timer_armed(&c->deadline));
		assert(in_flight(c) || c->waits || c->parked);
		nwaiting += c->waits;
	}
	assert(nwaiting == core->tokens->nwaiting);
	TAILQ_FOREACH (c, &core->tokens->waiting, in_waiting)
		nwaiting -= c->waits;
	assert(nwaiting == 0);
	park_check(core);
	ward_check(core);
}

bool
token_has_nothing(const struct core *core, uint32_t shard)
{
	const struct tokens *t = core->tokens;

	(void)shard;
	return TAILQ_EMPTY(&t->calls) && TAILQ_EMPTY(&t->waiting) &&
	       t->nwards == 0 && t->nstrays == 0;
}
