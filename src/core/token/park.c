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
 * A call that awaits the name gets it as a token does, but for KEPT_MS at most and
 * under a text that is no token's (client_kept()).  The next call of its user
 * extends that hold as if it were its own, and gives it its token.  If none
 * comes in half that time, the stand gives the name back.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/times.h"
#include "base/xmalloc.h"
#include "core/guard/guard.h"
#include "core/token/measured.h"
#include "core/token/park.h"
#include "core/token/parts.h"
#include "core/turn/emit.h"
#include "core/turn/work.h"

#define COMES_BACK_MS 2000 /* a token that is away longer loses its place */
#define LATELY_MS 250	   /* a token that polls so often comes first */
#define AGAIN_MS 50	   /* after an answer that says nothing */
#define LOOK_MS 20	   /* after the end of the key in the way */
#define SURE_MS 1000	   /* for so long an answer about the queue counts */
#define PLACES_MAX 100	   /* of a name */
#define PLACES_ALL_MAX 10000

/* One token that wants a name.  Owned by its stand. */
struct place {
	TAILQ_ENTRY(place) link;
	char *client;	  /* owned; "": it awaits the name */
	int64_t heard_ms; /* when it was here last */
	uint64_t call;	  /* id; 0: the token is away */
	uint64_t session; /* on which it was refused last */
	bool polls;	  /* it has come back once */
};

/* All tokens that want one name, in the order in which they first came. */
struct stand {
	struct table_link by_name;
	struct timer timer;
	TAILQ_HEAD(, place) places;
	unsigned nplaces;
	uint64_t seq;	    /* of its place in the queue; 0: it has none */
	uint64_t asked_for; /* id of a call; 0: no operation is in flight */
	uint64_t passed;    /* seq of the hold that a PASS in flight makes */
	uint32_t epoch;	    /* the guard's epoch, when it was sent */
	int64_t sure_ms;    /* it is in the queue, as Redis said; till then */
	bool look;	    /* something has changed: ask */
	int64_t wake_ms;    /* ask at this time, too */
	int64_t kept_ms;    /* the name is kept until then, ... */
	char *kept_for;	    /* ... for this text; owned; NULL: never yet */
	uint32_t shard;
	size_t name_len;
	char name[];
};

static const char *
name_of(const struct table_link *link, size_t *len)
{
	const struct stand *st =
	    container_of_const(link, struct stand, by_name);

	*len = st->name_len;
	return st->name;
}

void
park_init(struct core *core)
{
	table_init(&core->tokens->stands, name_of);
}

static struct stand *
find(const struct core *core, const char *name, size_t len)
{
	struct table_link *link = table_find(&core->tokens->stands, name, len);

	return link == NULL ? NULL : container_of(link, struct stand, by_name);
}

static struct stand *
stand_of(const struct core *core, const struct token_call *c)
{
	return find(core, c->names[0].name, c->names[0].len);
}

static struct stand *
get(struct core *core, const struct token_call *c)
{
	const struct token_name *n = &c->names[0];
	struct stand *st = stand_of(core, c);

	if (st != NULL)
		return st;
	st = xcalloc(1, sizeof(*st) + n->len);
	st->timer.kind = TIMER_STAND;
	TAILQ_INIT(&st->places);
	st->shard = guard_shard(core, n->name, n->len);
	st->wake_ms = INT64_MAX;
	st->name_len = n->len;
	memcpy(st->name, n->name, n->len);
	table_add(&core->tokens->stands, &st->by_name);
	return st;
}

static struct place *
place_of(
    const struct core *core, const struct stand *st, const struct token_call *c)
{
	struct place *p;

	if (st == NULL)
		return NULL;
	TAILQ_FOREACH (p, &st->places, link) {
		core_visit(core, 1);
		if (c->awaits ? p->call == c->id
			      : strcmp(p->client, c->client) == 0)
			return p;
	}
	return NULL;
}

