/*
 * Looks at the core that change nothing: counters, gauges, guards.  Lists are in
 * listing.c.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/times.h"
#include "core/kernel/guard/clock.h"
#include "core/kernel/guard/guard.h"
#include "core/kernel/guard/parts.h"
#include "core/kernel/life.h"
#include "core/kernel/lock/hold.h"
#include "core/kernel/lock/lock.h"
#include "core/kernel/session/place.h"
#include "core/kernel/session/quota.h"
#include "core/kernel/turn/work.h"
#include "core/parts/ids.h"
#include "core/parts/sync/semaphore.h"
#include "core/parts/token/token_record.h"
#include "core/parts/warm/plain.h"

void
core_history(
    const struct core *core, uint32_t shard, char out[CORE_HISTORY_SIZE])
{
	assert(CORE_HISTORY_SIZE == HISTORY_BYTES + 1);
	memcpy(out, guard_history(core, shard), HISTORY_BYTES);
	out[HISTORY_BYTES] = '\0';
}

/* For rights: a client that holds a name may give it back, whatever its rights
 * are by now.  Permits that are lost, but not yet told, count as held. */
bool
core_holds(const struct core *core, uint64_t session, const char *name,
    size_t name_len)
{
	const struct session *s = session_find(core, session);
	const struct lock *l = lock_find(core, name, name_len);
	const struct sync *y = sync_find(core, KIND_SEMAPHORE, name, name_len);

	assert(s != NULL);
	return (l != NULL && hold_find(core, l, &s->owner) != NULL) ||
	       (y != NULL && permits_find(core, y, &s->owner) != NULL);
}

/* For rights: a user may end a hold of its tokens without a right to the name
 * any more.  This broker knows of it only if it looks after the hold. */
bool
core_gave_token(const struct core *core, uint64_t session, const char *name,
    size_t name_len)
{
	const struct session *s = session_find(core, session);
	const struct token_record *r = token_record_find(core, name, name_len);

	assert(s != NULL);
	return r != NULL && r->user != NULL && s->owner.user != NULL &&
	       strcmp(r->user, s->owner.user) == 0;
}

/* Watches do not count: they keep nothing from other clients. */
bool
core_resumable(struct core *core, int64_t now_ms, const char *key,
    size_t key_len, const char *user)
{
	if (core->now_ms < now_ms)
		core->now_ms = now_ms;
	return session_resumable(core, key, key_len, user);
}

bool
core_has_place(const struct core *core, uint64_t session, const char *user)
{
	const struct session *s = session_find(core, session);

	assert(s != NULL);
	return place_may_pass(core, s, user);
}

bool
core_is_idle(const struct core *core, uint64_t session)
{
	const struct session *s = session_find(core, session);

	assert(s != NULL);
	return owner_load(&s->owner) == s->owner.nwatches;
}

const struct core_stats *
core_stats(const struct core *core)
{
	return &core->stats;
}

const struct measure *
core_measure(const struct core *core)
{
	return measure_of(core);
}

/* Reports the reason of the first guard that is not ready, which is mostly that
 * of all. */
static void
gauge_guards(
    const struct core *core, struct core_gauges *gauges, int64_t *since_ms)
{
	uint32_t i, n = 0, all = core->config.shards;
	char why[sizeof(gauges->why) - 64], none[sizeof(why)];
	int64_t left_ms, granted_ms;

	for (i = 0; i < all; i++) {
		if (guard_grants(core, i))
			continue;
		left_ms = guard_why(core, i, n == 0 ? why : none, sizeof(why));
		if (left_ms < GUARD_FOR_GOOD && left_ms > gauges->grace_ms)
			gauges->grace_ms = left_ms;
		granted_ms = guard_granted_ms(core, i);
		*since_ms = min_ms(
		    *since_ms, granted_ms > 0 ? granted_ms : core->began_ms);
		n++;
	}
	gauges->ready = n == 0;
	if (n == 0)
		return;
	if (n < all)
		snprintf(gauges->why, sizeof(gauges->why),
		    "%" PRIu32 " of %" PRIu32
		    " of all names cannot be locked: %s",
		    n, all, why);
	else
		snprintf(gauges->why, sizeof(gauges->why), "%s", why);
}

