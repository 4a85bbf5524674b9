/*
 * Compares a password of a user so that neither the time nor a full queue shows
 * which user names exist.
 */
#ifndef LOCKBROKER_AUTH_COMPARE_H
#define LOCKBROKER_AUTH_COMPARE_H

#include "auth/hasher.h"
#include "auth/users.h"

/*
 * Compares at once if the secret is a cheap one (HASHER_RIGHT), otherwise as
 * hasher_check() does.  The password is right if the comparison says so and
 * *known is true: for an unknown user, a user without a password, and a wrong
 * secret of the cheap kind, the comparison uses a hash as slow as any.
 */
enum hasher_answer compare_password(struct hasher *h, uint64_t id,
    struct span from, const struct users *users, struct span name,
    struct span password, int64_t now_ms, bool *known)
    __attribute__((warn_unused_result));

#endif
