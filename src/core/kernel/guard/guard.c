/*
 * Guards: whether what a server remembers is all that was ever granted on it.
 *
 * A server that restarted, failed over, was frozen or emptied may have
 * forgotten leases.  Its guard is then *pending*: nothing new is granted, every
 * broker writes again what it still vouches for, and after a grace period G,
 * counted from the arrival of the pend value, a broker blesses it: by then
 * every earlier lease was written again or has run out.  The permission is one
 * fact in one place, the guard in the server itself, which every script
 * checks; what is kept here is only when to ask for what.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc16.h"
#include "base/times.h"
#include "base/xmalloc.h"
#include "core/kernel/guard/clock.h"
#include "core/kernel/guard/electorate.h"
#include "core/kernel/guard/guard.h"
#include "core/kernel/guard/guard_wait.h"
#include "core/kernel/guard/parts.h"
#include "core/kernel/guard/skew.h"
#include "core/kernel/turn/part.h"
#include "core/kernel/turn/slot.h"
#include "core/kernel/turn/work.h"

#define RETRY_MS 100 /* after a refusal, or an unknown outcome */
#define REMIND_MS (INT64_C(5) * 60 * 1000) /* of a state that goes on */

static struct guard *
guard_at(const struct core *core, uint32_t shard)
{
	assert(shard < core->config.shards);
	return &core->guards[shard];
}

void
guard_init(struct core *core, const struct guard_listener *above,
    const struct electorate *electorate)
{
	uint32_t i;

	assert(core->config.shards > 0 && above != NULL);
	core->guards = xcalloc(core->config.shards, sizeof(*core->guards));
	core->guard_notes = xcalloc(1, sizeof(*core->guard_notes));
	core->guard_above = above;
	core->electorate = electorate != NULL ? electorate : &electorate_alone;
	guard_waits_init(core);
	for (i = 0; i < core->config.shards; i++) {
		core->guards[i].timer.kind = TIMER_GUARD;
		core->guards[i].epoch = 1;
	}
}

void
guard_fini(struct core *core)
{
	uint32_t i;

	for (i = 0; i < core->config.shards; i++)
		core_disarm(core, &core->guards[i].timer);
	guard_waits_fini(core);
	free(core->guard_notes);
	free(core->guards);
}

bool
guard_all_over(const struct core *core)
{
	return core->guard_above->all_over(core);
}

/*
 * One server is one shard; a cluster has a fixed number of buckets; of those that
 * decide together any that can be reached will do.
 */
uint32_t
guard_shard(const struct core *core, const char *name, size_t len)
{
	uint32_t i;

	if (core->config.shards == 1)
		return 0;
	if (!core->config.quorum)
		return crc16(name, len) % core->config.shards;
	for (i = 0; i < core->config.shards; i++)
		if (core->guards[i].up)
			return i;
	return 0;
}

bool
guard_reached(const struct core *core, uint32_t shard)
{
	return guard_at(core, shard)->up;
}

/*
 * A new history on any of the servers that decide together counts for all: what
 * is held is then written again everywhere, so that this server has it when it
 * may decide again.
 */
uint32_t
guard_epoch(const struct core *core, uint32_t shard)
{
	return guard_at(core, guard_first(core, shard))->epoch;
}

const char *
guard_history(const struct core *core, uint32_t shard)
{
	return guard_at(core, shard)->history;
}

bool
guard_believes(const struct core *core, uint32_t shard, uint64_t fence)
{
	return fence_believed(fence, guard_at(core, shard)->fence);
}

/* Each guard is told once: its successor goes through all keys for that. */
static uint64_t
hand_over(struct core *core, struct guard *g)
{
	uint64_t upto = g->handed ? 0 : core->guard_above->hands_over(core);

	g->handing = upto > 0;
	return upto;
}

/* While an operation on a guard is in flight, no other is asked for (`busy`),
 * unless this broker withdraws from a vote. */
static void
submit_guard(struct core *core, struct guard *g, enum op_kind kind)
{
	const char *name = kind == OP_ACQUIRE ? REFUSED_TRY_NAME : "";
	struct slot *slot;
	struct op *op = slot_submit(core, &slot, kind, SLOT_GUARD,
	    guard_index(core, g), name, strlen(name));

	assert(!g->busy && !g->idled);
	assert(kind != OP_BLESS || g->state == GUARD_PENDING);
	if (kind == OP_HEARTBEAT) {
		op->away_ms = (uint64_t)heartbeat_most_ms(core, g);
		op->warm_ms = g->asked_warm_ms = core->warm_ms;
		op->seq = hand_over(core, g);
		g->again = false;
	}
	if (kind == OP_IDLE)
		op->left_behind = core->guard_above->left_behind(core);
	if (kind == OP_ACQUIRE)
		refused_try(core, g, op);
	if (kind == OP_BLESS)
		memcpy(op->pend, g->pend, sizeof(op->pend));
	if (kind == OP_BLESS && core->electorate->blesses != NULL)
		core->electorate->blesses(core, g);
	g->busy = true;
}

