/*
 * WHY: who holds a name, what that holder waits for in turn, and so on, over
 * brokers.
 */
#ifndef LOCKBROKER_CORE_PARTS_VIEWS_CHAIN_H
#define LOCKBROKER_CORE_PARTS_VIEWS_CHAIN_H

#include "core/kernel/session/owner.h"
#include "core/kernel/turn/slot.h"

void why_init(struct core *core);
void why_fini(struct core *core);

/* A WHY of the owner.  The answer may come later. */
void why_request(
    struct core *core, struct owner *owner, const struct core_request *rq);

/* Of SLOT_WHY, and TIMER_WHY. */
void why_again(struct core *core, const struct slot *slot, int64_t left_ms);
void why_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o);
void why_told(struct core *core, const struct slot *slot,
    const struct outcome *o, const struct about *told);
void why_timer(struct core *core, struct timer *t);

#endif
