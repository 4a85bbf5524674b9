/*
 * The record of a session: what it is, and what it has lost.  core/life.h says
 * how a session begins, goes on without a connection, and ends.
 *
 * The modules above keep here lists of what it holds and waits for.
 */
#ifndef LOCKBROKER_CORE_SESSION_RECORD_H
#define LOCKBROKER_CORE_SESSION_RECORD_H

#include "base/table.h"
#include "core/turn/turn.h"

TAILQ_HEAD(hold_list, hold);
TAILQ_HEAD(waiter_list, waiter);
TAILQ_HEAD(claim_list, claim);
TAILQ_HEAD(permits_list, permits);
TAILQ_HEAD(kept_list, kept);
TAILQ_HEAD(watch_list, watch);
TAILQ_HEAD(session_list, session);
TAILQ_HEAD(ask_list, ask);

/* A name that the session has lost, of which no UNLOCK has been told yet. */
struct lost {
	TAILQ_ENTRY(lost) link;
	struct table_link by_name; /* in session.lost_names */
	size_t name_len;
	char name[];
};
TAILQ_HEAD(lost_list, lost);

/* One client, or what is left of it while its holds live on. */
struct session {
	struct table_link by_id;     /* in sessions.by_id */
	TAILQ_ENTRY(session) in_all; /* in the order in which they came */
	TAILQ_ENTRY(session) in_withdrawing, in_letting_go; /* leave.h */
	TAILQ_ENTRY(session) in_hastening;		    /* hasten.h */
	TAILQ_ENTRY(session) in_reentering;		    /* reenter.h */
	TAILQ_ENTRY(session) in_going;			    /* unowned.h */
	uint64_t id;
	uint64_t conn; /* its connection; 0: detached */
	char *label;   /* owned; NULL: none */
	char *peer;    /* owned */
	char *user;    /* owned; only the same user resumes it; NULL: nobody */
	int64_t uid;   /* of the peer; -1: not known */
	bool tcp;
	bool proxied;	  /* a close may be a proxy's */
	bool draining;	  /* its client sends nothing more: it does not wait */
	bool detached;	  /* its connection is gone */
	bool withdrawing; /* in sessions.withdrawing: it stops waiting */
	bool letting_go;  /* in sessions.letting_go: it gives all back, ... */
	bool clean;	  /* ... by its client's will, ... */
	bool outlived;	  /* ... not for others before its valid= is over */
	bool refused;	  /* it was told that the broker stops */
	bool over;	  /* nobody comes back to it */
	int64_t valid_ms; /* until when it was told that all is well */
	int64_t grace_ms; /* it outlives its connection by so much */
	int64_t heartbeat_ms; /* its client owes a line so often; 0: never */
	struct timer end;     /* of a detached session */
	struct hold_list holds;
	struct waiter_list waiting; /* untagged ones first */
	struct waiter_list granted; /* that wait to be told */
	struct lost_list lost;
	struct table lost_names;
	struct claim_list claims;    /* requests on syncs, unanswered */
	struct permits_list permits; /* of semaphores */
	unsigned nclaims, npermits;
	struct kept_list kept;
	struct table kept_news; /* those that later news may replace */
	struct watch_list watches;
	struct ask_list asks; /* STATUS, while Redis is away */
	struct valid *valid;  /* valid.h; NULL: it has few things */
	unsigned nholds, nwaiting, nlost, nkept, nwatches;
	uint64_t parked; /* the last request that was parked (token/park.h) */
	bool gone;	 /* detached for a valid= alone */
	/* Walks that are under way, and what they look at next. */
	bool hastening, going, reentering, reenter_again;
	struct waiter *hasten_waiter, *reenter_next;
	struct claim *hasten_claim;
	struct hold *going_next;
	bool has_secret; /* its client asked for a key, by SESSION */
	unsigned char secret[CORE_SECRET_BYTES];
	uint64_t walk; /* deadlock.c: the walk that came by last ... */
	const struct lock *walk_via; /* ... on the way to this name ... */
	struct session *walk_from;   /* ... from this session */
};

/* What sessions ask of the modules above.  Static; its row is in core.c. */
struct session_listener {
	/* Until when all that it holds, few things, is vouched for. */
	int64_t (*vouched_ms)(struct core *core, const struct session *s);
};

/* All sessions. */
struct sessions {
	const struct session_listener *above;
	struct table by_id;
	struct session_list all;
	unsigned nkeepers; /* with grace */
	unsigned ndetached;
	struct session_list withdrawing, letting_go; /* leave.h */
	struct session_list hastening, going;	     /* hasten.h, unowned.h */
	struct session_list reentering;		     /* reenter.h */
	struct kept_list kept_over;		     /* replay.h: to be freed */
	struct session *stop_next; /* stop.c: how far it has come */
	int64_t promised_ms;	   /* the latest valid= that was told */
	int64_t left_ms;	   /* the same, of what was not given back */
	/* Kept for nobody (quota.h): names, and these with those that may come
	 * to be; latches that are made, or being made; token holds. */
	uint64_t nunowned, ncounted;
	uint64_t nmade, nmaking;
	uint64_t ntokens;
	TAILQ_HEAD(, retold) retelling; /* replay.c */
	uint64_t nparked;		/* tokens that wait */
	TAILQ_HEAD(, valid) walking;	/* valid.h */
	int64_t gained_ms; /* leases end sooner by all that clocks gained */
};

void session_init(struct core *core);
void session_fini(struct core *core);

/* Makes a session for the connection with this id, which is also its own id. */
struct session *session_new(struct core *core, uint64_t id, const char *peer);

/* Frees it.  Requires that it holds and waits for nothing any more. */
void session_delete(struct core *core, struct session *s);

struct session *session_find(const struct core *core, uint64_t id);
uint64_t session_conn(const struct core *core, uint64_t id);

/* How many things it holds or waits for (limits.holds). */
unsigned session_load(const struct session *s);

/* Remembers a lost name; says whether it was lost; says so, and forgets it. */
void session_note_lost(
    struct core *core, struct session *s, const char *name, size_t len);
bool session_has_lost(const struct session *s, const char *name, size_t len);
bool session_take_lost(struct session *s, const char *name, size_t len);

/* Forgets all lost names, in parts (work.h); returns true if none is left. */
bool session_forget_lost(struct core *core, struct session *s);

/* Do its lists and its counters agree?  For tests; aborts if not. */
void session_check(const struct core *core);

#endif
