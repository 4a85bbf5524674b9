/*
 * Sockets that are listened on.
 */
#ifndef LOCKBROKER_FRONT_LISTENER_H
#define LOCKBROKER_FRONT_LISTENER_H

#include <stdbool.h>

struct front;

/*
 * Accepts clients from now on.  Takes over the socket, its name as the log
 * has it, and the path to unlink in the end, or NULL.
 */
void listener_add(struct front *f, int fd, bool tcp, char *name, char *path);

/* Is there one with this name? */
bool listener_there(const struct front *f, const char *name);

/* Once for each front, before and after all others. */
void listeners_init(struct front *f);
void listeners_fini(struct front *f);

#endif
