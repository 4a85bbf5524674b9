/*
 * Stands, and the places in them.
 *
 *	refused --> [place: away] --comes back--> [place: here] --> granted
 *	                 ^------- its time is up --------+
 *
 * When Redis grants a stand the name, the first token that is here gets it.  If
 * none is here, the stand passes the name on: a token that is away keeps nobody
 * waiting.
 *
 * A call that awaits the name gets it as a token does, but for KEPT_MS at most
 * and under a text that is no token's (client_kept()).  The next call of its
 * user extends that hold as if it were its own, and gives it its token.  If
 * none comes in half that time, the stand gives the name back.
 *
 * Like everything about token holds, a stand believes nothing but the answers
 * of Redis: a message only makes it ask, or give up.  It asks with a CLAIM that
 * also gets it into the queue, under the same token until it is granted or
 * gives up.  So wherever it is by then, in the queue or on the name, that token
 * ends it.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/times.h"
#include "base/xmalloc.h"
#include "core/guard/guard.h"
#include "core/token/measured.h"
#include "core/token/parts.h"
#include "core/token/stand.h"
#include "core/turn/emit.h"
#include "core/turn/work.h"

#define LOOK_MS 20   /* after the end of the key in the way */
#define SURE_MS 1000 /* for so long an answer about the queue counts */

/* Whether the token is in the queue, has the name or was never heard of: one
 * operation ends it (token_record_orphan()).  The next CLAIM has another one.
 */
void
stand_give_back(struct core *core, struct stand *st)
{
	const struct token_name n = { .name = st->name,
		.len = st->name_len,
		.seq = st->seq,
		.left_ms = -1 };

	if (st->seq != 0)
		token_record_orphan(core, &n);
	st->seq = 0;
	st->sure_ms = 0;
}

void
stand_in_queue(struct core *core, struct stand *st, int64_t left_ms)
{
	st->sure_ms = core->now_ms + SURE_MS;
	st->wake_ms = core->now_ms + core->config.lease_ms;
	if (left_ms >= 0)
		st->wake_ms =
		    min_ms(st->wake_ms, core->now_ms + left_ms + LOOK_MS);
}

/* What comes next. */

/*
 * Requires that no operation is in flight for the stand.  The CLAIM is for the
 * call of the first token that is here, with its text and its bound.  If the
 * call is over when the answer comes, the name goes back.
 */
static void
ask(struct core *core, struct stand *st, const struct token_call *c)
{
	struct slot *slot;
	struct op *op;

	assert(st->asked_for == 0 && c != NULL);
	if (st->seq == 0)
		st->seq = ++core->last_seq;
	st->look = false;
	st->wake_ms = INT64_MAX;
	st->asked_for = c->id;
	st->epoch = guard_epoch(core, st->shard);
	op = slot_submit(core, &slot, OP_CLAIM, SLOT_STAND, st->shard, st->name,
	    st->name_len);
	slot->ref = st->seq;
	slot->name = xstrndup(st->name, st->name_len);
	slot->name_len = st->name_len;
	op->seq = st->seq;
	op->ttl_ms = c->ttl_ms;
	memcpy(op->how, "q--", sizeof(op->how));
	emit_op_client(core, op, c->client, "");
}

/* Nobody of the program has come, whose listener was told. */
static void
tell_in_vain(struct core *core, const struct stand *st)
{
	struct token_result *r;
	char *token;
	size_t len;

	if (st->kept_of[0] == '\0' ||
	    core->above->conn_of(core, st->kept_by) == 0)
		return;
	token = client_token(st->kept_for, &len);
	r = emit_token(core, st->kept_by, st->kept_ref, token, len);
	r->answer = TOKEN_ABSENT;
	free(token);
}

