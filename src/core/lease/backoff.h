/*
 * Waiting for a name over a quorum, where there is no queue to wait in.
 */
#ifndef LOCKBROKER_CORE_LEASE_BACKOFF_H
#define LOCKBROKER_CORE_LEASE_BACKOFF_H

#include "core/lease/lease.h"

/* Returns a number that stands for a token; never 0. */
uint32_t backoff_token(const char *text, size_t len);

/*
 * An attempt has failed after so long, and the lease is NONE: sets wake_ms for
 * the next one.  o->first says who has the name (backoff_token(); 0: unknown).
 * If the status is BUSY, no message will tell us when that one has ended.
 */
void backoff_plan(struct core *core, struct lease *l, int64_t took_ms,
    const struct outcome *o);

/* Late answers to a failed attempt say that another broker has the name. */
void backoff_known(
    struct core *core, struct lease *l, uint32_t rival, int64_t ttl_ms);

/* The next attempt begins. */
void backoff_over(struct lease *l);

/* Is another broker known to have the name, so that we do not try yet? */
bool backoff_goes_on(const struct lease *l);

/* A message says that a token has ended.  Returns whether wake_ms changed. */
bool backoff_freed(
    struct core *core, struct lease *l, const char *text, size_t len);

#endif
