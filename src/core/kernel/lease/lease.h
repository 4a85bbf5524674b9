/*
 * Leases: what this broker has of a name in the store.
 *
 * A lease is embedded in its lessee, of which it knows nothing but a table of
 * functions.  The lease decides when to ask the store for what; the lessee
 * decides who gets the name here, and who is told what.
 *
 * Why no name is ever granted twice:
 *
 * (1) The lessee grants the name only while term_vouched(), and tells a grant
 *     only if that still holds.  A name has one lease here, and its lessee
 *     knows whom it has granted the name.
 * (2) The term of a lease begins, and is confirmed, only when a script has
 *     found or written the lease's token in the key, or among those that share
 *     the name: by the answer to our call (on_granted(), on_renew(),
 *     on_convert() in outcome.c), or by the message of the script that handed
 *     the name to the token (lease_take_handover()).  While the token is there,
 *     no script gives the name to another, unless both share it.
 * (3) The term ends before the key does.  It counts from before the script
 *     ran, and ends a hundredth and 2 ms before a lease from then is over
 *     (term_deadline_ms()).  The script lets the key live for a lease and a
 *     pad from when it ran.  If the server's clock has gained on ours, the end
 *     comes earlier by as much (guard/skew.h).  A lease that was handed over is
 *     good for one pad of the two for which its key lives.
 * (4) No call of ours takes the key away meanwhile.  A lease asks for its end
 *     only when its term is over (LEASE_ENDING).  Then it gets a new token,
 *     which an END that arrives late does not touch; or it lingers, and may be
 *     confirmed under the same one, but only after an END was answered, and no
 *     earlier one arrives after that (redis/pool.h: connections that are given
 *     up are killed).
 * (5) A server that may have forgotten keys grants nothing new until all older
 *     terms have run out or been written again (guard/guard.h).
 * (6) Over a quorum, (2) to (5) hold on each server of a majority, and any two
 *     majorities share a server (parts/quorum/DESIGN).
 *
 * None of this asks whether anybody holds the name.  So it is as true of a lease
 * without a holder: one that is kept for a group, or warm (warm/warm.h).
 */
#ifndef LOCKBROKER_CORE_KERNEL_LEASE_LEASE_H
#define LOCKBROKER_CORE_KERNEL_LEASE_LEASE_H

#include "base/freelist.h"
#include "core/kernel/guard/guard.h"
#include "core/kernel/lease/term.h"
#include "core/kernel/turn/slot.h"

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
 * What messages have told of the token since it was made.  A lease takes no
 * message for granted: one that says more only saves it a question.
 */
enum lease_news {
	NEWS_NONE,
	NEWS_WOKEN,    /* the name was handed to us: to be confirmed */
	NEWS_HANDOVER, /* the same, with time and fence: good for one pad */
	NEWS_MAX
};

/*
 * The operation in flight for a name: what its answer will mean.  lease_ask.c
 * makes it; it is freed with the answer or with its lease.
 */
struct pending_op {
	enum op_kind kind;
	int64_t delay_ms; /* the key outlives lease and pad by at least this */
	int64_t ttl_ms;	  /* of the key */
	int64_t since_ms;
	uint32_t epoch;	  /* of the guard */
	uint32_t reserve; /* fences */
	bool queue;	  /* ACQUIRE: it queues up */
	bool linger;	  /* END: it leaves a tombstone */
};

#define LEASE_FENCES_MAX 4096 /* of a reserve */

/*
 * What only few leases need: those that were passed on, that linger, that
 * another broker or a group waits for, or that Redis refused something.
 * lease_need_rare() makes it; it is freed with its lease.
 */
