/*
 * Passwords with slow hashes, compared in a thread of their own.
 *
 *	loop                                worker
 *	hasher_check() --> jobs (bounded) --> crypt_r()
 *	done() <--------- results <---------- a byte in the pipe
 *
 * A hash of crypt(3) costs 1 to 140 ms.  On the loop that would delay every
 * lock, and an attacker could ask for it as often as he liked.  One thread
 * keeps to one processor, however many ask.
 *
 * What was right once is remembered for some minutes, as a digest under a key
 * of this process, so that clients that connect again and again don't wait.
 * What was wrong is not remembered: nobody is to be let off the cost of a try.
 */
#ifndef LOCKBROKER_AUTH_HASHER_H
#define LOCKBROKER_AUTH_HASHER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"

struct event_base;
struct hasher;

/* So many may be under way at a time; more are refused. */
#define HASHER_JOBS_MAX 64

/* How long a password that was right is remembered. */
#define HASHER_REMEMBERS_MS (INT64_C(5) * 60 * 1000)

/* Called from the loop, never from inside hasher_check(). */
typedef void hasher_done(void *arg, uint64_t id, bool right);

/* Aborts when there is no memory; the thread starts with the first job. */
struct hasher *hasher_new(
    struct event_base *base, hasher_done *done, void *arg);

/* Waits for the one comparison that is under way; done() is not called. */
void hasher_free(struct hasher *h);

enum hasher_answer {
	HASHER_RIGHT, /* known already */
	HASHER_LATER, /* done() is called with the id */
	HASHER_FULL   /* HASHER_JOBS_MAX are under way */
};

/* Copies password and hash, and forgets the copies when it has compared. */
enum hasher_answer hasher_check(struct hasher *h, uint64_t id,
    struct span password, const char *hash, int64_t now_ms)
    __attribute__((warn_unused_result));

#endif
