/*
 * A redis-server of our own: it runs on a private Unix socket, without
 * persistence, and ends when we do.
 *
 * It dies with this process, even if that is killed by SIGKILL.  If it dies
 * itself, it is started again after a pause that grows.  Its output is logged
 * at level debug.  Requires the main thread: the kernel ends the server when
 * the thread that started it ends.
 */
#ifndef LOCKBROKER_REDIS_EMBEDDED_H
#define LOCKBROKER_REDIS_EMBEDDED_H

#include <stddef.h>

struct embedded;
struct io;

struct embedded_handler {
	void (*started)(void *arg); /* the process runs: connect */
	/* The program is missing, or ended before it was ever ready. */
	void (*fatal)(void *arg, const char *why);
};

/*
 * Makes the directory of the socket: in $RUNTIME_DIRECTORY if there is one,
 * else in $TMPDIR or /tmp.  Returns NULL, with a line in why, if that fails.
 */
struct embedded *embedded_new(struct io *io, const char *program,
    unsigned database, const struct embedded_handler *handler, void *arg,
    char *why, size_t why_size);

/* Starts the server from the loop, which also calls the handlers. */
void embedded_start(struct embedded *e);

/* Notes that the server has answered. */
void embedded_ready(struct embedded *e);

/* Returns the path of the socket, which lives as long as e. */
char *embedded_path(struct embedded *e);

/* Stops the server and removes socket and directory. */
void embedded_free(struct embedded *e);

#endif
