/*
 * The life of the process: signals, reloading, stopping, and reports to the
 * service manager.
 *
 *	start -> running --HUP--> (reread) -> reload -> running
 *	            |
 *	            +--TERM, INT--> stopping --released, or 3 s--> over
 */
#ifndef LOCKBROKER_DAEMON_PROCESS_LIFECYCLE_H
#define LOCKBROKER_DAEMON_PROCESS_LIFECYCLE_H

#include <stdbool.h>

struct broker;
struct config;
struct event_base;
struct lifecycle;
struct systemd;

/*
 * Takes over the signals.  All arguments must outlive it. file is what -c
 * named, or NULL; a reload reads it again, into config.
 */
struct lifecycle *lifecycle_new(struct event_base *base, struct broker *broker,
    struct config *config, const char *file, const struct systemd *notify);
void lifecycle_free(struct lifecycle *l);

/* The broker listens: tells the service manager. */
void lifecycle_ready(struct lifecycle *l);

/* After each turn: is it time to end, and with which exit status? */
bool lifecycle_over(struct lifecycle *l, int *status);

#endif
