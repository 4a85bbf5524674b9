/*
 * Pools: objects of one size that come and go with each request.
 *
 * Some objects that were given back are kept for the next requests.  So most
 * requests need no malloc(); and the heap has no holes of their size between
 * the objects that stay, which smaller ones would fill in part.
 *
 * A build with sanitizers keeps none, so that it sees whoever uses an object
 * that was given back.
 */
#ifndef LOCKBROKER_BASE_POOL_H
#define LOCKBROKER_BASE_POOL_H

#include <stddef.h>

#define POOL_KEPT 64 /* objects, at most */

/* Embedded in its owner. */
struct pool {
	size_t size; /* of an object */
	unsigned n;
	void *kept[POOL_KEPT];
};

void pool_init(struct pool *p, size_t size);
void pool_fini(struct pool *p); /* frees what is kept */

/* Returns an object that is all zero.  The caller gives it back. */
void *pool_take(struct pool *p);
void pool_give(struct pool *p, void *object); /* no-op if it is NULL */

#endif
