/*
 * What a list that is being made knows.  Only the files listing*.c include
 * this.
 */
#ifndef LOCKBROKER_CORE_LISTING_STATE_H
#define LOCKBROKER_CORE_LISTING_STATE_H

#include <stdlib.h>

#include "core/busiest.h"
#include "core/lock/state.h"
#include "core/row.h"

/* A stage does a bit of the work, and sets the next stage when it is done. */
typedef void (*stage_fn)(struct core *core, struct listing *g);

typedef const struct hold *(*next_hold_fn)(const struct hold *h);

/*
 * core_..._begin() makes it, core_listing_end() frees it.  The things that it
 * points to may go away between two parts; listing_leave_...() then moves it
 * on, or sets NULL.
 */
struct listing {
	LIST_ENTRY(listing) link;
	struct row row;
	stage_fn stage; /* NULL: that was all */
	unsigned anew;	/* how often it began again */
	bool spoilt;	/* perhaps it has listed a hold that is over */
	int64_t now_ms;
	size_t left;		   /* rows that are wanted */
	const struct owner *owner; /* LIST; NULL: it ended */
	const struct lock *lock;   /* QUEUE, HISTORY; NULL: there is none */
	uint64_t nparked; /* QUEUE: tokens that wait (kind=: all), ... */
	uint64_t came;	  /* ... and which was told last */
	char *name;	  /* QUEUE, HISTORY; owned */
	size_t name_len;
	/* What comes next in the present stage. */
	const struct hold *hold;
	next_hold_fn after;		  /* goes on from a hold that leaves */
	void (*again)(struct listing *g); /* LIST: begins again */
	const struct permits *permits;
	const struct claim *claim;
	const struct permits *holding; /* QUEUE: of that semaphore, ... */
	const struct claim *in_line;   /* ... and who waits there */
	const struct waiter *waiter;
	/* NAMES. */
	struct busiest busiest;
	core_shows_fn shows; /* NULL: all */
	void *shows_arg;
	char *pattern; /* owned; NULL: all; for the names that are ... */
	size_t pattern_len;
	bool begins;	/* ... it, or only begin with it */
	uint64_t total; /* names that were offered */
	size_t most;	/* names that are wanted */
	uint32_t table; /* which one, ... */
	uint32_t chain; /* ... its chain that comes next, ... */
	uint32_t size;	/* ... and how many chains it had at the last look */
};

/* Returns a list that begins with that stage. */
struct listing *listing_new(struct core *core, stage_fn stage);

/* QUEUE: who the row is about, without the mode. */
void listing_owner(
    const struct core *core, struct listing *g, const struct owner *owner);

/* QUEUE and HISTORY: the same, with the mode. */
void listing_session(const struct core *core, struct listing *g,
    const struct owner *owner, bool shared);

static inline uint64_t
listing_age(int64_t now_ms, int64_t since_ms)
{
	return now_ms > since_ms ? (uint64_t)(now_ms - since_ms) : 0;
}

static inline const char *
listing_mode(bool shared)
{
	return shared ? "shared" : "exclusive";
}

#endif
