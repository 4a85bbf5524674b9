/*
 * Finds the addresses of a host, within a time limit.  getaddrinfo(3) runs in a
 * thread, since a name server that does not answer blocks it for very long.  An
 * abandoned lookup continues, and a later call for the same host joins it.
 */
#ifndef LOCKBROKER_CLIENT_LOOKUP_H
#define LOCKBROKER_CLIENT_LOOKUP_H

#include <netdb.h>
#include <signal.h>
#include <stdint.h>

#include "base/address.h"
#include "base/list.h"

/* Lookups without an answer yet.  Embedded in the owner. */
LIST_HEAD(lookups, lookup);

/* From lookup_host(): the deadline has passed.  No EAI_ has this value. */
#define LOOKUP_LATE 1

/*
 * Returns 0 and a list for freeaddrinfo(), or an EAI_ code, or LOOKUP_LATE.
 * Stops waiting once *stop is not 0; stop may be NULL. The deadline is by
 * now_ms() minus *stood_ms; the time in which this process did not run is added
 * to *stood_ms.
 */
int lookup_host(struct lookups *all, const struct address *a,
    int64_t deadline_ms, const volatile sig_atomic_t *stop, int64_t *stood_ms,
    struct addrinfo **list);

/* Drops all lookups: their results will not be used. */
void lookup_forget(struct lookups *all);

#endif
