/*
 * Warm names: they stay with this broker for a moment after the last release,
 * so that the next LOCK here costs no trip to the store (locks.warm in
 * lockbrokerd.yaml(5)).
 */
#ifndef LOCKBROKER_CORE_PARTS_WARM_WARM_H
#define LOCKBROKER_CORE_PARTS_WARM_WARM_H

#include "core/kernel/lock/names.h"
#include "core/parts/ids.h"

#define WARM_MAX 10000 /* names at once; the oldest go first */

/* The part's data on a name; freed with it. */
struct warm_name {
	struct lock *lock;
	TAILQ_ENTRY(warm_name) link; /* if it is warm */
	int64_t drawn_ms;	     /* its last draw of fences; or its first */
	uint32_t grants;	     /* while it was warm, since then */
	bool warm;		     /* it is kept here without a holder */
};

/* Another broker or client wants the name: it is no longer warm, and does not
 * become so for a while. */
void warm_recall(struct core *core, struct lock *l);

/* The name does not become warm for half a minute or more. */
void warm_cool(struct core *core, const char *name, size_t len);

static inline bool
warm_is(const struct lock *l)
{
	const struct warm_name *m = lock_part(l, PART_WARM);

	return m != NULL && m->warm;
}

#endif
