/*
 * What the files of the lease share: lease.c decides, ask.c asks the store,
 * outcome.c takes its answers, message.c those of other brokers.  Nothing else
 * includes this.
 */
#ifndef LOCKBROKER_CORE_LEASE_PARTS_H
#define LOCKBROKER_CORE_LEASE_PARTS_H

#include "base/times.h"
#include "core/lease/lease.h"

#define LOOK_SLACK_MS 2 /* behind the end of another's key */

/* It is vouched for, since confirmed_ms: puts it in line with the others. */
void lease_vouch(struct core *core, struct lease *l);

/* When a lease that is held comes to be at risk, unless renewed. */
int64_t lease_risk_ms(const struct core *core, const struct lease *l);

/* What a message tells of a lease that was handed to us. */
struct handover {
	uint64_t fence;
	int64_t server_ms;   /* when, by the server's clock */
	const char *history; /* of the server; HISTORY_BYTES */
	bool waiting;	     /* others do */
};

/* Notes it where it can be relied on, for lease_take_handover(). */
void lease_handed_over(
    struct core *core, struct lease *l, const struct handover *handover);

/* Begins to hold by it; false: it must be confirmed. */
bool lease_take_handover(struct core *core, struct lease *l);

/* ENDING is over; was a place in the queue asked for with it? */
bool lease_queued_again(struct core *core, struct lease *l);

/* When to look at another's key: when it ends, or once a lease. */
void lease_plan_look(
    struct core *core, struct lease *l, const struct outcome *o);

/* When to renew next; `first` after the lease was taken. */
void lease_plan_renewal(struct core *core, struct lease *l, bool first);

/* Another broker waits for the name, or none does. */
void lease_told_waiting(struct core *core, struct lease *l, bool waiting);

/* Each sends one operation; nothing may be in flight for the name. */
void lease_ask_acquire(struct core *core, struct lease *l);
void lease_ask_confirm(struct core *core, struct lease *l);
void lease_ask_end(struct core *core, struct lease *l);

#endif
