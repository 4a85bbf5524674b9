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

#include <assert.h>
#include <stddef.h>

#include "base/heap.h"
#include "base/list.h"
#include "base/map.h"
#include "base/table.h"
#include "core/core.h"
#include "core/dump.h"

#define container_of(ptr, type, member) \
	((type *)(void *)((char *)(ptr)-offsetof(type, member)))

#define BROKER_MAX_BYTES 64

/* What a struct timer is embedded in. */
enum timer_kind {
	TIMER_LEASE,
	TIMER_WAITER,
	TIMER_HOLD,
	TIMER_SESSION,
	TIMER_GUARD,
	TIMER_SYNC,
	TIMER_CLAIM,
	TIMER_PERMITS,
	TIMER_WATCH,
	TIMER_FORCE,
	TIMER_ASK,
	TIMER_VOTE,
	TIMER_STOP,
	TIMER_MADE,
	TIMER_MAX
};
/* Timers that are due are run in this order (agenda.c). */
enum agenda { AGENDA_SYNC, AGENDA_URGENT, AGENDA_PATIENT, AGENDA_MAX };

_Static_assert(
    TIMER_MAX <= 1u << (32 - TIMER_ORDER_BITS), "a kind fits into a timer");

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

/* Objects that are no locks; each kind has names of its own (sync.h). */
enum sync_kind { SYNC_SEMAPHORE, SYNC_LATCH, SYNC_BARRIER, SYNC_MAX };

TAILQ_HEAD(hold_list, hold);  /* of a session */
LIST_HEAD(holder_list, hold); /* of a lock; the latest comes first */
TAILQ_HEAD(waiter_list, waiter);
TAILQ_HEAD(held_list, lock);
TAILQ_HEAD(guard_list, guard);
TAILQ_HEAD(session_list, session);
TAILQ_HEAD(vote_list, vote);
TAILQ_HEAD(sync_list, sync);
TAILQ_HEAD(claim_list, claim);
TAILQ_HEAD(permits_list, permits);

/* A name that was lost and of which UNLOCK has not been told yet. */
struct lost {
	TAILQ_ENTRY(lost) link;
	struct table_link by_name; /* in session.lost_names */
	size_t name_len;
	char name[];
};
TAILQ_HEAD(lost_list, lost);

TAILQ_HEAD(kept_list, kept);	   /* kept.c */
TAILQ_HEAD(watch_list, watch);	   /* watch.c */
LIST_HEAD(listing_list, listing);  /* listing.h */
TAILQ_HEAD(watched_list, watched); /* watch.c */
TAILQ_HEAD(force_list, force);	   /* force.c */

/* One client, or what is left of it while its holds live on. */
struct session {
	UT_hash_handle hh;
	TAILQ_ENTRY(session) in_withdrawing, in_letting_go; /* leave.h */
	uint64_t id;
	uint64_t conn; /* its connection; 0: detached */
	char *label;   /* owned; NULL: none */
	char *peer;    /* owned */
	char *user;    /* owned; only the same user resumes it; NULL: nobody */
	int64_t uid;   /* of the peer; -1: not known */
	bool tcp;
	bool proxied;	      /* a close may be a proxy's */
	bool draining;	      /* will send nothing more: it does not wait */
	bool detached;	      /* its connection is gone */
	bool withdrawing;     /* in core.withdrawing: it stops waiting */
	bool letting_go;      /* in core.letting_go: it gives all back, ... */
	bool clean;	      /* ... by its client's will, ... */
	bool outlived;	      /* ... not for others before its valid= is over */
	bool refused;	      /* it was told that the broker stops */
	bool over;	      /* nobody comes back to it */
	int64_t valid_ms;     /* until when it was told that all is well */
	int64_t grace_ms;     /* it outlives its connection by so much */
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
	struct table kept_news; /* of them, what later news may replace */
	struct watch_list watches;
	unsigned nholds, nwaiting, nlost, nkept, nwatches;
	bool gone;	 /* detached for a valid= alone */
	bool has_secret; /* SESSION was asked for its key */
	unsigned char secret[CORE_SECRET_BYTES];
	uint64_t walk; /* deadlock.c: the walk that came by last ... */
	const struct lock *walk_via; /* ... on the way to this name ... */
	struct session *walk_from;   /* ... from this session */
};

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
	TAILQ_ENTRY(waiter) in_lock;	  /* in core.granted once granted */
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

/* An UNLOCK whose names are being released in the store. */
struct parting {
	uint64_t session; /* id */
	uint64_t ref;
	unsigned left; /* names still under way, and 1 while it begins */
	unsigned n;
	bool deferred;
	uint32_t depth[]; /* as asked */
};

