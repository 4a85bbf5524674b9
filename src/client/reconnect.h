/*
 * The way back to a session that survives its connection: SESSION grace= and
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

/* Embedded in the owner of a session; all 0: there is none. */
struct reconnect {
	char *key;	  /* owned; NULL: it ends with its connection */
	int64_t grace_ms; /* asked for, or granted; 0: none */
	bool away;	  /* it was cut off, and is not resumed yet */
	int64_t cut_ms;	  /* since when */
	int64_t try_ms;	  /* away: when reconnect_try() is due */
};

void reconnect_fini(struct reconnect *r);

/* A session has begun, whose key is in the reply. */
void reconnect_begin(struct reconnect *r, const struct message *reply);

/* The connection has ended, also one that was to resume.  Returns false if the
 * session has ended with it. */
bool reconnect_cut(struct reconnect *r, int64_t now_ms);

/* Connects to where the session was, and sends RESUME under that tag.  Returns
 * false if that failed already; try_ms says when to try next in any case. */
bool reconnect_try(
    struct reconnect *r, struct client *c, const char *tag, int64_t now_ms);

/* The broker has said yes. */
void reconnect_done(struct reconnect *r);

/* Away: when the broker ends it at the earliest. */
int64_t reconnect_over_ms(const struct reconnect *r);

#endif