struct lease_rare {
	char *why;	 /* owned; the text of Redis' last refusal */
	char *elsewhere; /* owned; the token that had the name when the broker
			    asked for it last; NULL: not known */
	uint64_t again_seq; /* ENDING: of the next token; 0: none yet */
	int64_t delay_ms;   /* the key outlives lease and pad by this ... */
	int64_t longer_ms;  /* ... at least, and in fact by this */
	int64_t linger_ms;  /* no new holder before then; 0: no linger ... */
	int64_t others_ms;  /* ... nor its last holder before then */
	int64_t again_ms; /* LINGERING: not before then, as others shared it */
	int64_t idle_ms;  /* since when it is here for groups only; 0: not */
	int64_t warm_ms;  /* kept warm, without a holder, until then; 0: not */
	struct contention contention;
	/* Of a way without a queue.  Tokens, each as a number: */
	uint32_t rival;	 /* NONE: of the broker with the name; 0: unknown */
	uint32_t freed;	 /* the last that ended, as a message said; 0: none */
	uint32_t failed; /* attempts in a row that no broker has won */
};

/* Timer, fences, state and flags fit in eight bytes: there are very many. */
struct lease {
	struct term term;   /* HELD: the broker vouches for it */
	struct timer timer; /* when it wants attention next */
	uint16_t fences;    /* in reserve */
	uint8_t state : 3;  /* enum lease_state */
	uint8_t news : 2;   /* enum lease_news */
	/* term.wake_ms is: HELD: renew; QUEUED: look; else: retry. */
	bool paused : 1;	    /* HELD: nothing is asked before wake_ms */
	bool blocked : 1;	    /* counted in guard.nblocked */
	bool shared : 1;	    /* with other brokers */
	bool asked_shared : 1;	    /* the last request was to share it */
	bool contended_early : 1;   /* a message said so before a reply did */
	bool foreign : 1;	    /* QUEUED behind a plain client's key */
	bool outcome_unknown : 1;   /* a CONVERT may have been carried out */
	bool whole : 1;		    /* the next renewal goes by itself */
	bool hand_on : 1;	    /* LINGERING: for the successor */
	bool for_blocked : 1;	    /* NONE: wake_ms is for blocked requests */
	struct pending_op *pending; /* owned; NULL: no operation is in flight */
	struct lease_rare *rare;    /* owned; NULL: nothing, see lease_rare() */
	uint64_t seq;		    /* of the token */
	uint64_t fence_next;	    /* of the reserve */
	int64_t key_end_ms;	    /* the key in the store lives no longer */
};

/* How much the name is wanted. */
enum lease_demand {
	DEMAND_NONE,
	DEMAND_BLOCKED, /* only requests that would not be granted it now */
	DEMAND_NOW
};

/* In which mode the next in line wants it. */
enum lease_want { WANT_NONE, WANT_EXCLUSIVE, WANT_SHARED };

/* How long holders and waiters need the key to live. */
struct lease_afterlife {
	int64_t delay_ms;
	int64_t keep_ms; /* from now on */
};

/*
 * Questions and notices of a lease to its lessee.  Static.  Only next() may
 * free the lessee, and the lease in it.  The lessee also owns the lease's term.
 */
struct lease_lessee {
	struct lease *(*find)(
	    const struct core *core, const char *name, size_t len);

	/* What is wanted. */
	enum lease_demand (*demand)(
	    const struct core *core, const struct lease *l);
	enum lease_want (*mode)(const struct core *core, const struct lease *l);
	struct lease_afterlife (*afterlife)(
	    const struct core *core, const struct lease *l);
	uint32_t (*nwaiting)(const struct lease *l);
	bool (*in_use)(const struct lease *l); /* it has a holder */
	/* Without holder or waiter: does it stay all the same? */
	bool (*stays)(struct core *core, struct lease *l);
	/* Fences to draw beyond those for its waiters. */
	uint32_t (*reserve)(const struct core *core, struct lease *l);
	/* An acquire is about to be sent: does any waiter want to queue up? */
	bool (*try)(const struct core *core, struct lease *l);
	/* The name passes on: shall the first waiter queue up again? */
	bool (*queues_again)(const struct lease *l);
	/* Is it kept for a group (only a starving one?), if another broker
	 * waits? */
	bool (*keeps)(
	    const struct core *core, const struct lease *l, bool starving);
	/* Does it linger, and not for the first waiter?  Or for that one? */
	bool (*lingers)(const struct core *core, const struct lease *l);
	bool (*taken_up)(const struct core *core, const struct lease *l);
	/* Another broker waits.  Does it come before the first waiter?  If so,
	 * the lease is ended. */
	bool (*gives_way)(struct core *core, struct lease *l);