/* A STATUS or QUEUE that waits for Redis to be reached.  Freed when it is answered. */
struct ask {
	TAILQ_ENTRY(ask) link;
	struct timer deadline;
	uint64_t session; /* id */
	uint64_t ref;
	uint32_t shard;
	uint8_t kind; /* enum core_kind */
	size_t name_len;
	char name[];
};
TAILQ_HEAD(ask_list, ask);

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
	struct table_link by_name; /* in guard.locks */
	TAILQ_ENTRY(lock) in_held; /* or in core.held_briefly; see `vouched` */
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
	uint32_t touched_at; /* where in core.touched */
	uint16_t shard;
	uint8_t fences;	       /* in reserve */
	uint8_t state;	       /* enum lease_state */
	bool paused : 1;       /* HELD: nothing is asked before wake_ms */
	bool hint : 1;	       /* a message says that it was handed to us */
	bool given : 1;	       /* and when, and the fence: good for one pad */
	bool brief : 1;	       /* held by such a message, not confirmed yet */
	bool blocked : 1;      /* counted in guard.nblocked */
	bool touched : 1;      /* in core.touched */
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
	bool vouched : 1;      /* in core.held ... */
	bool vouched_briefly : 1; /* ... or in core.held_briefly */
	bool paced : 1;		  /* its renewal has room in wake_ms */
	bool unowned : 1;	  /* counted in core.nunowned */
	bool counted : 1;	  /* and in core.ncounted */
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

/*
 * CAUSE(identifier, "word", "for people"): why a server may have forgotten
 * something.
 */
/* clang-format off */
#define GUARD_CAUSES(CAUSE) \
	CAUSE(NEW, "new", "no broker has used this Redis before") \
	CAUSE(UNWATCHED, "unwatched", "no broker has watched this Redis for a while, or it was restarted") \
	CAUSE(EMPTIED, "emptied", "Redis was emptied") \
	CAUSE(RESTARTED, "restarted", "Redis was restarted") \
	CAUSE(MASTER, "new-master", "Redis has another master, or it was restarted") \
	CAUSE(REPLICA, "replica", "Redis has begun another history (its first replica does that)") \
	CAUSE(FROZEN, "frozen", "Redis was frozen, or its clock was moved") \
	CAUSE(SETTINGS, "settings", "the last broker with other settings is gone") \
	CAUSE(PROMISED, "promised", "clients may still count on what the broker before this one told them")
/* clang-format on */

enum guard_cause {
#define CAUSE(id, word, text) CAUSE_##id,
	GUARD_CAUSES(CAUSE)
#undef CAUSE
	    CAUSE_MAX
};

/* By how much a server's clock gained on ours, and when that was noticed. */
struct gain {
	int64_t at_ms;
	int64_t by_ms;
};

/* What is known of one guard; guards[shard]. */
struct guard {
	struct timer timer; /* next heartbeat, or bless */
	struct table locks; /* by name; in a quorum the first has all */
	TAILQ_ENTRY(guard) in_sweeping;
	struct table_walk sweep; /* over all of them: how far it has come */
	unsigned sweeping;	 /* enum sweep; 0: there is none */
	struct table_walk proof; /* all before are written again */
	uint32_t nblocked;	 /* of them, that wait for link or bless */
	struct sync_list sync_blocked;
	enum guard_state state;
	bool up;    /* the store can be reached */
	bool busy;  /* a guard operation is in flight */
	bool known; /* it was blessed once: a new one has lost its data */
	bool fresh;
	bool fenced;		/* it has told a fence */
	bool idled;		/* stopping: signed off */
	int64_t unready_ms;	/* since when it does not grant */
	int64_t noted_ms;	/* when that was logged last */
	int64_t said_ms;	/* when it was told our address; 0: not yet */
	enum guard_cause cause; /* PENDING */
	uint32_t spell;		/* counts changes of history seen */
	int64_t spell_ms;	/* arrival of the present pend */
	int64_t seen_ms;	/* when the latest answered call was sent */
	int64_t told_ms;	/* the same, of those that told the state */
	int64_t up_ms;		/* when it could be reached again */
	bool was_down;		/* since it told last that it may grant ... */
	char blessed[HISTORY_BYTES]; /* ... in this history */
	int64_t pended_ms;	     /* the same, that it was pending */
	int64_t clock_ms;	     /* when the one was sent that told ... */
	int64_t heard_ms;	     /* ... and when it was answered ... */
	int64_t server_ms;   /* ... the server's clock, as this; 0: none did */
	int64_t distrust_ms; /* ages of messages are not, before then */
	/* How far that clock is ahead of ours (gain.c): */
	int64_t ahead_since_ms; /* when a period of a lease began; 0: none */
	int64_t ahead_ms, was_ahead_ms; /* the least in it, and before it */
	struct gain own_gain;
	struct gain gain; /* what counts for leases; quorum: of the first */
	int64_t pause_ms; /* no heartbeat or bless before then */
	uint64_t reasserted;
	char pend[PEND_MAX_BYTES];
	char history[HISTORY_BYTES]; /* of server_ms */
	char text[128];		     /* CONFIG: what the other brokers use */
	/* Quorum (voters.c): */
	char node[NODE_BYTES + 1];   /* its id */
	char set[SET_MAX_BYTES + 1]; /* whom it votes with; "": none yet */
	char sent[NODE_BYTES + 1 + SET_MAX_BYTES + 1]; /* what it is told */
	char open;	 /* the set is not agreed on: k, n (lua/guard.lua) */
	bool quiet;	 /* nobody has asked for its vote for long */
	int64_t node_ms; /* when it told all that ... */
	int64_t node_asked_ms; /* ... and when it was asked */
	int64_t enlist_ms;     /* it is not moved before then */
	char down[128];	       /* why it can not be reached; "": unknown */
};

