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

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/xmalloc.h"
#include "core/agenda.h"
#include "core/emit.h"
#include "core/gain.h"
#include "core/guard.h"
#include "core/lease.h"
#include "core/lock.h"
#include "core/quorum.h"
#include "core/status.h"
#include "core/sync.h"
#include "core/voters.h"
#include "core/work.h"

#define RETRY_MS 100	      /* after a refusal, or an unknown outcome */
#define OWN_BLESS_PAUSE_MS 20 /* between looks whether all is written again */
#define MANY_GUARDS 16	      /* their heartbeats are spread, ... */
#define BEAT_GROUPS 8	      /* ... but not one by one */
#define CLOCK_SLACK_MS 2      /* clocks are read in whole milliseconds */
#define REMIND_MS (INT64_C(5) * 60 * 1000) /* of what goes on */
#define SAY_LEASES 5 /* between tellings where we are reached */

static struct guard *
guard_at(const struct core *core, uint32_t shard)
{
	assert(shard < core->config.shards);
	return &core->guards[shard];
}

static uint32_t
shard_of(const struct core *core, const struct guard *g)
{
	return (uint32_t)(g - core->guards);
}

void
guard_init(struct core *core)
{
	uint32_t i;

	core->guards = xcalloc(core->config.shards, sizeof(*core->guards));
	for (i = 0; i < core->config.shards; i++) {
		core->guards[i].timer.kind = TIMER_GUARD;
		table_init(&core->guards[i].locks, lock_name);
		guard_unproved(core, i);
		core->guards[i].spell = 1;
	}
}

void
guard_fini(struct core *core)
{
	uint32_t i;

	for (i = 0; i < core->config.shards; i++)
		table_fini(&core->guards[i].locks);
	free(core->guards);
}

bool
guard_up(const struct core *core, uint32_t shard)
{
	if (quorum_used(core))
		return quorum_count(core, false) >= quorum_majority(core);
	return guard_at(core, shard)->up;
}

bool
guard_ready(const struct core *core, uint32_t shard)
{
	const struct guard *g = guard_at(core, shard);

	if (quorum_used(core))
		return quorum_count(core, true) >= quorum_majority(core);
	return g->up && g->state == GUARD_BLESSED;
}

uint32_t
guard_spell(const struct core *core, uint32_t shard)
{
	uint64_t sum = 0;
	uint32_t i;

	if (!quorum_used(core))
		return guard_at(core, shard)->spell;
	for (i = 0; i < core->config.shards; i++)
		sum += core->guards[i].spell;
	return sum;
}

uint32_t
guard_any(const struct core *core)
{
	uint32_t i;

	for (i = 0; i < core->config.shards; i++)
		if (core->guards[i].up)
			return i;
	return 0;
}

/*
 * A call cannot have run before it was sent, nor after it was answered: so the
 * server's clock, as that call told it, is no further ahead than this, and no
 * further behind.  Both clocks are trusted for as long as the guard trusts the
 * server's: one stall.
 */
static bool
when(const struct core *core, const struct guard *g, const char *history,
    int64_t server_ms, int64_t drift_ms, int64_t *from_ms, int64_t *to_ms)
{
	int64_t since_ms = server_ms - g->server_ms;
	int64_t slack_ms = CLOCK_SLACK_MS + drift_ms;

	if (g->server_ms == 0 ||
	    memcmp(g->history, history, HISTORY_BYTES) != 0 ||
	    core->now_ms - g->clock_ms > core->stall_ms ||
	    core->now_ms < g->distrust_ms ||
	    g->clock_ms + since_ms > core->now_ms + slack_ms)
		return false; /* the last: its clock was moved */
	*from_ms = g->clock_ms + since_ms;
	*to_ms = g->heard_ms + since_ms + slack_ms;
	return true;
}

int64_t
guard_when_ms(const struct core *core, uint32_t shard, const char *history,
    int64_t server_ms)
{
	int64_t from_ms, to_ms;

	if (quorum_used(core) || !when(core, guard_at(core, shard), history,
				     server_ms, 0, &from_ms, &to_ms))
		return -1;
	return from_ms < core->now_ms ? from_ms : core->now_ms;
}

