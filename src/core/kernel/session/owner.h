/*
 * An owner of locks: who it is, what it has, and what it waits for.  The
 * modules lock, sync and token know no more than this about those they serve.
 * At present each owner is a session: record.h adds the connection, and what
 * happens to a client that loses it.
 *
 * The modules above keep lists here: what the owner holds, and what it waits
 * for.
 */
#ifndef LOCKBROKER_CORE_KERNEL_SESSION_OWNER_H
#define LOCKBROKER_CORE_KERNEL_SESSION_OWNER_H

#include "base/cursor.h"
#include "base/table.h"
#include "core/kernel/turn/turn.h"

TAILQ_HEAD(holding_list, holding);
TAILQ_HEAD(claim_list, claim);
TAILQ_HEAD(watch_list, watch);
TAILQ_HEAD(owner_list, owner);

/* A name that the owner has lost, of which no UNLOCK has been told yet. */
struct lost {
	TAILQ_ENTRY(lost) link;
	struct table_link by_name; /* in owner.lost_names */
	size_t name_len;
	char name[];
};
TAILQ_HEAD(lost_list, lost);

/* What an owner may have: holding.h. */
enum holding_kind { HOLDING_NAME, HOLDING_PERMITS, HOLDING_KINDS };

/* Walks over what owners have or wait for, a part in each step. */
enum owner_walk {
	WALK_HASTEN,  /* life.h */
	WALK_REENTER, /* lock/grant.h */
	WALK_GOING,   /* unowned/unowned.c */
	WALK_VOUCHED, /* valid.h */
	OWNER_WALKS
};

/* Totals over all owners of one user; a part has more of it. */
struct tenant {
	int64_t holdings;
	int64_t waiting;  /* requests */
	int64_t places;	  /* of tokens that poll */
	unsigned waiters; /* this many wait and poll at most; 0: any number */
};

struct owner {
	struct table_link by_id; /* in owners.by_id */
	uint64_t id;		 /* its session's; replies go there */
	char *label;		 /* owned; NULL: none */
	char *peer;		 /* owned */
	char *user;		 /* owned; NULL: no user */
	int64_t uid;		 /* of the peer; -1: not known */
	struct holding_list holdings[HOLDING_KINDS];
	struct claim_list waiting; /* untagged ones first: claim.h */
	struct claim_list granted; /* that wait to be told */
	struct lost_list lost;
	struct table lost_names;
	struct watch_list watches;
	struct valid *valid;	       /* valid.h; NULL: it has few things */
	unsigned nheld[HOLDING_KINDS]; /* number of holdings */
	unsigned nwaiting, nlost, nwatches;
	/* How many of nwaiting are no load (owner_load()): requests that were
	 * granted and are not told yet count as what they were granted, a
	 * STATUS as nothing. */
	unsigned nuncounted;
	bool draining; /* its client sends nothing more: it does not wait */
	bool gone;     /* no client is there; it lives for a valid= alone */
	/* No client is there, but one may count on a valid= until then; 0:
	 * no. */
	int64_t promised_ms;
	struct cursors cursors; /* in all of these lists */
	uint32_t nended;	/* holdings that are over, so far */
	TAILQ_ENTRY(owner) in_walk[OWNER_WALKS];
	bool walks[OWNER_WALKS]; /* walks that are still to visit it */
	uint64_t walk; /* lock/admit.h: the last walk that visited it ... */
	const struct lock *walk_via; /* ... on the way to this name ... */
	struct owner *walk_from;     /* ... from this owner */
	uint64_t parked;       /* the last request that may be (token/poll.h) */
	bool awaits;	       /* one that awaits a name has been parked */
	unsigned nplaces;      /* of its tokens that poll (token/pollers.h) */
	struct tenant *tenant; /* not owned; NULL: nothing counts its things */
};

/*
 * A walk visits one owner after the other, and keeps how far it has come with
 * the first of them.  Most walks need one place in the owner's lists; a walk
 * over everything that it has needs one for each kind.
 */
