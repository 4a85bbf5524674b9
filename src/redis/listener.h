/*
 * The connection that listens on our channel, and a check that it really does.
 *
 * A subscribed connection answers nothing but PING, so every probe is a message
 * to ourselves: published over a command link, it must come back here.
 */
#ifndef LOCKBROKER_REDIS_LISTENER_H
#define LOCKBROKER_REDIS_LISTENER_H

#include <stdbool.h>
#include <stddef.h>

#include "redis/link.h"

struct listener;

struct listener_handler {
	void (*message)(void *arg, const char *text, size_t len);
	/* We listen (and may have missed messages), or no longer do. */
	void (*listening)(void *arg, bool on);
};

/*
 * The config names the channel.  `node` names the server in the log; it must
 * live as long as the listener.
 */
struct listener *listener_new(const struct link_config *config,
    const char *node, const struct listener_handler *handler, void *arg);
void listener_start(struct listener *s); /* or ends a pause */

/* Like link_move() and link_cut(). */
void listener_move(struct listener *s, const char *why);
void listener_cut(struct listener *s, const char *why);

/* Returns its link, for link_info(). */
const struct link *listener_link(const struct listener *s);
void listener_free(struct listener *s);

/*
 * Begins a probe.  Returns true, with the text to publish on the channel, or
 * false if there is nothing to publish.  Gives the connection up if the probe
 * before did not arrive in time.
 */
bool listener_probe(struct listener *s, char *text, size_t size);

/* Takes the answer to the PUBLISH: did anybody listen? */
void listener_published(struct listener *s, bool heard);

#endif
