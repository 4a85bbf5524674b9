/*
 * Poll queues, and who waits in them.
 *
 *	refused --> [place: away] --comes back--> [place: here] --> granted
 *	                 ^------- its time is up --------+
 *
 * When Redis grants a poll queue the name, the first token that is here gets
 * it.  If none is here, the poll queue passes the name on: a token that is away
 * makes no one wait.  But the first token that was away has missed its turn:
 * when it comes back, the poll queue is first in the queue in Redis, once for
 * each turn that another one had in its place.
 *
 * A call that awaits the name gets it like a token, but for a moment and under
 * a text that is no token's (holder_kept()).  The next call of its user, or
 * program, extends that hold as if it were its own, and gives it its token.
 * All others are refused meanwhile, without asking Redis.  If none comes, the
 * poll queue gives the name back.
 *
 * Like everything about token holds, a poll queue believes nothing but the
 * answers of Redis: a message only makes it ask, or give up.  It asks with a
 * CLAIM that also gets it into the queue, under the same token until it is
 * granted or gives up.  So wherever it is by then, in the queue or on the name,
 * that token ends it.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/times.h"
#include "base/xmalloc.h"
#include "core/kernel/guard/guard.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/work.h"
#include "core/parts/token/measured.h"
#include "core/parts/token/newcomer.h"
#include "core/parts/token/parts.h"
#include "core/parts/token/pollers.h"

#define LOOK_MS 20	  /* after the end of the key in the way */
#define SURE_MS 1000	  /* how long an answer about the queue counts */
#define UNPLACED_MS 1000  /* when a call that awaits without a place looks */
#define WAITS_TRIES 2	  /* a token that was refused this often waits */
#define TELLS_AGAIN_MAX 4 /* in a turn */

/* Whether the token is in the queue, has the name or was never heard of: one
 * operation ends it (token_record_orphan()).  The next CLAIM has another one.
 */
void
pollers_give_back(struct core *core, struct pollers *ps)
{
	const struct token_name n = { .name = ps->name,
		.len = ps->name_len,
		.seq = ps->seq,
		.left_ms = -1 };

	if (ps->seq != 0)
		token_record_orphan(core, &n);
	ps->seq = 0;
	ps->sure_ms = 0;
}

void
pollers_in_queue(struct core *core, struct pollers *ps, int64_t left_ms)
{
	ps->sure_ms = core->now_ms + SURE_MS;
	ps->wake_ms = core->now_ms + core->config.lease_ms;
	if (left_ms >= 0)
		ps->wake_ms =
		    min_ms(ps->wake_ms, core->now_ms + left_ms + LOOK_MS);
}

/* What comes next. */

/*
 * Requires that no operation is in flight for the poll queue.  The CLAIM is for
 * the call of the first token that is here, with its text and its bound.  If
 * the call is over when the answer comes, the name goes back.
 */
static void
ask_for_first(struct core *core, struct pollers *ps, struct token_call *c)
{
	struct slot *slot;
	struct op *op;

	assert(ps->asked_for == 0 && c != NULL);
	if (ps->seq == 0)
		ps->seq = ++core->last_seq;
	ps->look = false;
	ps->wake_ms = INT64_MAX;
	ps->asked_for = c->id;
	ps->epoch = guard_epoch(core, ps->shard);
	op = slot_submit(core, &slot, OP_CLAIM, SLOT_POLLERS, ps->shard,
	    ps->name, ps->name_len);
	slot->ref = ps->seq;
	slot->name = xstrndup(ps->name, ps->name_len);
	slot->name_len = ps->name_len;
	pollers_set_kept(core, c);
	op->seq = ps->seq;
	op->ttl_ms = c->ttl_ms;
	op->how.act = ps->hurries ? HOW_ASK_FIRST : HOW_ASK;
	ps->hurries = false;
	emit_op_holder(core, op, c->holder, "");
}

static void
tell_again(struct core *core, const struct pollers *ps)
{
	emit_token(core, 0, ps->kept_audience, "", 0)->answer = TOKEN_ABSENT;
}

/*
 * No thread of the program has come.  So perhaps none of them waits any longer:
 * the places of those that could have heard are empty, until they come.  Or one
 * that had given up has received the message: all are told once more.
 */
