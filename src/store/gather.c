/*
 * The gather writes operations into the open call of their shard, lane and
 * script as they come.  When a call is full, the gather opens another after it.
 * A flush puts the common arguments into the calls and sends them in order.
 *
 *	slot (shard, lane) -+- keep:    call, call, [open call]
 *	                    +- acquire: [open call]
 *
 * Ends of leases travel with acquires if both are due: one call instead of two.
 */
#include "config.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc16.h"
#include "base/rng.h"
#include "base/times.h"
#include "base/xmalloc.h"
#include "store/gather.h"
#include "store/op_rows.h"
#include "store/put.h"

#define SPARE_CALLS_MAX 16

/*
 * A call costs Redis as much as some ten operations, so under load the calls
 * should become larger, not more: while some are under way, later operations
 * wait for an answer and share a call (group commit: DeWitt et al., SIGMOD
 * 1984).  While the answers of a server near by are on their way, the server
 * has nothing to do, but not for long, so one call is enough; a server far away
 * would idle for most of a trip, so one call leaves for each CALL_US of the
 * trip.
 */
#define GROUP_MIN 8  /* operations; with fewer there is little to save */
#define OP_US 3	     /* that Redis takes for an operation in a call */
#define CALL_US 80   /* a trip to a server near by is not much longer */
#define CALLS_MAX 16 /* however long the trips are */
#define TRIPS_REMEMBERED 256 /* the shortest of about this many counts */

#define NONCE_MAX (16 + HISTORY_BYTES + 1)

/* What was sent, could have waited, and was not answered yet. */
struct traffic {
	unsigned calls, ops;
	int64_t trip_ns; /* the shortest recent trip, or CALL_US; 0: unknown */
};

/* The calls of one shard and lane in this turn.  Owned by the gather. */
struct slot {
	TAILQ_ENTRY(slot) entry; /* if it is active */
	uint32_t shard;
	bool active;
	struct traffic *traffic;
	struct call_list calls[SCRIPT_MAX]; /* the last one is open */
};
TAILQ_HEAD(slot_list, slot);

struct gather {
	uint32_t nshards;
	uint32_t nlanes;
	struct shard_keys *shards;
	struct slot *slots;	 /* [shard * nlanes + lane] */
	struct traffic *traffic; /* as many as slots; some are not in use */
	unsigned calls_min;	 /* that may be under way in each */
	struct slot_list active;
	struct call_list spare;
	unsigned nspare;
	bool quorum;
	uint64_t clock_us; /* quorum: wall clock */
	struct rng rng;	   /* of nonces */
	char *prefix;
	char *me;
	char *channel;
	char *address;
	char *about;
	char *about_leaving; /* the same, once it leaves */
	bool leaving;
	char cfg[STORE_CFG_SIZE];
	char lease[DIGITS_MAX];
	char pad[DIGITS_MAX];
	char grace[DIGITS_MAX];
};

static void
shard_init(struct gather *g, const struct store_config *c, uint32_t i)
{
	struct shard_keys *s = &g->shards[i];

	s->seen = 0;
	s->noted[0] = '\0';
	s->head = c->tagged ? xformat("%s{%" PRIu32 "}:", c->prefix, i)
			    : xstrdup(c->prefix);
	s->head_len = strlen(s->head);
	s->guard = xformat("%s@guard", s->head);
	s->fence = xformat("%s@fence", s->head);
	snprintf(s->head_digits, sizeof(s->head_digits), "%zu", s->head_len);
	snprintf(s->voter, sizeof(s->voter), "%s", c->quorum ? "q" : "");
}

/*
 * The lanes of a shard take turns: if each had a call of its own under way, the
 * calls would be half as large.  But half of many lanes have: one after another
 * they would wait too long for a server that hangs.  A WAIT for replicas blocks
 * its connection for all else, so with replicas each lane is by itself.
 */
static void
slots_init(struct gather *g, bool apart)
{
	uint32_t i, k, n = g->nshards * g->nlanes;

	TAILQ_INIT(&g->active);
	g->slots = xcalloc(n, sizeof(*g->slots));
	g->traffic = xcalloc(n, sizeof(*g->traffic));
	g->calls_min = apart ? 1 : (g->nlanes + 1) / 2;
	for (i = 0; i < n; i++) {
		g->slots[i].shard = i / g->nlanes;
		g->slots[i].traffic = &g->traffic[apart ? i : i / g->nlanes];
		for (k = 0; k < SCRIPT_MAX; k++)
			TAILQ_INIT(&g->slots[i].calls[k]);
	}
}