/* Arms the timer for the next heartbeat or, if pending, for the bless. */
static void
plan_call(struct core *core, struct guard *g)
{
	int64_t at_ms = heartbeat_due_ms(core, g);

	if (!g->up || g->busy || g->idled) {
		core_disarm(core, &g->timer);
		return;
	}
	if (g->state == GUARD_PENDING && guard_bless_ms(core, g) < at_ms)
		at_ms = guard_bless_ms(core, g);
	at_ms = min_ms(at_ms, refused_try_ms(g));
	if (heartbeat_must_say(core, g))
		at_ms = core->now_ms;
	if (at_ms < g->pause_ms)
		at_ms = g->pause_ms;
	if (at_ms <= core->now_ms)
		at_ms = core->now_ms + 1;
	core_arm(core, &g->timer, at_ms);
}

/* A heartbeat that is in flight does not count. */
static void
say_again(struct core *core, struct guard *g)
{
	g->said_ms = 0;
	g->again = true;
	plan_call(core, g);
}

void
guard_say_again(struct core *core)
{
	uint32_t i;

	for (i = 0; i < core->config.shards; i++)
		say_again(core, &core->guards[i]);
}

void
guard_hand_over(struct core *core, uint32_t shard)
{
	struct guard *g = &core->guards[shard];

	g->handing = g->handed = false;
	say_again(core, g);
}

bool
guard_knows_warm(const struct core *core, uint32_t shard)
{
	assert(shard < core->config.shards);
	return core->guards[shard].warm_ms == core->warm_ms;
}

/*
 * Servers that decide together with this one may have waited for its report: a
 * server that may have forgotten something waits for what the others know
 * (electorate.h).  And if this one may no longer grant, no broker stays away
 * from the others (guard_heartbeat.c).
 */
static void
plan_others(struct core *core, const struct guard *g)
{
	uint32_t i, first = guard_first(core, guard_index(core, g));

	for (i = first; i < guard_end(core, first); i++)
		if (&core->guards[i] != g &&
		    (core->guards[i].state == GUARD_PENDING ||
			core->guards[i].away_ms > 0))
			plan_call(core, &core->guards[i]);
}

/*
 * A bless is asked for when the grace period is over: what was not written
 * again by then has run out.
 *
 * Until then, and in any other state, the guard gets heartbeats, which keep the
 * pending epoch alive: a stall would begin a new one.
 */
void
guard_timer(struct core *core, struct timer *t)
{
	struct guard *g = container_of(t, struct guard, timer);

	journal_tell(core);
	if (!g->up || g->busy)
		return;
	if (core->now_ms >= refused_try_ms(g))
		submit_guard(core, g, OP_ACQUIRE);
	else if (g->state != GUARD_PENDING ||
		 core->now_ms < guard_bless_ms(core, g))
		submit_guard(core, g, OP_HEARTBEAT);
	else
		submit_guard(core, g, OP_BLESS);
	plan_call(core, g);
}

static void
tell_electorate(struct core *core)
{
	if (core->electorate->changed != NULL)
		core->electorate->changed(core);
}

/* A server that can be reached again is asked for its state at once, and not at
 * the next heartbeat: waiting requests depend on the answer. */
void
guard_link(struct core *core, uint32_t shard, bool up, const char *why)
{
	struct guard *g = guard_at(core, shard);

	if (!up)
		snprintf(g->down, sizeof(g->down), "%s", why ? why : "");
	if (g->up == up)
		return;
	g->up = up;
	if (up)
		g->up_ms = core->now_ms;
	else
		g->was_down = true;
	tell_electorate(core);
	if (up && !g->busy && !g->idled)
		submit_guard(core, g, OP_HEARTBEAT);
	plan_call(core, g);
	plan_others(core, g);
	core->guard_above->changed(core, shard);
}

/*
 * What has happened to the server, as far as this broker can tell.  Requires
 * `g` as it was before; the pend value begins with the server's new history.
 *
 * The first cause that fits is reported.  If the history is still the one that
 * was blessed, only time can have raised doubts: the server was frozen, or its
 * clock was moved.  If another one began while the link was up, the server was
 * not restarted; and if the link was down, a broker without failover knows no
 * other server that could have answered.
 */
