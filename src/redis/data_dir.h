/*
 * The directory in which an embedded server keeps its append-only file, and
 * whether that file has all that was ever written.
 *
 *	$STATE_DIRECTORY or $RUNTIME_DIRECTORY, else a temporary one
 *	  NAME.redis/
 *	    lock    byte 0 is locked by the broker, byte 1 by its server
 *	    boot    there if the file is whole: in which boot it is written, or
 *	            that it was closed
 *	    data/   what the server writes
 *	    aside/  what was set aside last
 *	    server  a link to the directory of the socket (server_dir.h)
 *
 * Redis writes to the file before it answers, so a crash of the server or of
 * the broker loses nothing.  A crash of the machine may, because nothing is
 * synchronized to the disk before the broker stops.
 *
 * If it cannot write, it says so in its output, and still answers the commands
 * that it has carried out in that turn; from then on it refuses.  So the broker
 * reads the output before it takes an answer, and removes the mark
 * (data_dir_stuck()).
 */
#ifndef LOCKBROKER_REDIS_DATA_DIR_H
#define LOCKBROKER_REDIS_DATA_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "store/gather.h"

struct data_dir;

/*
 * Opens the directory of a broker, for this process alone; `temporary` is used
 * where systemd or the operator gives none.  Returns NULL, with a line in why,
 * if that fails.
 */
struct data_dir *data_dir_open(
    const char *broker, const char *temporary, char *why, size_t why_size);

/*
 * The same for a directory that another process of this broker has open, and
 * whose lock it has handed to this process: the directory is only looked at
 * until data_dir_own().  Owns the lock from now on.
 */
struct data_dir *data_dir_inherit(const char *broker, const char *temporary,
    int lock, char *why, size_t why_size);

/* The other process has left the directory to this one; or this process leaves
 * it to another. */
void data_dir_own(struct data_dir *d);
void data_dir_leave(struct data_dir *d);

/* Returns the lock, to be handed to another process. */
int data_dir_lock(const struct data_dir *d);

/* The server has ended: synchronizes what it wrote to the disk.  d may be
 * NULL. */
void data_dir_close(struct data_dir *d);

/* Returns the directory for the server, which lives as long as d. */
const char *data_dir_path(const struct data_dir *d);

/* May the server leave out the end of its file, if the end is broken off? */
bool data_dir_may_cut(const struct data_dir *d);

/* In the child that becomes the server: locks the directory for it.  Returns
 * an errno; EAGAIN: another server has it. */
int data_dir_take(const struct data_dir *d);

/* Does the directory stay where the next broker of that name finds it? */
bool data_dir_stays(const struct data_dir *d);

/* Notes where the socket is; finds the noted path, "" if there is none. */
void data_dir_note(const struct data_dir *d, const char *server_dir);
void data_dir_noted(const struct data_dir *d, char *out, size_t size);

/* Returns the process that is the server; 0: there is none. */
pid_t data_dir_server(const struct data_dir *d);

/* Ends a server that an earlier broker has left there. */
void data_dir_evict(const struct data_dir *d);

/* A server is about to start.  Returns what it begins with. */
enum store_data data_dir_begin(struct data_dir *d);

/*
 * The server ended before it could be used.  Returns true if the server is to
 * be started again, with less of its file: the log says what is left out.  If
 * the file is not to blame, all is as it was before, and the result is false.
 */
bool data_dir_failed(struct data_dir *d);

/* The server has read its file: so the file was not to blame for anything. */
void data_dir_ready(struct data_dir *d);

/*
 * The server cannot write to its file; it can again; it has answered, and
 * grants.  The file is whole again only after a while, since the server does
 * not report each failure.
 */
void data_dir_stuck(struct data_dir *d);
void data_dir_writes(struct data_dir *d);
void data_dir_written(struct data_dir *d, bool grants);

/* Removes a directory with all that is in it. */
void data_dir_remove(const char *path);

#endif
