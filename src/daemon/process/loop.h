/*
 * The event loop of the daemon: how libevent is set up.
 */
#ifndef LOCKBROKER_DAEMON_PROCESS_LOOP_H
#define LOCKBROKER_DAEMON_PROCESS_LOOP_H

#include <stdbool.h>

struct event_base;

/* Aborts if it cannot.  The caller frees it with event_base_free(). */
struct event_base *loop_new(void);

/*
 * How the loop looks for events before it sleeps.  All 0 at first.  A loop that
 * waits for different parties keeps one for each: their answers take different
 * times.
 */
struct loop_look {
	unsigned pause; /* after a vain look, it does not look this often ... */
	unsigned left;	/* ... of which this many are left */
};

/* Waits for events and handles them; returns false if it cannot. */
bool loop_once(struct event_base *base, struct loop_look *look);

#endif
