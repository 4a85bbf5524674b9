/*
 * The requests of `run` to the broker, in the words of the protocol. No other
 * file knows which verbs acquire and release.
 */
#ifndef LOCKBROKER_CLI_RUN_REQUEST_H
#define LOCKBROKER_CLI_RUN_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "client/message.h"

/* A wait without a limit. */
#define REQUEST_FOREVER (-1)

#define REQUEST_NAMES_MAX 64

/*
 * What to acquire: locks, all or none of them, or with `limit` one permit of a
 * semaphore. Texts belong to the command line. -1 means not given.
 */
struct request {
	const char *names[REQUEST_NAMES_MAX]; /* the first is the main one */
	unsigned names_n;
	bool shared;
	uint64_t limit; /* 0: locks */
	bool slot;	/* asks which of the permits it gets */
	int64_t wait_ms;
	int64_t hold_ms;
	int64_t keep_ms;
	int64_t delay_ms;
	const char *value; /* NULL: none */
	const char *trace; /* the same */
};

/* Appends the request for it, which waits at most `wait_ms`. */
void run_request_take(
    const struct request *r, int64_t wait_ms, struct buf *line);

/* Appends the request that releases it. */
void run_request_give(const struct request *r, struct buf *line);

/* Returns the names with spaces between them; the caller frees it. */
char *run_request_names(const struct request *r);

/* Does this event report that the hold is lost? */
bool run_request_lost(const struct request *r, const struct message *event);

#endif
