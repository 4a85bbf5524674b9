/*
 * A server that refuses whole calls grants nothing, whatever its guard says
 * (GUARD_REFUSED): it is full, the ACL lacks a command, or the key of the guard
 * or of the fences contains something else.
 *
 * Calls that take something and calls that keep something are refused
 * separately: a full server carries out only the latter.  And an operation on
 * the guard may be refused by itself.  Each counts until one of its kind is
 * carried out.  Heartbeats are calls that keep; so now and then a grant is
 * tried, of a name that no client can have, for a millisecond.
 */
#include "config.h"

#include <stdio.h>

#include "core/kernel/guard/parts.h"

#define TRY_MS 100	 /* after the first refusal */
#define TRY_AGAIN_MS 500 /* and then; as much again of jitter */
#define TRY_TTL_MS 1

enum refused {
	REFUSED_TAKES = 1 << 0,
	REFUSED_KEEPS = 1 << 1,
	REFUSED_GUARD = 1 << 2,
};

void
refused_note(
    struct core *core, struct guard *g, const struct guard_report *report)
{
	uint8_t bit = report->takes ? REFUSED_TAKES : REFUSED_KEEPS;

	if (report->state != GUARD_REFUSED) {
		if (g->state == GUARD_PENDING && report->state != g->state)
			bit |= REFUSED_GUARD; /* a bless was carried out */
		g->refused &= (uint8_t)~bit;
		return;
	}
	if (!(g->refused & bit))
		g->try_ms = core->now_ms + TRY_MS;
	g->refused |= bit;
	snprintf(g->refusal, sizeof(g->refusal), "%.*s", (int)report->text_len,
	    report->text);
}

void
refused_outcome(struct guard *g, enum op_kind op, const struct outcome *o)
{
	if (op == OP_ACQUIRE || o->status == OUTCOME_UNKNOWN)
		return;
	if (o->status != OUTCOME_REFUSED) {
		g->refused &= (uint8_t)~REFUSED_GUARD;
		return;
	}
	/* Otherwise it says so itself, or the call has. */
	if (g->refused != 0 ||
	    (g->state != GUARD_BLESSED && g->state != GUARD_PENDING))
		return;
	g->refused |= REFUSED_GUARD;
	snprintf(
	    g->refusal, sizeof(g->refusal), "%.*s", (int)o->text_len, o->text);
}

/* The guard's own report says more, and how long it lasts. */
enum guard_state
refused_state(const struct guard *g, enum guard_state state)
{
	if (g->refused != 0 &&
	    (state == GUARD_BLESSED || state == GUARD_UNKNOWN))
		return GUARD_REFUSED;
	return state;
}

/* A pending guard that gets no calls is never blessed. */
bool
refused_counts(const struct guard *g)
{
	return g->state == GUARD_REFUSED ||
	       (g->state == GUARD_PENDING &&
		   (g->refused & (REFUSED_KEEPS | REFUSED_GUARD)));
}

int64_t
refused_try_ms(const struct guard *g)
{
	if (g->state != GUARD_REFUSED || g->refused != REFUSED_TAKES)
		return INT64_MAX;
	return g->try_ms;
}

void
refused_try(struct core *core, struct guard *g, struct op *op)
{
	op->ttl_ms = TRY_TTL_MS;
	op->reserve = 1;
	g->try_ms =
	    core->now_ms + TRY_AGAIN_MS + core_jitter(core, TRY_AGAIN_MS);
}