/* Returns NULL if there are too many. */
static struct place *
place_new(struct core *core, struct stand *st, const char *client)
{
	struct place *p;

	if (st->nplaces >= PLACES_MAX ||
	    core->tokens->nplaces >= PLACES_ALL_MAX)
		return NULL;
	p = xcalloc(1, sizeof(*p));
	p->client = xstrdup(client);
	TAILQ_INSERT_TAIL(&st->places, p, link);
	st->nplaces++;
	core->tokens->nplaces++;
	return p;
}

static void
place_free(struct core *core, struct stand *st, struct place *p)
{
	TAILQ_REMOVE(&st->places, p, link);
	st->nplaces--;
	core->tokens->nplaces--;
	free(p->client);
	free(p);
}

static void
stand_free(struct core *core, struct stand *st)
{
	while (!TAILQ_EMPTY(&st->places))
		place_free(core, st, TAILQ_FIRST(&st->places));
	core_disarm(core, &st->timer);
	table_remove(&core->tokens->stands, &st->by_name);
	free(st->kept_for);
	free(st);
}

void
park_fini(struct core *core)
{
	struct table_walk walk;
	struct table_link *link = table_first(&core->tokens->stands, &walk);

	for (; link != NULL; link = table_next(&walk))
		stand_free(core, container_of(link, struct stand, by_name));
	table_fini(&core->tokens->stands);
}

/* Gives up the stand's place in the queue, or the name if it was granted. */
static void
give_back(struct core *core, struct stand *st)
{
	const struct token_name n = { .name = st->name,
		.len = st->name_len,
		.seq = st->seq,
		.left_ms = -1 };

	if (st->seq != 0)
		ward_stray(core, &n);
	st->seq = 0;
	st->sure_ms = 0;
}

/*
 * Redis has said that the stand is in the queue, behind a key that ends in
 * left_ms (-1: it has no end).  Once a lease the stand looks all the same: that
 * also keeps the queue.
 */
static void
stands_in_queue(struct core *core, struct stand *st, int64_t left_ms)
{
	st->sure_ms = core->now_ms + SURE_MS;
	st->wake_ms = core->now_ms + core->config.lease_ms;
	if (left_ms >= 0)
		st->wake_ms =
		    min_ms(st->wake_ms, core->now_ms + left_ms + LOOK_MS);
}

/* What comes next. */

/* Returns the first token that is here, or NULL.  Frees the places of tokens
 * that have been away for too long. */
static struct place *
first_here(struct core *core, struct stand *st)
{
	struct place *p, *next, *first = NULL;

	TAILQ_FOREACH_SAFE (p, &st->places, link, next) {
		core_visit(core, 1);
		if (p->call != 0 && first == NULL)
			first = p;
		else if (p->call == 0 &&
			 p->heard_ms + COMES_BACK_MS <= core->now_ms)
			place_free(core, st, p);
	}
	return first;
}

/* Returns until when a token that polls is expected back; 0: none polls. */
static int64_t
lately_ms(const struct stand *st)
{
	const struct place *p;
	int64_t ms = 0;

	TAILQ_FOREACH (p, &st->places, link)
		if (p->polls)
			ms = max_ms(ms, p->heard_ms + LATELY_MS);
	return ms;
}

