/*
 * Free lists: objects of one size that come and go with each request.
 *
 * Some objects that were given back are kept for the next requests.  So most
 * requests need no malloc(); and the heap has no holes of their size between
 * the objects that stay, which smaller ones would fill in part.
 *
 * A build with sanitizers keeps none, so that it sees whoever uses an object
 * that was given back.
 */
#ifndef LOCKBROKER_BASE_FREELIST_H
#define LOCKBROKER_BASE_FREELIST_H

#include <stddef.h>

#define FREELIST_KEPT 64 /* objects, at most */

/* Embedded in its owner. */
struct freelist {
	size_t size; /* of an object */
	unsigned n;
	void *kept[FREELIST_KEPT];
};

void freelist_init(struct freelist *f, size_t size);
void freelist_fini(struct freelist *f); /* frees what is kept */

/* Returns an object that is all zero.  The caller gives it back. */
void *freelist_take(struct freelist *f);
void freelist_give(struct freelist *f, void *object); /* no-op if it is NULL */

#endif
