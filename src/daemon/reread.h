/*
 * Reads the configuration again, in a thread of its own: names of users and
 * groups may be asked for from a directory service, and files may lie on
 * another host, so it can take any time, and no lock is to wait for that.
 *
 *	reread_start() --> thread: settings_load() --> loop: done()
 */
#ifndef LOCKBROKER_DAEMON_REREAD_H
#define LOCKBROKER_DAEMON_REREAD_H

#include "config/config.h"

struct event_base;
struct reread;

/*
 * From the loop.  fresh is NULL where there are faults; else what is in it
 * goes when this returns, but for what has been taken.
 */
typedef void reread_done(
    void *arg, struct config *fresh, const struct config_faults *faults);

/* file: what -c named, or NULL; must outlive it. */
struct reread *reread_new(
    struct event_base *base, const char *file, reread_done *done, void *arg);

/* Does not wait for a thread that is reading: nobody hears of that one. */
void reread_free(struct reread *r);

/* While it is reading already, it reads once more then. */
void reread_start(struct reread *r);

#endif
