/*
 * The event loop of the daemon: how libevent is set up.
 */
#ifndef LOCKBROKER_DAEMON_LOOP_H
#define LOCKBROKER_DAEMON_LOOP_H

struct event_base;

/* Aborts if it can't.  The caller frees it with event_base_free(). */
struct event_base *loop_new(void);

#endif
