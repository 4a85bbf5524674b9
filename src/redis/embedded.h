/*
 * A redis-server of our own: it runs on a private Unix socket, and ends when we
 * do.  Its data are in a file, and are there again after a restart
 * (data_dir.h).
 *
 * It dies with its last user, even if that is killed by SIGKILL.  If it dies
 * itself, its owner starts it again after a pause that grows, and logs its
 * output at level debug.
 *
 * The owner is the process of the broker that made the server, until that
 * process is replaced (daemon/replace/upgrade.h): then the new process is the
 * owner.  A process that is not the owner yet, or no longer, uses the server,
 * and follows when the server is started again; but it neither starts nor stops
 * the server, and leaves its directories alone.  If the owner is killed, the
 * processes that it has replaced continue to use the server, and a broker that
 * is started then becomes its owner.
 */
#ifndef LOCKBROKER_REDIS_EMBEDDED_H
#define LOCKBROKER_REDIS_EMBEDDED_H

#include <stdbool.h>
#include <stddef.h>

#include "store/gather.h"

struct config;
struct embedded;
struct handed_list;
struct io;

struct embedded_handler {
	/* The process runs: connect. */
	void (*started)(void *arg, enum store_data data);
	/* The program is missing, or ended before it was ever ready. */
	void (*fatal)(void *arg, const char *why);
};

/*
 * Makes the directory of the socket: in $RUNTIME_DIRECTORY if there is one,
 * else in $TMPDIR or /tmp; and opens the directory of the data.  If a server
 * was handed to this process, uses that server, and is not its owner.  Returns
 * NULL, with a line in why, if that fails.  config must outlive this call only.
 */
struct embedded *embedded_new(struct io *io, const struct config *config,
    const struct embedded_handler *handler, void *arg, char *why,
    size_t why_size);

/* Starts the server from the loop, which also calls the handlers. */
void embedded_start(struct embedded *e);

/* Adds to what is handed to another process. */
void embedded_hand_over(const struct embedded *e, struct handed_list *out);

/* We are the owner from now on: what was handed to us is ours. */
void embedded_own(struct embedded *e);

/*
 * Another process is the owner from now on.  Returns false if the server ends
 * with that process: no broker would find it, because its data are in a
 * temporary directory.
 */
bool embedded_leave(struct embedded *e);

/* The server has read its file, and answers. */
void embedded_ready(struct embedded *e);

/* The server has carried out a call, and may grant; or it refused a call,
 * because it cannot write to its file. */
void embedded_wrote(struct embedded *e, bool grants);
void embedded_stuck(struct embedded *e);

/* Returns the path of the socket, which lives as long as e. */
char *embedded_path(struct embedded *e);

/* The last user stops the server and removes the directory of the socket. */
void embedded_free(struct embedded *e);

#endif