/*
 * In a quorum the history says which of the servers it is.  Clocks that differ
 * in speed by a hundredth are no reason to take no notice of a message.
 */
int64_t
guard_by_when_ms(const struct core *core, uint32_t shard, const char *history,
    int64_t server_ms)
{
	const struct guard *g;
	int64_t from_ms, to_ms;
	uint32_t i, n = 1;

	if (quorum_used(core)) {
		shard = 0;
		n = core->config.shards;
	}
	for (i = shard; i < shard + n; i++) {
		g = guard_at(core, i);
		if (when(core, g, history, server_ms,
			(core->now_ms - g->clock_ms) / 100, &from_ms, &to_ms))
			return to_ms < core->now_ms ? to_ms : core->now_ms;
	}
	return -1;
}

int64_t
guard_server_ms(const struct core *core, uint32_t shard, int64_t at_ms)
{
	const struct guard *g = guard_at(core, shard);

	return g->server_ms == 0 ? 0 : g->server_ms + (at_ms - g->clock_ms);
}

/*
 * What was sent before a clock was put back looks younger by as much; for a
 * lease no such message is gone by.
 */
static void
note_clock(struct core *core, struct guard *g, int64_t sent_ms,
    const struct guard_report *report)
{
	int64_t back_ms;

	if (report->server_ms == 0 || sent_ms < g->clock_ms ||
	    report->history_len != HISTORY_BYTES)
		return;
	back_ms = (sent_ms - g->clock_ms) - (report->server_ms - g->server_ms);
	if (g->server_ms != 0 && back_ms > core->pad_ms / 4)
		g->distrust_ms = core->now_ms + core->config.lease_ms;
	g->clock_ms = sent_ms;
	g->heard_ms = core->now_ms;
	g->server_ms = report->server_ms;
	memcpy(g->history, report->history, HISTORY_BYTES);
}

bool
guard_at_once(const struct core *core, const struct guard *g)
{
	return core->config.owned || (g->fresh && core->config.trust_new);
}

/*
 * Quorum: how many others can tell all fences that were granted without this
 * server, because they were blessed whenever they were asked in this spell; and
 * of how many that is not known.
 */
static unsigned
whole_others(const struct core *core, const struct guard *g, unsigned *unknown)
{
	const struct guard *other;
	unsigned whole = 0;
	uint32_t i;

	*unknown = 0;
	for (i = 0; i < core->config.shards; i++) {
		other = &core->guards[i];
		if (other == g)
			continue;
		if (!other->up || other->told_ms < g->spell_ms)
			(*unknown)++;
		else if (other->state == GUARD_BLESSED &&
			 other->pended_ms < g->spell_ms)
			whole++;
	}
	return whole;
}

/* Does it get all fences from the others before it votes again? */
static bool
recovers(const struct core *core, const struct guard *g)
{
	unsigned unknown;

	return !quorum_used(core) ||
	       whole_others(core, g, &unknown) >= quorum_majority(core);
}

/* Was anything ever granted, as far as the servers know? */
static bool
any_fence(const struct core *core)
{
	uint32_t i;

	for (i = 0; i < core->config.shards; i++)
		if (core->guards[i].fenced)
			return true;
	return false;
}

/*
 * Quorum: where this broker can't reach a majority that has all fences, and
 * there may be one, another broker that can reach it has as long again.
 */
static bool
others_first(const struct core *core, const struct guard *g)
{
	unsigned unknown, whole = whole_others(core, g, &unknown);

	return quorum_used(core) && whole < quorum_majority(core) &&
	       whole + unknown >= quorum_majority(core);
}

int64_t
guard_bless_ms(const struct core *core, const struct guard *g)
{
	if (core->config.owned && core->config.floor_ms > g->spell_ms)
		return core->config.floor_ms;
	if (guard_at_once(core, g))
		return g->spell_ms;
	return g->spell_ms + core->grace_ms * (others_first(core, g) ? 2 : 1);
}

