/*
 * Bytes that somebody else owns.
 */
#ifndef LOCKBROKER_BASE_SPAN_H
#define LOCKBROKER_BASE_SPAN_H

#include <stddef.h>

/*
 * Points into a line or a literal, and is valid as long as that is.  Nobody
 * frees it.
 */
struct span {
	const char *p;
	size_t n;
};

#endif
