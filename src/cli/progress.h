/*
 * What a person learns while `run` waits: who holds the lock, since when, how
 * many are in front; or why nobody can have it. On a terminal it is a line
 * that is redrawn, and wiped; with -v elsewhere, words whenever the reason
 * changes.
 *
 * It asks on a connection of its own, seldom, and does without if that fails:
 * it must never cost the request its place.
 */
#ifndef LOCKBROKER_CLI_PROGRESS_H
#define LOCKBROKER_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/client.h"

#define PROGRESS_TEXT_MAX 384

enum progress_mode { PROGRESS_OFF, PROGRESS_LINE, PROGRESS_WORDS };

/* Who has it, from the answers of one round. */
struct progress_seen {
	char holder[PROGRESS_TEXT_MAX];	 /* "held by ..."; "": nobody known */
	int64_t age_ms;			 /* of that hold; -1: not known */
	char unready[PROGRESS_TEXT_MAX]; /* why nothing can be granted; "" */
	unsigned int ahead;		 /* waiting before us */
	bool more; /* the list ended before it came to us */
};

/* Embedded in a run. */
struct progress {
	enum progress_mode mode;
	struct client client;
	struct client far; /* to the broker that has it, if that is another */
	const char *name;  /* borrowed */
	bool semaphore;	   /* what the name is of; else a lock */
	uint64_t session;  /* who we are in the queue */
	int64_t began_ms;  /* when we began to wait */
	int64_t next_ms;   /* when to ask or draw again; NEVER_MS when off */
	int64_t drawn_ms;  /* when it was last told without a broker */
	bool shown;	   /* is there a line to wipe? */
	unsigned int due;  /* answers of this round that are to come */
	struct progress_seen seen;
	char reason[PROGRESS_TEXT_MAX]; /* what was learnt last; "": nothing */
	char told[PROGRESS_TEXT_MAX];	/* in words, without its numbers */
};

void progress_init(struct progress *p);
void progress_fini(struct progress *p);

/* From now on we wait. */
void progress_begin(struct progress *p, enum progress_mode mode,
    const char *name, bool semaphore);

/* We wait in a queue of the broker that `like` is connected to. */
void progress_start(
    struct progress *p, const struct client *like, uint64_t session);

/* We wait for something else. */
void progress_reason(struct progress *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Wipes the line. */
void progress_stop(struct progress *p);

/* After its descriptor was polled: takes what came. */
void progress_pump(struct progress *p);
/* The same of the other broker. */
void progress_pump_far(struct progress *p);

/* At next_ms: asks and draws. */
void progress_turn(struct progress *p, int64_t now_ms);

#endif