static void
nobody_comes(struct core *core, struct pollers *ps)
{
	struct token_call *a;
	struct poller *p;

	if (ps->kept_audience == 0)
		return;
	pollers_answered(core, ps->kept_for, 0);
	TAILQ_FOREACH (p, &ps->list, link) {
		core_visit(core, 1);
		a = poller_listening(core, p);
		if (a == NULL || p->heard_ms > ps->kept_told_ms ||
		    strcmp(a->holder, ps->kept_for) != 0)
			continue;
		p->call = 0;
		p->heard_ms = core->now_ms;
		a->parked = false;
		call_remove(core, a);
	}
	tell_again(core, ps);
}

void
pollers_next(struct core *core, struct pollers *ps)
{
	struct poller *first;
	int64_t at_ms = ps->wake_ms;

	if (ps->asked_for != 0)
		return;
	first = pollers_first_here(core, ps);
	/* Its calls are being refused, and need no places for that. */
	if (core->stopping) {
		pollers_give_back(core, ps);
		pollers_free(core, ps);
		return;
	}
	/* The name is kept for a call of the user.  Until that is over, the
	 * poll queue neither asks for it nor gives it back. */
	if (ps->kept_ms > core->now_ms) {
		core_arm(core, &ps->timer, ps->kept_ms);
		return;
	}
	/* No one has taken the kept name, or no one is here. */
	if (ps->kept_ms > 0 ||
	    (first == NULL && pollers_lately_ms(ps) <= core->now_ms))
		pollers_give_back(core, ps);
	if (ps->kept_ms > 0) {
		nobody_comes(core, ps);
		first = pollers_first_here(core, ps);
	}
	ps->look = ps->look || ps->kept_ms > 0;
	ps->kept_ms = 0;
	/* pollers_first_here() has freed the places of tokens that stay away.
	 */
	if (ps->n == 0) {
		pollers_free(core, ps);
		return;
	}
	/* No token is here: a later look gives up the place in the queue, the
	 * places of the tokens that stay away, and then the poll queue. */
	if (first == NULL) {
		at_ms = core->now_ms + LATELY_MS;
	} else if (ps->look || ps->wake_ms <= core->now_ms) {
		if (guard_ready(core, ps->shard)) {
			ask_for_first(core, ps, call_find(core, first->call));
			return;
		}
		at_ms = core->now_ms + AGAIN_MS;
	}
	if (at_ms == INT64_MAX)
		core_disarm(core, &ps->timer);
	else
		core_arm(core, &ps->timer, at_ms);
}

void
poll_timer(struct core *core, struct timer *t)
{
	struct pollers *ps = container_of(t, struct pollers, timer);

	ps->look = ps->look || ps->wake_ms <= core->now_ms;
	pollers_next(core, ps);
}

/* Requests. */

/* A parked call no longer waits for others: Redis is asked, if it is the call's
 * turn; otherwise it is BUSY. */
static void
press(struct core *core, struct pollers *ps, struct token_call *c)
{
	const struct poller *first = pollers_first_here(core, ps);

	if (first->call != c->id || ps->kept_ms > core->now_ms) {
		core_arm(core, &c->deadline, core->now_ms);
		return;
	}
	/* A CLAIM in flight answers it; a PASS may say nothing of it. */
	ps->look |= ps->asked_for != c->id || ps->passed != 0;
	pollers_next(core, ps);
}

/* Parks the call in the place; asker: NULL, if the call is of no session.  If
 * Redis has said recently that the poll queue is in the queue, and behind what,
 * it need not be asked for each call that comes. */
static void
wait_here(struct core *core, struct pollers *ps, struct poller *p,
    struct token_call *c, struct owner *asker)
{
	assert(p->call == 0 && !c->parked);
	if (asker != NULL) {
		asker->parked = c->id;
		asker->awaits |= c->awaits;
		poller_move(core, p, asker->id);
	}
	p->call = c->id;
	p->heard_ms = core->now_ms;
	p->result = RESULT_TIMEOUT;
	c->parked = true;
	if (!p->waits)
		token_waits(core, ps, p);
	core_arm(core, &c->deadline, core->now_ms + c->park_ms);
	ps->hurries |= p->missed;
	p->missed = false;
	/* Otherwise a message may have been lost since. */
	ps->look = ps->look || ps->hurries || ps->sure_ms <= core->now_ms;
	pollers_next(core, ps);
	if (c->pressed)
		press(core, ps, c);
}