static void
note_quorum(struct core *core, enum notice_id id, unsigned ready)
{
	emit_notice(core, id);
	emit_num(core, FIELD_OF, core->config.shards);
	emit_num(core, FIELD_UP, quorum_count(core, false));
	emit_num(core, FIELD_READY, ready);
	emit_num(core, FIELD_NEEDED, quorum_majority(core));
}

/*
 * The servers of a quorum tell of themselves only.  One that is back counts
 * when it has said that it may grant.
 */
static void
tell_quorum(struct core *core)
{
	const struct guard *g = core->guards;
	unsigned i, n = 0, all = core->config.shards;
	bool enough;

	for (i = 0; i < all; i++)
		n += g[i].up && g[i].state == GUARD_BLESSED &&
		     g[i].told_ms >= g[i].up_ms;
	enough = n >= quorum_majority(core);
	if (!quorum_used(core) || core->stopping || enough == core->quorum)
		return;
	core->quorum = enough;
	if (!enough)
		note_quorum(core, NOTICE_QUORUM_LOST, n);
	else if (core->quorum_lost)
		note_quorum(core, NOTICE_QUORUM_BACK, n);
	core->quorum_lost = !enough;
}

/* Where locks wait for this guard; for any of a quorum. */
static struct guard *
lobby(const struct core *core, uint32_t shard)
{
	return guard_at(core, quorum_used(core) ? 0 : shard);
}

void
guard_block(struct core *core, struct lock *l)
{
	if (l->blocked)
		return;
	l->blocked = true;
	lobby(core, l->shard)->nblocked++;
}

void
guard_unblock(struct core *core, struct lock *l)
{
	if (!l->blocked)
		return;
	l->blocked = false;
	lobby(core, l->shard)->nblocked--;
}

/* Lets everything go on that waited, once; what must wait on blocks again. */
static void
unblock_all(struct core *core, struct guard *g)
{
	sync_unblock(core, g);
	g = lobby(core, shard_of(core, g));
	if (g->nblocked > 0)
		agenda_sweep(core, g, SWEEP_UNBLOCK);
}

static void
note_fences(struct core *core, const struct guard *g)
{
	emit_notice(core, NOTICE_GUARD_FENCES);
	emit_num(core, FIELD_SHARD, shard_of(core, g));
	emit_fmt(core, FIELD_TEXT,
	    "fewer than a majority of the other servers can tell their fences;"
	    " that fences rise rests on the clocks of the brokers now");
}

static void
submit(struct core *core, struct guard *g, enum op_kind kind)
{
	struct slot *slot;
	struct op *op = slot_submit(
	    core, &slot, kind, SLOT_GUARD, shard_of(core, g), "", 0);

	if (kind == OP_BLESS)
		memcpy(op->pend, g->pend, sizeof(op->pend));
	if (kind == OP_BLESS && any_fence(core) && !recovers(core, g))
		note_fences(core, g);
	g->busy = true;
}

/*
 * Is everything written again that this broker holds there?  What is so in a
 * spell stays so: each look goes on where the last one has stopped.
 */
static bool
all_asserted(struct core *core, struct guard *g)
{
	struct guard *names = lobby(core, shard_of(core, g));
	struct table_link *link = table_go_on(&names->proof);

	for (; link != NULL; link = table_next(&names->proof)) {
		core_visit(core, 1);
		if (lease_unasserted(core, lock_of(link))) {
			table_stay(&names->proof);
			return false;
		}
		if (!work_left(core) && table_rests(&names->proof))
			return false;
	}
	return sync_asserted(core, shard_of(core, g));
}

/*
 * When the next heartbeat is due.  Those of many guards come in a few groups:
 * neither all at once nor each by itself.
 */
static int64_t
heartbeat_ms(const struct core *core, const struct guard *g)
{
	int64_t beat_ms = core->stall_ms / 3, at_ms = g->seen_ms + beat_ms;
	int64_t phase_ms;

	if (core->config.shards < MANY_GUARDS)
		return at_ms;
	phase_ms = shard_of(core, g) % BEAT_GROUPS * beat_ms / BEAT_GROUPS;
	return at_ms - (at_ms + beat_ms - phase_ms) % beat_ms;
}

