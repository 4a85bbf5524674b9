/*
 * RESUME of a session of a replaced process, and LEAVING with its instance: the
 * connection is handed to that process, with all that was read of it, and the
 * process answers as if the client had come to it.
 *
 *	RESUME --> "has NUMBER KEY USER"  to all that leave
 *	       <-- "yes NUMBER", "no NUMBER"
 *	       --> "take ..." with the descriptor, to the one that said yes;
 *	           else not-found
 *
 * An old process asks the process that has replaced it, which takes every such
 * connection, because it knows all others.
 */
#ifndef LOCKBROKER_DAEMON_REPLACE_RESUME_ELSEWHERE_H
#define LOCKBROKER_DAEMON_REPLACE_RESUME_ELSEWHERE_H

#include <stdbool.h>

#include "base/span.h"

struct broker;
struct channel;
struct conn;
struct packet;
struct request;
struct resume_elsewhere;

/* `ask_all` sends a packet to all other processes of the broker, and returns
 * their number; -1: one of them has no room for it now. */
struct resume_elsewhere *resume_elsewhere_new(
    struct broker *b, int (*ask_all)(struct broker *b, const struct packet *p));
void resume_elsewhere_free(struct resume_elsewhere *r);

/*
 * Returns true if another process may have the session, or may be the process
 * that is meant: the request is answered later, or the connection goes away.
 */
bool resume_elsewhere_asks(
    struct resume_elsewhere *r, struct conn *c, const struct request *request);

/* LEAVING: is this process meant? */
bool resume_elsewhere_is_this(const struct broker *b, struct span instance);
#define RESUMPTION_NOT_LEAVING \
	"no old process has that instance; it may have ended"

/* Takes a packet of a channel.  Returns false if the packet is for another
 * part. */
bool resume_elsewhere_hears(
    struct resume_elsewhere *r, struct channel *peer, struct packet *p);

/* While users and rights are read anew, no other process is answered: clients
 * that come from there must have the new rights. */
void resume_elsewhere_hold(struct resume_elsewhere *r, bool on);
bool resume_elsewhere_holds(const struct resume_elsewhere *r);

/* The channel takes connections again. */
void resume_elsewhere_room(struct resume_elsewhere *r, struct channel *peer);

/* Is a connection to come for which this process has said yes? */
bool resume_elsewhere_expects(const struct resume_elsewhere *r);

/* A process no longer answers, and perhaps owes answers.  NULL: this process
 * leaves now, and others are to be asked. */
void resume_elsewhere_gone(
    struct resume_elsewhere *r, const struct channel *peer);

#endif
