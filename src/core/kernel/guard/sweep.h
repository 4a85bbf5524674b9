/*
 * Walks over everything that this broker has on a guard, some of it in each
 * step.
 *
 * One walk serves all who want one.  A wish that comes while it is under way
 * starts another walk after it, so that each thing is visited after the wish.
 */
#ifndef LOCKBROKER_CORE_KERNEL_GUARD_SWEEP_H
#define LOCKBROKER_CORE_KERNEL_GUARD_SWEEP_H

#include "base/table.h"
#include "core/kernel/guard/guard.h"

/* What a walk does for each thing.  Doing it twice is harmless. */
enum sweep {
	SWEEP_RECLAIM =
	    1, /* the history has changed: writes again what is held */
	SWEEP_UNBLOCK = 2, /* the guard is ready: what waits for it goes on */
	SWEEP_LOOK = 4,	   /* messages were missed: plans a look at the store */
	SWEEP_WARM = 8,	   /* warm names may have to be given back */
	SWEEP_HAND_ON = 16 /* hands on reserved names */
};

/* Things of one kind.  Static. */
struct swept {
	/* Their tables, one after the other; NULL: that was all. */
	const struct table *(*table)(const struct core *core, uint32_t i);
	bool by_guard; /* table i has those of guard i */
	/* Does for one what sweep_of() its guard says. */
	void (*one)(struct core *core, struct table_link *link);
};

/* Requires static rows, in the order of a walk; NULL ends them. */
void sweep_init(struct core *core, const struct swept *const *rows);
void sweep_fini(struct core *core);

/* What the present walk is for. */
unsigned sweep_of(const struct core *core, uint32_t shard);

/* Plans a walk that does this for everything on the guard, or on all guards; it
 * begins in a later step, unless the caller runs the job. */
void sweep_plan(struct core *core, uint32_t shard, unsigned what);
void sweep_plan_all(struct core *core, unsigned what);

/* A job: goes on with the walk. */
bool sweep_run(struct core *core);

/*
 * Something is blocked from now on, until its guard lets it ask the store, or
 * is no longer blocked; `was`: it was blocked until now.  Returns `blocked`, to
 * be kept.
 */
bool sweep_block(struct core *core, uint32_t shard, bool was, bool blocked);

/* Do the guards count this many that wait?  For tests; aborts if not. */
void sweep_check(const struct core *core, size_t nblocked);

#endif
