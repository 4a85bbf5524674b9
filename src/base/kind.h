/*
 * Kinds of objects that have names (kinds.def).  Objects of different kinds may
 * have the same name, and are independent of each other.
 */
#ifndef LOCKBROKER_BASE_KIND_H
#define LOCKBROKER_BASE_KIND_H

#include <stddef.h>

enum kind {
	KIND_ANY, /* not given */
#define KIND(id, ...) KIND_##id,
#include "base/kinds.def"
#undef KIND
	KIND_MAX
};

#define KIND_SYNC (KIND_LOCK + 1) /* the first of the synchronizers */
#define KIND_BIT(kind) (1U << ((kind)-KIND_LOCK))

/* For sentences. */
#define KIND_TEXT "lock, semaphore, latch or barrier"
#define KIND_SYNC_TEXT "semaphore, latch or barrier"

extern const char *const kind_words[KIND_MAX]; /* KIND_ANY: NULL */

/* Returns the kind with that word, or KIND_ANY. */
enum kind kind_find(const char *word, size_t len);

#endif
