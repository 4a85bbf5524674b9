/*
 * Memory allocation that never fails: the program aborts instead.
 *
 * Every queue, line and table has a configured limit, so a failure of malloc is
 * abnormal: these functions abort() instead of returning NULL.  The leases of a
 * broker that aborts expire in Redis, which is the safe outcome.
 */
#ifndef LOCKBROKER_BASE_XMALLOC_H
#define LOCKBROKER_BASE_XMALLOC_H

#include <stddef.h>
#include <stdlib.h> /* free() */

void *xmalloc(size_t size) __attribute__((malloc, warn_unused_result));
void *xcalloc(size_t n, size_t size)
    __attribute__((malloc, warn_unused_result));
void *xrealloc(void *p, size_t size) __attribute__((warn_unused_result));
char *xstrdup(const char *s) __attribute__((malloc, warn_unused_result));
char *xstrndup(const char *s, size_t n)
    __attribute__((malloc, warn_unused_result));
char *xformat(const char *fmt, ...)
    __attribute__((malloc, warn_unused_result, format(printf, 1, 2)));

#endif
