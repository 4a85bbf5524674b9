/*
 * What a walk over all names of a guard does for each (guard/sweep.h).
 */
#include "config.h"

#include "core/kernel/guard/sweep.h"
#include "core/kernel/lock/broker_message.h"
#include "core/kernel/lock/lock.h"

/* Its last holder may come back for it only here. */
static bool
is_for_nobody(const struct core *core, const struct lock *l)
{
	return lease_lingers(core, &l->lease) &&
	       owner_find(core, lock_rare(l)->linger_owner) == NULL;
}

/* The name may be freed by lock_next(), so nothing looks at it after that. */
static void
sweep_name(struct core *core, struct table_link *link)
{
	struct lock *l = lock_of(link);
	unsigned what = sweep_of(core, l->lease.term.shard);
	bool next = false;

	if ((what & SWEEP_RECLAIM) != 0)
		lease_reclaim(core, &l->lease);
	if ((what & SWEEP_LOOK) != 0)
		next = broker_message_missed(core, l);
	if ((what & SWEEP_WARM) != 0 && lock_is_warm(l))
		next = true;
	if ((what & SWEEP_HAND_ON) != 0 && is_for_nobody(core, l)) {
		lease_hand_on(core, &l->lease);
		next = true;
	}
	/* If the guard still does not let it go on, it will wait again. */
	if ((what & SWEEP_UNBLOCK) != 0 && l->lease.blocked) {
		lease_unblock(core, &l->lease);
		next = true;
	}
	if (next)
		lock_next(core, l);
}

static const struct table *
table_of(const struct core *core, uint32_t i)
{
	return i < core->config.shards ? &core->locks->names[i] : NULL;
}

const struct swept names_swept = {
	.table = table_of,
	.by_guard = true,
	.one = sweep_name,
};
