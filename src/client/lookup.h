/*
 * Finds the addresses of a host, within a time.  getaddrinfo(3) runs in a thread,
 * since a name server that does not answer holds it up for very long; one that
 * nobody waits for any more goes on, so that asking again later joins it.
 */
#ifndef LOCKBROKER_CLIENT_LOOKUP_H
#define LOCKBROKER_CLIENT_LOOKUP_H

#include <netdb.h>
#include <signal.h>
#include <stdint.h>

#include "base/address.h"
#include "base/list.h"

/* What has been asked and not answered yet.  Embedded in whoever asks. */
LIST_HEAD(lookups, lookup);

/* For lookup_host(): the time was over.  No EAI_ has this value. */
#define LOOKUP_LATE 1

/*
 * Returns 0, and what freeaddrinfo() takes; or an EAI_ code, or LOOKUP_LATE.
 * Waits no longer once *stop is not 0, unless it is NULL. The deadline is by
 * now_ms() without *stood_ms, to which the time is added in which this process
 * did not run.
 */
int lookup_host(struct lookups *all, const struct address *a,
    int64_t deadline_ms, const volatile sig_atomic_t *stop, int64_t *stood_ms,
    struct addrinfo **list);

/* Nobody will ask again. */
void lookup_forget(struct lookups *all);

#endif
