/*
 * Heartbeats.  A guard without a call for a stall grants no more, so each
 * broker calls each guard three times in that time; any other call does as
 * well, except one that only ends leases (keep.lua).
 *
 * With a thousand brokers on one server that would be useless load.  So a
 * broker that has nothing there asks how long it may stay away (op.heartbeat in
 * keep.lua): two of the brokers that have nothing continue as before, and the
 * others call less often the more of them there are.  The first call for
 * anything else ends that.
 *
 * No lease depends on it: brokers that hold something renew it, and write it
 * again in a new epoch, and such brokers do not stay away.
 */
#include "config.h"

#include "base/times.h"
#include "core/kernel/guard/parts.h"
#include "core/kernel/turn/emit.h"

#define MANY_GUARDS 16	   /* their heartbeats are spread, ... */
#define HEARTBEAT_GROUPS 8 /* ... but not one by one */
#define SAY_LEASES 5	   /* how often the guard hears who we are */
#define LOOK_LEASES 2	   /* how often it looks whether others have gone */
#define AWAY_MAX_MS (INT64_C(60) * 1000)
#define AWAY_LEASES 4 /* marks are swept after ten */

/*
 * Heartbeats of many guards come in a few groups: neither all at once nor each
 * by itself.  Brokers that stay away call at different times, even after a
 * server has come back and heard all of them at once.
 */
int64_t
heartbeat_due_ms(const struct core *core, const struct guard *g)
{
	int64_t every_ms = core->stall_ms / 3, at_ms, phase_ms = 0;

	if (g->away_ms > 0 && guard_is_calm(core, g)) {
		every_ms = g->away_ms;
		phase_ms =
		    (int64_t)(core->config.instance % (uint64_t)every_ms);
	}
	at_ms = g->seen_ms + every_ms;
	if (core->config.shards >= MANY_GUARDS)
		phase_ms += guard_index(core, g) % HEARTBEAT_GROUPS * every_ms /
			    HEARTBEAT_GROUPS;
	else if (every_ms != g->away_ms)
		return at_ms;
	phase_ms %= every_ms;
	return at_ms - (at_ms + every_ms - phase_ms) % every_ms;
}

/*
 * Heartbeats carry the entry of this broker in BROKERS, and learn whether
 * another broker has gone.  Other calls take their place, so one is due now and
 * then, and when the server may have forgotten.
 */
bool
heartbeat_must_say(const struct core *core, const struct guard *g)
{
	int64_t lease_ms = core->config.lease_ms, said_ms = g->said_ms;

	if (said_ms == 0 ||
	    core->now_ms - said_ms > SAY_LEASES * (lease_ms + core->pad_ms))
		return true;
	return g->away_ms == 0 && !core->config.quorum &&
	       core->now_ms - said_ms > LOOK_LEASES * lease_ms;
}

int64_t
heartbeat_most_ms(const struct core *core, const struct guard *g)
{
	if (core->stopping || !guard_is_calm(core, g) ||
	    !core->guard_above->has_nothing(core, guard_index(core, g)))
		return 0;
	return min_ms(
	    AWAY_MAX_MS, AWAY_LEASES * (core->config.lease_ms + core->pad_ms));
}

/* The broker may have got something since it asked. */
void
heartbeat_done(struct core *core, struct guard *g, int64_t away_ms, bool old)
{
	g->said_ms = g->again ? 0 : core->now_ms;
	g->warm_ms = old ? 0 : g->asked_warm_ms;
	if (old && !g->old) {
		emit_notice(core, NOTICE_WARM_REFUSED);
		emit_num(core, FIELD_SHARD, guard_index(core, g));
		emit_text(core, FIELD_TEXT,
		    "a broker of an earlier version on this Redis would take "
		    "cached leases for held locks; locks.warm has no effect");
	}
	g->old = old;
	g->away_ms = 0;
	if (away_ms > core->stall_ms / 3 && heartbeat_most_ms(core, g) > 0)
		g->away_ms = min_ms(away_ms, heartbeat_most_ms(core, g));
}
