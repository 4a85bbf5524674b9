/*
 * Leases: what this broker has of a name in the store.
 *
 * A lease is embedded in what it is for, its owner, of which it knows nothing
 * but a table of functions.  It decides when to ask the store for what; who gets
 * the name here, and who is told what, is the owner's.
 */
#ifndef LOCKBROKER_CORE_LEASE_LEASE_H
#define LOCKBROKER_CORE_LEASE_LEASE_H

#include "core/guard/guard.h"
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

/*
 * The operation in flight for a name: what its answer will mean.  Made by
 * ask.c, freed with the answer or with its lock.
 */
struct pending_op {
	int64_t delay_ms; /* by which the key outlives lease and pad */
	int64_t ttl_ms;	  /* of the key */
	int64_t since_ms;
	uint32_t epoch;	  /* of the guard */
	uint32_t reserve; /* fences */
	bool queue;	  /* ACQUIRE: it queues up */
	bool linger;	  /* END: it leaves a tombstone */
};

/*
 * What is known of few leases only: those that were passed on, that linger, for
 * which another broker or a group waits, or that Redis had something against.
 * Made by lease_need_rare(), freed with its lease.
 */
struct lease_rare {
	char *why;	    /* owned; what Redis refused with last */
	uint64_t again_seq; /* ENDING: of the next token; 0: none yet */
	int64_t delay_ms;   /* by which the key outlives lease and pad */
	int64_t longer_ms;  /* it lives longer than these by so much */
	int64_t linger_ms;  /* nobody new before then; 0: no linger ... */
	int64_t others_ms;  /* ... nor its last holder before then */
	int64_t again_ms; /* LINGERING: others shared it, so not before then */
	int64_t idle_ms;  /* since when it is here for groups only; 0: not */
	int64_t contended_ms; /* since when another broker waits; 0: none */
	uint32_t handovers;   /* handovers since then */
	/* Quorum: tokens, each as a number that stands for it (backoff.c). */
	uint32_t rival;	 /* NONE: of who has the name; 0: not known */
	uint32_t freed;	 /* of the latest that was told to be over; 0: none */
	uint32_t failed; /* attempts in a row that nobody has won */
};

struct lease {
	TAILQ_ENTRY(lease)
	in_held;	    /* or in leases.held_provisionally; see `vouched` */
	struct timer timer; /* when it wants attention next */
	struct pending_op *pending; /* owned; NULL: no operation is in flight */
	struct lease_rare *rare;    /* owned; NULL: nothing, see lease_rare() */
	uint64_t seq;		    /* of the token */
	uint64_t fence_next;	    /* of the reserve */
	int64_t confirmed_ms;	    /* when what keeps the lease was sent */
	int64_t key_end_ms;	    /* the key in the store lives no longer */
	int64_t wake_ms;	    /* HELD: renew; QUEUED: look; else: retry */
	uint32_t epoch;		    /* of the guard, when last confirmed */
	uint16_t shard;
	uint8_t fences;	       /* in reserve */
	uint8_t state;	       /* enum lease_state */
	bool paused : 1;       /* HELD: nothing is asked before wake_ms */
	bool woken : 1;	       /* a message says that it was handed to us */
	bool handed_over : 1;  /* and when, and the fence: good for one pad */
	bool provisional : 1;  /* held by such a message, not confirmed yet */
	bool blocked : 1;      /* counted in leases.nblocked */
	bool shared : 1;       /* with other brokers */
	bool asked_shared : 1; /* so is the one asked for last */
	bool contended_early : 1; /* a message said so before a reply */
	bool foreign : 1;	  /* QUEUED behind a plain client's key */
	bool converting : 1;	  /* a CONVERT is in flight */
	bool outcome_unknown : 1; /* one was carried out perhaps, unheard */
	bool whole : 1;		  /* the next renewal goes by itself */
	bool for_blocked : 1;	  /* NONE: wake_ms is for those who are */
	bool vouched : 1;	  /* in leases.held ... */
	bool
	    vouched_provisionally : 1; /* ... or in leases.held_provisionally */
	bool paced : 1;		       /* its renewal has room in wake_ms */
};