	/* Grants it to the waiter that may have it.  False: there is none. */
	bool (*grant)(struct core *core, struct lease *l);
	/* One was granted it: may the next one be, in this step? */
	bool (*grants_on)(struct core *core, struct lease *l);
	/* No waiter can be granted it: asks for what waiting groups lack. */
	void (*idle)(struct core *core, struct lease *l);

	/* What has happened. */
	void (*arrived)(struct core *core, struct lease *l);
	void (*elsewhere)(struct core *core, struct lease *l); /* another's */
	/* It is not free: answers requests that do not wait for it. */
	void (*not_free)(struct core *core, struct lease *l);
	void (*lost)(struct core *core, struct lease *l, const char *reason);
	/* A renewal was confirmed when this much of the lease was left. */
	void (*renewed)(struct core *core, struct lease *l, int64_t left_ms);
	/* `deferred`: the store has not confirmed the end. */
	void (*ended)(struct core *core, struct lease *l, bool deferred);
	void (*refused)(struct core *core, struct lease *l); /* to convert */
	/* The name that lingered under that fence is now a token hold without a
	 * client. */
	void (*disowned)(struct core *core, struct lease *l, uint64_t fence);

	/* Calls lease_decide(). */
	void (*next)(struct core *core, struct lease *l);
};

/*
 * How leases reach the store.  Mostly an operation is one call to one server,
 * which is the row of lease_ask.c; over several independent ones each has to say
 * yes or no, and a part asks them (parts/quorum).  Static.
 */
struct lease_way {
	/* Servers put brokers in a queue, and hand names over. */
	bool queues;
	bool shares_calls; /* an end and renewals can go in one */
	uint32_t draws;	   /* fences at once, at most */
	int64_t yield_ms;  /* after a turn, so that others come first */
	/* Returns an operation on the lease for the caller to fill in; its one
	 * outcome goes to lease_outcome(). */
	struct op *(*submit)(
	    struct core *core, struct lease *l, enum op_kind kind);
	/* Another broker has the name, as an attempt has found after that time:
	 * plans the next look at it, or the next attempt. */
	void (*plan)(struct core *core, struct lease *l,
	    const struct pending_op *asked, const struct outcome *o);
	/* Or NULL.  A message says that a token has ended; returns whether
	 * wake_ms changed.  The step ends: sends what was asked for in it. */
	bool (*freed)(
	    struct core *core, struct lease *l, const char *text, size_t len);
	void (*send)(struct core *core);
};

/* All leases of this broker. */
struct leases {
	const struct lease_way *way;	   /* static */
	const struct lease_lessee *lessee; /* static */
	size_t n;
	size_t nlingering;	    /* tombstones */
	char asker[PEND_MAX_BYTES]; /* whom the last "force-by" has named */
	uint64_t asker_seq;	    /* of that message */
	struct freelist pending;    /* of struct pending_op */
	bool piggyback; /* the step has ended a lease, in a call ... */
	uint32_t piggyback_shard, piggyback_lane; /* ... of these */
};

/* Without a way each operation goes to one server. */
void leases_init(struct core *core, const struct lease_lessee *lessee,
    const struct lease_way *way);
void leases_fini(struct core *core);

/* The end of a step. */
static inline void
leases_send(struct core *core)
{
	if (core->leases->way->send != NULL)
		core->leases->way->send(core);
}

void lease_init(struct core *core, struct lease *l, uint32_t shard);
void lease_fini(struct core *core, struct lease *l);

/* Returns what there is, or all zero; lease_need_rare() makes it if need be. */
static inline const struct lease_rare *
lease_rare(const struct lease *l)
{
	static const struct lease_rare nothing;

	return l->rare != NULL ? l->rare : &nothing;
}

