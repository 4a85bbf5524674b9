/*
 * What users and their tools see of the broker over HTTP: metrics, health,
 * state, who has a name, and a page.
 *
 *	src/http --request--> who may? --> a function of the route table
 *	                                      |
 *	         <------ http_answer() -------+-- statistics, the core's lists,
 *	                                          STATUS of a session of its own
 *
 * Nothing here changes what is held.  An answer that takes longer than a moment
 * is made in parts, between turns.
 */
#ifndef LOCKBROKER_DAEMON_MONITOR_MONITOR_H
#define LOCKBROKER_DAEMON_MONITOR_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

struct broker;
struct buf;
struct effect;
struct handed_list;
struct http_stats;
struct monitor;

/* Returns NULL if `listen` has no http; then all of these do nothing. */
struct monitor *monitor_new(struct broker *b);
void monitor_free(struct monitor *m);

/* Opens the places of `listen`.  On false, `why` says what failed. */
bool monitor_listen(struct monitor *m, struct buf *why)
    __attribute__((warn_unused_result));

/* Takes a reply of the core to no connection: it may answer the monitor. */
void monitor_take(struct monitor *m, const struct effect *e, const char *text);

/* Goes on with unfinished answers.  To be called in each turn. */
void monitor_run(struct monitor *m);

/* Has new clients wait as long as this is on. */
void monitor_hold_back(struct monitor *m, bool hold);
/* Adds the sockets to what is handed to another process. */
void monitor_hand_over(const struct monitor *m, struct handed_list *out);
void monitor_stop_listening(struct monitor *m);
/* Is a request to be answered that came before? */
bool monitor_is_visited(const struct monitor *m);

void monitor_stats(
    const struct monitor *m, struct http_stats *http, uint64_t *auth_failed);

#endif
