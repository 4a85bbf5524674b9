/*
 * What the user sees while `run` waits: who holds the lock, since when, and the
 * position in the queue; or why no client can get it. On a terminal this is a
 * line that is redrawn, and wiped at the end; elsewhere, with -v, it is a text
 * whenever the reason changes.
 *
 * It asks seldom, on a separate connection, and works without it if that fails:
 * it must never cost the request its position.
 */
#ifndef LOCKBROKER_CLI_PROGRESS_H
#define LOCKBROKER_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "client/client.h"

#define PROGRESS_TEXT_MAX 384

enum progress_mode { PROGRESS_OFF, PROGRESS_LINE, PROGRESS_WORDS };

/* The holder, from the answers of one round. */
struct progress_seen {
	char holder[PROGRESS_TEXT_MAX];	 /* "held by ..."; "": holder unknown */
	int64_t since_ms;		 /* its beginning; NEVER_MS: unknown */
	char unready[PROGRESS_TEXT_MAX]; /* why nothing can be granted, or "" */
	unsigned int ahead;		 /* waiting before us */
	bool more;			 /* the list ended before our place */
};

/* Embedded in a run. */
struct progress {
	enum progress_mode mode;
	struct client client;
	const char *name; /* borrowed */
	bool semaphore;	  /* the name is a semaphore's, not a lock's */
	uint64_t session; /* our session, to find us in the queue */
	int64_t began_ms; /* when the wait began */
	int64_t next_ms;  /* when to ask or draw again; NEVER_MS: off */
	int64_t drawn_ms; /* when it last drew without a broker */
	bool shown;	  /* must a line be wiped? */
	unsigned int due; /* answers of this round still to come */
	struct progress_seen seen;
	char reason[PROGRESS_TEXT_MAX]; /* the latest reason; "": none */
	char told[PROGRESS_TEXT_MAX];	/* last text shown, without numbers */
};

void progress_init(struct progress *p);
void progress_fini(struct progress *p);

/* Begins a wait. */
void progress_begin(struct progress *p, enum progress_mode mode,
    const char *name, bool semaphore);

/* Waits in a queue of the broker that `like` is connected to. */
void progress_start(
    struct progress *p, const struct client *like, uint64_t session);

/* Waits for another reason. */
void progress_reason(struct progress *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns the present reason for the wait, or "". */
const char *progress_why(struct progress *p);

/* Wipes the line. */
void progress_stop(struct progress *p);

/* Reads input. To be called after its descriptor was polled. */
void progress_pump(struct progress *p);

/* Asks and draws. To be called at next_ms. */
void progress_turn(struct progress *p, int64_t now_ms);

#endif
