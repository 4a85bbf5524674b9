/*
 * What people and their tools see of the broker over HTTP: metrics, health,
 * state, who has a name, and a page.
 *
 *	src/http --request--> who may? --> a function of the route table
 *	                                      |
 *	         <------ http_answer() -------+-- statistics, the core's lists,
 *	                                          STATUS of a session of its own
 *
 * Nothing here changes what is held.  What would take longer than a moment is
 * made in parts, between turns.
 */
#ifndef LOCKBROKER_DAEMON_MONITOR_H
#define LOCKBROKER_DAEMON_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

struct broker;
struct buf;
struct effect;
struct http_stats;
struct monitor;

/* NULL where `listen` has no http: all of these then do nothing. */
struct monitor *monitor_new(struct broker *b);
void monitor_free(struct monitor *m);

/* Opens what `listen` says.  False: why says what failed. */
bool monitor_listen(struct monitor *m, struct buf *why)
    __attribute__((warn_unused_result));

/* A reply of the core that is to no connection: it may be the monitor's. */
void monitor_take(struct monitor *m, const struct effect *e, const char *text);

/* In each turn: goes on with what is under way. */
void monitor_run(struct monitor *m);

void monitor_stats(
    const struct monitor *m, struct http_stats *http, uint64_t *auth_failed);

#endif