static enum guard_cause
cause_of(const struct core *core, const struct guard *g,
    const struct guard_report *report)
{
	bool same = report->text_len >= HISTORY_BYTES &&
		    memcmp(report->text, g->blessed, HISTORY_BYTES) == 0;

	if (report->fresh)
		return g->known ? CAUSE_EMPTIED : CAUSE_NEW;
	if (g->state == GUARD_CONFIG)
		return CAUSE_SETTINGS;
	if (!g->known)
		return CAUSE_UNWATCHED;
	if (same)
		return CAUSE_FROZEN;
	if (!g->was_down)
		return CAUSE_REPLICA;
	return core->config.failover ? CAUSE_MASTER : CAUSE_RESTARTED;
}

/*
 * From now on all that was confirmed before is in doubt.  The epoch is counted
 * before the modules above hear of it, because they compare their own epochs
 * with it.  `said_ms`: the server may also have forgotten where this broker can
 * be reached.
 */
static void
begin_epoch(
    struct core *core, struct guard *g, const struct guard_report *report)
{
	size_t n = report->text_len;

	assert(report->state == GUARD_PENDING && n > 0);
	n = n < sizeof(g->pend) ? n : sizeof(g->pend) - 1;
	memcpy(g->pend, report->text, n);
	g->pend[n] = '\0';
	g->fresh = report->fresh && !guard_was_used(core, g);
	g->cause = cause_of(core, g, report);
	guard_next_epoch(core, g);
	g->epoch_ms = core->now_ms;
	g->said_ms = g->warm_ms = 0;
	core->stats.spells++;
	core->guard_above->history_changed(core, guard_index(core, g));
}

/* The pend value has a nonce: two epochs of one history differ. */
static bool
same_epoch(const struct guard *g, const struct guard_report *report)
{
	return g->state == GUARD_PENDING &&
	       strlen(g->pend) == report->text_len &&
	       memcmp(g->pend, report->text, report->text_len) == 0;
}

/* Logs a new state, and now and then a state that lasts. */
static void
note_state(struct core *core, struct guard *g, enum guard_state state, bool new)
{
	bool changed = new || g->state != state;

	if (changed && (g->state == GUARD_BLESSED || g->unready_ms == 0))
		g->unready_ms = g->good_ms > 0 ? g->good_ms : core->now_ms;
	g->state = state;
	if (state == GUARD_NODES)
		return; /* the electorate says why, if it lasts */
	if (!changed &&
	    (state == GUARD_BLESSED || core->now_ms - g->noted_ms < REMIND_MS))
		return;
	g->noted_ms = core->now_ms;
	journal_note(core, g);
}

/* Has its readiness changed?  Then waiting requests are tried again. */
static void
tell_changed(struct core *core, const struct guard *g, bool was_ready)
{
	uint32_t shard = guard_index(core, g);

	if (guard_ready(core, shard) != was_ready)
		core->guard_above->changed(core, shard);
}

static void
on_refused(
    struct core *core, struct guard *g, const struct guard_report *report)
{
	bool was_ready = guard_ready(core, guard_index(core, g));

	refused_note(core, g, report);
	note_state(core, g, refused_state(g, g->state), false);
	tell_electorate(core);
	plan_call(core, g);
	plan_others(core, g);
	tell_changed(core, g, was_ready);
}

static void
note_blessed(struct guard *g, const struct guard_report *report)
{
	g->was_down = false;
	g->known = true;
	if (report->history_len == HISTORY_BYTES)
		memcpy(g->blessed, report->history, HISTORY_BYTES);
}

/* A new note is read at once; that there is one counts before that. */
static void
note_notes(
    struct core *core, struct guard *g, const struct guard_report *report)
{
	int64_t ago_ms = report->server_ms - (int64_t)report->notes;

	if (report->notes == 0 || report->notes == g->notes)
		return;
	g->notes = report->notes;
	PARTS_CALL(
	    noted, core, guard_index(core, g), g->notes, max_ms(ago_ms, 0));
	say_again(core, g);
}

/*
 * What a call has reported; the outcomes of its operations come after this, so
 * they are handled with the new epoch.  The order matters:
 *
 * Any call counts as a heartbeat, and ends the absence that the guard has
 * allowed this broker.  Clocks are compared before clock_note() puts this reply
 * in the place of the last.  The modules above hear last, when all else is
 * noted, that the guard may grant again, because they send operations at once.
 */