void
poll_press(struct core *core, const struct owner *asker)
{
	struct token_call *c = call_find(core, asker->parked);

	if (c == NULL || c->awaits)
		return;
	c->pressed = true;
	if (c->parked)
		press(core, pollers_of(core, c), c);
	else if (c->yields)
		core_arm(core, &c->deadline, core->now_ms);
}

/*
 * Each such call has a place of its own, because it has no token by which it
 * could be recognized.  If there is no place left, it behaves as if it were
 * woken after a while: its client looks then.
 */
static bool
await(struct core *core, struct token_call *c, struct owner *asker)
{
	struct pollers *ps;
	struct poller *p;

	assert(c->awaits && c->n == 1);
	if (asker->draining)
		return false;
	ps = pollers_get(core, c);
	p = poller_new(core, ps, "", asker->id);
	if (p != NULL) {
		wait_here(core, ps, p, c, asker);
		return true;
	}
	asker->awaits = true;
	c->yields = true;
	core_arm(
	    core, &c->deadline, core->now_ms + min_ms(c->park_ms, UNPLACED_MS));
	pollers_next(core, ps);
	return true;
}

bool
poll_join(struct core *core, struct token_call *c)
{
	struct owner *asker = owner_find(core, c->session);
	struct pollers *ps = pollers_of(core, c);
	struct poller *p = poller_of(core, ps, c);

	if (c->awaits)
		return await(core, c, asker);
	if (c->audience != 0)
		return false;
	/* A token waits once, even if it comes over two connections. */
	if (p == NULL || p->call != 0 || asker->draining ||
	    p->heard_ms + COMES_BACK_MS <= core->now_ms)
		return false;
	p->polls = true;
	wait_here(core, ps, p, c, asker);
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
 * The token `holder` has a place in which the audience of the call awaits the
 * name for it.
 */
static bool
listen_as(struct core *core, struct pollers *ps, const char *holder,
    const struct token_call *c)
{
	struct poller *p = poller_find(core, ps, holder);
	struct token_call *a = NULL;

	if (core->stopping)
		return false;
	if (p == NULL)
		p = poller_new(core, ps, holder, c->session);
	if (p == NULL)
		return false;
	p->told_ms = core->now_ms + sleeps_ms(c) + COMES_BACK_MS;
	poller_move(core, p, c->session);
	if (p->call == 0) {
		a = call_listens(core, c);
		a->since_ms = p->came.ms;
		a->park_ms = sleeps_ms(c) + COMES_BACK_MS;
		wait_here(core, ps, p, a, NULL);
		return true;
	}
	a = poller_listening(core, p);
	if (a == NULL)
		return false;
	a->audience = a->ref = c->audience;
	core_arm(core, &a->deadline, p->told_ms);
	return true;
}

/* Two threads of a program exchange places: the one in `other` is passed. */
static void
change_places(struct pollers *ps, struct poller *p, struct poller *other)
{
	const struct poller was = *p;

	pollers_swap(ps, p, other);
	p->told_ms = other->told_ms;
	p->tries = other->tries;
	p->passed = true;
	other->told_ms = was.told_ms;
	other->tries = was.tries;
}

/* The audience of the place is told for as long as it sleeps. */
static void
tell_until(struct core *core, struct poller *p, int64_t until_ms)
{
	struct token_call *a = p == NULL ? NULL : poller_listening(core, p);

	if (a == NULL || until_ms <= core->now_ms)
		return;
	p->told_ms = until_ms;
	core_arm(core, &a->deadline, until_ms);
}

/* No broker can choose which thread of a program wakes.  But none is passed
 * twice by threads that were not: some more are woken. */
static bool
passes_again(struct core *core, struct pollers *ps, const struct poller *mine,
    const struct poller *kept)
{
	if (kept == NULL || !kept->passed || mine == NULL || mine->passed ||
	    ps->kept_again >= TELLS_AGAIN_MAX)
		return false;
	ps->kept_again++;
	tell_again(core, ps);
	return true;
}

/*
 * The name was kept for one thread of a program.  If another thread comes, they
 * exchange places: the first goes on waiting in the place of the other.  A
 * thread that has come since, and does not wait yet, does not pass threads that
 * do, unless there are no more places.  Returns false if the call may not have
 * the turn.
 */
static bool
use_turn(struct core *core, struct pollers *ps, const struct token_call *c)
{
	struct poller *mine = poller_of(core, ps, c);
	struct poller *kept = poller_find(core, ps, ps->kept_of);
	int64_t until_ms = kept == NULL ? 0 : kept->told_ms;

	if (mine == NULL && !pollers_is_full(core, ps, c->session))
		return false;
	if (mine == kept)
		return true;
	if (mine != NULL && mine->came.number > ps->kept_came &&
	    mine->tries < WAITS_TRIES)
		return false;
	if (passes_again(core, ps, mine, kept))
		return false;
	if (mine != NULL && kept != NULL)
		change_places(ps, mine, kept);
	if (mine == NULL || kept == NULL || mine->call == 0)
		(void)listen_as(core, ps, ps->kept_of, c);
	tell_until(core, poller_find(core, ps, ps->kept_of), until_ms);
	return true;
}

bool
poll_take_kept(struct core *core, struct token_call *c)
{
	struct pollers *ps = pollers_of(core, c);
	const struct owner *asker = owner_find(core, c->session);
	char *kept_for;

	if (c->op != TOKEN_ACQUIRE || c->n > 1 || c->awaits || ps == NULL ||
	    ps->kept_ms <= core->now_ms)
		return false;
	kept_for = c->program != NULL ? xstrdup(c->program)
				      : holder_kept("", 0, asker->user);
	if (strcmp(kept_for, ps->kept_for) != 0 ||
	    (c->program != NULL && !use_turn(core, ps, c))) {
		free(kept_for);
		return false;
	}
	call_inherits(c, kept_for);
	if (c->program != NULL)
		pollers_answered(
		    core, kept_for, max_ms(1, core->now_ms - ps->kept_told_ms));
	free(kept_for);
	c->since_ms = min_ms(c->since_ms, ps->kept_since_ms);
	/* From now on the hold is the call's.  The poll queue gets in line
	 * again. */
	ps->seq = 0;
	ps->kept_ms = 0;
	ps->look = true;
	/* Soon, after the operation of the call. */
	core_arm(core, &ps->timer, core->now_ms);
	return true;
}

bool
poll_keeps(const struct core *core, const struct token_call *c)
{
	const struct pollers *ps = pollers_of(core, c);

	return ps != NULL && ps->kept_ms > core->now_ms;
}

bool
poll_refuse_kept(struct core *core, struct token_call *c)
{
	struct token_name *n = &c->names[0];

	if (c->op != TOKEN_ACQUIRE || c->n > 1 || c->awaits ||
	    !poll_keeps(core, c))
		return false;
	if (c->park_ms > 0 && poll_join(core, c))
		return true;
	n->settled = true;
	n->status = OUTCOME_BUSY;
	n->kind = TOKEN_HELD;
	n->left_ms = pollers_of(core, c)->kept_ms - core->now_ms;
	return true;
}

bool
poll_is_wanted(const struct core *core, const struct token_call *c)
{
	return pollers_of(core, c) != NULL;
}

int64_t
poll_first_ms(const struct core *core, const struct token_call *c)
{
	const struct poller *p = poller_of(core, pollers_of(core, c), c);

	return p != NULL && (p->call != 0 ||
				p->heard_ms + COMES_BACK_MS > core->now_ms)
		   ? p->came.ms
		   : core->now_ms;
}

void
poll_came(struct core *core, struct owner *asker, const struct token_call *c)
{
	struct poller *p = poller_of(core, pollers_of(core, c), c);

	asker->parked = c->id;
	if (p != NULL && p->call == 0)
		p->gap_ms = core->now_ms - p->heard_ms;
	poll_heard(core, c);
}

void
poll_heard(struct core *core, const struct token_call *c)
{
	struct poller *p = poller_of(core, pollers_of(core, c), c);

	if (p != NULL && p->heard_ms + COMES_BACK_MS > core->now_ms)
		p->heard_ms = core->now_ms;
}

bool
poll_matters(const struct core *core, const struct token_call *c)
{
	return poller_of(core, pollers_of(core, c), c) != NULL ||
	       newcomer_turn_ms(core, c) > core->now_ms;
}

bool
poll_asks(const struct core *core, const struct token_call *c)
{
	const struct pollers *ps = pollers_of(core, c);
	const struct token_call *asked;

	if (ps == NULL || ps->asked_for == 0)
		return false;
	asked = call_find(core, ps->asked_for);
	return asked == NULL || holder_same_counted(asked->holder, c->holder);
}

/* If there is no place left, the token polls as it would with Redis alone. */
void
poll_refused(struct core *core, struct token_call *c)
{
	struct pollers *ps;
	struct poller *p;

	if (core->stopping)
		return;
	ps = pollers_get(core, c);
	p = poller_of(core, ps, c);
	if (p == NULL)
		p = poller_new(core, ps, c->holder, c->session);
	if (p != NULL) {
		p->heard_ms = core->now_ms;
		poller_move(core, p, c->session);
	}
	pollers_next(core, ps);
}

bool
poll_listens(struct core *core, const struct token_call *c)
{
	struct pollers *ps = pollers_get(core, c);
	bool listed = listen_as(core, ps, c->holder, c);

	if (listed)
		poller_of(core, ps, c)->tries++;
	else
		pollers_next(core, ps);
	return listed;
}

/* The place's audience is no longer told anything. */
static void
poller_leaves(struct core *core, struct pollers *ps, struct poller *p)
{
	struct token_call *a = poller_listening(core, p);

	poller_free(core, ps, p);
	if (a == NULL)
		return;
	a->parked = false;
	call_remove(core, a);
}

/* A call for the same token may wait in the place.  Then the place stays: that
 * call has an answer of its own to come. */
void
poll_granted(struct core *core, const struct token_call *c)
{
	struct pollers *ps = pollers_of(core, c);
	struct poller *p = poller_of(core, ps, c);

	/* A token has its turn: it has the name when it comes. */
	if (p != NULL && c->awaits && p->holder[0] != '\0')
		return;
	if (p != NULL && (p->call == 0 || p->call == c->id ||
			     poller_listening(core, p) != NULL)) {
		p->result = RESULT_NONE; /* token_granted() has counted it */
		poller_leaves(core, ps, p);
	}
	if (ps != NULL)
		pollers_next(core, ps);
}

/* No one need be told that it was kept in vain. */
static void
keep_no_more(const struct core *core, struct pollers *ps)
{
	ps->kept_ms = core->now_ms;
	ps->kept_audience = 0;
}

/* The token may be having its turn: that is over. */
void
poll_forget(struct core *core, const struct token_call *c)
{
	struct pollers *ps = pollers_of(core, c);
	struct poller *p;

	if (ps == NULL || holder_depth(c->other) == 0)
		return;
	p = poller_find(core, ps, c->other);
	if (p != NULL && (p->call == 0 || poller_listening(core, p) != NULL))
		poller_leaves(core, ps, p);
	if (ps->kept_ms > core->now_ms && strcmp(ps->kept_of, c->other) == 0)
		keep_no_more(core, ps);
	pollers_next(core, ps);
}

void
poll_unheard(struct core *core, const char *name, size_t len, uint64_t audience)
{
	struct pollers *ps = pollers_find(core, name, len);
	struct poller *p, *next;
	const struct token_call *a;

	if (ps == NULL)
		return;
	TAILQ_FOREACH_SAFE (p, &ps->list, link, next) {
		core_visit(core, 1);
		a = poller_listening(core, p);
		if (a != NULL && a->audience == audience)
			poller_leaves(core, ps, p);
	}
	if (ps->kept_ms > core->now_ms && ps->kept_audience == audience)
		keep_no_more(core, ps);
	pollers_next(core, ps);
}

void
poll_leave(struct core *core, struct token_call *c)
{
	struct pollers *ps = pollers_of(core, c);
	struct poller *p = poller_of(core, ps, c);

	c->parked = false;
	if (p == NULL || p->call != c->id)
		return;
	p->call = 0;
	p->heard_ms = core->now_ms;
	p->result = c->result;
	/* It will not come back: nothing would recognize it. */
	if (p->holder[0] == '\0')
		poller_free(core, ps, p);
	else if (c->awaits && c->result == RESULT_GRANTED)
		p->result = RESULT_TIMEOUT; /* unless the token comes */
	pollers_next(core, ps);
}

/* A poll queue whose operation is in flight stays until the answer comes;
 * poll_outcome() and poll_passed() then free it. */
void
poll_stop(struct core *core)
{
	struct table_walk walk;
	struct table_link *link = table_first(&tokens_of(core)->pollers, &walk);

	for (; link != NULL; link = table_next(&walk)) {
		core_visit(core, 1);
		pollers_next(core, container_of(link, struct pollers, by_name));
	}
}
