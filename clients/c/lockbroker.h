/*
 * Distributed locks from lockbroker; see lockbroker(3).
 *
 *	struct lockbroker *lb;
 *	uint64_t fence;
 *
 *	if (lockbroker_open(&lb, NULL, NULL) == LOCKBROKER_OK &&
 *	    lockbroker_lock(lb, "nightly-report", NULL, 10000, &fence) ==
 *		LOCKBROKER_OK) {
 *		report(fence);
 *		lockbroker_unlock(lb, "nightly-report");
 *	}
 *	lockbroker_close(lb);
 *
 * A handle is one session at one broker.  One thread at a time may use it; the
 * library has no other state, so that each thread may have its own.  Its holds are
 * safe until lockbroker_valid_ms() expires by this host's own clock; the calls of
 * the program extend that time: lockbroker_process() from an event loop, or any
 * function that waits.
 */
#ifndef LOCKBROKER_H
#define LOCKBROKER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum lockbroker_code {
	LOCKBROKER_OK = 0,
	LOCKBROKER_BUSY = 1,	    /* held by another */
	LOCKBROKER_TIMEOUT = 2,	    /* not granted in time */
	LOCKBROKER_LOST = 3,	    /* it was held, but was lost */
	LOCKBROKER_UNAVAILABLE = 4, /* no broker answers, or it cannot grant */
	LOCKBROKER_DENIED = 5,	    /* the user, or a right of the user */
	LOCKBROKER_DEADLOCK = 6,    /* sessions would wait for each other */
	LOCKBROKER_INVALID = 7,	    /* an argument; see lockbroker_error() */
	LOCKBROKER_FORKED = 8,	    /* the handle belongs to the parent */
	LOCKBROKER_FAILED = 9	    /* any other; see lockbroker_error() */
};

struct lockbroker;

/* Set `size` to sizeof(struct lockbroker_options), the rest as needed; 0 and
 * NULL stand for "none".  All is copied. */
struct lockbroker_options {
	size_t size;
	const char *user;
	const char *password;
	const char *ca; /* PEM files, for tls:// */
	const char *cert;
	const char *key;
	const char *label; /* a name for operators */
	/* How long holds survive a lost connection, if the program calls: a
	 * call resumes the session. */
	int64_t grace_ms;
};

/*
 * Connects to the first broker that answers: HOST:PORT, tls://HOST:PORT, /PATH,
 * with commas between them; NULL: $LOCKBROKER, or the local one.  Waits for some
 * seconds at most.  *lb is never NULL: after a failure, too, it has the reason and
 * must be closed.
 */
int lockbroker_open(struct lockbroker **lb, const char *addresses,
    const struct lockbroker_options *options);

/* Releases all holds.  In a child of fork() it does not affect the parent's.
 * With NULL it does nothing. */
void lockbroker_close(struct lockbroker *lb);

/*
 * Takes the lock of a name, or of several with spaces between them, all or none.
 * `options`: words of LOCK in lockbroker-protocol(7), such as "mode=shared" or
 * "hold=10s keep=5s"; or NULL.  Waits for `wait_ms` at most; 0: not at all; -1:
 * without limit.  Returns a second later at the latest.  *fence, if it is not NULL,
 * becomes the fence of the first name.
 */
int lockbroker_lock(struct lockbroker *lb, const char *names,
    const char *options, int64_t wait_ms, uint64_t *fence);

/* Releases names.  LOCKBROKER_LOST: one of them was lost before.  If the broker does
 * not answer within a second, this returns, and the request stands. */
int lockbroker_unlock(struct lockbroker *lb, const char *names);

/*
 * A holder publishes a word, such as the address of a leader, with "value=WORD"
 * among the options of lockbroker_lock(), and changes it with
 * lockbroker_set_value().  lockbroker_value() reads the value of the current
 * holder, through any broker: *value becomes NULL if the lock is free, or the
 * holder gave no value; otherwise the caller frees it.
 */
int lockbroker_set_value(
    struct lockbroker *lb, const char *name, const char *value);
int lockbroker_value(struct lockbroker *lb, const char *name, char **value);

/* As lock and unlock, for permits of a semaphore that has `limit` of them. */
int lockbroker_acquire(struct lockbroker *lb, const char *name, unsigned limit,
    unsigned permits, int64_t wait_ms);
int lockbroker_release(
    struct lockbroker *lb, const char *name, unsigned permits);

/*
 * Takes one permit and a slot: *slot, if it is not NULL, becomes a number from 0 to
 * `limit` - 1 that no other client holds, for a GPU or a port.  Release it with
 * lockbroker_release(lb, name, 1).  A handle can hold one slot of a semaphore; open
 * another handle for a second one.  LOCKBROKER_INVALID: the limit is too high, or
 * the broker has no slots.
 */
int lockbroker_acquire_slot(struct lockbroker *lb, const char *name,
    unsigned limit, int64_t wait_ms, unsigned *slot);

/*
 * Makes any other request of the protocol that gives nothing to hold.  *reply,
 * if it is not NULL, becomes the whole reply, its lines separated by '\n'; the
 * caller frees it.
 */
int lockbroker_request(struct lockbroker *lb, const char *line, char **reply);

/*
 * Guaranteed time left of a name, in ms: no other client can get it; 0: it is not
 * held, or lost.  NULL: the least of all holds.  Asks the clock only.
 */
int64_t lockbroker_valid_ms(const struct lockbroker *lb, const char *name);

/* Is called for each name that is lost, out of a function of this handle; it
 * must not call one itself, except lockbroker_valid_ms(). */
typedef void lockbroker_lost_fn(
    void *arg, const char *name, const char *reason);
void lockbroker_on_lost(
    struct lockbroker *lb, lockbroker_lost_fn *lost, void *arg);

/*
 * For event loops: wait until the descriptor has one of the events of poll(2),
 * or for lockbroker_timeout_ms() (-1: without limit), then call
 * lockbroker_process(), which doesn't block.  The descriptor may change with
 * each call of a function of this handle; -1: there is none.
 *
 * lockbroker_process() returns LOCKBROKER_LOST if something was lost since the
 * last call, and LOCKBROKER_UNAVAILABLE while it has neither a connection nor a
 * session to resume; the next request connects.
 */
int lockbroker_fd(const struct lockbroker *lb);
short lockbroker_events(const struct lockbroker *lb);
int lockbroker_timeout_ms(const struct lockbroker *lb);
int lockbroker_process(struct lockbroker *lb);

/* The message of the last function that failed; never NULL. */
const char *lockbroker_error(const struct lockbroker *lb);

/* The meaning of a code; never NULL. */
const char *lockbroker_strerror(int code);

#ifdef __cplusplus
}
#endif

#endif
