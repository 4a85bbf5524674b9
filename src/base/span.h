/*
 * Bytes that belong to somebody else.
 */
#ifndef LOCKBROKER_BASE_SPAN_H
#define LOCKBROKER_BASE_SPAN_H

#include <stddef.h>

/* Points into a line or a literal; nobody frees it; valid as long as that. */
struct span {
	const char *p;
	size_t n;
};

#endif
