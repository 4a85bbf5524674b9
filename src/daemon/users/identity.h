/*
 * Who each client is, and what it may do: the users of src/auth, and AUTH.
 *
 *	a connection comes --> its certificate, or its peer --> a user
 *	AUTH name password --> at once, or the hasher --> a user, or a second
 *	                       later: no
 *	a request --> identity_refuses() --> its handler
 *
 * Without users every client may do everything; then all of this costs a look
 * at one pointer.
 */
#ifndef LOCKBROKER_DAEMON_USERS_IDENTITY_H
#define LOCKBROKER_DAEMON_USERS_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"
#include "base/verb.h"

struct allowances;
struct broker;
struct client;
struct conn;
struct identity;
struct request;
struct users;

/* Counters for STATS. */
struct identity_stats {
	uint64_t auth_ok;     /* AUTHs that succeeded */
	uint64_t auth_failed; /* AUTHs that failed */
	uint64_t denied;      /* requests that were denied */
};

struct identity *identity_new(struct broker *b);
void identity_free(struct identity *id);

/*
 * Takes over the users of a configuration; NULL if it has none.  Clients keep
 * their user if the new set has a user of that name that they would still be by
 * the same hash, peer or certificate; otherwise they are closed.  Each client
 * does so when identity_reloaded() is called for it; until all have done so,
 * the identity keeps `was`, the set before, which it frees.
 */
void identity_load(
    struct identity *id, const struct users *users, struct users *was);
void identity_reloaded(struct identity *id, struct conn *c);
void identity_reload_over(struct identity *id);

/* A connection came: its certificate or its peer may show its user. */
void identity_opened(struct identity *id, struct conn *c);

/* Its client has gone. */
void identity_gone(struct identity *id, struct client *client);

/*
 * Another process of the broker has found out who the client is, and how, and
 * has handed it to us.  identity_via() is what that process says of its own
 * client; other words count like the word for a password, which any reload
 * compares.  Returns false if no user has that name here.
 */
bool identity_handed(
    struct identity *id, struct conn *c, const char *name, const char *via);
const char *identity_via(const struct conn *c);	 /* "": it has no user */
const char *identity_name(const struct conn *c); /* of its user; the same */

/*
 * The one place that checks rights.  Returns true if it has refused the request
 * and answered it.
 */
bool identity_refuses(
    struct identity *id, struct conn *c, const struct request *r);

/*
 * The same for a command that is none of our verbs: its word, the right that it
 * needs, and the names that it is about.  The refusal has the text of Redis.
 */
struct need {
	const char *word;
	enum right right;
	const struct span *names;
	unsigned nnames;
	bool gives_back; /* it ends holds of tokens, and does nothing else */
};
bool identity_refuses_command(struct identity *id, struct conn *c,
    const struct request *r, const struct need *need);

/*
 * May the client of this connection look at the name?  That is asked at the
 * moment of writing the name, and goes by the latest reload.
 */
bool identity_may_watch(
    const struct identity *id, const struct conn *c, struct span name);

/* The same for the user of that name now; "": none. */
bool identity_shows(
    const struct identity *id, const char *user, struct span name);

/* The allowances of users, and refused requests. */
const struct allowances *identity_allowances(const struct identity *id);

/* How many requests and clients a limit of their user has refused. */
uint64_t identity_limited(const struct identity *id);

const struct identity_stats *identity_stats(const struct identity *id);

/* Has the configuration users? */
bool identity_has_users(const struct identity *id);

/* As handle_auth(), with this user and password. */
void identity_auth(struct broker *b, struct conn *c, const struct request *r,
    struct span user, struct span password);

/* Verbs. */
void handle_auth(struct broker *b, struct conn *c, const struct request *r);
void handle_whoami(struct broker *b, struct conn *c, const struct request *r);

#endif
