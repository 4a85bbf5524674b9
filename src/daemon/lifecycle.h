/*
 * The life of the process: signals, reloading, stopping, and what the service
 * manager is told of it.
 *
 *	start -> running --HUP--> (reread) -> reload -> running
 *	            |
 *	            +--TERM, INT--> stopping --released, or 3 s--> over
 */
#ifndef LOCKBROKER_DAEMON_LIFECYCLE_H
#define LOCKBROKER_DAEMON_LIFECYCLE_H

#include <stdbool.h>

struct broker;
struct config;
struct event_base;
struct lifecycle;
struct notify;

/*
 * Takes over the signals.  Everything given must outlive it.  file is what -c
 * named, or NULL; it is read again at a reload, into config.
 */
struct lifecycle *lifecycle_new(struct event_base *base, struct broker *broker,
    struct config *config, const char *file, const struct notify *notify);
void lifecycle_free(struct lifecycle *l);

/* The broker listens: tells it to whoever waits for that. */
void lifecycle_ready(struct lifecycle *l);

/* After each turn: is it time to end, and with which exit status? */
bool lifecycle_over(const struct lifecycle *l, int *status);

#endif
