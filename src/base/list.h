/*
 * The list macros of <sys/queue.h>, with the safe iterators that glibc lacks;
 * and how to get from a link, a timer or the like to the object that embeds it.
 */
#ifndef LOCKBROKER_BASE_LIST_H
#define LOCKBROKER_BASE_LIST_H

#include <stddef.h>
#include <sys/queue.h>

#define container_of(ptr, type, member) \
	((type *)(void *)((char *)(ptr)-offsetof(type, member)))
#define container_of_const(ptr, type, member)                       \
	((const type *)(const void *)((const char *)(ptr)-offsetof( \
	    type, member)))

static inline void *
container_at(void *ptr, size_t offset)
{
	return ptr == NULL ? NULL : (char *)ptr - offset;
}

/* NULL for NULL. */
#define container_or_null(ptr, type, member) \
	((type *)container_at((ptr), offsetof(type, member)))

#ifndef TAILQ_FOREACH_SAFE
#define TAILQ_FOREACH_SAFE(var, head, field, next) \
	for ((var) = TAILQ_FIRST(head);            \
	     (var) && ((next) = TAILQ_NEXT(var, field), 1); (var) = (next))
#endif

#ifndef LIST_FOREACH_SAFE
#define LIST_FOREACH_SAFE(var, head, field, next) \
	for ((var) = LIST_FIRST(head);            \
	     (var) && ((next) = LIST_NEXT(var, field), 1); (var) = (next))
#endif

#endif