void
stand_next(struct core *core, struct stand *st)
{
	struct place *first;
	int64_t at_ms = st->wake_ms;

	if (st->asked_for != 0)
		return;
	first = stand_first_here(core, st);
	/* Its calls are being refused, and need no places for that. */
	if (core->stopping) {
		stand_give_back(core, st);
		stand_free(core, st);
		return;
	}
	/* The name is kept for a call of the user.  Until that is over, the
	 * stand neither asks for it nor gives it back. */
	if (st->kept_ms > core->now_ms) {
		core_arm(core, &st->timer, st->kept_ms);
		return;
	}
	/* Nobody has taken what was kept, or nobody is here. */
	if (st->kept_ms > 0 ||
	    (first == NULL && stand_lately_ms(st) <= core->now_ms))
		stand_give_back(core, st);
	if (st->kept_ms > 0)
		tell_in_vain(core, st);
	st->look = st->look || st->kept_ms > 0;
	st->kept_ms = 0;
	/* stand_first_here() has freed the places of tokens that stay away. */
	if (st->nplaces == 0) {
		stand_free(core, st);
		return;
	}
	/* Nobody is here: a later look gives up the place in the queue, those
	 * of the tokens that stay away, and then the stand. */
	if (first == NULL) {
		at_ms = core->now_ms + LATELY_MS;
	} else if (st->look || st->wake_ms <= core->now_ms) {
		if (guard_ready(core, st->shard)) {
			ask(core, st, call_find(core, first->call));
			return;
		}
		at_ms = core->now_ms + AGAIN_MS;
	}
	if (at_ms == INT64_MAX)
		core_disarm(core, &st->timer);
	else
		core_arm(core, &st->timer, at_ms);
}

void
park_timer(struct core *core, struct timer *t)
{
	struct stand *st = container_of(t, struct stand, timer);

	st->look = st->look || st->wake_ms <= core->now_ms;
	stand_next(core, st);
}

/* Requests. */

/* Parks the call in the place.  If Redis has said lately that the stand is in
 * the queue, and behind what, it need not be asked for each call that comes. */
static void
wait_here(struct core *core, struct stand *st, struct place *p,
    struct token_call *c, struct owner *asker)
{
	assert(p->call == 0 && !c->parked);
	asker->parked = c->id;
	asker->awaits |= c->awaits;
	p->call = c->id;
	p->session = asker->id;
	p->heard_ms = core->now_ms;
	p->result = RESULT_TIMEOUT;
	c->parked = true;
	if (!p->waits)
		token_waits(core, st, p);
	core_arm(core, &c->deadline, core->now_ms + c->park_ms);
	/* Otherwise a message may have been lost since. */
	st->look = st->look || st->sure_ms <= core->now_ms;
	stand_next(core, st);
}

/*
 * Each such call has a place of its own, as it has no token by which it could
 * be known again.  Without a place it would wait for nothing, so it is refused.
 */
static bool
await(struct core *core, struct token_call *c, struct owner *asker)
{
	struct stand *st;
	struct place *p;

	assert(c->awaits && c->n == 1);
	if (asker->draining)
		return false;
	st = stand_get(core, c);
	p = place_new(core, st, "");
	if (p != NULL) {
		wait_here(core, st, p, c, asker);
		return true;
	}
	emit_error(core, c->session, c->ref, ERR_LIMIT,
	    "too many clients wait for this name already");
	call_remove(core, c);
	stand_next(core, st);
	return true;
}

bool
park_join(struct core *core, struct token_call *c)
{
	struct owner *asker = owner_find(core, c->session);
	struct stand *st = stand_of(core, c);
	struct place *p = stand_place(core, st, c);

	if (c->awaits)
		return await(core, c, asker);
	if (c->listener != 0)
		return false;
	/* A token waits once, even if it comes over two connections. */
	if (p == NULL || p->call != 0 || asker->draining ||
	    p->heard_ms + COMES_BACK_MS <= core->now_ms)
		return false;
	p->polls = true;
	wait_here(core, st, p, c, asker);
	return true;
}

/* Returns how long the client of a call that is refused sleeps. */
static int64_t
sleeps_ms(const struct token_call *c)
{
	int64_t left_ms = c->names[0].left_ms;

	return left_ms > 0 ? min_ms(left_ms, c->park_ms) : c->park_ms;
}

/*
 * The token `client` has a place in which the listener of the call awaits the
 * name for it.
 */
