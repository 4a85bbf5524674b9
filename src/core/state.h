/*
 * What the core is made of.  Only files of src/core include this.
 *
 *	session --holds--> hold <--holders-- lock --queue--> waiter
 *	   |                                  |                 |
 *	   +--------------- waiting ----------+-----------------+
 *
 * A lock is everything this broker knows of one name: its lease in the store,
 * who holds it here and who waits for it here.  It exists while there is
 * anything to know.  A waiter is one request that has not been answered.  All
 * of them belong to the core; they are freed by the module that made them.
 */
#ifndef LOCKBROKER_CORE_STATE_H
#define LOCKBROKER_CORE_STATE_H

#include "base/table.h"
#include "core/guard/guard.h"
#include "core/session/record.h"
#include "core/turn/slot.h"

/*
 * STATE(identifier, "word"): the life of a lease (see lease.c for what may
 * follow what).
 */
/* clang-format off */
#define LEASE_STATES(STATE) \
	STATE(NONE, "none") \
	STATE(ACQUIRING, "acquiring") \
	STATE(QUEUED, "queued") \
	STATE(CONFIRMING, "confirming") \
	STATE(HELD, "held") \
	STATE(ATRISK, "at-risk") \
	STATE(ENDING, "ending") \
	STATE(LINGERING, "lingering")
/* clang-format on */

enum lease_state {
#define STATE(id, word) LEASE_##id,
	LEASE_STATES(STATE)
#undef STATE
	    LEASE_MAX
};

LIST_HEAD(holder_list, hold); /* of a lock; the latest comes first */
TAILQ_HEAD(names_list, names);
TAILQ_HEAD(held_list, lock);
TAILQ_HEAD(vote_list, vote);
/*
 * What was agreed on for a hold beyond the usual.  Most have none of it: made
 * by hold.c when it is needed, and freed with its hold.
 */
struct terms {
	struct hold *hold;
	struct timer bound;    /* armed where the time of holding is bounded */
	int64_t hold_ms;       /* the bound, from when it was set; 0: none */
	int64_t keep_until_ms; /* nobody else before then */
	int64_t before_ms;     /* of that, what an earlier hold has promised */
	int64_t delay_ms;      /* nobody else so long after a bad end */
	uint32_t reentries;    /* not undone by an UNLOCK yet */
	bool binds;	       /* counted in more.nbinding */
};

/*
 * One session's hold of one name, on top of the lease.  Small, as a lock is: it
 * has only what every hold has.
 */
struct hold {
	TAILQ_ENTRY(hold) in_session;
	LIST_ENTRY(hold) in_lock;
	struct session *session;
	struct lock *lock;
	struct terms *terms; /* owned; NULL: none, see hold_terms() */
	uint64_t fence;
	int64_t since_ms; /* of the grant */
};

/*
 * One name of a LOCK that has not been answered: in the queue of its lock, or
 * granted and waiting for the FLUSH that tells it.
 */
struct waiter {
	TAILQ_ENTRY(waiter) in_session;	  /* waiting or granted there */
	TAILQ_ENTRY(waiter) in_lock;	  /* in locks.granted once granted */
	TAILQ_ENTRY(waiter) in_impatient; /* of the lock, if impatient */
	uint64_t ahead;			  /* waited for the name when it came */
	struct session *session;
	struct lock *lock;
	struct hold *hold;     /* granted; NULL again once that is gone */
	struct group *group;   /* of a LOCK of several names; else NULL */
	unsigned place;	       /* in the group */
	struct timer deadline; /* disarmed while it is granted ... */
	int64_t deadline_ms;   /* ... and armed for then again; 0: for ever */
	uint64_t ref;
	uint64_t queue_limit;
	int64_t since_ms;
	int64_t hold_ms;
	int64_t keep_ms;
	int64_t delay_ms;
	uint64_t fence; /* granted */
	uint32_t depth; /* granted */
	bool has_hold : 1;
	bool shared : 1;
	bool untagged : 1;
	bool try_only : 1;  /* wait=0 */
	bool jumped : 1;    /* to the head of the queue: it had a right to it */
	bool impatient : 1; /* in lock.impatient */
	bool tried : 1;	    /* the lease was asked for while it waited */
	bool granted : 1;
	bool withdrawn : 1; /* the lease ran out before the grant was told */
};