void
guard_report(struct core *core, uint32_t shard, int64_t sent_ms,
    const struct guard_report *report)
{
	struct guard *g = guard_at(core, shard);
	bool was_ready = guard_ready(core, shard), new, gained;

	assert(sent_ms <= core->now_ms && report->state < GUARD_MAX);
	if (sent_ms > g->seen_ms)
		g->seen_ms = sent_ms;
	if (report->state == GUARD_REFUSED) {
		on_refused(core, g, report);
		return;
	}
	refused_note(core, g, report);
	if (sent_ms > g->told_ms)
		g->told_ms = sent_ms;
	g->away_ms = 0;
	gained = skew_note(core, g, sent_ms, report);
	clock_note(core, g, sent_ms, report);
	if (report->fence > g->fence)
		g->fence = report->fence;
	journal_fence(core, g, report);
	if ((report->state == GUARD_PENDING || report->state == GUARD_NODES) &&
	    sent_ms > g->pended_ms)
		g->pended_ms = sent_ms;
	if (report->state == GUARD_BLESSED)
		note_blessed(g, report);
	if (report->state == GUARD_CONFIG)
		snprintf(g->text, sizeof(g->text), "%.*s",
		    (int)report->text_len, report->text);
	new = report->state == GUARD_PENDING && !same_epoch(g, report);
	if (new)
		begin_epoch(core, g, report);
	if (gained)
		core->guard_above->history_changed(core, guard_index(core, g));
	note_notes(core, g, report);
	note_state(core, g, refused_state(g, report->state), new);
	if (g->state == GUARD_BLESSED && sent_ms > g->good_ms)
		g->good_ms = sent_ms;
	if (core->electorate->told != NULL)
		core->electorate->told(core, g, sent_ms, report);
	plan_call(core, g);
	plan_others(core, g);
	tell_changed(core, g, was_ready);
}

/*
 * The state of the guard came with the report; the outcome only says whether
 * the operation was carried out.  A call that failed counts as seen, so that
 * the next heartbeat comes after its usual time, and not at once.
 */
void
guard_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o)
{
	struct guard *g = guard_at(core, slot->shard);
	bool was_ready = guard_ready(core, slot->shard);
	enum op_kind op = slot->op;

	g->busy = false;
	refused_outcome(g, op, o);
	if (g->state == GUARD_BLESSED || g->state == GUARD_REFUSED)
		note_state(core, g, refused_state(g, GUARD_BLESSED), false);
	if (op == OP_IDLE)
		g->idled = true;
	if (op == OP_HEARTBEAT && o->status == OUTCOME_DONE) {
		heartbeat_done(core, g, o->ttl_ms, o->not_warm > 0);
		g->handed = g->handed || g->handing;
	}
	if (op == OP_HEARTBEAT && o->status == OUTCOME_DONE && o->text_len > 0)
		PARTS_CALL(note_read, core, slot->shard, o->text, o->text_len);
	if (op == OP_HEARTBEAT && o->status == OUTCOME_DONE && o->adopts > 0)
		core->guard_above->broker_gone(core, slot->shard);
	if (o->status != OUTCOME_DONE && op != OP_ACQUIRE) {
		g->pause_ms = core->now_ms + RETRY_MS;
		if (g->seen_ms < core->now_ms)
			g->seen_ms = core->now_ms;
	}
	if (core->electorate->answered != NULL)
		core->electorate->answered(
		    core, g, op, o->status == OUTCOME_DONE);
	plan_call(core, g);
	tell_changed(core, g, was_ready);
}

/*
 * Called at the end of each step of a broker that stops.  The broker does not
 * wait for a server that cannot be reached: there it counts as gone once it has
 * been silent for long enough (lua/keep.lua).
 *
 * Nor does the broker sign off while a client still counts on a valid=.  An
 * idle server would grant again whatever its clock shows; but if that jumps,
 * the tombstone of that client's name may end too early.
 */
void
guard_sign_off(struct core *core, bool counted_on)
{
	struct guard *g;
	uint32_t i;

	assert(core->stopping);
	/* Do not look while answers come in: there may be many. */
	if (core->slots->inflight > 0 || !guard_all_over(core))
		return;
	for (i = 0; i < core->config.shards; i++) {
		g = &core->guards[i];
		if (g->idled || g->busy || !g->up)
			continue;
		core_disarm(core, &g->timer);
		if (counted_on)
			g->idled = true;
		else
			submit_guard(core, g, OP_IDLE);
	}
}

bool
guard_signed_off(const struct core *core)
{
	uint32_t i;

	for (i = 0; i < core->config.shards; i++)
		if (core->guards[i].up && !core->guards[i].idled)
			return false;
	return true;
}

void
guard_check(const struct core *core)
{
	const struct guard *g;
	uint32_t i;

	for (i = 0; i < core->config.shards; i++) {
		g = &core->guards[i];
		assert(g->state < GUARD_MAX);
		assert(!timer_armed(&g->timer) || (g->up && !g->idled));
		assert(g->state != GUARD_PENDING || g->pend[0] != '\0');
		assert(g->state != GUARD_BLESSED || g->known);
		assert((g->state == GUARD_REFUSED) <= (g->refused != 0));
		assert(g->up_ms <= core->now_ms && g->epoch_ms <= core->now_ms);
		assert(g->told_ms <= core->now_ms);
		assert(g->heard_ms >= g->clock_ms);
	}
}