TAILQ_HEAD(held_list, lease);
TAILQ_HEAD(vote_list, vote);

/* How much somebody wants the name. */
enum lease_demand {
	DEMAND_NONE,
	DEMAND_BLOCKED, /* only those who would not be granted it now */
	DEMAND_NOW
};

/* In which mode. */
enum lease_want { WANT_NONE, WANT_EXCLUSIVE, WANT_SHARED };

/* For how long the key must outlive the lease. */
struct lease_terms {
	int64_t delay_ms;
	int64_t keep_ms; /* from now on */
};

/*
 * What a lease asks of its owner, and tells it.  Static.  Only next() may free
 * the owner, and the lease in it.
 */
struct lease_owner {
	const char *(*name)(const struct lease *l, size_t *len);
	struct lease *(*find)(
	    const struct core *core, const char *name, size_t len);

	/* What is wanted. */
	enum lease_demand (*demand)(
	    const struct core *core, const struct lease *l);
	enum lease_want (*mode)(const struct core *core, const struct lease *l);
	struct lease_terms (*terms)(
	    const struct core *core, const struct lease *l);
	uint32_t (*nwaiting)(const struct lease *l);
	bool (*in_use)(const struct lease *l); /* somebody holds it */
	/* It will be asked for: do any of those who wait want to queue up? */
	bool (*try)(const struct core *core, struct lease *l);
	/* It is passed on: is the first of them to be in line again? */
	bool (*queues_again)(const struct lease *l);
	/* Though another broker waits, for a group; or also a starving one's? */
	bool (*keeps)(
	    const struct core *core, const struct lease *l, bool starving);
	/* It lingers: not for the first who waits; who takes it up now. */
	bool (*lingers)(const struct core *core, const struct lease *l);
	bool (*taken_up)(const struct core *core, const struct lease *l);

	/* It is here: gives it to whoever may have it.  False: to nobody. */
	bool (*grant)(struct core *core, struct lease *l);
	/* One has it: may more be granted it in this step? */
	bool (*grants_on)(struct core *core, struct lease *l);
	/* Nobody could be granted it: for groups, what they lack is asked for. */
	void (*idle)(struct core *core, struct lease *l);

	/* What has happened. */
	void (*arrived)(struct core *core, struct lease *l);
	void (*elsewhere)(struct core *core, struct lease *l); /* another's */
	void (*not_free)(struct core *core, struct lease *l);  /* and we know */
	void (*lost)(struct core *core, struct lease *l, const char *reason);
	void (*at_risk)(struct core *core, struct lease *l, int64_t left_ms);
	void (*safe)(struct core *core, struct lease *l, int64_t left_ms);
	/* That was confirmed, when so much was left. */
	void (*renewed)(struct core *core, struct lease *l, int64_t left_ms);
	void (*ended)(struct core *core, struct lease *l, bool deferred);
	void (*refused)(struct core *core, struct lease *l); /* to convert */
	/* It turned up, and is yet to be written again. */
	void (*unproved)(struct core *core, uint32_t shard);

	/* Something has changed: lease_decide(), now or before the step ends. */
	void (*next)(struct core *core, struct lease *l);
	void (*touch)(struct core *core, struct lease *l);
};

/* A slice of time, and the renewals planned for it (pace.c). */
struct slice {
	int64_t number;
	uint32_t planned;
};

#define PACE_SLICES 128 /* half of them are a third of a lease */

/* All leases of this broker. */
struct leases {
	const struct lease_owner *owner; /* static */
	size_t n;
	uint32_t *nblocked; /* by guard: that wait for it; owned */
	size_t nlingering;  /* tombstones */
	/* Those that are vouched for, in the order in which they run out but
	 * for few; those of the hand-over, which are shorter. */
	struct held_list held, held_provisionally;
	struct vote_list votes;	    /* to be sent before the step ends */
	char asker[PEND_MAX_BYTES]; /* who said it in the latest "force-by" */
	uint64_t asker_seq;	    /* of that message */
	int64_t room_ms; /* pace.c: has room for renewals that are due */
	uint32_t room_taken;
	bool piggyback; /* something was ended in it, by ... */
	uint32_t piggyback_shard, piggyback_lane;
	struct slice pace[PACE_SLICES];
};

