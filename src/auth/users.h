/*
 * Who may connect, how the broker recognizes each user, and each user's rights:
 * the section auth of the configuration and the file of users, as one immutable
 * set.
 *
 * A reload makes a new set.  A holder of a pointer to a struct user must look
 * the user up again by name before the old set is freed.
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
struct user_limits;
struct user;
struct users;

/* The name that WHOAMI gives clients that did not authenticate. */
#define USERS_ANONYMOUS "anonymous"

/* How a client became a user; the words of via= in that order. */
enum via { VIA_NOBODY, VIA_PASSWORD, VIA_UNIX, VIA_CERTIFICATE, VIA_ANONYMOUS };

/* Credentials of the peer of a Unix socket; borrowed. */
struct peer_credentials {
	uid_t uid;
	const gid_t *gids; /* the primary group and the others */
	size_t ngids;
};

/*
 * Makes a set from the settings, which include the text of the file of users,
 * and looks up the system's users and groups that they name.  Returns NULL if
 * the settings have faults; `why` then has a line for each, "FILE:LINE: TEXT"
 * for one in the file.  The caller frees the set.
 */
struct users *users_new(const struct auth_settings *auth, struct buf *why)
    __attribute__((warn_unused_result));
void users_free(struct users *users);

/*
 * Writes a line for each user that no client can become, and for each line of
 * the file whose user has no rights: no faults, but surely mistakes.
 */
void users_tell_idle(const struct users *users, struct buf *out);

/* Each returns NULL if there is no such user. */
const struct user *users_find(const struct users *users, struct span name);
const struct user *users_anonymous(const struct users *users);
const struct user *users_by_peer(
    const struct users *users, const struct peer_credentials *peer);

/*
 * Finds a user by a name in the certificate: "CN=x" (the whole subject),
 * "DNS:x", "URI:x".
 */
const struct user *users_by_certificate(
    const struct users *users, struct span name);

/*
 * Returns what is wrong with the name of a user, as the end of a sentence, or
 * NULL.
 */
const char *user_name_why(const char *name);

const char *user_name(const struct user *user);
const struct user_limits *user_limits(const struct user *user);

/* The users named by the configuration or the file; anonymous is not among
 * them. */
size_t users_count(const struct users *users);
const struct user *users_at(const struct users *users, size_t i);

/* Never NULL; "" if any password is wrong. */
const char *user_hash(const struct user *user);

/*
 * Returns a hash as slow as those of the set, for unknown user names: the time
 * of an answer must not show whether a user exists.  It is "" if all hashes are
 * of the cheap kind.
 */
const char *users_decoy(const struct users *users);

/*
 * Has the user this right on this name?  NULL is a client without a user.  If
 * `rule` is not NULL, it gets the reason as text: the right and a pattern.
 */
bool user_may(const struct user *user, enum right right, struct span name,
    struct buf *rule);

#endif