/* What became of several guards, for one line in the log. */
struct guard_note {
	uint32_t n;	/* guards; 0: there is nothing to tell */
	uint32_t shard; /* the first */
	int64_t since_ms;
	const char *cause; /* static; NULL: none */
	int64_t wait_ms;   /* PENDING: before it grants */
	int64_t down_ms;   /* since it granted last, or was seen first */
	char text[320];
};

/* Log lines that many names may cause at once, each kind by itself. */
enum tally_kind {
	TALLY_AT_RISK,
	TALLY_SAFE,
	TALLY_LOST,
	TALLY_BOUND, /* lost by its own hold= */
	TALLY_MAX
};

struct tally {
	int64_t last_ms, told_ms;
	uint32_t named; /* in this spell, by name */
	uint64_t more;	/* not told yet */
};

enum slot_kind {
	SLOT_FREE,
	SLOT_LEASE,
	SLOT_VOTE,
	SLOT_GUARD,
	SLOT_ASK,
	SLOT_SYNC,
	SLOT_WATCH,
	SLOT_STRAY, /* nobody waits for it */
	SLOT_FORCE
};

/* An operation in flight; op ids are slot number and generation. */
struct slot {
	enum slot_kind kind;
	enum op_kind op;
	uint32_t generation;
	uint32_t next_free;
	struct lock *lock; /* LEASE */
	struct vote *vote; /* VOTE */
	struct sync *sync; /* SYNC */
	uint32_t shard;	   /* GUARD */
	uint64_t session;  /* ASK: who is to be answered */
	uint64_t ref;	   /* and to what; FORCE: its id */
	char *name;	   /* ASK, WATCH: owned */
	uint8_t verb;	   /* ASK: VERB_STATUS or VERB_QUEUE */
	uint8_t about;	   /* ASK: enum core_kind */
	uint64_t limit;	   /* ASK: of a QUEUE */
	size_t name_len;
};

/* A slice of time, and the renewals planned for it (pace.c). */
struct slice {
	int64_t number;
	uint32_t planned;
};

/* Things looked at (work.h). */
struct work {
	uint64_t step;	 /* by the present step */
	uint64_t most;	 /* by one step, ever */
	uint64_t budget; /* what can wait waits when so many were */
	uint64_t bound;	 /* a test is to fail beyond it; 0: none */
};

#define PACE_SLICES 128 /* half of them are a third of a lease */

/* Over all sessions, when the broker stops (stop.c). */
enum stop_walk { STOP_NONE, STOP_REFUSE, STOP_RELEASE, STOP_REST };

