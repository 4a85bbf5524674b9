/*
 * How to resume a session that survives its connection: SESSION grace= and
 * RESUME in lockbroker-protocol(7).
 *
 *	cut --> RESUME at the broker where it was --> resumed, or over
 *	          ^ |
 *	          `-' no answer in time, or cut again: a moment later
 */
#ifndef LOCKBROKER_CLIENT_RECONNECT_H
#define LOCKBROKER_CLIENT_RECONNECT_H

#include <stdbool.h>
#include <stdint.h>

#include "client/client.h"

/* Embedded in the owner of a session; all 0: there is no session. */
struct reconnect {
	char *key;	  /* owned; NULL: no session grace */
	int64_t grace_ms; /* requested or granted; 0: none */
	bool away;	  /* cut off, and not resumed yet */
	int64_t cut_ms;	  /* time of the cut */
	int64_t try_ms;	  /* away: when reconnect_try() is due */
};

void reconnect_fini(struct reconnect *r);

/* A session has begun; the reply contains its key. */
void reconnect_begin(struct reconnect *r, const struct message *reply);

/* The connection has ended, or the one that was to resume the session has.
 * Returns false if the session has ended with it. */
bool reconnect_cut(struct reconnect *r, int64_t now_ms);

/* Connects to the session's broker, and sends RESUME with that tag.  Returns
 * false if that fails at once; in any case try_ms says when to try next. */
bool reconnect_try(
    struct reconnect *r, struct client *c, const char *tag, int64_t now_ms);

/* The broker has resumed the session. */
void reconnect_done(struct reconnect *r);

/* While away: the earliest time at which the broker ends the session. */
int64_t reconnect_over_ms(const struct reconnect *r);

#endif
