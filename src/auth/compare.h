/*
 * One password of one user, compared so that nobody can tell from the time, or
 * from a full queue, which names there are.
 */
#ifndef LOCKBROKER_AUTH_COMPARE_H
#define LOCKBROKER_AUTH_COMPARE_H

#include "auth/hasher.h"
#include "auth/users.h"

/*
 * Compares now if the secret is a cheap one (HASHER_RIGHT), else as
 * hasher_check() does.  The password is right if the comparison says so and
 * *known is true: an unknown name, one without a password, and a wrong secret
 * of the cheap kind are compared with a hash as slow as any.
 */
enum hasher_answer compare_password(struct hasher *h, uint64_t id,
    struct span from, const struct users *users, struct span name,
    struct span password, int64_t now_ms, bool *known)
    __attribute__((warn_unused_result));

#endif