void
store_cfg(char out[STORE_CFG_SIZE], const struct store_config *c)
{
	if (c->quorum)
		snprintf(out, STORE_CFG_SIZE, "v2,lease=%" PRId64 ",quorum=%u",
		    c->lease_ms, c->shards);
	else
		snprintf(out, STORE_CFG_SIZE,
		    "v1,lease=%" PRId64 ",replicas=%u", c->lease_ms,
		    c->replicas);
}

struct gather *
gather_new(const struct store_config *c)
{
	struct gather *g = xcalloc(1, sizeof(*g));
	uint32_t i;

	assert(c->shards > 0 && c->lease_ms > 0);
	g->nshards = c->shards;
	g->nlanes = c->lanes > 0 ? c->lanes : 1;
	g->quorum = c->quorum;
	g->shards = xcalloc(c->shards, sizeof(*g->shards));
	for (i = 0; i < c->shards; i++)
		shard_init(g, c, i);
	slots_init(g, c->replicas > 0);
	TAILQ_INIT(&g->spare);
	rng_init(&g->rng, c->seed[0], c->seed[1]);
	g->prefix = xstrdup(c->prefix);
	g->me = xformat("%s.%016" PRIx64, c->broker, c->instance);
	g->channel = xformat("%s@%s", c->prefix, g->me);
	g->address = xstrdup(c->address != NULL ? c->address : "");
	g->about = xformat("%s %" PRId64 " %s",
	    c->version != NULL ? c->version : "-", c->lease_ms,
	    c->http != NULL && c->http[0] != '\0' ? c->http : "-");
	g->about_leaving = xformat("%s leaving", g->about);
	store_cfg(g->cfg, c);
	snprintf(g->lease, sizeof(g->lease), "%" PRId64, c->lease_ms);
	snprintf(g->pad, sizeof(g->pad), "%" PRId64, times_pad_ms(c->lease_ms));
	snprintf(g->grace, sizeof(g->grace), "%" PRId64,
	    times_recovery_ms(c->lease_ms));
	return g;
}

static void
calls_free(struct call_list *list)
{
	struct call *call, *next;

	TAILQ_FOREACH_SAFE (call, list, entry, next)
		call_free(call);
}

void
gather_free(struct gather *g)
{
	uint32_t i, k;

	if (g == NULL)
		return;
	for (i = 0; i < g->nshards * g->nlanes; i++)
		for (k = 0; k < SCRIPT_MAX; k++)
			calls_free(&g->slots[i].calls[k]);
	calls_free(&g->spare);
	for (i = 0; i < g->nshards; i++) {
		free(g->shards[i].head);
		free(g->shards[i].guard);
		free(g->shards[i].fence);
	}
	free(g->shards);
	free(g->slots);
	free(g->traffic);
	free(g->prefix);
	free(g->me);
	free(g->channel);
	free(g->address);
	free(g->about);
	free(g->about_leaving);
	free(g);
}

void
gather_leave(struct gather *g, bool leave)
{
	g->leaving = leave;
}

const char *
gather_channel(const struct gather *g)
{
	return g->channel;
}

void
gather_saw(struct gather *g, uint32_t shard, uint64_t fence)
{
	assert(shard < g->nshards);
	if (fence > g->shards[shard].seen)
		g->shards[shard].seen = fence;
}

void
gather_begun(struct gather *g, enum store_data data)
{
	static const char *const words[] = { "e", "w", "n" };

	assert(g->nshards == 1 && !g->quorum);
	strcpy(g->shards[0].voter, words[data]);
}

void
gather_clock(struct gather *g, uint64_t clock_us)
{
	g->clock_us = clock_us;
}

static uint32_t
name_lane(const struct gather *g, const struct op *op)
{
	if (op_rows[op->kind].keys == KEYS_NONE)
		return 0;
	return crc16(op->name, op->name_len) % g->nlanes;
}

