/*
 * The connection that listens on our channel, and whether it really does.
 *
 * A subscribed connection can be asked nothing but PING, so every
 * probe is a message to ourselves: published over a command link, it must
 * come back here.
 */
#ifndef LOCKBROKER_REDIS_LISTENER_H
#define LOCKBROKER_REDIS_LISTENER_H

#include <stdbool.h>
#include <stddef.h>

#include "redis/link.h"

struct listener;

struct listener_handler {
	void (*message)(void *arg, const char *text, size_t len);
	/* We listen (messages may have been missed), or don't any more. */
	void (*listening)(void *arg, bool on);
};

/*
 * The config names the channel.  `node` is the server in the log, and lives as
 * long as the listener.
 */
struct listener *listener_new(const struct link_config *config,
    const char *node, const struct listener_handler *handler, void *arg);
void listener_start(struct listener *s); /* or ends a pause */

/* As link_move() and link_cut(). */
void listener_move(struct listener *s, const char *why);
void listener_cut(struct listener *s, const char *why);

/* For link_info(): the server that it listens to. */
const struct link *listener_link(const struct listener *s);
void listener_free(struct listener *s);

/*
 * Time for a probe: true, with the text to publish on the channel.  Gives the
 * connection up where the probe before did not arrive.
 */
bool listener_probe(struct listener *s, char *text, size_t size);

/* Did anybody listen when it was published? */
void listener_published(struct listener *s, bool heard);

#endif
