/*
 * Waiting for a name over a quorum, where there is no queue to wait in.
 */
#ifndef LOCKBROKER_CORE_LEASE_BACKOFF_H
#define LOCKBROKER_CORE_LEASE_BACKOFF_H

#include "core/lease/lease.h"

/* A number that stands for a token; never 0. */
uint32_t backoff_token(const char *text, size_t len);

/*
 * An attempt that took so long has failed, and the lease is NONE: sets wake_ms
 * for the next one.  `first` of the outcome: whose the name is (backoff_token());
 * 0: not known.  BUSY: we will not be told when that is over.
 */
void backoff_plan(struct core *core, struct lease *l, int64_t took_ms,
    const struct outcome *o);

/* Answers that came later say that another has the name. */
void backoff_known(
    struct core *core, struct lease *l, uint32_t rival, int64_t ttl_ms);

/* The next attempt begins. */
void backoff_over(struct lease *l);

/* Another is known to have the name, and nothing is tried before that ends. */
bool backoff_goes_on(const struct lease *l);

/* It was told that a token has ended: true if wake_ms has changed. */
bool backoff_freed(
    struct core *core, struct lease *l, const char *text, size_t len);

#endif