/* Returns the call that takes one more operation of this kind. */
static struct call *
open_call(struct gather *g, struct slot *slot, enum op_kind kind)
{
	enum script_id script = (enum script_id)op_rows[kind].script;
	struct call_list *list = &slot->calls[script];
	struct call *call = TAILQ_LAST(list, call_list);
	bool mixed = kind != OP_RENEW;

	/* The guard looks for ENLIST at the first operation only. */
	if (call != NULL && kind != OP_ENLIST && call->kinds[0] != OP_ENLIST &&
	    call->nops <
		(call->mixed || mixed ? CALL_OPS_MAX : CALL_RENEWALS_MAX))
		return call;
	call = TAILQ_FIRST(&g->spare);
	if (call != NULL) {
		TAILQ_REMOVE(&g->spare, call, entry);
		g->nspare--;
		call_reset(call);
	} else {
		call = call_new();
	}
	assert(call->nops == 0 && call->guest == NULL);
	call->script = script;
	call->shard = slot->shard;
	call->lane = (uint32_t)(slot - g->slots) % g->nlanes;
	call->cfg = g->cfg;
	call->address = g->address;
	call->about = g->leaving ? g->about_leaving : g->about;
	call->nkeys = 2; /* guard and fence: put in by seal() */
	call->nargs = CALL_COMMON;
	TAILQ_INSERT_TAIL(list, call, entry);
	return call;
}

/* From now on every call to that server names the id and set of `op`. */
static void
voter_set(struct shard_keys *s, const struct op *op)
{
	const char *end = memchr(op->name, ' ', op->name_len);

	end = end != NULL ? memchr(end + 1, ' ',
				op->name_len - (size_t)(end + 1 - op->name))
			  : NULL;
	assert(end != NULL);
	snprintf(s->voter, sizeof(s->voter), "q%.*s", (int)(end - op->name),
	    op->name);
}

void
gather_add(struct gather *g, const struct op *op)
{
	struct slot *slot;
	struct call *call;

	assert(op->kind < OP_MAX && op->shard < g->nshards);
	assert(op->ttl_ms >= 0 || op->kind == OP_TOKEN);
	assert(op->linger_ms >= 0);
	slot = &g->slots[op->shard * g->nlanes + name_lane(g, op)];
	if (!slot->active) {
		slot->active = true;
		TAILQ_INSERT_TAIL(&g->active, slot, entry);
	}
	call = open_call(g, slot, op->kind);
	call_put(call, &g->shards[op->shard], op, !g->quorum);
	call->mixed = call->mixed || op->kind != OP_RENEW;
	/* A TAKE also keeps permits that are in use. */
	call->can_wait =
	    call->can_wait && op_rows[op->kind].can_wait && op->have == 0;
	call->prompt = call->prompt || (op->flags & OP_PROMPT) != 0;
	call->only_ends = call->only_ends && op->kind == OP_END;
	if (op->kind == OP_ENLIST)
		voter_set(&g->shards[op->shard], op);
	if (op->kind == OP_END)
		gather_saw(g, op->shard, op->fence); /* known from a message */
	call->ids[call->nops] = op->id;
	call->kinds[call->nops++] = op->kind;
	if (op->timeout_ms > 0 && op->timeout_ms < call->timeout_ms)
		call->timeout_ms = op->timeout_ms;
}

/*
 * Returns the number that fences must rise above.  All servers of a quorum get
 * the same one, the highest that any of them reported or the clock, so that
 * they agree on the next fence.
 */
static uint64_t
hint(const struct gather *g, const struct shard_keys *s)
{
	uint64_t seen = s->seen;
	uint32_t i;

	if (!g->quorum)
		return seen;
	for (i = 0; i < g->nshards; i++)
		if (g->shards[i].seen > seen)
			seen = g->shards[i].seen;
	return seen > g->clock_us ? seen : g->clock_us;
}

/* Sets words that outlive the call. */
static void
words_set(const char **to, size_t *lens, const char *const *words, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		to[i] = words[i];
		lens[i] = strlen(words[i]);
	}
}

/* Sets the common arguments before the operations, and puts argv together. */
static void
seal(struct gather *g, struct call *call)
{
	struct shard_keys *s = &g->shards[call->shard];
	char *nonce =
	    call_room(call, NONCE_MAX + 2 * DIGITS_MAX + sizeof(s->voter));
	char *seen = nonce + NONCE_MAX, *nkeys = seen + DIGITS_MAX;
	char *voter = nkeys + DIGITS_MAX;
	/* A stall is a pad. */
	const char *common[CALL_COMMON] = { nonce, seen, g->cfg, g->me,
		g->lease, g->pad, g->pad, g->grace, g->prefix, s->head_digits,
		voter };
	const char *head[] = { "EVALSHA", "", nkeys, s->guard, s->fence };

	assert(call->nops > 0 && call->nargs <= CALL_ARGS_MAX);
	assert(call->nkeys >= 2 && call->nkeys <= CALL_KEYS_MAX);
	snprintf(
	    nonce, NONCE_MAX, "%016" PRIx64 "%s", rng_next(&g->rng), s->noted);
	/* An operation that is sent after it no longer finds a note. */
	if (call->kinds[call->nops - 1] == OP_IDLE)
		s->noted[0] = '\0';
	call->seen = hint(g, s);
	snprintf(seen, DIGITS_MAX, "%" PRIu64, call->seen);
	snprintf(nkeys, DIGITS_MAX, "%u", call->nkeys);
	memcpy(voter, s->voter, sizeof(s->voter));
	words_set(call->args, call->arglen, common, CALL_COMMON);
	words_set(call->argv, call->argvlen, head, CALL_HEAD + 2);
	call->argc = (int)(CALL_HEAD + call->nkeys + call->nargs);
	memcpy(call->argv + CALL_HEAD + call->nkeys, call->args,
	    call->nargs * sizeof(call->args[0]));
	memcpy(call->argvlen + CALL_HEAD + call->nkeys, call->arglen,
	    call->nargs * sizeof(call->arglen[0]));
}

