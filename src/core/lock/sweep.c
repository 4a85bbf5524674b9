/*
 * Walks over all names of a guard.
 *
 * There is one walk for each guard, whatever it is for: if something new comes
 * up while it is under way, it begins again, and does all of it for each name.
 * What was done already does no harm if it is done twice.
 */
#include "config.h"

#include "core/guard/quorum.h"
#include "core/lock/lock.h"
#include "core/lock/message.h"
#include "core/lock/names.h"
#include "core/lock/sweep.h"
#include "core/lock/warm.h"
#include "core/turn/job.h"
#include "core/turn/work.h"

#define BUCKETS_A_VISIT 16 /* of a table; most are empty or near */

/* What a sweep does for each name. */
enum sweep {
	SWEEP_RECLAIM = 1, /* the history has changed: write them again */
	SWEEP_UNBLOCK = 2, /* the guard is ready: blocked ones go on, once */
	SWEEP_LOOK = 4,	   /* messages were missed: plan a look at the key */
	SWEEP_WARM = 8,	   /* warm names may have to be given back */
	SWEEP_HAND_ON = 16 /* hand on what is kept for nobody */
};

/* Its last holder may come back for it only here. */
static bool
is_for_nobody(const struct core *core, const struct lock *l)
{
	return lease_lingers(core, &l->lease) &&
	       owner_find(core, lock_rare(l)->linger_owner) == NULL;
}

/* The name may be freed by lock_next(), so nothing looks at it after that. */
static void
sweep_one(struct core *core, struct lock *l, unsigned what)
{
	bool next = false;

	core_visit(core, 1);
	if ((what & SWEEP_RECLAIM) != 0)
		lease_reclaim(core, &l->lease);
	if ((what & SWEEP_LOOK) != 0)
		next = message_missed(core, l);
	if ((what & SWEEP_WARM) != 0 && warm_is(l))
		next = true;
	if ((what & SWEEP_HAND_ON) != 0 && is_for_nobody(core, l)) {
		lease_hand_on(core, &l->lease);
		next = true;
	}
	if ((what & SWEEP_UNBLOCK) != 0 && l->lease.blocked) {
		lease_unblock(core, &l->lease);
		next = true;
	}
	if (next)
		lock_next(core, l);
}

/* Goes on with a sweep.  True: it has come by all names.  Empty chains of the
 * table cost little, but not nothing: some of them count as one thing. */
static bool
sweep(struct core *core, struct names *n)
{
	uint32_t head = n->sweep.head;
	struct table_link *link = table_go_on(&n->sweep);

	for (; link != NULL; link = table_next(&n->sweep)) {
		core_visit(core, (n->sweep.head - head) / BUCKETS_A_VISIT);
		head = n->sweep.head;
		sweep_one(core, lock_of(link), n->sweeping);
		if (!work_left(core) && table_rests(&n->sweep))
			return false;
	}
	return true;
}

bool
sweep_run(struct core *core)
{
	struct names *n;

	while (work_left(core) &&
	       (n = TAILQ_FIRST(&core->locks->sweeping)) != NULL) {
		core_visit(core, 1);
		if (!sweep(core, n))
			break;
		n->sweeping = 0;
		TAILQ_REMOVE(&core->locks->sweeping, n, in_sweeping);
	}
	return !TAILQ_EMPTY(&core->locks->sweeping);
}

static void
plan_sweep(struct core *core, struct names *n, enum sweep what)
{
	if (n->sweeping == 0)
		TAILQ_INSERT_TAIL(&core->locks->sweeping, n, in_sweeping);
	n->sweeping |= what;
	table_rewind(&n->table, &n->sweep);
	job_set(core, JOB_SWEEP_LOCKS, true);
}

static void
begin_sweep(struct core *core, struct names *n, enum sweep what)
{
	plan_sweep(core, n, what);
	job_run(core, JOB_SWEEP_LOCKS);
}

/* Most of the time nobody waits for the guard, and the names need not be walked
 * over. */
void
sweep_blocked(struct core *core, uint32_t shard)
{
	struct names *n = names_of(core, shard);

	if (core->leases->nblocked[quorum_first(core, shard)] > 0)
		begin_sweep(core, n, SWEEP_UNBLOCK);
	if (warm_any(core) && !guard_ready(core, shard))
		begin_sweep(core, n, SWEEP_WARM);
}

void
sweep_history(struct core *core, uint32_t shard)
{
	begin_sweep(core, names_of(core, shard), SWEEP_RECLAIM | SWEEP_WARM);
}

void
sweep_warm(struct core *core)
{
	uint32_t i;

	if (!warm_any(core))
		return;
	for (i = 0; i < core->config.shards; i++)
		plan_sweep(core, &core->locks->names[i], SWEEP_WARM);
}

void
sweep_hand_on(struct core *core)
{
	uint32_t i;

	for (i = 0; i < core->config.shards; i++)
		plan_sweep(core, &core->locks->names[i], SWEEP_HAND_ON);
}

void
sweep_look(struct core *core)
{
	uint32_t i;

	for (i = 0; i < core->config.shards; i++)
		begin_sweep(core, &core->locks->names[i], SWEEP_LOOK);
}
