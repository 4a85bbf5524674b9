/*
 * Attempts to log in with a name and a password, by AUTH and over HTTP.
 *
 *	logins_try() --> at once, or the hasher --> done(): the user
 *	                                      \--> a second later, done(): nobody
 *
 * An unknown user and a wrong password end alike, and after the same time.
 */
#ifndef LOCKBROKER_DAEMON_USERS_LOGIN_H
#define LOCKBROKER_DAEMON_USERS_LOGIN_H

#include <stdint.h>

#include "base/span.h"

struct broker;
struct logins;
struct user;

/* The reply if there is no time to compare a client's password. */
#define LOGIN_FULL_TEXT "too many logins are in progress; try again"
#define LOGIN_WRONG_TEXT "unknown user or wrong password"

enum login_answer {
	LOGIN_RIGHT,
	LOGIN_WRONG, /* or there is no such user, or none by now */
	LOGIN_FULL   /* too many are being compared */
};

/* The client that tries, by ids: a connection or a request may go meanwhile. */
struct login_from {
	uint64_t who;
	uint64_t ref; /* of the request of a connection */
};

/*
 * Called once for each attempt, perhaps from inside logins_try(); `user` is
 * NULL unless the answer is LOGIN_RIGHT.
 */
typedef void login_done(void *arg, struct login_from from, const char *name,
    enum login_answer answer, const struct user *user);

struct logins *logins_new(struct broker *b, login_done *done, void *arg);

/* Forgets the attempts under way; NULL is legal. */
void logins_free(struct logins *logins);

/*
 * Begins an attempt of that peer (10.0.0.7:5512, pid:4711).  Requires that the
 * configuration has users.  The caller wipes the password.
 */
void logins_try(struct logins *logins, struct login_from from, const char *peer,
    struct span name, struct span password);

#endif