/* Are enough calls under way that others may wait for them? */
static bool
is_busy(const struct gather *g, const struct traffic *t)
{
	int64_t calls = t->trip_ns / (CALL_US * INT64_C(1000));

	if (calls > CALLS_MAX)
		calls = CALLS_MAX;
	if (calls < g->calls_min)
		calls = g->calls_min;
	return t->ops >= GROUP_MIN && t->calls >= calls;
}

/*
 * The shortest recent trip counts, less the work of Redis for us: a longer trip
 * may be due to a queue there, and a pause is not a distance.
 */
static void
note_trip(struct traffic *t, int64_t trip_us)
{
	int64_t trip_ns = 1000 * (trip_us > CALL_US ? trip_us : CALL_US);

	t->trip_ns += t->trip_ns / TRIPS_REMEMBERED;
	if (t->trip_ns == 0 || t->trip_ns > trip_ns)
		t->trip_ns = trip_ns;
}

/* May this call, the last of its slot and script, wait and grow? */
static bool
may_grow(
    const struct gather *g, const struct slot *slot, const struct call *call)
{
	return !g->quorum && call->can_wait && !call->prompt &&
	       call->nops < CALL_OPS_MAX && is_busy(g, slot->traffic);
}

/* Lets ends that are due travel with acquires, if there are both. */
static void
join_ends(const struct gather *g, struct slot *slot)
{
	struct call_list *keeps = &slot->calls[SCRIPT_KEEP];
	struct call *ends = TAILQ_LAST(keeps, call_list);
	struct call *call = TAILQ_LAST(&slot->calls[SCRIPT_ACQUIRE], call_list);

	if (g->quorum || ends == NULL || !ends->only_ends || call == NULL ||
	    call->nops + ends->nops > CALL_OPS_MAX)
		return;
	TAILQ_REMOVE(keeps, ends, entry);
	call_take_along(call, ends);
}

static void
count(struct traffic *t, struct call *call)
{
	if (!call->can_wait)
		return;
	call->counted = true;
	t->calls++;
	t->ops += call->nops;
	call->ahead = t->ops;
}

/* Appends the calls of one slot that are to be sent to `calls`. */
static void
take_due(struct gather *g, struct slot *slot, struct call_list *calls)
{
	struct call *call, *last[SCRIPT_MAX];
	unsigned k;

	slot->active = false;
	for (k = 0; k < SCRIPT_MAX; k++) {
		last[k] = TAILQ_LAST(&slot->calls[k], call_list);
		if (last[k] != NULL && may_grow(g, slot, last[k]))
			TAILQ_REMOVE(&slot->calls[k], last[k], entry);
		else
			last[k] = NULL;
	}
	join_ends(g, slot);
	for (k = 0; k < SCRIPT_MAX; k++) {
		TAILQ_FOREACH (call, &slot->calls[k], entry)
			count(slot->traffic, call);
		TAILQ_CONCAT(calls, &slot->calls[k], entry);
	}
	for (k = 0; k < SCRIPT_MAX; k++) {
		if (last[k] == NULL)
			continue;
		TAILQ_INSERT_TAIL(&slot->calls[k], last[k], entry);
		slot->active = true;
	}
}

static struct slot *
slot_of(const struct gather *g, const struct call *call)
{
	return &g->slots[call->shard * g->nlanes + call->lane];
}

