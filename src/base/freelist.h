/*
 * Free lists: objects of one size that come and go with each request.
 *
 * Some returned objects are kept for the next requests.  So most requests need
 * no malloc(); and the heap gets no holes of their size between the objects
 * that stay, which smaller ones would partly fill.
 *
 * A build with sanitizers keeps none, so that it detects the use of a returned
 * object.
 */
#ifndef LOCKBROKER_BASE_FREELIST_H
#define LOCKBROKER_BASE_FREELIST_H

#include <stddef.h>

#define FREELIST_KEPT 64 /* objects, at most */

/* Embedded in its owner. */
struct freelist {
	size_t size; /* size of an object */
	unsigned n;
	void *kept[FREELIST_KEPT];
};

void freelist_init(struct freelist *f, size_t size);
void freelist_fini(struct freelist *f); /* frees the kept objects */

/* Returns an object that is all zero.  The caller must return it. */
void *freelist_take(struct freelist *f);
void freelist_give(struct freelist *f, void *object); /* no-op if it is NULL */

#endif
