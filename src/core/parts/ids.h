/*
 * The parts of the core, and their numbers: where each has its state, and the
 * kinds of its timers and slots.  The kernel does not include this.
 */
#ifndef LOCKBROKER_CORE_PARTS_IDS_H
#define LOCKBROKER_CORE_PARTS_IDS_H

#include "core/kernel/turn/part.h"

enum part_id {
	PART_QUORUM,  /* several servers that vote */
	PART_OBSERVE, /* measurements, lines of the log */
	PART_REPLAY,
	PART_WATCH,
	PART_FORCE,
	PART_RECALL,
	PART_UNOWNED,
	PART_WARM,
	PART_PLAIN,
	PART_ABOUT,
	PART_VIEWS,
	PART_WHY,
	PART_FLEET,
	PART_SYNC,
	PART_TOKEN,
	PART_TENANT,
	PART_NOTES,
	PART_DRILL,
	PARTS
};

enum part_timer_kind {
	TIMER_SYNC = TIMER_OF_PARTS,
	TIMER_PERMITS,
	TIMER_LATCH_COUNT,
	TIMER_WATCH,
	TIMER_FORCE,
	TIMER_TOKEN,
	TIMER_TOKEN_RECORD,
	TIMER_ADOPT,
	TIMER_POLLERS,
	TIMER_RECALL,
	TIMER_ABOUT,
	TIMER_WHY,
	TIMER_DRILL,
	TIMER_FLEET,
	TIMER_VOTE,
	TIMERS
};

enum part_slot_kind {
	SLOT_ASK = SLOT_OF_PARTS,
	SLOT_SYNC,
	SLOT_WATCH,
	SLOT_FORCE,
	SLOT_TOKEN,
	SLOT_TOKEN_RECORD,
	SLOT_ADOPT,
	SLOT_POLLERS,
	SLOT_FLEET,
	SLOT_RECALL,
	SLOT_ABOUT,
	SLOT_WHY,
	SLOT_DRILL,
	SLOT_VOTE,
	SLOTS
};

_Static_assert((unsigned)PARTS <= PART_MAX && (unsigned)TIMERS <= TIMER_MAX &&
		   (unsigned)SLOTS <= SLOT_MAX,
    "there is room for all of them");

extern const struct core_part observe_part, replay_part, watch_part, force_part,
    recall_part, unowned_part, warm_part, plain_part, about_part, views_part,
    why_part, fleet_part, sync_part, token_part, tenant_part, notes_part,
    drill_part, quorum_part;

/* They answer the requests of the verbs that base/verbs.def gives to parts, at
 * once or later. */
typedef void part_request(
    struct core *core, struct owner *owner, const struct core_request *rq);
part_request setvalue_request, status_request, why_request, fleet_request,
    force_request, drill_request, watch_request, watch_end_request,
    semaphore_acquire, semaphore_release, latch_request, barrier_request;

static inline struct measure *
measure_of(const struct core *core)
{
	return core->part[PART_OBSERVE];
}

#endif
