/*
 * Finding the waiting request that a CANCEL means: tables by owner and
 * reference.  Each module that keeps requests has one.
 */
#ifndef LOCKBROKER_CORE_SESSION_REQUEST_H
#define LOCKBROKER_CORE_SESSION_REQUEST_H

#include "core/session/owner.h"

/* Embedded in each request that may be cancelled.  Requires that the request is
 * zeroed at first, and removed before it or its owner is freed. */
struct request_key {
	struct table_link link;
	struct {
		const struct owner *owner;
		uint64_t ref;
	} key;
	bool listed; /* in the table */
};

void requests_init(struct table *t);
/* Requires that the request is not in the table, and that its owner has no
 * other with this reference there. */
void requests_add(struct table *t, struct request_key *k,
    const struct owner *owner, uint64_t ref);
void requests_remove(
    struct table *t, struct request_key *k); /* if it is there */
/* Returns NULL if there is none. */
struct request_key *requests_find(
    const struct table *t, const struct owner *owner, uint64_t ref);

#endif
