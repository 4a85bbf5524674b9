/*
 * Sockets that are listened on.
 */
#ifndef LOCKBROKER_FRONT_LISTENER_H
#define LOCKBROKER_FRONT_LISTENER_H

#include <stdbool.h>

struct front;
struct listener;

/*
 * Accepts clients from now on.  Takes over the socket, its name as the log
 * has it, and the path to unlink in the end, or NULL.
 */
struct listener *listener_add(
    struct front *f, int fd, bool tcp, char *name, char *path);

/* The one with this name, or NULL. */
struct listener *listener_find(const struct front *f, const char *name);

/* Somebody else accepts there, who has this number for it. */
void listener_set_place(struct listener *l, unsigned place);

/* Whoever comes to it from now on is a proxy, or not. */
void listener_set_proxied(struct listener *l, bool proxied);

/* Once for each front, before and after all others. */
void listeners_init(struct front *f);
void listeners_fini(struct front *f);

#endif