/*
 * A LOCK of several names: its waiters, one a name.  They are granted in one
 * step or not at all.  Freed with the last of them.
 */
struct group {
	struct session *session;
	uint64_t ref;
	int64_t since_ms;
	unsigned n, left;  /* waiters in all; not yet freed */
	uint8_t failed[3]; /* the members that failed a test last: group.c */
	struct waiter *members[CORE_NAMES_MAX]; /* as asked; NULL: freed */
};

/*
 * The operation in flight for a name: what its answer will mean.  Made by
 * lease_ask.c, freed with the answer or with its lock.
 */
struct asked {
	int64_t delay_ms; /* by which the key outlives lease and pad */
	int64_t ttl_ms;	  /* of the key */
	int64_t since_ms;
	uint32_t spell;	  /* of the guard */
	uint32_t reserve; /* fences */
	bool queue;	  /* ACQUIRE: it queues up */
	bool linger;	  /* END: it leaves a tombstone */
};

/*
 * What is known of few names only: those that were passed on, that linger, for
 * which another broker or a group waits, or that Redis had something against.
 * Made by need_more(), freed with its lock.
 */
struct more {
	char *why;		 /* owned; what Redis refused with last */
	uint64_t again_seq;	 /* ENDING: of the next token; 0: none yet */
	uint64_t handovers;	 /* in all */
	int64_t delay_ms;	 /* by which the key outlives lease and pad */
	int64_t longer_ms;	 /* it lives longer than these by so much */
	int64_t linger_ms;	 /* nobody new before then; 0: no linger */
	uint64_t linger_session; /* but this one may lock it again ... */
	int64_t linger_since_ms; /* ... who had it since then */
	/* LINGERING: others shared it, so not before then. */
	int64_t again_ms;
	/* Since when it is here for groups only; 0: it is not. */
	int64_t idle_ms;
	int64_t remote_ms; /* since when another broker waits; 0: none */
	uint32_t row;	   /* handovers since then */
	/* Quorum: tokens, each as a number that stands for it (wait.c). */
	uint32_t rival;	 /* NONE: of who has the name; 0: not known */
	uint32_t freed;	 /* of the latest that was told to be over; 0: none */
	uint32_t failed; /* attempts in a row that nobody has won */
	/* Holds and requests with keep= or delay=; holds of the gone. */
	uint32_t nbinding, ngone;
};

/*
 * All that this broker knows of one name.  A lock that is merely held should
 * cost little: there are many of them.
 */
