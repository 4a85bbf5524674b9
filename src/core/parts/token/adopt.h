/*
 * Holds of brokers that have gone: token holds, and reserved names.  Their keys
 * live on in Redis, but if Redis forgot one, no broker would write it again.
 * So one of the running brokers adopts them, with a record of each.
 *
 *	heartbeat says: a broker has gone --> ADOPT, step by step --> records
 *
 * Redis picks the broker, once for each guard, and goes through the keys in
 * steps (lua/adopt.lua).  If that broker goes, too, another one begins anew.
 */
#ifndef LOCKBROKER_CORE_PARTS_TOKEN_ADOPT_H
#define LOCKBROKER_CORE_PARTS_TOKEN_ADOPT_H

#include "core/parts/token/state.h"

void adopt_init(struct core *core);
void adopt_fini(struct core *core);

/* A broker has gone, and this one is to look for what it had there
 * (guard_listener). */
void adopt_begin(struct core *core, uint32_t shard);

/* A name that this broker kept reserved is such a hold now (lock_hooks). */
void adopt_disowned(struct core *core, const char *name, size_t len,
    uint64_t seq, uint64_t fence, int64_t left_ms);

void adopt_timer(struct core *core, struct timer *t);
void adopt_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o);

/* Is no pass of this broker under way? */
bool adopt_idle(const struct core *core, uint32_t shard);

void adopt_check(const struct core *core);

#endif
