/*
 * A ring of hashes.  It may forget a message too early, or take it for another;
 * that does no harm, because messages may be doubled or lost anyway.
 */
#include "config.h"

#include "redis/once.h"

#define MEMORY_MS 2000

static uint64_t
hash_of(const char *p, size_t n)
{
	uint64_t h = UINT64_C(14695981039346656037);
	size_t i;

	for (i = 0; i < n; i++)
		h = (h ^ (unsigned char)p[i]) * UINT64_C(1099511628211);
	return h;
}

bool
once_accept(struct once *o, const void *from, const char *text, size_t len,
    int64_t now_ms)
{
	uint64_t hash = hash_of(text, len);
	unsigned i;

	for (i = 0; i < ONCE_MAX; i++) {
		if (o->seen[i].hash != hash || o->seen[i].from == NULL ||
		    now_ms - o->seen[i].at_ms > MEMORY_MS)
			continue;
		if (o->seen[i].from != from)
			return false;
		o->seen[i].at_ms = now_ms;
		return true;
	}
	o->seen[o->next].hash = hash;
	o->seen[o->next].from = from;
	o->seen[o->next].at_ms = now_ms;
	o->next = (o->next + 1) % ONCE_MAX;
	return true;
}

void
once_forget(struct once *o, const void *from)
{
	unsigned i;

	for (i = 0; i < ONCE_MAX; i++)
		if (o->seen[i].from == from)
			o->seen[i].from = NULL;
}
