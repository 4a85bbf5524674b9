/*
 * Who may connect, how each is known, and what each may do: the section auth of
 * the configuration and the file of users, as one unchanging set.
 *
 * A reload makes a new set.  Whoever keeps a struct user must look it up again
 * by its name before the old set is freed.
 */
#ifndef LOCKBROKER_AUTH_USERS_H
#define LOCKBROKER_AUTH_USERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/span.h"
#include "base/verb.h"

struct auth_settings;
struct user;
struct users;

/* What WHOAMI calls those who did not say who they are. */
#define USERS_ANONYMOUS "anonymous"

/* How somebody came to be a user; the words of via= in that order. */
enum via { VIA_NOBODY, VIA_PASSWORD, VIA_UNIX, VIA_CERTIFICATE, VIA_ANONYMOUS };

/* Credentials of the peer of a Unix socket; borrowed. */
struct peer_credentials {
	uid_t uid;
	const gid_t *gids; /* the primary group and the others */
	size_t ngids;
};

/*
 * Makes a set of the settings, which hold the text of the file of users, too,
 * and asks the system for the users and groups that they name.
 * Returns NULL when something is wrong with them; `why` then has a line for
 * each fault, "FILE:LINE: TEXT" for one of the file.  The caller frees the set.
 */
struct users *users_new(const struct auth_settings *auth, struct buf *why)
    __attribute__((warn_unused_result));
void users_free(struct users *users);

/*
 * Tells users that nobody can be, and lines of the file for nobody: no faults,
 * but surely not meant.  A line of text each.
 */
void users_tell_idle(const struct users *users, struct buf *out);

/* Each returns NULL when there is no such user. */
const struct user *users_find(const struct users *users, struct span name);
const struct user *users_anonymous(const struct users *users);
const struct user *users_by_peer(
    const struct users *users, const struct peer_credentials *peer);

/* By a name of the certificate: "CN=x" (the whole subject), "DNS:x", "URI:x". */
const struct user *users_by_certificate(
    const struct users *users, struct span name);

/*
 * What is wrong with the name of a user, as the end of a sentence, or NULL.
 */
const char *user_name_why(const char *name);

const char *user_name(const struct user *user);

/* Never NULL; "" when no password is right. */
const char *user_hash(const struct user *user);

/*
 * A hash as slow as those of the set, for names that are no user's: an answer
 * must not tell by its time whether there is such a user.  "" when all are of
 * the cheap kind.
 */
const char *users_decoy(const struct users *users);

/*
 * May the user do what needs this right, on this name?  A NULL user is nobody.
 * `rule`, when not NULL, becomes what decided, for people: the right and a pattern.
 */
bool user_may(const struct user *user, enum right right, struct span name,
    struct buf *rule);

#endif