struct lease_rare *lease_need_rare(struct lease *l);

/* Is another broker known to have the name, so that this one does not try yet,
 * as there is no queue to wait in? */
static inline bool
lease_backs_off(const struct lease *l)
{
	return l->state == LEASE_NONE && lease_rare(l)->rival != 0;
}

void lease_linger_over(struct lease *l);
void lease_not_idle(struct lease *l);
void lease_set_why(struct lease *l, char *why); /* takes it over; or NULL */
void lease_set_elsewhere(struct lease *l, const char *token, size_t len);

/* The lease waits for its guard, or does no longer. */
void lease_block(struct core *core, struct lease *l);
void lease_unblock(struct core *core, struct lease *l);

/*
 * Does the one thing that comes next.  Returns true if the lease must be looked
 * at again.  Requires that no operation is in flight for it.
 */
bool lease_decide(struct core *core, struct lease *l);

/* Arms the timer of a held lease for when it next wants attention. */
void lease_arm_held(struct core *core, struct lease *l);

/* Moves the lease on; asserts that the table allows it. */
void lease_set_state(
    struct core *core, struct lease *l, enum lease_state state);

static inline bool
lease_is_held(const struct lease *l)
{
	return l->state == LEASE_HELD;
}

/* May its mode change at any moment? */
static inline bool
lease_converts(const struct lease *l)
{
	return l->pending != NULL && l->pending->kind == OP_CONVERT;
}

/* Does another broker wait for the name, as far as is known? */
static inline bool
lease_contended(const struct lease *l)
{
	return lease_rare(l)->contention.since_ms != 0;
}

/* Does it pause after trouble, and ask for nothing before wake_ms? */
bool lease_paused(const struct core *core, const struct lease *l);

/* Has it had its turn, while another waits ("Queue" in
 * lockbroker-protocol(7))? */
bool lease_must_yield(const struct core *core, const struct lease *l);

/* It lingers for no session: the process that takes over is to look after
 * it. */
void lease_hand_on(struct core *core, struct lease *l);

/* Is it kept for the last holder, or for no one? */
static inline bool
lease_lingers(const struct core *core, const struct lease *l)
{
	return lease_rare(l)->linger_ms > core->now_ms;
}

/* Does the key live long enough for such a keep and delay? */
bool lease_covers(const struct core *core, const struct lease *l,
    int64_t keep_ms, int64_t delay_ms);

/* Can an operation be sent now?  If the guard is down, it waits for that. */
bool lease_can_send(struct core *core, struct lease *l);

/*
 * Make the lease fit: a renewal sets a longer life of the key and can draw more
 * fences; a convert changes the mode.  Require that no operation is in flight.
 */
void lease_ask_renew(struct core *core, struct lease *l, bool draw);
void lease_ask_convert(struct core *core, struct lease *l, bool shared);

/* Takes a fence from the reserve, which must not be empty. */
uint64_t lease_take_fence(struct lease *l);

/* Takes the outcome of the operation in flight.  May free the lease. */
void lease_outcome(struct core *core, struct lease *l, enum op_kind op,
    int64_t sent_ms, const struct outcome *o);
void lease_timer(struct core *core, struct timer *t);

/* The operation in flight, an acquire that does not queue up, has found nothing
 * that counts: asks once more.  May free the lease. */
void lease_again(struct core *core, struct lease *l);

/* Its term has run out.  Tells its holders, and does nothing else yet. */
void lease_run_out(struct core *core, struct lease *l);

/* The server's history has changed: plans to write the lease again. */
void lease_reclaim(struct core *core, struct lease *l);

/* Must the lease be written again before its guard is blessed? */
bool lease_needs_reclaim(const struct core *core, const struct lease *l);

/*
 * Do state, flags and lists agree?  For tests; aborts if not.  `touched`: the
 * next step will look at the lease.
 */
void lease_check(const struct core *core, const struct lease *l, bool touched);
void leases_check(const struct core *core);

#endif