struct lock {
	struct table_link by_name; /* in names.table */
	TAILQ_ENTRY(lock)
	in_held; /* or in leases.held_briefly; see `vouched` */
	struct holder_list holders;
	struct waiter_list queue;
	struct waiter_list impatient; /* of them: may be answered at once */
	struct timer timer;	      /* when the lease wants attention next */
	struct parting *parting;      /* that waits for the end of ENDING */
	struct asked *asked;  /* owned; NULL: no operation is in flight */
	struct more *more;    /* owned; NULL: nothing, see more_of() */
	uint64_t seq;	      /* of the token */
	uint64_t fence_next;  /* of the reserve */
	int64_t confirmed_ms; /* when what keeps the lease was sent */
	int64_t key_end_ms;   /* the key in the store lives no longer */
	int64_t wake_ms;      /* HELD: renew; QUEUED: look; else: retry */
	uint32_t spell;	      /* of the guard, when last confirmed */
	uint32_t nholders;
	uint32_t nwaiting;
	uint32_t nuntold;    /* granted and not told yet */
	uint32_t ngroups;    /* of them, members of groups */
	uint32_t touched_at; /* where in locks.touched */
	uint16_t shard;
	uint8_t fences;	       /* in reserve */
	uint8_t state;	       /* enum lease_state */
	bool paused : 1;       /* HELD: nothing is asked before wake_ms */
	bool hint : 1;	       /* a message says that it was handed to us */
	bool given : 1;	       /* and when, and the fence: good for one pad */
	bool brief : 1;	       /* held by such a message, not confirmed yet */
	bool blocked : 1;      /* counted in names.nblocked */
	bool touched : 1;      /* in locks.touched */
	bool shared : 1;       /* the lease is shared with other brokers */
	bool shared_hold : 1;  /* and so are the holds, where there are any */
	bool asked_shared : 1; /* so is the one asked for last */
	bool early_waits : 1;  /* a message said so before a reply */
	bool foreign : 1;      /* QUEUED behind a plain client's key */
	bool converting : 1;   /* a CONVERT is in flight */
	bool doubt : 1;	       /* one was carried out perhaps, unheard */
	bool handed : 1;       /* this lease has been granted once */
	bool whole : 1;	       /* the next renewal goes by itself */
	bool walled : 1;       /* NONE: wake_ms is for those who are */
	bool vouched : 1;      /* in leases.held ... */
	bool vouched_briefly : 1; /* ... or in leases.held_briefly */
	bool paced : 1;		  /* its renewal has room in wake_ms */
	bool unowned : 1;	  /* counted in locks.nunowned */
	bool counted : 1;	  /* and in locks.ncounted */
	uint8_t name_len;
	char name[];
};

/* All zero where there is nothing. */
static inline const struct more *
more_of(const struct lock *l)
{
	static const struct more nothing;

	return l->more != NULL ? l->more : &nothing;
}

/* A slice of time, and the renewals planned for it (pace.c). */
struct slice {
	int64_t number;
	uint32_t planned;
};

#define PACE_SLICES 128 /* half of them are a third of a lease */

/* The names of one guard; in a quorum the first has all. */
struct names {
	struct table table; /* by name */
	TAILQ_ENTRY(names) in_sweeping;
	struct table_walk sweep; /* over all of them: how far it has come */
	unsigned sweeping;	 /* enum sweep; 0: there is none */
	struct table_walk proof; /* all before are written again */
	uint32_t nblocked;	 /* of them, that wait for link or bless */
};

/* All leases of this broker. */
struct leases {
	size_t nlingering; /* tombstones */
	/* Those that are vouched for, in the order in which they run out but
	 * for few; those of the hand-over, which are shorter. */
	struct held_list held, held_briefly;
	struct vote_list votes;	    /* to be sent before the step ends */
	char asker[PEND_MAX_BYTES]; /* who said it in the latest "force-by" */
	uint64_t asker_seq;	    /* of that message */
	int64_t room_ms; /* pace.c: has room for renewals that are due */
	uint32_t room_taken;
	bool along; /* something was ended in it, by ... */
	uint32_t along_shard, along_lane;
	struct slice pace[PACE_SLICES];
};

/* What locks tell those above: what a list may stand at is about to be freed. */
struct lock_listener {
	void (*hold_leaves)(struct core *core, const struct hold *h);
	void (*waiter_leaves)(struct core *core, const struct waiter *w);
	void (*lock_leaves)(struct core *core, const struct lock *l);
};

/* All names of this broker. */
struct locks {
	const struct lock_listener *above; /* static */
	struct names *names;		   /* one a guard */
	size_t n;
	uint64_t nwaiting; /* waiters in their queues */
	uint64_t nholds;   /* given out */
	struct names_list sweeping;
	struct waiter_list granted; /* that wait to be told */
	/* To be looked at, a ring; NULL: not any more.  Owned. */
	struct lock **touched;
	uint32_t touched_first, touched_end, touched_size;
	uint64_t nunowned; /* names that are kept for nobody */
	uint64_t ncounted; /* those that may come to be so, too */
	uint64_t walks;	   /* deadlock.c */
};

#endif
