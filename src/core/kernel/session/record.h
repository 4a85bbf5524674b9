/*
 * The record of a session: an owner of locks, and the data of its client's
 * connection.  core/kernel/life.h says how a session begins, goes on without a
 * connection, and ends.
 *
 * Only the files at the top of the core include this; the modules below know
 * the owner (owner.h).
 */
#ifndef LOCKBROKER_CORE_KERNEL_SESSION_RECORD_H
#define LOCKBROKER_CORE_KERNEL_SESSION_RECORD_H

#include "core/kernel/session/owner.h"

TAILQ_HEAD(session_list, session);
TAILQ_HEAD(kept_list, kept);

/* How a session counts for its grace: place.h. */
enum place { PLACE_NONE, PLACE_TAKEN, PLACE_SPARE, PLACES };

/* One client, or what is left of it while its holds live on. */
struct session {
	struct owner owner;
	TAILQ_ENTRY(session) in_all; /* in the order in which they came */
	TAILQ_ENTRY(session) in_withdrawing, in_letting_go; /* leave.h */
	TAILQ_ENTRY(session) in_spare; /* sessions.spare, if it is spare */
	struct share *share; /* of the user whose place it takes, or NULL */
	enum place place;
	uint64_t conn; /* its connection; 0: detached */
	bool tcp;
	bool proxied;	  /* a close may be a proxy's */
	bool deaf;	  /* its client cannot receive events at present */
	bool detached;	  /* its connection is gone */
	bool withdrawing; /* in sessions.withdrawing: it stops waiting */
	bool letting_go;  /* in sessions.letting_go: it releases all, ... */
	bool clean;	  /* ... by its client's will, ... */
	bool outlived;	  /* ... not for others before its valid= is over */
	bool leaving;	  /* it was told that the broker leaves */
	bool refused;	  /* it was told that the broker stops */
	bool over;	  /* no client can resume it */
	bool has_secret;  /* its client asked for a key, by SESSION */
	unsigned char secret[CORE_SECRET_BYTES];
	int64_t valid_ms; /* until when its client was told that all is well */
	int64_t option[SESSION_OPTIONS];
	struct timer end; /* of a detached session */
	struct kept_list kept;
	struct table kept_news; /* those that later news may replace */
	unsigned nkept;
	/* The last event that was kept, and the last that was written, when the
	 * client last said something. */
	uint64_t heard, heard_written;
};

/* All sessions. */
struct sessions {
	struct session_list all;
	struct cursors cursors; /* in these */
	unsigned nkeepers;	/* with grace */
	unsigned nplaces[PLACES];
	struct session_list spare; /* those away for longest come first */
	struct table shares;	   /* of the places that are taken, by user */
	int64_t exhausted_ms; /* when the log said that all were; 0: never */
	struct session_list withdrawing, letting_go; /* leave.h */
	struct kept_list kept_over;		     /* replay.c: to be freed */
	uint64_t nevents, nwritten;	/* kept in all; of them, written */
	TAILQ_HEAD(, retold) retelling; /* replay.c */
	int64_t left_ms; /* stopping: the latest valid= that was told of
			    holds that were not released */
};

/* Each owner is a session. */
static inline struct session *
session_of(struct owner *owner)
{
	return container_of(owner, struct session, owner);
}

static inline const struct session *
session_seen(const struct owner *owner)
{
	return container_of_const(owner, struct session, owner);
}

void session_init(struct core *core);
void session_fini(struct core *core);

/*
 * Makes a session for the connection with this id, which is also its own id: it
 * keeps that when another connection takes it over.  session_delete() frees it.
 */
struct session *session_new(struct core *core, uint64_t id, const char *peer);

/* Frees it.  Requires that it no longer holds or waits for anything, and that
 * no kept event and no STATUS of it is left. */
void session_delete(struct core *core, struct session *s);

/* Returns NULL if there is none; the connection that it has now; 0: none. */
struct session *session_find(const struct core *core, uint64_t id);
uint64_t session_conn(const struct core *core, uint64_t id);

/* Do its lists and its counters agree?  For tests; aborts if not. */
void session_check(const struct core *core);

#endif
