/*
 * What a person sees on a terminal while `run` waits: who holds the lock, for
 * how long, how many are before us. A line that is redrawn, and wiped.
 *
 * It asks on a connection of its own, seldom, and does without where that
 * fails: it must never cost the request its place.
 */
#ifndef LOCKBROKER_CLI_PROGRESS_H
#define LOCKBROKER_CLI_PROGRESS_H

#include "cli/client.h"

#include <stdbool.h>
#include <stdint.h>

/* Embedded in a run. */
struct progress {
	struct client client;
	const char *name;   /* borrowed */
	uint64_t session;   /* who we are in the queue */
	int64_t began_ms;   /* when we began to wait */
	int64_t next_ms;    /* when to ask or draw again; NEVER_MS when off */
	bool shown;	    /* is there a line to wipe? */
	char holder[256];   /* what was learnt last */
	unsigned int ahead; /* waiting before us */
};

void progress_init(struct progress *p);
void progress_fini(struct progress *p);

/* Begins, where standard error is a terminal. */
void progress_start(struct progress *p, const struct client *like,
    const char *name, uint64_t session);

/* Wipes the line. */
void progress_stop(struct progress *p);

/* After its descriptor was polled: takes what came. */
void progress_pump(struct progress *p);

/* At next_ms: asks and draws. */
void progress_turn(struct progress *p, int64_t now_ms);

#endif
