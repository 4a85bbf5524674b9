/*
 * The directory of the socket of an embedded server:
 *
 *	$RUNTIME_DIRECTORY, $TMPDIR or /tmp
 *	  lockbrokerd-XXXXXX/
 *	    redis.sock
 *	    life      a FIFO: the server lives as long as this is open for
 *	              writing (embedded.c)
 *	    output    a FIFO: what the server prints
 *
 * The processes of a broker that replace each other use the same one, and each
 * of them holds a lock on it (flock) for as long as it uses it.
 */
#ifndef LOCKBROKER_REDIS_SERVER_DIR_H
#define LOCKBROKER_REDIS_SERVER_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/un.h>

#define SERVER_PATH_SIZE sizeof(((struct sockaddr_un *)0)->sun_path)

struct server_dir {
	char path[SERVER_PATH_SIZE]; /* "": there is none */
	char socket[SERVER_PATH_SIZE];
	char life[SERVER_PATH_SIZE];
	char output[SERVER_PATH_SIZE];
	int life_fd; /* for writing; -1: closed */
	int output_fd;
	int dir_fd; /* holds the lock */
};

void server_dir_init(struct server_dir *d);

/*
 * Makes a directory, and removes what brokers that were killed have left.
 * Returns false, with a line in why, if that fails.
 */
bool server_dir_make(struct server_dir *d, char *why, size_t why_size);

/* Finds the directory of an earlier process, which has handed us its life_fd:
 * that is ours from now on, whatever is returned. */
bool server_dir_inherit(
    struct server_dir *d, int life_fd, char *why, size_t why_size);

/*
 * Finds the directory at a path that a process of this broker has noted, and
 * uses it, too, if another process uses it at this moment.  Otherwise d is as
 * server_dir_init() leaves it.
 */
bool server_dir_join(struct server_dir *d, const char *path);

/* Leaves what the server prints to other processes; the server lives on. */
void server_dir_leave(struct server_dir *d);

/*
 * Does no other process use the directory?  Asked at the end only: if so, no
 * process joins it any more; otherwise this process no longer counts.
 */
bool server_dir_alone(const struct server_dir *d);

void server_dir_close(struct server_dir *d);
void server_dir_remove(struct server_dir *d); /* if there is one */

#endif
