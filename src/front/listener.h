/*
 * Listening sockets.
 */
#ifndef LOCKBROKER_FRONT_LISTENER_H
#define LOCKBROKER_FRONT_LISTENER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/list.h"
#include "base/proxy_header.h"

struct event;
struct front;

/* One listener.  Owned by the front. */
struct listener {
	struct front *front;
	int fd;
	bool tcp;
	enum proxied proxied;
	bool passed;   /* the service manager's */
	bool any_port; /* the kernel has chosen the port */
	bool shared;   /* another process listens there too: keep the path */
	bool kept;  /* ... does not: accepts, though the front is held back */
	int place;  /* another process accepts there; -1: we do */
	char *name; /* owned; as the log names it */
	char *path; /* owned; to be unlinked, or NULL */
	dev_t dev;  /* of path, so that we unlink only our own */
	ino_t ino;
	struct event *event;
	LIST_ENTRY(listener) link;
};

/*
 * Accepts clients from now on.  Takes over the socket, its name for the log,
 * and the path to unlink in the end (or NULL).
 */
struct listener *listener_add(
    struct front *f, int fd, bool tcp, char *name, char *path);

/* Returns the listener with this name, or NULL. */
struct listener *listener_find(const struct front *f, const char *name);

/* Logs that clients can connect to it. */
void listener_tell(const struct listener *l);

/* To be called once for each front, before and after all others. */
void listeners_init(struct front *f);
void listeners_fini(struct front *f);

#endif