static void
ask(struct core *core, struct stand *st, const struct token_call *c)
{
	struct slot *slot;
	struct op *op;

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

static void
next(struct core *core, struct stand *st)
{
	struct place *first;
	int64_t at_ms = st->wake_ms;

	if (st->asked_for != 0)
		return;
	first = first_here(core, st);
	if (core->stopping) {
		give_back(core, st);
		stand_free(core, st);
		return;
	}
	if (st->kept_ms > core->now_ms) {
		core_arm(core, &st->timer, st->kept_ms);
		return;
	}
	/* Nobody has taken what was kept, or nobody is here. */
	if (st->kept_ms > 0 || (first == NULL && lately_ms(st) <= core->now_ms))
		give_back(core, st);
	st->look = st->look || st->kept_ms > 0;
	st->kept_ms = 0;
	if (st->nplaces == 0) {
		stand_free(core, st);
		return;
	}
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
	next(core, st);
}

/* Requests. */

static void
wait_here(struct core *core, struct stand *st, struct place *p,
    struct token_call *c, struct session *s)
{
	s->parked = c->id;
	p->call = c->id;
	p->session = s->id;
	p->heard_ms = core->now_ms;
	c->parked = true;
	token_waits(core, c);
	core_arm(core, &c->deadline, core->now_ms + c->park_ms);
	/* A message may have been lost. */
	st->look = st->look || st->sure_ms <= core->now_ms;
	next(core, st);
}

static bool
await(struct core *core, struct token_call *c, struct session *s)
{
	struct stand *st;
	struct place *p;

	if (s->draining)
		return false;
	st = get(core, c);
	p = place_new(core, st, "");
	if (p != NULL) {
		wait_here(core, st, p, c, s);
		return true;
	}
	emit_error(core, c->session, c->ref, ERR_LIMIT,
	    "too many clients wait for this name already");
	call_drop(core, c);
	next(core, st);
	return true;
}

bool
park_join(struct core *core, struct token_call *c)
{
	struct session *s = session_find(core, c->session);
	struct stand *st = stand_of(core, c);
	struct place *p = place_of(core, st, c);

	if (c->awaits)
		return await(core, c, s);
	if (p == NULL || p->call != 0 || s->draining ||
	    p->heard_ms + COMES_BACK_MS <= core->now_ms)
		return false;
	p->polls = true;
	wait_here(core, st, p, c, s);
	return true;
}

bool
park_take_kept(struct core *core, struct token_call *c)
{
	struct stand *st = stand_of(core, c);
	const struct session *s = session_find(core, c->session);
	char *kept_for;

	if (c->op != TOKEN_ACQUIRE || c->n > 1 || c->awaits || st == NULL ||
	    st->kept_ms <= core->now_ms)
		return false;
	kept_for = client_kept(s->user);
	if (strcmp(kept_for, st->kept_for) != 0) {
		free(kept_for);
		return false;
	}
	free(c->other);
	c->other = kept_for;
	c->either = c->inherits = true;
	c->how[1] = 'x';
	st->seq = 0;
	st->kept_ms = 0;
	st->look = true;
	/* Soon, behind the operation of the call. */
	core_arm(core, &st->timer, core->now_ms);
	return true;
}

bool
park_matters(struct core *core, const struct token_call *c)
{
	struct place *p = place_of(core, stand_of(core, c), c);

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
		if (p->call != 0 || (p->polls && p->session != c->session &&
					p->heard_ms + LATELY_MS > core->now_ms))
			return true;
	}
	return false;
}

void
park_refused(struct core *core, struct token_call *c)
{
	struct stand *st;
	struct place *p;

	if (core->stopping)
		return;
	st = get(core, c);
	p = place_of(core, st, c);
	if (p == NULL)
		p = place_new(core, st, c->client);
	if (p != NULL) {
		p->heard_ms = core->now_ms;
		p->session = c->session;
	}
	next(core, st);
}

void
park_granted(struct core *core, const struct token_call *c)
{
	struct stand *st = stand_of(core, c);
	struct place *p = place_of(core, st, c);

	if (p != NULL && (p->call == 0 || p->call == c->id))
		place_free(core, st, p);
	if (st != NULL)
		next(core, st);
}

void
park_leave(struct core *core, struct token_call *c)
{
	struct stand *st = stand_of(core, c);
	struct place *p = place_of(core, st, c);

	c->parked = false;
	if (p == NULL || p->call != c->id)
		return;
	p->call = 0;
	p->heard_ms = core->now_ms;
	if (c->awaits)
		place_free(core, st, p);
	next(core, st);
}