/*
 * Heartbeats tell where people reach this broker.  Other calls stand for them,
 * so one is due now and then, and where the server may have forgotten it.
 */
static bool
must_say(const struct core *core, const struct guard *g)
{
	int64_t pause_ms = SAY_LEASES * (core->config.lease_ms + core->pad_ms);

	return core->address[0] != '\0' &&
	       (g->said_ms == 0 || core->now_ms - g->said_ms > pause_ms);
}

/* The next heartbeat; or, in a spell, its end. */
static void
plan(struct core *core, struct guard *g)
{
	int64_t at_ms = heartbeat_ms(core, g);

	if (!g->up || g->busy || g->idled) {
		core_disarm(core, &g->timer);
		return;
	}
	if (g->state == GUARD_PENDING && guard_bless_ms(core, g) < at_ms)
		at_ms = guard_bless_ms(core, g);
	if (must_say(core, g))
		at_ms = core->now_ms;
	if (at_ms < g->pause_ms)
		at_ms = g->pause_ms;
	if (at_ms <= core->now_ms)
		at_ms = core->now_ms + 1;
	core_arm(core, &g->timer, at_ms);
}

/* What one server of a quorum tells, others may have waited for. */
static void
plan_others(struct core *core, const struct guard *g)
{
	uint32_t i;

	if (!quorum_used(core))
		return;
	for (i = 0; i < core->config.shards; i++)
		if (&core->guards[i] != g &&
		    core->guards[i].state == GUARD_PENDING)
			plan(core, &core->guards[i]);
}

void
guard_timer(struct core *core, struct guard *g)
{
	guard_tell_notes(core);
	if (!g->up || g->busy)
		return;
	if (g->state != GUARD_PENDING ||
	    core->now_ms < guard_bless_ms(core, g) || must_say(core, g)) {
		submit(core, g, OP_HEARTBEAT);
	} else if (!guard_at_once(core, g) || all_asserted(core, g)) {
		submit(core, g, OP_BLESS);
	} else {
		core_arm(core, &g->timer, core->now_ms + OWN_BLESS_PAUSE_MS);
		return;
	}
	plan(core, g);
}

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
	tell_quorum(core);
	if (up && !g->busy && !g->idled)
		submit(core, g, OP_HEARTBEAT);
	plan(core, g);
	unblock_all(core, g);
	if (up)
		status_link_up(core);
}

static void
reassert_all(struct core *core, uint32_t shard)
{
	struct guard *g = lobby(core, shard);

	sync_reassert(core, shard);
	table_rewind(&g->locks, &g->proof);
	agenda_sweep(core, g, SWEEP_REASSERT);
}

void
guard_unproved(struct core *core, uint32_t shard)
{
	struct guard *g = lobby(core, shard);

	table_rewind(&g->locks, &g->proof);
}

/*
 * What has happened, as far as it can be told from here.  `g` is as it was
 * before; the pend value begins with the history that the server has now.
 */