/* May new locks be granted to clients that have none yet; why not, and since
 * when? */
static void
gauge_ready(const struct core *core, int64_t now_ms, struct core_gauges *gauges)
{
	int64_t since_ms = now_ms;

	if (core->stopping) {
		snprintf(gauges->why, sizeof(gauges->why), QUOTA_STOPPING);
		return;
	}
	gauge_guards(core, gauges, &since_ms);
	if (core->draining) {
		gauges->ready = false;
		gauges->grace_ms = 0;
		since_ms = min_ms(since_ms, core->drain_ms);
		snprintf(gauges->why, sizeof(gauges->why), QUOTA_DRAINED);
	}
	/* The first server has reported nothing yet. */
	if (!gauges->ready && since_ms > 0)
		gauges->paused_ms = now_ms - since_ms;
}

/* Where is nothing warm because of plain clients? */
static bool
look_plain(const struct core *core, uint32_t shard, struct core_plain *out)
{
	const struct plain *p = plain_near(core, shard);

	if (p == NULL || p->name == NULL)
		return false;
	out->since_s = (uint64_t)(p->since / 1000);
	out->until_s = (uint64_t)(plain_until(p) / 1000);
	out->name = p->name;
	return true;
}

static void
gauge_plain(const struct core *core, struct core_gauges *gauges)
{
	struct core_plain one, *all = &gauges->plain;
	uint32_t i;

	for (i = 0; i < core->config.shards; i++) {
		if (!look_plain(core, i, &one))
			continue;
		if (gauges->nplain++ == 0 || one.since_s < all->since_s)
			all->since_s = one.since_s;
		if (one.until_s <= all->until_s)
			continue;
		all->until_s = one.until_s;
		all->name = one.name;
	}
}

void
core_gauges(struct core *core, int64_t now_ms, struct core_gauges *gauges)
{
	enum kind kind;

	memset(gauges, 0, sizeof(*gauges));
	gauges->sessions = core->owners->by_id.n;
	gauges->graces = core->sessions->nplaces[PLACE_TAKEN];
	gauges->names = core->leases->n;
	gauges->locks_held = core->locks->nholds + core->owners->ntokens;
	gauges->permits_held = syncs_of(core)->npermits;
	gauges->waiters = core->locks->nwaiting + syncs_of(core)->nentries +
			  core->owners->nparked;
	gauges->locks_at_risk = core->terms->at_risk[TERM_LEASE];
	gauges->permits_at_risk = core->terms->at_risk[TERM_PERMITS];
	gauges->unowned = core->owners->nunowned;
	gauges->tokens = core->owners->ntokens;
	gauges->parked = core->owners->nparked;
	gauges->bound = core->owners->ncounted;
	gauges->latches_made = core->owners->nmade;
	for (kind = KIND_SYNC; kind < KIND_MAX; kind++) {
		gauges->syncs[kind] = syncs_of(core)->by_name[kind].n;
		gauges->all_syncs += gauges->syncs[kind];
	}
	gauge_plain(core, gauges);
	gauge_ready(core, now_ms, gauges);
}

int64_t
core_server_ms(
    const struct core *core, int64_t now_ms, const char *name, size_t name_len)
{
	return guard_server_ms(core, guard_shard(core, name, name_len), now_ms);
}

void
core_guard(const struct core *core, uint32_t shard, struct core_guard *out)
{
	memset(out, 0, sizeof(*out));
	out->up = guard_reached(core, shard);
	out->left_ms = guard_why_one(core, shard, out->why, sizeof(out->why));
	out->ready = out->why[0] == '\0';
	if (out->left_ms >= GUARD_FOR_GOOD)
		out->left_ms = 0;
	look_plain(core, shard, &out->plain);
}
