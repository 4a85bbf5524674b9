/*
 * What a run has found, and of what.  Only probe*.c include this.
 */
#ifndef LOCKBROKER_REDIS_PROBE_STATE_H
#define LOCKBROKER_REDIS_PROBE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/address.h"
#include "base/buf.h"
#include "base/list.h"
#include "redis/info.h"
#include "redis/link.h"

#define PROBE_ASKS 24 /* to one server */

enum finding { FINDING_OK, FINDING_WARN, FINDING_FAIL };

struct ask;
struct probe;

/* A server, a Sentinel, or something else that has findings. */
struct probed {
	TAILQ_ENTRY(probed) entry;
	struct probe *probe;
	char what[ADDRESS_SIZE + 16]; /* "redis HOST:PORT" */
	struct buf lines;	      /* of the report */
	bool down;		      /* as the log said last */

	/* Of one that is asked. */
	struct link *link; /* good until the loop runs again */
	uint32_t shard;	   /* one that it has */
	struct info info;
	const struct ask *asks[PROBE_ASKS]; /* answered in that order */
	unsigned asked, answered;
	int64_t asked_ms;
	bool permits; /* all that was asked so far */
	bool broken;  /* the connection, which was reported */
};

/* One run. */
struct probe {
	const struct config *config;
	TAILQ_HEAD(, probed) all; /* owned */
	bool *refused; /* of shards: why it is down was reported; owned */
	char why[256]; /* the last of those */
	bool failed;
	bool denied; /* a right is missing: at Redis; at a Sentinel */
	bool sentinel_denied;
	bool clock_known; /* of any server: the next two, off from ours */
	int64_t clock_min_us, clock_max_us;
};

/* Adds a line to what is found. */
void probe_find(struct probed *s, enum finding finding, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Asks all that a server of locks should know, or a Sentinel. */
void probe_server(struct probed *s);
void probe_sentinel(struct probed *s);

#endif
