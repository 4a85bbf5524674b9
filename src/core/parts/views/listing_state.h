/*
 * The state of a list that is being made.  Only the files listing*.c include
 * this.
 */
#ifndef LOCKBROKER_CORE_PARTS_VIEWS_LISTING_STATE_H
#define LOCKBROKER_CORE_PARTS_VIEWS_LISTING_STATE_H

#include <stdlib.h>

#include "base/buf.h"
#include "base/field.h"
#include "core/dump.h"
#include "core/kernel/lock/state.h"
#include "core/parts/views/busiest.h"

#define ROW_FIELDS 12

/* One row being built; strings go to its arena.  Part of a listing. */
struct row {
	struct field fields[ROW_FIELDS];
	size_t n;
	struct buf text;
	core_row_fn fn;
	void *arg;
	size_t count; /* rows that were finished */
};

void row_num(struct row *r, enum field_id id, uint64_t num);
/* Copies the string. */
void row_str(struct row *r, enum field_id id, const char *str);

/* The note of a hold or a waiter, if there is one. */
void row_note(const struct core *core, struct row *r, enum field_id id,
    const void *of, enum note note);

/* Passes the row on; word and name may be NULL.  The next one begins empty. */
void row_finish(struct row *r, const char *word, const char *name, size_t len);

/* A stage does a bit of the work, and sets the next stage when it is done. */
typedef void (*stage_fn)(struct core *core, struct listing *g);

/*
 * core_..._begin() makes it, core_listing_end() frees it.  Between two parts,
 * anything may go away: the list keeps no pointers but the one in its cursor.
 */
struct listing {
	struct row row;
	stage_fn stage;	    /* NULL: that was all */
	struct cursor next; /* what comes next in the present stage */
	unsigned anew;	    /* how often it began again */
	int64_t now_ms;
	size_t left; /* rows that are wanted */
	/* LIST: of which session, ... */
	uint64_t session;
	uint32_t nended; /* ... of which this many things were over before */
	/* Begins again if it may have listed things that are over since;
	 * returns whether it has. */
	bool (*spoilt)(struct core *core, struct listing *g);
	uint64_t nparked; /* QUEUE: tokens that wait (kind=: all), ... */
	uint64_t came;	  /* ... and which was listed last */
	enum kind kind;	  /* QUEUE kind= */
	char *name;	  /* QUEUE, HISTORY; owned */
	size_t name_len;
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
struct listing *listing_new(stage_fn stage);

/* QUEUE and HISTORY: the session of the row, and the mode. */
void listing_session(const struct core *core, struct listing *g,
    const struct owner *owner, bool shared);

/* NAMES and QUEUE: a name is reserved until then, and who had it. */
void listing_kept(const struct core *core, struct listing *g, const char *name,
    size_t name_len, int64_t until_ms);

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