static enum guard_cause
cause_of(const struct core *core, const struct guard *g,
    const struct guard_report *report)
{
	bool same = report->text_len >= HISTORY_BYTES &&
		    memcmp(report->text, g->blessed, HISTORY_BYTES) == 0;

	if (core->config.owned && core->config.floor_ms > core->now_ms)
		return CAUSE_PROMISED;
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

static void
begin_spell(
    struct core *core, struct guard *g, const struct guard_report *report)
{
	size_t n = report->text_len;

	n = n < sizeof(g->pend) ? n : sizeof(g->pend) - 1;
	memcpy(g->pend, report->text, n);
	g->pend[n] = '\0';
	g->fresh = report->fresh && !g->known;
	g->cause = cause_of(core, g, report);
	g->spell++;
	g->spell_ms = core->now_ms;
	g->said_ms = 0;
	core->stats.spells++;
	reassert_all(core, shard_of(core, g));
}

static bool
same_spell(const struct guard *g, const struct guard_report *report)
{
	return g->state == GUARD_PENDING &&
	       strlen(g->pend) == report->text_len &&
	       memcmp(g->pend, report->text, report->text_len) == 0;
}

/* New lines where it is new, and now and then while it goes on. */
static void
note_state(struct core *core, struct guard *g, enum guard_state state, bool new)
{
	bool changed = new || g->state != state;

	if (changed && (g->state == GUARD_BLESSED || g->unready_ms == 0))
		g->unready_ms = core->now_ms;
	g->state = state;
	if (state == GUARD_NODES)
		return; /* voters.c says why, where it is no passing thing */
	if (state == GUARD_BLESSED)
		g->known = true;
	if (!changed &&
	    (state == GUARD_BLESSED || core->now_ms - g->noted_ms < REMIND_MS))
		return;
	g->noted_ms = core->now_ms;
	guard_note(core, g);
}

static void
note_blessed(struct guard *g, const struct guard_report *report)
{
	g->was_down = false;
	if (report->history_len == HISTORY_BYTES)
		memcpy(g->blessed, report->history, HISTORY_BYTES);
}

void
guard_report(struct core *core, uint32_t shard, int64_t sent_ms,
    const struct guard_report *report)
{
	struct guard *g = guard_at(core, shard);
	bool was_ready = guard_ready(core, shard), new, gained;

	if (sent_ms > g->seen_ms)
		g->seen_ms = sent_ms;
	if (sent_ms > g->told_ms)
		g->told_ms = sent_ms;
	gained = gain_note(core, g, sent_ms, report);
	note_clock(core, g, sent_ms, report);
	g->fenced = g->fenced || report->fence > 0;
	if ((report->state == GUARD_PENDING || report->state == GUARD_NODES) &&
	    sent_ms > g->pended_ms)
		g->pended_ms = sent_ms;
	if (report->state == GUARD_BLESSED)
		note_blessed(g, report);
	if (report->state == GUARD_CONFIG)
		snprintf(g->text, sizeof(g->text), "%.*s",
		    (int)report->text_len, report->text);
	new = report->state == GUARD_PENDING && !same_spell(g, report);
	if (new)
		begin_spell(core, g, report);
	if (gained)
		reassert_all(core, shard);
	note_state(core, g, report->state, new);
	voters_report(core, g, sent_ms, report);
	tell_quorum(core);
	plan(core, g);
	plan_others(core, g);
	if (!was_ready && guard_ready(core, shard))
		unblock_all(core, g);
}

void
guard_outcome(
    struct core *core, uint32_t shard, enum op_kind op, const struct outcome *o)
{
	struct guard *g = guard_at(core, shard);

	g->busy = false;
	if (op == OP_IDLE)
		g->idled = true;
	if (op == OP_HEARTBEAT && o->status == OUTCOME_DONE)
		g->said_ms = core->now_ms;
	voters_decide(core);
	if (o->status != OUTCOME_DONE) {
		g->pause_ms = core->now_ms + RETRY_MS;
		/* A heartbeat may have failed since it must be moved. */
		if (op == OP_ENLIST)
			g->enlist_ms = g->pause_ms;
		if (g->seen_ms < core->now_ms)
			g->seen_ms = core->now_ms;
	}
	plan(core, g);
}

/* Leases that need nothing more of this broker. */
static bool
all_over(const struct core *core)
{
	return core->stop_walk == STOP_NONE &&
	       core->nlocks == core->nlingering && sync_all_over(core);
}

void
guard_sign_off(struct core *core)
{
	struct guard *g;
	uint32_t i;

	/* Not looked for while answers come in: there may be many. */
	if (core->inflight > 0 || !all_over(core))
		return;
	for (i = 0; i < core->config.shards; i++) {
		g = &core->guards[i];
		if (g->idled || g->busy || !g->up)
			continue;
		core_disarm(core, &g->timer);
		submit(core, g, OP_IDLE);
	}
}

bool
core_stopped(const struct core *core)
{
	uint32_t i;

	if (!core->stopping || core->inflight > 0 || !all_over(core))
		return false;
	for (i = 0; i < core->config.shards; i++)
		if (core->guards[i].up && !core->guards[i].idled)
			return false;
	return true;
}
