/*
 * Lets each message through once.
 *
 * In a cluster, PUBLISH goes to every node, and we listen on several: a message
 * arrives from each of them.  Only the connection that brought a text first
 * counts for it; so a text that was sent twice comes through twice.
 */
#ifndef LOCKBROKER_REDIS_ONCE_H
#define LOCKBROKER_REDIS_ONCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ONCE_MAX 256 /* messages remembered */

/* Plain data; all zeroes remembers nothing. */
struct once {
	struct {
		uint64_t hash;
		const void *from;
		int64_t at_ms;
	} seen[ONCE_MAX];
	unsigned next;
};

/* Returns false if another than `from` brought the same text a moment ago. */
bool once_accept(struct once *o, const void *from, const char *text, size_t len,
    int64_t now_ms);

/* `from` brings no more messages: a text that it brought may come from
 * others. */
void once_forget(struct once *o, const void *from);

#endif
