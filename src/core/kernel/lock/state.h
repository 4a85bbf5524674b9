/*
 * The data of locks.  Only files of src/core include this.
 *
 *	owner --holds--> hold <--holders-- lock --queue--> waiter
 *	  |                                 |                 |
 *	  +--------------- waiting ---------+-----------------+
 *
 * A lock is everything that this broker knows about one name: its lease in the
 * store, its holders and its waiters here.  It exists while there is anything
 * to know.  A waiter is one name of a request that has not been answered.  The
 * core owns all of them; the module that made one frees it.
 */
#ifndef LOCKBROKER_CORE_KERNEL_LOCK_STATE_H
#define LOCKBROKER_CORE_KERNEL_LOCK_STATE_H

#include "base/freelist.h"
#include "base/table.h"
#include "core/kernel/lease/lease.h"
#include "core/kernel/session/claim.h"
#include "core/kernel/session/holding.h"
#include "core/kernel/turn/marks.h"
#include "core/kernel/turn/slot.h"

#define LOCK_HOOKS_MAX 48 /* functions of struct lock_hooks */

TAILQ_HEAD(waiter_list, waiter);

/*
 * What was agreed on for a hold beyond the usual.  Most holds have none: hold.c
 * makes it when it is needed, and frees it with the hold.
 */
struct hold_rare {
	struct hold *hold;
	struct table_link by_owner; /* in lock_rare.crowd, if there is one */
	struct timer bound;    /* armed if the time of holding is bounded */
	int64_t hold_ms;       /* the bound, from when it was set; 0: none */
	int64_t keep_until_ms; /* no one else gets the name before then */
	int64_t delay_ms;      /* no one else for this long after a bad end */
	/* The same two, as far as the client was told of them. */
	int64_t told_keep_until_ms, told_delay_ms;
	/* What it had before an untold upgrade; 0: there is none. */
	uint64_t shared_fence;
	int64_t waited_ms;  /* if holding.waited_ms has no room for it */
	bool gone;	    /* its client is: counted in lock_rare.ngone */
	uint32_t reentries; /* not undone by an UNLOCK yet */
	bool binds;	    /* counted in lock_rare.nbinding */
	bool forfeited;	    /* its session was told that it is lost */
};

/*
 * One owner's hold of one name, on top of the lease.  Small, like a lock: it
 * has only what every hold needs.
 */
struct hold {
	struct holding holding;
	struct lock *lock;
	struct hold_rare *rare; /* owned; NULL: none, see hold_rare() */
	uint64_t fence;
};

/*
 * One name of a LOCK that has not been answered: in the queue of its lock, or
 * granted and waiting for the FLUSH that tells it.
 */
struct waiter {
	/* Of several names, only the claim of the first can be cancelled and
	 * has a deadline. */
	struct claim claim;
	TAILQ_ENTRY(waiter) in_lock; /* in its queue, until it is granted */
	TAILQ_ENTRY(waiter) in_impatient; /* of the queue, if impatient */
	uint64_t ahead;			  /* waiters before it when it came */
	struct lock *lock;
	struct hold *hold;   /* granted; NULL again once the hold is gone */
	struct group *group; /* of a LOCK of several names; else NULL */
	unsigned place;	     /* in the group */
	int64_t deadline_ms; /* if the grant is taken back; 0: none */
	struct measure_wait wait; /* in the measurements, while it exists */
	uint64_t queue_limit;
	uint64_t came; /* core.last_come, then */
	int64_t hold_ms;
	int64_t keep_ms;
	int64_t delay_ms;
	uint64_t fence; /* granted */
	uint32_t depth; /* granted */
	bool has_hold : 1;
	bool shared : 1;
	bool jumped : 1;     /* to the head: it had a right to the name */
	bool impatient : 1;  /* in queue.impatient */
	bool tried : 1;	     /* the lease was asked for while it waited */
	bool withdrawn : 1;  /* the hold was lost before the grant was told */
	bool reentry : 1;    /* granted to an owner that has the name */
	unsigned result : 3; /* enum measure_result: how it ends */
};

/*
 * The waiters for a name.  The core makes it with its first waiter, and frees
 * it with its last, so it is never empty; most names have none.
 */
struct queue {
	struct waiter_list waiters;   /* in order of arrival, see queue.c */
	struct waiter_list impatient; /* of them: may be answered at once */
	uint32_t n;
	uint32_t ngroups; /* waiters that are members of groups */
};

/* Tests of the other members of a group: group.c. */
enum group_test {
	GROUP_HERE,
	GROUP_FREE,
	GROUP_TURN,
	GROUP_TAKES_UP,
	GROUP_TESTS
};

/*
 * A LOCK of several names: its waiters, one for each name.  They are granted in
 * one step or not at all.  Freed with the last of them.
 */
struct group {
	struct owner *owner;
	uint64_t ref;
	int64_t since_ms;
	unsigned n, left;	     /* waiters in all; not yet freed */
	uint8_t failed[GROUP_TESTS]; /* the member that last failed each */
	struct waiter *members[CORE_NAMES_MAX]; /* as asked; NULL: freed */
};

/*
 * What is known of few names only: names that changed hands, or are kept for a
 * session.  Made by lock_need_rare(), freed with its lock.
 */
