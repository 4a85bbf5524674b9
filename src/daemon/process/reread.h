/*
 * Reads the configuration again in a thread: a directory service may be asked
 * for names of users and groups, and files may lie on another host, so reading
 * can take any time, and no lock may wait for that.
 *
 *	reread_start() --> thread: settings_load() --> loop: done()
 */
#ifndef LOCKBROKER_DAEMON_PROCESS_REREAD_H
#define LOCKBROKER_DAEMON_PROCESS_REREAD_H

#include <stdbool.h>

#include "config/config.h"

struct event_base;
struct reread;

/*
 * Called from the loop. fresh is NULL if there are faults.  Otherwise its
 * content is freed after the return, except for what was taken over.
 */
typedef void reread_done(
    void *arg, struct config *fresh, const struct config_faults *faults);

/* file: what -c named, or NULL; it must outlive the result. */
struct reread *reread_new(
    struct event_base *base, const char *file, reread_done *done, void *arg);

/* Does not wait for a thread that is reading: its result is dropped. */
void reread_free(struct reread *r);

/* Does it read once more, after its latest result? */
bool reread_again(const struct reread *r);

/* If it is reading already, it reads once more afterwards.  shared: only the
 * sections that all processes of a broker share. */
void reread_start(struct reread *r, bool shared);

#endif