void
gather_flush(struct gather *g, gather_send *send, void *arg)
{
	struct call_list calls = TAILQ_HEAD_INITIALIZER(calls);
	struct slot_list growing = TAILQ_HEAD_INITIALIZER(growing);
	struct slot *slot;
	struct call *call;

	/* Take all calls out first: send() may add to the next flush. */
	while ((slot = TAILQ_FIRST(&g->active)) != NULL) {
		TAILQ_REMOVE(&g->active, slot, entry);
		take_due(g, slot, &calls);
		if (slot->active)
			TAILQ_INSERT_TAIL(&growing, slot, entry);
	}
	TAILQ_CONCAT(&g->active, &growing, entry);
	while ((call = TAILQ_FIRST(&calls)) != NULL) {
		TAILQ_REMOVE(&calls, call, entry);
		seal(g, call);
		send(arg, call);
	}
}

bool
gather_is_due(const struct gather *g)
{
	const struct slot *slot;
	const struct call *last;
	unsigned k;

	/* There is at most one slot for each shard and lane. */
	TAILQ_FOREACH (slot, &g->active, entry)
		for (k = 0; k < SCRIPT_MAX; k++) {
			last = TAILQ_LAST(&slot->calls[k], call_list);
			if (last != NULL &&
			    (last != TAILQ_FIRST(&slot->calls[k]) ||
				!may_grow(g, slot, last)))
				return true;
		}
	return false;
}

/*
 * Remembers in which history the guard noted this broker: if that history goes
 * on without the note, the data went back.  Signing off removes the note.
 */
static void
note_history(struct shard_keys *s, const struct call *call)
{
	const struct guard_report *guard = &call->guard;

	if ((guard->state != GUARD_BLESSED && guard->state != GUARD_PENDING) ||
	    guard->history_len != HISTORY_BYTES)
		return;
	memcpy(s->noted, guard->history, HISTORY_BYTES);
	s->noted[call->kinds[call->nops - 1] == OP_IDLE ? 0 : HISTORY_BYTES] =
	    '\0';
}

/* Notes every fence reported, so that fences rise even if the server
 * forgets. */
static void
learn(struct gather *g, const struct call *call)
{
	unsigned i;

	if (call->has_guard) {
		gather_saw(g, call->shard, call->guard.fence);
		note_history(&g->shards[call->shard], call);
	}
	for (i = 0; i < call->nops; i++)
		gather_saw(g, call->shard, call->outcomes[i].fence);
}

void
gather_drop(struct gather *g, struct call *call)
{
	struct traffic *t = slot_of(g, call)->traffic;

	if (call->trip_us > 0)
		note_trip(t, call->trip_us - OP_US * (int64_t)call->ahead);
	if (call->counted) {
		assert(t->calls > 0 && t->ops >= call->nops);
		t->calls--;
		t->ops -= call->nops;
	}
	call->counted = false;
	if (call->guest != NULL)
		gather_drop(g, call->guest);
	call->guest = NULL;
	if (g->nspare >= SPARE_CALLS_MAX) {
		call_free(call);
		return;
	}
	TAILQ_INSERT_HEAD(&g->spare, call, entry);
	g->nspare++;
}

/*
 * Redis refused the call and carried out nothing: the ends that travelled with
 * it leave by themselves, because keep.lua runs even when memory is full.
 */
static void
send_ends_alone(struct gather *g, struct call *call)
{
	struct slot *slot = slot_of(g, call);
	struct call *ends = call->guest;

	assert(ends->nops < call->nops && ends->script == SCRIPT_KEEP);
	call->guest = NULL;
	ends->only_ends = false;
	TAILQ_INSERT_TAIL(&slot->calls[SCRIPT_KEEP], ends, entry);
	if (!slot->active)
		TAILQ_INSERT_TAIL(&g->active, slot, entry);
	slot->active = true;
}

void
call_deliver(struct gather *g, struct call *call,
    const struct store_handler *handler, void *arg)
{
	unsigned i = 0;

	assert(call->verdict < CALL_VERDICT_MAX);
	if (call->guest != NULL && call->verdict == CALL_REFUSED) {
		i = call->guest->nops;
		send_ends_alone(g, call);
	}
	learn(g, call);
	if (call->has_guard)
		handler->guard(arg, call->shard, call->sent_ms, &call->guard);
	for (; i < call->nops; i++)
		handler->outcome(
		    arg, call->ids[i], call->sent_ms, &call->outcomes[i]);
	gather_drop(g, call);
}

enum call_verdict
call_finish(struct gather *g, struct call *call, const redisReply *reply,
    bool unsent, const struct store_handler *handler, void *arg)
{
	enum call_verdict verdict = call_decode(call, reply, unsent);

	call_deliver(g, call, handler, arg);
	return verdict;
}