static bool
listen_as(struct core *core, struct stand *st, const char *client,
    const struct token_call *c)
{
	struct owner *listener = owner_find(core, c->listener);
	struct place *p = place_find(core, st, client);
	struct token_call *a = NULL;

	if (core->stopping || listener == NULL || listener->draining)
		return false;
	if (p == NULL)
		p = place_new(core, st, client);
	if (p == NULL)
		return false;
	if (p->call == 0) {
		a = call_listens(core, c, listener);
		a->since_ms = p->came.ms;
		a->park_ms = sleeps_ms(c) + COMES_BACK_MS;
		wait_here(core, st, p, a, listener);
		return true;
	}
	a = call_find(core, p->call);
	if (!a->awaits)
		return false;
	a->session = p->session = c->listener;
	a->ref = c->listener_ref;
	listener->awaits = true;
	core_arm(
	    core, &a->deadline, core->now_ms + sleeps_ms(c) + COMES_BACK_MS);
	return true;
}

/*
 * The name was kept for one thread of a program.  If another one comes, they
 * change places: the one goes on waiting in that of the other.  A thread that
 * has no place has not waited, and does not pass those that have; or else there
 * are no more places.  Returns false if the call may not have the turn.
 */
static bool
use_turn(struct core *core, struct stand *st, const struct token_call *c)
{
	struct place *mine = stand_place(core, st, c);
	struct place *kept = place_find(core, st, st->kept_of);
	const struct place had = mine != NULL ? *mine : (struct place){ 0 };

	if (mine == NULL && !stand_is_full(core, st))
		return false;
	if (mine == kept)
		return true;
	if (mine != NULL && kept != NULL) {
		mine->client = kept->client;
		mine->due_ms = kept->due_ms;
		kept->client = had.client;
		kept->due_ms = had.due_ms;
	}
	if (mine == NULL || kept == NULL || mine->call == 0)
		(void)listen_as(core, st, st->kept_of, c);
	return true;
}

bool
park_take_kept(struct core *core, struct token_call *c)
{
	struct stand *st = stand_of(core, c);
	const struct owner *asker = owner_find(core, c->session);
	char *kept_for;

	if (c->op != TOKEN_ACQUIRE || c->n > 1 || c->awaits || st == NULL ||
	    st->kept_ms <= core->now_ms)
		return false;
	kept_for = c->program != NULL ? xstrdup(c->program)
				      : client_kept("", 0, asker->user);
	if (strcmp(kept_for, st->kept_for) != 0 ||
	    (c->program != NULL && !use_turn(core, st, c))) {
		free(kept_for);
		return false;
	}
	call_inherits(c, kept_for);
	free(kept_for);
	c->since_ms = min_ms(c->since_ms, st->kept_since_ms);
	/* From now on the hold is the call's.  The stand gets in line again. */
	st->seq = 0;
	st->kept_ms = 0;
	st->look = true;
	/* Soon, behind the operation of the call. */
	core_arm(core, &st->timer, core->now_ms);
	return true;
}

bool
park_keeps(const struct core *core, const struct token_call *c)
{
	const struct stand *st = stand_of(core, c);

	return st != NULL && st->kept_ms > core->now_ms;
}

int64_t
park_first_ms(const struct core *core, const struct token_call *c)
{
	const struct place *p = stand_place(core, stand_of(core, c), c);

	return p != NULL && (p->call != 0 ||
				p->heard_ms + COMES_BACK_MS > core->now_ms)
		   ? p->came.ms
		   : core->now_ms;
}

bool
park_came_early(const struct core *core, const struct token_call *c)
{
	const struct place *p = stand_place(core, stand_of(core, c), c);

	return p != NULL && core->now_ms < p->due_ms;
}

bool
park_matters(struct core *core, const struct token_call *c)
{
	struct place *p = stand_place(core, stand_of(core, c), c);

	if (p == NULL)
		return park_others_first(core, c);
	if (p->heard_ms + COMES_BACK_MS > core->now_ms)
		p->heard_ms = core->now_ms;
	return true;
}

