/*
 * A redis-server of our own: started on a private Unix socket, without
 * persistence, and gone when we are.
 *
 * It dies with this process even when that is killed by SIGKILL, is started
 * again (after a pause that grows) when it dies itself, and its output is
 * logged at level debug.  Only to be used from the main thread: the kernel
 * ends it when the thread that started it ends.
 */
#ifndef LOCKBROKER_REDIS_EMBEDDED_H
#define LOCKBROKER_REDIS_EMBEDDED_H

#include <stddef.h>

struct embedded;
struct event_base;

struct embedded_handler {
	void (*started)(void *arg); /* the process runs: connect */
	/* The program is missing, or ended before it was ever ready. */
	void (*fatal)(void *arg, const char *why);
};

/*
 * Makes the directory of the socket: in $RUNTIME_DIRECTORY where there is one,
 * else in $TMPDIR or /tmp.  NULL, with a line in why, where that fails.
 */
struct embedded *embedded_new(struct event_base *base, const char *program,
    unsigned database, const struct embedded_handler *handler, void *arg,
    char *why, size_t why_size);

/* Handlers are called from the loop. */
void embedded_start(struct embedded *e);

/* It was seen to answer. */
void embedded_ready(struct embedded *e);

/* Of the socket; lives as long as e. */
char *embedded_path(struct embedded *e);

/* Stops the server and removes socket and directory. */
void embedded_free(struct embedded *e);

#endif
