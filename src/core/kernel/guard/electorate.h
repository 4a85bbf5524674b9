/*
 * Which servers decide about a name, and when they have: what the guards ask.
 *
 * Mostly each server decides alone about its names, which is the guards' own row
 * (alone.c).  Over several independent servers all of them decide together about
 * every name, and a part says how (parts/quorum).  Guards that decide together
 * are a range, whichever of them is named.
 */
#ifndef LOCKBROKER_CORE_KERNEL_GUARD_ELECTORATE_H
#define LOCKBROKER_CORE_KERNEL_GUARD_ELECTORATE_H

#include "core/kernel/guard/guard.h"

/* Static; functions that may be NULL say so. */
struct electorate {
	/* Is it true of enough of them to decide? */
	bool (*enough)(const struct core *core, uint32_t shard,
	    bool (*is)(const struct guard *g));
	/* When had enough of them last reported that they may grant?  0:
	 * never. */
	int64_t (*granted_ms)(const struct core *core, uint32_t shard);
	/* Why they grant nothing: as guard_why(). */
	int64_t (*why)(
	    const struct core *core, uint32_t shard, char *why, size_t size);
	/*
	 * For how long a server that may have forgotten something grants
	 * nothing: recovery_ms, or longer.  The server is about to be blessed;
	 * or NULL.
	 */
	int64_t (*grace_ms)(const struct core *core, const struct guard *g);
	void (*blesses)(struct core *core, const struct guard *g);
	/* A server's clock has gained that much: notes it for leases (skew.h),
	 * and returns the gain that counts for them. */
	int64_t (*gained)(struct core *core, struct guard *g, int64_t by_ms);
	/*
	 * Or NULL: a server can be reached, or not, or refuses calls; it has
	 * sent that report; it has answered an operation on the guard.  All
	 * else is noted by then.
	 */
	void (*changed)(struct core *core);
	void (*told)(struct core *core, struct guard *g, int64_t sent_ms,
	    const struct guard_report *report);
	void (*answered)(
	    struct core *core, struct guard *g, enum op_kind op, bool done);
};

extern const struct electorate electorate_alone;

#endif
