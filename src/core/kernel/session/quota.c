/*
 * Quotas: each function answers the request that it refuses, and says why, so
 * that its caller has only to return.
 *
 * limits.holds bounds one session; reserved names and the like have no session
 * that could be bounded, so limits.unowned bounds them for the broker as a
 * whole, and a quarter of it bounds each of its users.
 */
#include "config.h"

#include "base/parse.h"
#include "core/kernel/session/quota.h"
#include "core/kernel/session/share.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/part.h"

#define QUOTA_SHARE 4 /* a user gets 1/QUOTA_SHARE of limits.unowned */

bool
quota_open(struct core *core, const struct owner *owner, uint64_t ref)
{
	if (core->stopping)
		emit_error(core, owner->id, ref, ERR_SHUTDOWN, QUOTA_STOPPING);
	return !core->stopping;
}

bool
quota_grants(struct core *core, const struct owner *owner, uint64_t ref)
{
	bool ok = !core->draining || owner_has(owner) > 0;

	if (!ok)
		emit_error(core, owner->id, ref, ERR_SHUTDOWN, QUOTA_STOPPING);
	return ok;
}

/* Asked before anything is made for the request: a session at its bound cannot
 * even get a place in a queue. */
bool
quota_admits(struct core *core, const struct owner *owner,
    const struct core_request *rq, unsigned more)
{
	unsigned n = owner_load(owner);

	if (!quota_open(core, owner, rq->ref))
		return false;
	if (n + more <= core->config.limits.holds)
		return PARTS_ALL(
		    admits, core, owner, rq->ref, more, rq->wait_ms != 0);
	emit_error(core, owner->id, rq->ref, ERR_LIMIT,
	    "this session already holds, waits for or watches %u objects "
	    "(limits.holds)",
	    n);
	return false;
}

bool
quota_admits_tokens(
    struct core *core, const struct owner *owner, uint64_t ref, unsigned more)
{
	return PARTS_ALL(admits, core, owner, ref, more, false);
}

/* One of several users leaves the others something. */
static bool
has_share(struct core *core, struct owner *owner, uint64_t ref, uint64_t more,
    const char *instead)
{
	uint64_t n = share_used(&core->owners->shares, owner->user) +
		     share_used(&core->owners->token_shares, owner->user);
	unsigned all = core->config.limits.unowned;
	unsigned most = all / QUOTA_SHARE + (all % QUOTA_SHARE != 0);

	if (owner->user == NULL || n + more <= most)
		return true;
	emit_error(core, owner->id, ref, ERR_LIMIT,
	    "a user may reserve at most %u names without a holder (a quarter "
	    "of limits.unowned); you have %llu; %s",
	    most, (unsigned long long)n, instead);
	return false;
}

bool
quota_has_room(struct core *core, struct owner *owner, uint64_t ref,
    uint64_t more, const char *instead)
{
	const struct owners *all = core->owners;
	uint64_t n = all->ncounted + all->nmade + all->nmaking + all->ntokens;

	/* Things that count already may go on, even if a reload has put the
	 * bound below their number. */
	if (more == 0)
		return true;
	if (n + more <= core->config.limits.unowned)
		return has_share(core, owner, ref, more, instead);
	emit_error(core, owner->id, ref, ERR_LIMIT,
	    "this broker may reserve at most %u names without a holder "
	    "(limits.unowned); it has %llu; %s",
	    core->config.limits.unowned, (unsigned long long)n, instead);
	return false;
}

bool
quota_bounds(struct core *core, struct owner *owner, uint64_t ref,
    const char *option, const char *setting, int64_t ms, int64_t most_ms)
{
	char most[DURATION_SIZE];

	if (ms <= most_ms)
		return true;
	parse_duration_text(most, most_ms);
	emit_error(core, owner->id, ref, ERR_LIMIT, "%s may be %s at most (%s)",
	    option, most, setting);
	return false;
}