unsigned
park_each(const struct core *core, const char *name, size_t len, parked_fn *fn,
    void *arg)
{
	const struct stand *st = find(core, name, len);
	const struct place *p;
	unsigned n = 0;

	if (st == NULL)
		return 0;
	TAILQ_FOREACH (p, &st->places, link) {
		core_visit(core, 1);
		if (p->call == 0)
			continue;
		if (fn != NULL)
			fn(arg, call_find(core, p->call));
		n++;
	}
	return n;
}

static void
count_one(void *arg, const struct token_call *c)
{
	struct parked *all = arg;

	if (all->n++ == 0 || c->since_ms < all->since_ms)
		all->since_ms = c->since_ms;
}

struct parked
park_count(const struct core *core, const char *name, size_t len)
{
	struct parked all = { 0, 0 };

	if (core->tokens->stands.n > 0)
		(void)park_each(core, name, len, count_one, &all);
	return all;
}

/* Answers and messages. */

/* The stand has the name for a user, and knows it by its place in the queue. */
static void
keep(
    struct stand *st, uint64_t seq, const struct token_call *c, int64_t sent_ms)
{
	st->seq = seq;
	st->kept_ms = sent_ms + c->ttl_ms / 2;
	free(st->kept_for);
	st->kept_for = xstrdup(c->client);
}

/* Redis has granted the stand the name, for a call that may be over by now. */
static void
granted(struct core *core, struct stand *st, uint64_t call, int64_t sent_ms,
    const struct outcome *o)
{
	struct token_call *c = call_find(core, call);
	uint64_t seq = st->seq;

	if (c == NULL || !c->parked || call_asker(core, c) == NULL) {
		give_back(core, st);
		st->look = true;
		if (c != NULL)
			call_drop(core, c);
		return;
	}
	st->seq = 0;
	st->sure_ms = 0;
	st->look = true;
	if (c->awaits && core->now_ms < sent_ms + c->ttl_ms)
		keep(st, seq, c, sent_ms);
	c->names[0].seq = seq;
	call_settle(core, c, sent_ms, o);
}

static void
failed(struct core *core, struct stand *st, uint64_t call, int64_t sent_ms,
    const struct outcome *o)
{
	struct token_call *c = call_find(core, call);

	if (o->status == OUTCOME_UNKNOWN)
		give_back(core, st);
	if (o->status == OUTCOME_UNSENT || o->status == OUTCOME_PENDING) {
		st->wake_ms = core->now_ms + AGAIN_MS;
		return;
	}
	st->look = true;
	if (c != NULL && c->parked)
		call_settle(core, c, sent_ms, o);
}

void
park_outcome(struct core *core, const struct slot *slot, int64_t sent_ms,
    const struct outcome *o)
{
	struct stand *st = find(core, slot->name, slot->name_len);
	struct outcome unknown = { .status = OUTCOME_UNKNOWN, .text = "" };
	struct token_call *c;
	uint64_t call;

	if (st != NULL && call_doubts(core, st->shard, st->epoch, o))
		o = &unknown;
	assert(st != NULL && st->asked_for != 0 && st->seq == slot->ref);
	call = st->asked_for;
	if (o->status == OUTCOME_GRANTED) {
		granted(core, st, call, sent_ms, o);
	} else if (o->status == OUTCOME_BUSY) {
		c = call_find(core, call);
		if (c != NULL && c->parked)
			call_note(core, c, o);
		stands_in_queue(core, st, o->ttl_ms);
	} else {
		failed(core, st, call, sent_ms, o);
	}
	/* Only now, so that nothing above begins another operation. */
	st->asked_for = 0;
	next(core, st);
}

/* Handing over. */

