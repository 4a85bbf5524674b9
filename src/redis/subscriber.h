/*
 * The connection that listens on our channel, and a check that it really does.
 *
 * A subscribed connection answers nothing but PING, so every probe is a message
 * to ourselves: published over a command link, it must come back here.
 */
#ifndef LOCKBROKER_REDIS_SUBSCRIBER_H
#define LOCKBROKER_REDIS_SUBSCRIBER_H

#include <stdbool.h>
#include <stddef.h>

#include "redis/link.h"

struct subscriber;

struct subscriber_handler {
	void (*message)(void *arg, const char *text, size_t len);
	/* We listen (and may have missed messages), or no longer do. */
	void (*listening)(void *arg, bool on);
};

/*
 * The config names the channel.  `node` names the server in the log; it must
 * live as long as the subscriber.
 */
struct subscriber *subscriber_new(const struct link_config *config,
    const char *node, const struct subscriber_handler *handler, void *arg);

/* Returns its link, to be started, moved or cut. */
struct link *subscriber_link(const struct subscriber *s);
void subscriber_free(struct subscriber *s);

/*
 * Begins a probe.  Returns true, with the text to publish on the channel, or
 * false if there is nothing to publish.  Gives the connection up if the probe
 * before did not arrive in time.
 */
bool subscriber_probe(struct subscriber *s, char *text, size_t size);

/* Takes the answer to the PUBLISH: did any client listen? */
void subscriber_published(struct subscriber *s, bool heard);

#endif
