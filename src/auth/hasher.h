/*
 * Compares passwords with slow hashes, in a separate thread.
 *
 *	loop                                worker
 *	hasher_check() --> jobs (bounded) --> crypt_r()
 *	done() <--------- results <---------- an eventfd
 *
 * A hash of crypt(3) costs 1 to 140 ms.  On the loop that would delay every
 * lock, and an attacker could ask for it again and again.  One thread uses only
 * one processor, however many clients log in.
 *
 * Addresses take turns, so that a client that tries password after password
 * does not delay others for long.  If there are too many comparisons, one for
 * an address with fewer of them pushes out the newest of the address with the
 * most.
 *
 * The hasher remembers a right password for some minutes, as a digest under a
 * key of this process, so that clients that reconnect often don't wait.  It
 * does not remember wrong ones: every try must cost its time.
 */
#ifndef LOCKBROKER_AUTH_HASHER_H
#define LOCKBROKER_AUTH_HASHER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"

struct event_base;
struct hasher;
struct users;

/* Maximum number of comparisons under way; more are refused. */
#define HASHER_JOBS_MAX 64

/* How long a right password is remembered. */
#define HASHER_REMEMBERS_MS (INT64_C(5) * 60 * 1000)

enum hasher_result {
	HASHER_IS_RIGHT,
	HASHER_IS_WRONG,
	HASHER_PUSHED_OUT /* not compared: others took its place */
};

/* Called from the loop, never from inside hasher_check(). */
typedef void hasher_done(void *arg, uint64_t id, enum hasher_result result);

/* Aborts if there is no memory.  The thread starts with the first job. */
struct hasher *hasher_new(
    struct event_base *base, hasher_done *done, void *arg);

/* Waits for the comparison under way, but does not call done(). */
void hasher_free(struct hasher *h);

enum hasher_answer {
	HASHER_RIGHT, /* the password is remembered */
	HASHER_LATER, /* done() will be called with the id */
	HASHER_FULL   /* HASHER_JOBS_MAX are under way */
};

/* `from` is the client's address, without a port.  Copies it, the password and
 * the hash; the copies are wiped after the comparison. */
enum hasher_answer hasher_check(struct hasher *h, uint64_t id, struct span from,
    struct span password, const char *hash, int64_t now_ms)
    __attribute__((warn_unused_result));

/*
 * Compares a password of a user so that neither the time nor a full queue shows
 * which user names exist: at once if the secret is a cheap one (HASHER_RIGHT),
 * otherwise as hasher_check() does.  The password is right if the comparison
 * says so and *known is true: for an unknown user, a user without a password,
 * and a wrong secret of the cheap kind, the comparison uses a hash as slow as
 * any.
 */
enum hasher_answer hasher_compare(struct hasher *h, uint64_t id,
    struct span from, const struct users *users, struct span name,
    struct span password, int64_t now_ms, bool *known)
    __attribute__((warn_unused_result));

#endif
