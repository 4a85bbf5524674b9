/*
 * The event loop of the daemon: how libevent is set up.
 */
#ifndef LOCKBROKER_DAEMON_PROCESS_LOOP_H
#define LOCKBROKER_DAEMON_PROCESS_LOOP_H

#include <stdbool.h>

struct event_base;

/* Aborts if it can't.  The caller frees it with event_base_free(). */
struct event_base *loop_new(void);

/*
 * How the loop looks for events before it sleeps.  All 0 at first.  Whoever
 * waits for different parties keeps one for each: they take their own time.
 */
struct loop_look {
	unsigned pause; /* after a vain look, so many times it does not ... */
	unsigned left;	/* ... of which so many are left */
};

/* Waits for events and handles them; returns false if it can't. */
bool loop_once(struct event_base *base, struct loop_look *look);

#endif
