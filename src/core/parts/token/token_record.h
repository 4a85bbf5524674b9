/*
 * Token records: token holds that this broker has granted or extended last.
 *
 * The broker writes them again if Redis has forgotten them, reports them, and
 * asks once a lease whether they are still its own: another broker that ends
 * one or takes it over says so in a message, which may be lost.
 */
#ifndef LOCKBROKER_CORE_PARTS_TOKEN_TOKEN_RECORD_H
#define LOCKBROKER_CORE_PARTS_TOKEN_TOKEN_RECORD_H

#include "core/kernel/guard/sweep.h"
#include "core/parts/token/state.h"

/* Can the name have a hold that this broker is about to end, since no client
 * was told of it? */
bool token_record_orphaned(
    const struct core *core, const char *name, size_t len);

/* The first number of such holds; 0: there are none. */
uint64_t token_record_first_orphan(const struct core *core);

/* The functions of walks over everything on a guard, for records. */
extern const struct swept token_records_swept;

/* A guard can be reached, or not. */
void token_records_guard_changed(struct core *core, uint32_t shard);

void token_record_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o);
/* UNLOCK-FORCE of a name is answered, or is not: perhaps it has ended the hold. */
void token_record_forced(struct core *core, const struct slot *slot,
    const struct outcome *o, const char *by);

void token_record_timer(struct core *core, struct timer *t);

/* Takes the message `took SEQ NAME`.  Returns false if it is another one. */
bool token_record_message(struct core *core, const char *text, size_t len);

/*
 * Did such a message come before the answer that made the hold?  Then another
 * broker has ended it meanwhile, or has taken it over.
 */
bool token_record_was_taken(const struct core *core, uint64_t seq);

/* A job: once the broker stops, frees them and leaves the holds to Redis. */
bool token_records_run(struct core *core);

/* The broker stops. */
void token_records_stop(struct core *core);

/* Returns how many wait for a guard.  For tests; aborts if something is wrong. */
size_t token_records_check(const struct core *core);

#endif