struct owners_walk {
	struct owner_list owners;
	struct cursor at[HOLDING_KINDS];
	bool begun; /* with the first */
	bool again; /* it visits the first once more */
};

/* All owners. */
struct owners {
	/* The owner has released the last of its holdings.  The callee must not
	 * step in at once: the caller is not done. */
	void (*bare)(struct core *core, struct owner *owner);
	const struct holding_class *const *classes; /* by kind */
	struct table by_id;
	struct table by_ref;	   /* requests that wait, for CANCEL */
	struct claim_list granted; /* the FLUSH tells these grants */
	struct owners_walk walks[OWNER_WALKS];
	/* Reserved (quota.h): names, and these with those that may come to be;
	 * latches that are made, or being made; token holds. */
	struct table shares;	   /* by user: share.h ... */
	struct table token_shares; /* ... and those of token holds */
	uint64_t nunowned, ncounted;
	uint64_t nmade, nmaking;
	uint64_t ntokens;
	uint64_t nparked;  /* tokens that wait */
	int64_t gained_ms; /* leases end sooner by all that clocks gained */
};

void owners_init(struct core *core);
void owners_fini(struct core *core);

/* The owner is part of another struct. */
void owner_init(
    struct core *core, struct owner *owner, uint64_t id, const char *peer);

/* Requires that it no longer holds or waits for anything. */
void owner_fini(struct core *core, struct owner *owner);

/* Returns NULL if there is none with this id. */
struct owner *owner_find(const struct core *core, uint64_t id);

/* How many things it holds, waits for or watches (limits.holds); a thing that
 * it was granted counts once, also before the client is told. */
unsigned owner_load(const struct owner *owner);

/* How many things it has, whatever they are. */
static inline unsigned
owner_has(const struct owner *owner)
{
	return owner->nheld[HOLDING_NAME] + owner->nheld[HOLDING_PERMITS];
}

/* It has one holding, request or place more, or less. */
static inline void
owner_counts(const struct owner *owner, int holdings, int waiting, int places)
{
	struct tenant *t = owner->tenant;

	if (t == NULL)
		return;
	t->holdings += holdings;
	t->waiting += waiting;
	t->places += places;
	assert(t->holdings >= 0 && t->waiting >= 0 && t->places >= 0);
}

/* May none of its user's requests and tokens wait besides those that do
 * already? */
static inline bool
tenant_is_full(const struct tenant *t)
{
	return t != NULL && t->waiters > 0 &&
	       t->waiting + t->places >= (int64_t)t->waiters;
}

/* Gives it another user; NULL: none.  The name is copied. */
void owner_set_user(struct core *core, struct owner *owner, const char *name);

/* Remembers a lost name; says whether it was lost; says so, and forgets it. */
void owner_note_lost(
    struct core *core, struct owner *owner, const char *name, size_t len);
bool owner_has_lost(const struct owner *owner, const char *name, size_t len);
bool owner_take_lost(struct owner *owner, const char *name, size_t len);

/* Forgets all lost names, in parts (work.h); returns true if none is left. */
bool owner_forget_lost(struct core *core, struct owner *owner);

/*
 * The walk will visit everything that the owner has now; or no longer, although
 * it may have visited some of it.  owner_walk_on() calls `begin` for the first
 * owner of the walk, which sets the places from which to go on, and then `one`
 * until that returns false, because it has visited everything; then it goes to
 * the next owner.  Requires that `one` frees no owner.  Each walk is a job: it
 * returns whether anything is left.
 */
void owner_walk(struct core *core, struct owner *owner, enum owner_walk which);
void owner_walk_not(
    struct core *core, struct owner *owner, enum owner_walk which);
bool owner_walk_on(struct core *core, enum owner_walk which,
    void (*begin)(struct owner *owner, struct cursor *at),
    bool (*one)(struct core *core, struct owner *owner, struct cursor *at));

/* Are the walks of owners queued?  Does its own part of one agree?  For tests;
 * abort if not. */
void owners_check(const struct core *core);
void owner_check(const struct core *core, const struct owner *owner);

#endif