struct lock_rare {
	uint64_t handovers;	 /* in all */
	uint64_t linger_owner;	 /* may lock it again while it lingers ... */
	int64_t linger_since_ms; /* ... and was granted it then */
	uint32_t gave_way;	 /* lock_gives_way(), since the last grant */
	/* Holds and requests with keep= or delay=; holds of clients gone. */
	uint32_t nbinding, ngone;
	/* The most that holds and requests have asked for. */
	int64_t most_keep_until_ms, most_delay_ms;
	struct telling *telling; /* owned; what its holders are being told */
	struct table *crowd;	 /* its holders by owner; NULL: they are few */
	struct cursors cursors;	 /* in its holders and waiters */
	void **part;		 /* owned; what parts have of it: names.h */
};

/*
 * All that this broker knows of one name.  A lock that is merely held should
 * cost little, because there are many of them.
 */
struct lock {
	struct lease lease;	   /* what the broker has of it in the store */
	struct table_link by_name; /* in names.table */
	struct holding_list holders; /* the latest comes first */
	struct queue *queue;	     /* owned; NULL: no one waits here */
	struct parting *parting;     /* an UNLOCK that waits for the release */
	struct lock_rare *rare;	     /* owned; NULL: nothing, see lock_rare() */
	uint32_t nholders;
	uint32_t nuntold;	  /* grants that are not told yet */
	uint32_t touched_at;	  /* where in locks.touched */
	bool touched : 1;	  /* it is there */
	bool shared_hold : 1;	  /* holds are shared, if there are any */
	bool handed : 1;	  /* a hold was granted on this lease */
	bool unowned : 1;	  /* counted in owners.nunowned */
	bool counted : 1;	  /* counted in owners.ncounted */
	struct measure_mark mark; /* measured.c: its class */
	uint8_t name_len;
	char name[];
};

static inline struct lock *
lock_with(struct lease *l)
{
	return container_of(l, struct lock, lease);
}

static inline const struct lock *
lock_seen(const struct lease *l)
{
	return container_of_const(l, struct lock, lease);
}

/* Does it stay with this broker, though it has no holder here? */
static inline bool
lock_is_warm(const struct lock *l)
{
	return lease_rare(&l->lease)->warm_ms > 0;
}

/* The queue of a name; empty if no one waits. */
static inline const struct queue *
queue_of(const struct lock *l)
{
	static const struct queue nobody;

	return l->queue != NULL ? l->queue : &nobody;
}

static inline struct waiter *
waiter_first(const struct lock *l)
{
	return TAILQ_FIRST(&queue_of(l)->waiters);
}

/* Requires that it is the hold of a name, or NULL. */
static inline struct hold *
hold_of(struct holding *h)
{
	assert(h == NULL || h->kind == HOLDING_NAME);
	return h == NULL ? NULL : container_of(h, struct hold, holding);
}

static inline const struct hold *
hold_seen(const struct holding *h)
{
	assert(h->kind == HOLDING_NAME);
	return container_of_const(h, struct hold, holding);
}

/* The latest of its holders; NULL: it has none. */
static inline struct hold *
hold_first(const struct lock *l)
{
	return hold_of(TAILQ_FIRST(&l->holders));
}

/* NULL: the claim is none on a name. */
static inline struct waiter *
waiter_of(struct claim *c)
{
	return c->class->kind == CLAIM_WAITER
		   ? container_of(c, struct waiter, claim)
		   : NULL;
}

static inline const struct waiter *
waiter_seen(const struct claim *c)
{
	return c->class->kind == CLAIM_WAITER
		   ? container_of_const(c, struct waiter, claim)
		   : NULL;
}

/* Compares the order of arrival, which is not always that of the queue. */
static inline bool
waiter_came_before(const struct waiter *w, const struct waiter *other)
{
	return w->came < other->came;
}

/* Does the request want others kept away for longer than it holds the name? */
static inline bool
waiter_binds(const struct waiter *w)
{
	return w->keep_ms > 0 || w->delay_ms > 0;
}

/* What it was granted, if anything, counts as a hold no longer; or the client
 * is told of it now. */
static inline void
waiter_drop_hold(struct waiter *w)
{
	w->claim.owner->nuncounted -= w->hold != NULL;
	w->hold = NULL;
}

/* What more is known of a name; all zero if there is nothing. */
static inline const struct lock_rare *
lock_rare(const struct lock *l)
{
	static const struct lock_rare nothing;

	return l->rare != NULL ? l->rare : &nothing;
}

/* All names of this broker. */
struct locks {
	/* hooks.h: for each function the parts that have it, with NULL at the
	 * end; and the memory of these lists.  Owned. */
	const struct lock_hooks **hooks[LOCK_HOOKS_MAX];
	const struct lock_hooks **all_hooks;
	const struct claim_class *claims; /* of waiters; static */
	/* Names, one table for each guard; over a quorum the first has all of
	 * them.  Owned. */
	struct table *names;
	uint64_t nwaiting; /* waiters in all queues */
	uint64_t nholds;   /* holds of all names */
	struct freelist holds, waiters, queues;
	/* A ring of locks to be looked at; NULL: untouched again.  Owned. */
	struct lock **touched;
	uint32_t touched_first, touched_end, touched_size;
	uint64_t walks; /* so far, in admit.c */
};

#endif
