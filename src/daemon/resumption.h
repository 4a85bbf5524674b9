/*
 * RESUME of a session that a process has which was replaced: the connection is
 * handed to that process, with all that was read of it, and the process answers
 * as if the client had come to it.
 *
 *	RESUME --> "has NUMBER KEY USER"  to all that leave
 *	       <-- "yes NUMBER", "no NUMBER"
 *	       --> "take ..." with the descriptor, to the one that said yes;
 *	           else not-found
 */
#ifndef LOCKBROKER_DAEMON_RESUMPTION_H
#define LOCKBROKER_DAEMON_RESUMPTION_H

#include <stdbool.h>

struct broker;
struct conn;
struct packet;
struct request;
struct resumption;

struct resumption *resumption_new(struct broker *b);
void resumption_free(struct resumption *r);

/*
 * Returns true if one that leaves may have the session: the request is answered
 * later, or the connection goes away.
 */
bool resumption_asks(
    struct resumption *r, struct conn *c, const struct request *request);

/*
 * What the channels bring; `peer` is the descriptor of the channel.  Returns
 * false if it is none of this.
 */
bool resumption_hears(struct resumption *r, int peer, struct packet *p);

/* One that leaves has gone, and perhaps owes answers. */
void resumption_gone(struct resumption *r);

#endif
