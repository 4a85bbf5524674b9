/*
 * Who each client is, and what it may do: the users of src/auth, and AUTH.
 *
 *	a connection comes --> its certificate, or its peer --> a user
 *	AUTH name password --> at once, or the hasher --> a user, or a second
 *	                       later: no
 *	a request --> identity_refuses() --> its handler
 *
 * Without users everybody may do everything; then all of this is a look at one
 * pointer.
 */
#ifndef LOCKBROKER_DAEMON_IDENTITY_H
#define LOCKBROKER_DAEMON_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"
#include "base/verb.h"

struct broker;
struct conn;
struct identity;
struct request;
struct users;

/* Counters, for STATS. */
struct identity_stats {
	uint64_t auth_ok;     /* AUTHs that were right */
	uint64_t auth_failed; /* that were wrong */
	uint64_t denied;      /* requests that were */
};

struct identity *identity_new(struct broker *b);
void identity_free(struct identity *id);

/*
 * Takes over the users of a configuration, NULL when there are none.  The set
 * of before must still be there: clients keep their users if there are such by
 * name, and are closed otherwise.
 */
void identity_load(struct identity *id, const struct users *users);

/* A connection came: its certificate or its peer may say whose it is. */
void identity_opened(struct identity *id, struct conn *c);

/* The one place that asks for rights: true when the request was answered. */
bool identity_refuses(
    struct identity *id, struct conn *c, const struct request *r);

/*
 * The same for a command that is none of our verbs: what it is called, which
 * right it needs, and on which names.  Text is as Redis has it.
 */
struct need {
	const char *word;
	enum right right;
	const struct span *names;
	unsigned nnames;
};
bool identity_refuses_command(struct identity *id, struct conn *c,
    const struct request *r, const struct need *need);

/* Are there names that the client of this connection may not look at? */
bool identity_hides(const struct identity *id, const struct conn *c);

/* May the client of this connection look at the name? */
bool identity_may_watch(
    const struct identity *id, const struct conn *c, struct span name);

const struct identity_stats *identity_stats(const struct identity *id);

/* Are there users? */
bool identity_has_users(const struct identity *id);

/* AUTH: as handle_auth(), where user and password are. */
void identity_auth(struct broker *b, struct conn *c, const struct request *r,
    struct span user, struct span password);

/* Verbs. */
void handle_auth(struct broker *b, struct conn *c, const struct request *r);
void handle_whoami(struct broker *b, struct conn *c, const struct request *r);

#endif
