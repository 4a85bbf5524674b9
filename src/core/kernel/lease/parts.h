/*
 * What the files of the lease share: lease.c decides, lease_ask.c asks the
 * store, outcome.c takes its answers, and state.c keeps the state.  Beside them,
 * lock/broker_message.c (messages of other brokers) and force/force.c include
 * this.
 */
#ifndef LOCKBROKER_CORE_KERNEL_LEASE_PARTS_H
#define LOCKBROKER_CORE_KERNEL_LEASE_PARTS_H

#include "base/times.h"
#include "core/kernel/lease/lease.h"

#define LOOK_SLACK_MS 2 /* after the end of another's key */

/* What a message says of a lease that was handed to us. */
struct handover {
	uint64_t fence;
	int64_t server_ms;   /* when, by the server's clock */
	const char *history; /* of the server; HISTORY_BYTES */
	bool waiting;	     /* other brokers wait for the name */
};

/* A message says that the name was handed to us. */
void lease_woken(struct lease *l);

/* Requires that the news may follow what is known. */
void lease_set_news(struct lease *l, enum lease_news news);

/* A token is new: no message has mentioned it. */
void lease_no_news(struct lease *l);

/* Notes the handover for lease_take_handover(), if it can be relied on. */
void lease_handed_over(
    struct core *core, struct lease *l, const struct handover *handover);

/* Begins to hold by the noted handover; false: the lease must be confirmed. */
bool lease_take_handover(struct core *core, struct lease *l);

/* If the end also asked for a place in the queue: QUEUED, and true. */
bool lease_queued_again(struct core *core, struct lease *l);

/* lease_ask.c: one server. */
extern const struct lease_way way_direct;

/* Plans the next look at another's key: when it ends, or after a lease. */
void lease_plan_look(
    struct core *core, struct lease *l, const struct outcome *o);

/* Notes whether another broker waits for the name. */
void lease_told_waiting(struct core *core, struct lease *l, bool waiting);

/* Each sends one operation; requires that none is in flight for the name. */
void lease_ask_acquire(struct core *core, struct lease *l);
void lease_ask_confirm(struct core *core, struct lease *l);
void lease_ask_end(struct core *core, struct lease *l);
void lease_ask_disown(struct core *core, struct lease *l);

#endif