struct token_call *
park_heir(struct core *core, const struct token_name *n)
{
	struct stand *st = find(core, n->name, n->len);
	struct token_call *c;
	struct place *first;

	if (st == NULL || st->asked_for != 0 || st->kept_ms > 0)
		return NULL;
	first = first_here(core, st);
	if (first == NULL) {
		next(core, st); /* all places may be gone */
		return NULL;
	}
	c = call_find(core, first->call);
	return call_asker(core, c) != NULL && !c->awaits ? c : NULL;
}

/* Returns how many tokens are here. */
static unsigned
count_here(struct core *core, const struct stand *st)
{
	const struct place *p;
	unsigned n = 0;

	TAILQ_FOREACH (p, &st->places, link) {
		core_visit(core, 1);
		n += p->call != 0;
	}
	return n;
}

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
	op->need = count_here(core, st) - 1;
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
	if (c == NULL || o->status == OUTCOME_UNKNOWN) {
		ward_stray(core, &n);
		st->look = true;
		return;
	}
	if (o->waiting) {
		stands_in_queue(core, st, c->ttl_ms > 0 ? c->ttl_ms : -1);
	} else {
		st->seq = 0;
		st->sure_ms = 0;
		st->look = true;
	}
	c->names[0].seq = st->passed;
	call_settle(core, c, sent_ms, o);
}

void
park_passed(struct core *core, const struct slot *slot, int64_t sent_ms,
    const struct outcome *o)
{
	struct stand *st = find(core, slot->name, slot->name_len);
	struct outcome unknown = { .status = OUTCOME_UNKNOWN, .text = "" };

	assert(st != NULL && st->asked_for != 0 && st->passed != 0);
	if (call_doubts(core, st->shard, st->epoch, o))
		o = &unknown;
	if (o->status == OUTCOME_GRANTED || o->status == OUTCOME_UNKNOWN)
		inherit(core, st, sent_ms, o);
	else if (o->status != OUTCOME_ENDED || st->seq == 0)
		st->look = true; /* something is not as this broker thought */
	st->asked_for = st->passed = 0;
	next(core, st);
}

bool
park_message(struct core *core, const char *text, size_t len)
{
	const char *seq = memchr(text, ' ', len), *end, *name;
	struct stand *st;
	uint64_t n;

	if (seq == NULL || core->tokens->stands.n == 0)
		return false;
	seq++;
	end = memchr(seq, ' ', len - (size_t)(seq - text));
	name = memrchr(text, ' ', len);
	if (end == NULL ||
	    !parse_number(seq, (size_t)(end - seq), UINT64_MAX, &n))
		return false;
	st = find(core, name + 1, len - (size_t)(name + 1 - text));
	if (st == NULL || st->seq != n || n == 0)
		return false;
	st->look = true;
	if (st->asked_for == 0 && st->kept_ms == 0 &&
	    first_here(core, st) == NULL)
		give_back(core, st);
	next(core, st);
	return true;
}

void
park_stop(struct core *core)
{
	struct table_walk walk;
	struct table_link *link = table_first(&core->tokens->stands, &walk);

	for (; link != NULL; link = table_next(&walk)) {
		core_visit(core, 1);
		next(core, container_of(link, struct stand, by_name));
	}
}

void
park_check(const struct core *core)
{
	struct table_walk walk;
	struct table_link *link = table_first(&core->tokens->stands, &walk);
	const struct token_call *c;
	const struct stand *st;
	const struct place *p;
	unsigned n, all = 0;

	for (; link != NULL; link = table_next(&walk)) {
		st = container_of(link, struct stand, by_name);
		n = 0;
		TAILQ_FOREACH (p, &st->places, link) {
			c = p->call == 0 ? NULL : call_find(core, p->call);
			assert(p->call == 0 || (c != NULL && c->parked));
			n++;
		}
		assert(n == st->nplaces);
		assert(st->asked_for != 0 || n > 0 || timer_armed(&st->timer));
		assert(st->asked_for != 0 || st->passed == 0);
		all += n;
	}
	assert(all == core->tokens->nplaces);
}