bool
park_others_first(const struct core *core, const struct token_call *c)
{
	const struct stand *st = stand_of(core, c);
	const struct place *p;

	if (st == NULL)
		return false;
	TAILQ_FOREACH (p, &st->places, link) {
		core_visit(core, 1);
		if (strcmp(p->client, c->client) == 0)
			return false;
		/*
		 * A token counts for a moment while it is away; but a client
		 * that tries with a new token each time does not stand in its
		 * own way.
		 */
		if (p->call != 0 || (p->polls && p->session != c->session &&
					p->heard_ms + LATELY_MS > core->now_ms))
			return true;
	}
	return false;
}

bool
park_asks(const struct core *core, const struct token_call *c)
{
	const struct stand *st = stand_of(core, c);

	return st != NULL && st->asked_for != 0;
}

/* If there is no place left, the token polls as it would with Redis alone. */
void
park_refused(struct core *core, struct token_call *c)
{
	struct stand *st;
	struct place *p;

	if (core->stopping)
		return;
	st = stand_get(core, c);
	p = stand_place(core, st, c);
	if (p == NULL)
		p = place_new(core, st, c->client);
	if (p != NULL) {
		p->heard_ms = core->now_ms;
		p->session = c->session;
	}
	stand_next(core, st);
}

bool
park_listens(struct core *core, const struct token_call *c)
{
	struct stand *st = stand_get(core, c);
	bool back = stand_place(core, st, c) != NULL;
	bool listed = listen_as(core, st, c->client, c);

	/* Who comes for the first time may not have begun to wait. */
	if (listed && back)
		stand_place(core, st, c)->due_ms = core->now_ms + sleeps_ms(c);
	else
		stand_next(core, st);
	return listed;
}

/* Returns the call by which a listener awaits the name in the place, or NULL. */
static struct token_call *
listening(const struct core *core, const struct place *p)
{
	struct token_call *a = p->call == 0 ? NULL : call_find(core, p->call);

	return a != NULL && a->awaits && p->client[0] != '\0' ? a : NULL;
}

/* Nothing is told about the place any more. */
static void
leave_place(struct core *core, struct stand *st, struct place *p)
{
	struct token_call *a = listening(core, p);

	place_free(core, st, p);
	if (a == NULL)
		return;
	a->parked = false;
	call_remove(core, a);
}

/* A call for the same token may wait in the place.  Then the place stays: that
 * call has an answer of its own to come. */
void
park_granted(struct core *core, const struct token_call *c)
{
	struct stand *st = stand_of(core, c);
	struct place *p = stand_place(core, st, c);

	/* A token has its turn: it has the name when it comes. */
	if (p != NULL && c->awaits && p->client[0] != '\0')
		return;
	if (p != NULL &&
	    (p->call == 0 || p->call == c->id || listening(core, p) != NULL)) {
		p->result = RESULT_NONE; /* token_granted() has counted it */
		leave_place(core, st, p);
	}
	if (st != NULL)
		stand_next(core, st);
}

void
park_forget(struct core *core, const struct token_call *c)
{
	struct stand *st = stand_of(core, c);
	struct place *p, *next;

	if (st == NULL)
		return;
	TAILQ_FOREACH_SAFE (p, &st->places, link, next) {
		core_visit(core, 1);
		if (p->session == c->session && listening(core, p) != NULL)
			leave_place(core, st, p);
	}
	stand_next(core, st);
}

void
park_leave(struct core *core, struct token_call *c)
{
	struct stand *st = stand_of(core, c);
	struct place *p = stand_place(core, st, c);

	c->parked = false;
	if (p == NULL || p->call != c->id)
		return;
	p->call = 0;
	p->heard_ms = core->now_ms;
	p->result = c->result;
	/* It will not come back: nothing would know it again. */
	if (p->client[0] == '\0')
		place_free(core, st, p);
	else if (c->awaits && c->result == RESULT_GRANTED)
		p->result = RESULT_TIMEOUT; /* unless the token comes */
	stand_next(core, st);
}

/* A stand whose operation is in flight stays until the answer comes;
 * park_outcome() and park_passed() then free it. */
void
park_stop(struct core *core)
{
	struct table_walk walk;
	struct table_link *link = table_first(&core->tokens->stands, &walk);

	for (; link != NULL; link = table_next(&walk)) {
		core_visit(core, 1);
		stand_next(core, container_of(link, struct stand, by_name));
	}
}
