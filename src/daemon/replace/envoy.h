/*
 * The request of a process of the broker to another at a Unix socket: TAKEOVER.
 *
 *	connect, the line -->
 *	                  <-- "OK instance=I" with one end of a channel, or "ERR ..."
 */
#ifndef LOCKBROKER_DAEMON_REPLACE_ENVOY_H
#define LOCKBROKER_DAEMON_REPLACE_ENVOY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"

struct buf;
struct config;

enum envoy_end {
	ENVOY_LATER,  /* no answer yet */
	ENVOY_OK,     /* there is a channel */
	ENVOY_NOBODY, /* no process listens there */
	ENVOY_REFUSED /* the text says why */
};

struct envoy {
	int fd;	     /* connected; owned; -1: none */
	int channel; /* the caller's from ENVOY_OK on; else -1 */
	size_t n;
	char text[1024];
};

/* Returns ENVOY_LATER if the line was sent.  leaves: the sender asks to be
 * taken in. */
enum envoy_end envoy_send(struct envoy *e, const struct config *config,
    const char *path, bool leaves);

/* Takes in what has come; never waits. */
enum envoy_end envoy_hear(struct envoy *e);

/* Writes which Redis this process uses, as in the line. */
void envoy_add_redis(struct buf *out, const struct config *config);

/* The other side: sends the answer, and the descriptor with it.  Returns false
 * if it cannot all be sent at once. */
bool envoy_answer(int socket, struct span bytes, int fd);

/* Closes the connection, and a channel that was not taken. */
void envoy_end(struct envoy *e);

#endif