void leases_init(struct core *core, const struct lease_owner *owner);
void leases_fini(struct core *core);

void lease_init(struct core *core, struct lease *l, uint32_t shard);
void lease_fini(struct core *core, struct lease *l);

/* All zero if there is nothing; the same, to be written. */
static inline const struct lease_rare *
lease_rare(const struct lease *l)
{
	static const struct lease_rare nothing;

	return l->rare != NULL ? l->rare : &nothing;
}

struct lease_rare *lease_need_rare(struct lease *l);

void lease_linger_over(struct lease *l);
void lease_not_idle(struct lease *l);
void lease_set_why(struct lease *l, char *why); /* takes it over; or NULL */

/* It wants to go on when its guard allows it. */
void lease_block(struct core *core, struct lease *l);
void lease_unblock(struct core *core, struct lease *l);

/*
 * Does what comes next, and says whether that changed so much that it has to be
 * looked at again.  No operation may be in flight.
 */
bool lease_decide(struct core *core, struct lease *l);

/* Held: arms the timer for the next moment at which it wants attention. */
void lease_arm_held(struct core *core, struct lease *l);

/* Moves the lease on; asserts that the table allows it. */
void lease_set_state(
    struct core *core, struct lease *l, enum lease_state state);

/* Held or at risk. */
static inline bool
lease_is_held(const struct lease *l)
{
	return l->state == LEASE_HELD || l->state == LEASE_ATRISK;
}

/* Does the broker vouch for the lease at this moment? */
bool lease_vouched(const struct core *core, const struct lease *l);

/* It was held, and that has run out unnoticed. */
bool lease_overdue(const struct core *core, const struct lease *l);

/* Until when, if nothing is confirmed before. */
int64_t lease_deadline_ms(const struct core *core, const struct lease *l);

/* After trouble: nothing is asked for it before wake_ms. */
bool lease_paused(const struct core *core, const struct lease *l);

/* Has another broker waited long enough (protocol, section 5, "Queue")? */
bool lease_must_yield(const struct core *core, const struct lease *l);

/* Is it kept for the last holder, or for nobody? */
static inline bool
lease_lingers(const struct core *core, const struct lease *l)
{
	return lease_rare(l)->linger_ms > core->now_ms;
}

/* Does the key live long enough for such a keep and delay? */
bool lease_covers(const struct core *core, const struct lease *l,
    int64_t keep_ms, int64_t delay_ms);

/* Can an operation be sent now?  Else it waits for the guard or a pause. */
bool lease_can_send(struct core *core, struct lease *l);

/* What makes it fit: a longer key and more fences; the other mode. */
void lease_ask_renew(struct core *core, struct lease *l, bool draw);
void lease_ask_convert(struct core *core, struct lease *l, bool shared);

/* A fence of the reserve. */
uint64_t lease_take_fence(struct lease *l);

/* An operation on the name has ended. */
void lease_outcome(struct core *core, struct lease *l, enum op_kind op,
    int64_t sent_ms, const struct outcome *o);
void lease_timer(struct core *core, struct timer *t);

/* The first that has run out by then; NULL: none has. */
struct lease *lease_first_overdue(const struct core *core, int64_t now_ms);

/* It is overdue: tells those who hold it, and nothing else yet. */
void lease_run_out(struct core *core, struct lease *l);

/* The history of the server has changed: write what is held again. */
void lease_reclaim(struct core *core, struct lease *l);

/* Is this lease one that must be written again before a bless? */
bool lease_needs_reclaim(const struct core *core, const struct lease *l);

/*
 * Are state, flags and lists as they can be?  For tests; aborts if not.
 * `touched`: it will be looked at in the next step.
 */
void lease_check(const struct core *core, const struct lease *l, bool touched);
void leases_check(const struct core *core);

#endif