struct core {
	struct core_config config;
	char broker[BROKER_MAX_BYTES + 1];
	char *address;			    /* owned; "": none */
	int64_t pad_ms, stall_ms, grace_ms; /* design: from the lease */
	int64_t vouch_ms;		    /* a lease is vouched for so long */
	int64_t now_ms;			    /* of the present step */
	struct effects *fx;		    /* of the present step */
	struct session *sessions;	    /* by id */
	size_t nlocks;			    /* names, of all guards */
	size_t nlingering;		    /* of them, tombstones */
	uint64_t nwaiting;		    /* waiters in their queues */
	uint64_t nclaims;		    /* of all sessions */
	uint64_t nholds, npermits;	    /* given out */
	struct heap timers[AGENDA_MAX];
	/* Leases that are vouched for, in the order in which they run out but
	 * for few; those of the hand-over, which are shorter. */
	struct held_list held, held_briefly;
	struct guard_list sweeping;
	struct kept_list kept_over; /* to be freed */
	struct session_list withdrawing, letting_go;
	struct guard *guards;
	struct guard_note notes[GUARD_MAX];
	struct tally tallies[TALLY_MAX];
	char asker[PEND_MAX_BYTES]; /* who said it in the latest "force-by" */
	uint64_t asker_seq;	    /* of that message */
	struct waiter_list granted;
	struct ask_list asks;
	struct vote_list votes; /* to be sent before the step ends */
	/* To be looked at, a ring; NULL: not any more.  Owned. */
	struct lock **touched;
	uint32_t touched_first, touched_end, touched_size;
	struct watched *watched;	     /* by name */
	struct watched_list watched_touched; /* as touched */
	struct force_list forces;	     /* under way */
	uint64_t last_force;		     /* id */
	size_t fx_first; /* effects from here on are of this step */
	struct listing_list listings; /* being made */
	unsigned nkeepers;	      /* sessions with grace */
	unsigned ndetached;
	uint64_t nunowned; /* names that are kept for nobody */
	uint64_t ncounted; /* those that may come to be so, too */
	LIST_HEAD(, made) made;
	uint64_t nmade, nmaking;      /* latches; that are being made */
	uint64_t walks;		      /* deadlock.c */
	struct sync *syncs[SYNC_MAX]; /* by name */
	struct sync_list sync_touched;
	struct claim_list sync_granted; /* to be told at the FLUSH */
	struct slot *slots;
	uint32_t nslots, free_slot;
	uint32_t inflight;
	uint64_t last_seq;
	uint64_t random[2];
	int64_t room_ms; /* pace.c: has room for renewals that are due */
	uint32_t room_taken;
	bool along; /* something was ended in it, by ... */
	uint32_t along_shard, along_lane;
	struct slice pace[PACE_SLICES];
	bool quorum;	     /* there is one, as far as the servers have told */
	bool quorum_lost;    /* that was told, and none of it since */
	int64_t promised_ms; /* the latest valid= that was told */
	int64_t left_ms;     /* the same, of what was not given back */
	char **nodes; /* quorum: where the servers are, for people; owned */
	char voters[SET_MAX_BYTES + 1]; /* the set to go by; "": none yet */
	char voters_why[512];		/* why there is none */
	/* Where the latest ids were found: 16 digits each, as a ring. */
	char places[4 * QUORUM_SERVERS_MAX][2 * NODE_BYTES + 1];
	int64_t places_ms[4 * QUORUM_SERVERS_MAX]; /* when that was learned */
	unsigned next_place;
	int64_t voters_ms; /* since when a new one lacks servers; 0: none */
	bool told_loss;	   /* the next FLUSH tells no grant */
	bool stopping;
	enum stop_walk stop_walk;  /* under way ... */
	struct session *stop_next; /* ... and how far; NULL: at its end */
	struct timer stop; /* the end of the second that clients have then */
	struct core_stats stats;
	struct work *work; /* owned; counts what is looked at, too */
};

/* core.c */
uint32_t core_shard(const struct core *core, const char *name, size_t len);
uint64_t core_random(struct core *core);
int64_t core_jitter(struct core *core, int64_t ms); /* 0 .. ms - 1 */

/* agenda.c */
void core_arm(struct core *core, struct timer *t, int64_t at_ms);
void core_disarm(struct core *core, struct timer *t);
int64_t core_armed_ms(const struct core *core, const struct timer *t);

/* Something has changed for the name: lease_next() before the step ends, or in
 * the next ones. */
void core_touch(struct core *core, struct lock *l);
void core_untouch(struct core *core, struct lock *l);

/* slot.c: operations in flight; submit returns it for more to be filled in */
struct op *slot_submit(struct core *core, struct slot **out, enum op_kind op,
    enum slot_kind kind, uint32_t shard, const char *name, size_t name_len);

/*
 * A lease that is held can't be renewed before this operation is answered: its
 * reply must come, or be given up, in time for a renewal after it.
 */
void slot_hurry(const struct core *core, struct op *op);
struct slot *slot_find(struct core *core, uint64_t id);
void slot_free(struct core *core, struct slot *slot);

#endif
