/*
 * Listening sockets.
 */
#ifndef LOCKBROKER_FRONT_LISTENER_H
#define LOCKBROKER_FRONT_LISTENER_H

#include <stdbool.h>

#include "base/proxy_header.h"

struct front;
struct listener;

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

/* Another process accepts there, and identifies the listener by this number. */
void listener_set_place(struct listener *l, unsigned place);

/* Do clients that connect to it from now on come through a proxy? */
void listener_set_proxied(struct listener *l, enum proxied proxied);

/* It was passed by the service manager; the kernel has chosen its port; another
 * process listens at its path, too. */
void listener_set_passed(struct listener *l);
void listener_set_any_port(struct listener *l);
void listener_set_shared(struct listener *l);

/* To be called once for each front, before and after all others. */
void listeners_init(struct front *f);
void listeners_fini(struct front *f);

#endif
