/*
 * The language between the core and what stores leases: one operation on one
 * name (or on one guard), and how it ended.
 *
 * Plain data: the core makes operations and takes outcomes; the
 * Redis side and the simulator turn operations into script calls (gather.h) and
 * replies into outcomes (decode.c).
 *
 * A *shard* is what one guard watches over (lua/DESIGN):
 * the whole server, one of the buckets of a cluster, or one node of a quorum.
 */
#ifndef LOCKBROKER_STORE_OP_H
#define LOCKBROKER_STORE_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/kind.h"

enum op_kind {
#define OP(id, ...) OP_##id,
#include "store/ops.def"
#undef OP
	OP_MAX
};

enum op_flags {
	OP_QUEUE = 1 << 0,  /* ACQUIRE: queue up if it is not free */
	OP_SHARED = 1 << 1, /* ACQUIRE, RENEW, CONVERT: shared with others */
	OP_NOTED = 1 << 2,  /* LEAVE: the broker knows the outcome */
	OP_WHOLE = 1 << 3,  /* RENEW: by itself, not in a row; after AGAIN */
	OP_PROMPT = 1 << 4, /* END: another broker waits for the name */
};

#define FENCE_MAX (UINT64_C(1) << 53)	/* what a Lua number holds */
#define FENCE_SURE (UINT64_C(1) << 52)	/* below this any may be one ... */
#define FENCE_AHEAD (UINT64_C(1) << 32) /* ... and this far above another */
#define HISTORY_BYTES 16		/* identify a server and its history */
#define OP_ADOPT_MAX 65536		/* holds that one ADOPT takes up */
#define PEND_MAX_BYTES 96		/* of a guard's pend value */
#define NODE_BYTES 16			/* of the id of a server of a quorum */
#define QUORUM_SERVERS_MAX 9
/* VERSION:ID,ID,...; a version is 10 digits at most. */
#define SET_MAX_BYTES (11 + QUORUM_SERVERS_MAX * (NODE_BYTES + 1))

/*
 * What a CLAIM or a TOKEN does, which holds of the same user it means, and how
 * the bound of a hold that it extends changes.  put.c writes them as the
 * letters of lua/token.lua; NONE: it does not matter.
 */
enum how_act {
	HOW_NO_ACT,
	HOW_ASK, /* changes nothing; CLAIM: gets in line if it is not free */
	HOW_RELEASE,
	HOW_EXTEND,
	HOW_UNDO, /* ends what has this seq, a hold or a place in the queue */
	HOW_ASK_FIRST, /* CLAIM: the same as ASK, but first in line */
	HOW_ACTS
};

enum how_match {
	HOW_NO_HOLD,
	HOW_EXACT,   /* the token is the same, ... */
	HOW_PREFIX,  /* ... begins so, ... */
	HOW_NOT,     /* ... is another, ... */
	HOW_ANY,     /* ... or does not matter */
	HOW_COUNTED, /* the same token, and it is counted */
	HOW_MATCHES
};

enum how_bound {
	HOW_NO_BOUND,
	HOW_REPLACE,
	HOW_ADD,
	HOW_IF_BOUND,
	HOW_IF_UNBOUND,
	HOW_IF_LONGER,
	HOW_IF_SHORTER,
	HOW_BOUNDS
};

struct op_how {
	enum how_act act;
	enum how_match match;
	enum how_bound bound;
};

/*
 * One operation.  The gather copies the operation; `name` points into the
 * effects that it came with.  It is answered exactly once, with `id`.
 */
struct op {
	uint64_t id;
	enum op_kind kind;
	uint32_t shard;
	const char
	    *name; /* not for HEARTBEAT, BROKERS, BLESS, IDLE; ENLIST: the id
			     and the set to go by there from now on, and what
			     its guard must have (lua/guard.lua); ADOPT: the
			     cursor */
	size_t name_len;
	uint64_t seq;	   /* the token is BROKER.INSTANCE.SEQ; ADOPT: the
			       first of OP_ADOPT_MAX; HEARTBEAT: the last of
			       those whose holds are handed over; 0: none */
	int64_t ttl_ms;	   /* ACQUIRE, RENEW, CONFIRM: of the key; CLAIM,
			       TOKEN, PASS, RETAIN: the same, 0: it has none;
			       DISOWN: of the window;
			       TOKEN: below 0: it is over; or what is added to
			       its bound, of any sign */
	int64_t linger_ms; /* END: leave a tombstone for this long; 0: none */
	/* In each union: one argument of the scripts, which has another meaning
	 * for each operation. */
	union {
		uint64_t again;	   /* END: the seq to queue up with; 0: none */
		uint64_t line_seq; /* PASS: that of this broker's poll queue */
	};
	union {
		uint64_t fence;	     /* RETAIN: of the hold; END: one that only
					a message told us; FORCE: of the one
					that is meant; 0: any */
		uint64_t fence_top;  /* RENEW: of the reserve, to re-assert */
		uint64_t generation; /* ARRIVE, PARTY, LEAVE */
	};
	uint32_t reserve; /* fences to draw */
	uint32_t flags;	  /* enum op_flags */
	enum kind look;	  /* STATUS: at what */
	uint64_t have;	  /* TAKE, HOLD: permits in use; FORCE: 1 if it is known
			     that somebody has what a broker has */
	union {
		uint64_t need;	      /* TAKE: at least this many more */
		uint64_t count;	      /* LATCH; COUNTDOWN: by how much */
		uint64_t arriving;    /* ARRIVE: parties */
		uint64_t away_ms;     /* HEARTBEAT: for how long we would not
					 call */
		uint64_t left_behind; /* IDLE: holds */
		uint64_t behind;      /* PASS: tokens behind the next one */
	};
	uint64_t want; /* TAKE: at most this many more */
	union {
		uint64_t limit;	   /* TAKE, HOLD: of permits */
		uint64_t parties;  /* ARRIVE, PARTY, LEAVE */
		uint64_t until_ms; /* FORCE, and RENEW of a shared lease: not
				      after this server time; 0: no end */
	};
	int64_t by_ms;	    /* HOLD: not after this server time; 0: no end */
	int64_t timeout_ms; /* after this time the outcome is unknown */
	/* TELL: the broker of this token is told.
	 * CLAIM, TOKEN, PASS, RETAIN: token and user as they stand in the key.
	 * CLAIM: of the hold that it makes; TOKEN: of those that it means;
	 * PASS: of the hold that ends. */
	const char *holder;
	size_t holder_len;
	const char *other; /* CLAIM: the hold that is meant; TOKEN: what the
			      hold has from now on, if not empty; PASS: of the
			      hold that it makes; TELL: the words in front
			      of the name; TAKE, HOLD: `NEW:K,K`, the slots in
			      use, and at most so many new ones; or empty */
	size_t other_len;
	struct op_how how; /* CLAIM, TOKEN */
	union {
		int64_t most_ms; /* TOKEN that adds to a bound: not beyond this;
				    0: no limit */
		int64_t warm_ms; /* HEARTBEAT: for how long we keep names so */
	};
	uint32_t holder_at, other_at; /* in effects: offsets, like the name's */
	/* NUL-terminated.  BLESS: the epoch to end; FORCE: who asks. */
	char pend[PEND_MAX_BYTES];
};

/*
 * OUTCOME(identifier, "word of the script", LASTING or PASSING)
 *
 * LASTING: something rests on the outcome, so the store must not forget it once
 * it was reported; if too few replicas have it, the outcome is UNKNOWN.  In a
 * PASSING outcome `alone` says so: its operation may still have renewed
 * something, as TAKE does whatever the answer is.
 *
 * UNKNOWN is an answer: the operation may or may not have been carried out.
 * UNSENT was certainly not carried out.
 */
/* clang-format off */
#define OUTCOMES(OUTCOME) \
	OUTCOME(UNKNOWN, "unknown", PASSING) \
	OUTCOME(UNSENT, "unsent", PASSING) \
	OUTCOME(GRANTED, "granted", LASTING) \
	OUTCOME(QUEUED, "queued", PASSING) \
	OUTCOME(BUSY, "busy", PASSING) \
	OUTCOME(FOREIGN, "foreign", PASSING) \
	OUTCOME(RENEWED, "renewed", LASTING) \
	OUTCOME(AGAIN, "again", PASSING) \
	OUTCOME(LOST, "lost", PASSING) \
	OUTCOME(ENDED, "ended", PASSING) \
	OUTCOME(GONE, "gone", PASSING) \
	OUTCOME(VALUE, "value", PASSING) \
	OUTCOME(TAKEN, "taken", LASTING) \
	OUTCOME(KEPT, "kept", LASTING) \
	OUTCOME(MISMATCH, "mismatch", PASSING) \
	OUTCOME(MADE, "made", LASTING) \
	OUTCOME(EXISTS, "exists", PASSING) \
	OUTCOME(COUNTED, "counted", LASTING) \
	OUTCOME(OPEN, "open", PASSING) \
	OUTCOME(SHUT, "shut", PASSING) \
	OUTCOME(WAITING, "waiting", LASTING) \
	OUTCOME(TRIPPED, "tripped", LASTING) \
	OUTCOME(BROKEN, "broken", PASSING) \
	OUTCOME(LATE, "late", PASSING) \
	OUTCOME(DONE, "done", PASSING) \
	OUTCOME(PENDING, "pending", PASSING) \
	OUTCOME(REFUSED, "refused", PASSING)
/* clang-format on */

enum outcome_status {
#define OUTCOME(id, ...) OUTCOME_##id,
	OUTCOMES(OUTCOME)
#undef OUTCOME
	    OUTCOME_MAX
};

/*
 * How one operation ended.  Strings live until the step of the core returns.
 *
 *   GRANTED  fence, waiting      the lease is ours (ACQUIRE, CONFIRM,
 *                                CONVERT; CONFIRM: text "s" where shared)
 *   QUEUED   ttl_ms              in the queue; the key ends then (-1: never);
 *                                over a quorum text says who has the key, with
 *                                BUSY and FOREIGN, too
 *   BUSY     ttl_ms, waiting,    not free, not queued; CONVERT: others share;
 *            text                waiting: the broker of the token, text, may
 *                                keep it for nobody (FORCE: nothing was done);
 *                                so may that of a VALUE of STATUS, of BUSY and
 *                                VALUE of CLAIM, of these and LOST of TOKEN, and
 *                                of a VALUE of PEEK if its `first` is set
 *   FOREIGN  ttl_ms, waiting     QUEUED or BUSY behind a plain client's key;
 *                                waiting: another is at the head of the queue
 *   RENEWED  fence (0: none drawn), waiting
 *   AGAIN                        RENEW: nothing was done; only a WHOLE one
 *                                can tell more
 *   LOST                         RENEW, CONFIRM: the key is not ours
 *   ENDED    waiting, ttl_ms     the key was ours and is no longer; waiting:
 *                                another has it, and `again` is in the queue
 *   GONE                         END, UNDO: the key was not ours
 *   VALUE    text, ttl_ms        PEEK: the key (empty: none); STATUS of a
 *            first, also         lock: the same, bits of what else there is,
 *                                and the address of the broker that has it
 *   VALUE    first, second       STATUS: limit and free permits, a count, or
 *                                parties
 *                                and how many have arrived
 *   GONE                         STATUS: there is none
 *   VALUE    ttl_ms              RECALL: asked; the name is kept no longer
 *   DONE                         RECALL: no broker that keeps names has it
 *   GONE                         RECALL: its broker does not listen
 *   VALUE    text                BROKERS: a line for each, `NAME MS ADDRESS
 *                                VERSION LEASE_MS URL`: seen so long ago; - in
 *                                place of what it has not told
 *   TAKEN, KEPT, QUEUED, BUSY, MISMATCH  ttl_ms, waiting, first, second, text
 *                                TAKE, HOLD: first permits are ours, second
 *                                nobody's; others' run out in ttl_ms (-1: no);
 *                                text: the slots that are ours, `K,K`
 *   MADE, EXISTS                 LATCH
 *   COUNTED  first, second       COUNTDOWN: the count before, and now
 *   OPEN, SHUT, GONE             AWAIT; GONE also COUNTDOWN: there is none
 *   WAITING, TRIPPED, BROKEN  fence, ttl_ms, first, second
 *                                ARRIVE, PARTY, LEAVE: what became of our
 *                                places in generation `fence`; ARRIVE: second
 *                                new ones, from first on; others' run out in
 *                                ttl_ms (-1: there are none); TRIPPED: `fence`
 *                                is the number to tell, which may be higher
 *   MISMATCH first               ARRIVE: others wait for another number, first
 *   LATE                         FORCE, RENEW, HOLD: it was too late, and
 *                                not done
 *   GRANTED  fence               CLAIM: the hold is made
 *   RENEWED  fence, ttl_ms, text TOKEN: the hold was extended, and its token
 *                                and user are text; ttl_ms -1: no bound
 *   LATE                         TOKEN: not extended on these terms
 *   VALUE, BUSY, LOST, ENDED  fence, ttl_ms, text, first, second
 *                                TOKEN, CLAIM: the key that is there, was in
 *                                the way, is not meant, or was ended; `first`
 *                                is its enum key_kind, `second` enum key_bits
 *   GONE                         TOKEN: the name is free
 *   GRANTED  fence, first,       PASS: the hold with the fence `first` is over,
 *            waiting             and the other is made; waiting: the poll queue
 *                                is in the queue still
 *   ENDED, LOST, GONE            PASS: as TOKEN; nothing is made
 *   RENEWED  fence, ttl_ms,      RETAIN: the hold is there and this broker's, by
 *            text, first         the seq `first`, token and user as in the key
 *   LOST                         RETAIN: it is not
 *   RENEWED  fence               DISOWN: the tombstone is a hold of nobody
 *   LOST                         DISOWN: the key is not ours
 *   DONE, GONE                   TELL: the broker listens, or does not
 *   LOST     fence, text         FORCE: the hold has this fence (0: none), and
 *                                not the one that is meant; the key is text
 *   DONE                         BLESS, ENLIST, IDLE
 *   DONE     ttl_ms, first       HEARTBEAT: the broker may stay away for that
 *                                long (0: it calls as usual); first: it is to
 *                                take up holds of brokers that have gone;
 *                                second: no name may be kept warm; text:
 *                                the latest note, `SINCE NAME`, or ""
 *   VALUE    text                ADOPT: lines as lua/adopt.lua writes them
 *   GONE                         ADOPT: another broker does that
 *   PENDING                      refused: the guard is not blessed
 *   REFUSED  text                Redis refused; text says why
 */
enum key_kind { KEY_NONE, KEY_TOKEN_HOLD, KEY_LEASE, KEY_PLAIN };

/* Of a token hold. */
enum key_bits {
	KEY_IS_MEANT = 1 << 0,	  /* by the operation */
	KEY_OF_SAME_USER = 1 << 1 /* as its client */
};

struct outcome {
	enum outcome_status status;
	uint64_t fence;
	int64_t ttl_ms;
	bool waiting; /* another broker waits for the name */
	bool alone;   /* too few replicas have what the operation wrote, so it
			 keeps nothing */
	/* In each union: one number of the scripts, which has another meaning
	 * for each operation. */
	union {
		uint64_t first;
		uint64_t ours;	     /* TAKE, HOLD */
		uint64_t before;     /* COUNTED */
		uint64_t place;	     /* ARRIVE: the first new one */
		uint64_t key_kind;   /* CLAIM, TOKEN: enum key_kind */
		uint64_t also_bits;  /* STATUS of a lock */
		uint64_t maybe_warm; /* PEEK: kept for nobody, perhaps */
		uint64_t over_fence; /* PASS: of the hold that is over */
		uint64_t seq;	     /* RETAIN: of the hold that is there */
		uint64_t adopts;     /* HEARTBEAT */
		uint64_t drawn;	     /* ACQUIRE, CONFIRM, RENEW, CONVERT: so
				   many fences; 0: as many as asked for */
		uint64_t rival;	     /* over a quorum: says who has the name
				   (backoff_token()); 0: unknown */
	};
	union {
		uint64_t second;
		uint64_t nobodys;    /* TAKE, HOLD */
		uint64_t left;	     /* COUNTED */
		uint64_t new_places; /* ARRIVE */
		uint64_t key_bits;   /* CLAIM, TOKEN: enum key_bits */
		uint64_t not_warm;   /* HEARTBEAT */
	};
	const char *text;
	size_t text_len;
	const char *also; /* STATUS; else NULL */
	size_t also_len;
};

/* GUARD(identifier, "word of the script") */
/* clang-format off */
#define GUARDS(GUARD) \
	GUARD(UNKNOWN, "unknown") \
	GUARD(BLESSED, "blessed") \
	GUARD(PENDING, "pending") \
	GUARD(READONLY, "readonly") \
	GUARD(CONFIG, "config") \
	GUARD(NODES, "nodes") \
	GUARD(CLOCK, "clock") \
	GUARD(REFUSED, "refused")
/* clang-format on */

enum guard_state {
#define GUARD(id, word) GUARD_##id,
	GUARDS(GUARD)
#undef GUARD
	    GUARD_MAX
};

/*
 * What a call said about the guard, before its operations.
 *
 *   BLESSED
 *   PENDING  text is the pend value; `fresh`: no broker ever used the server
 *   READONLY the server is no master
 *   CONFIG   text is the configuration that the brokers there use
 *   NODES    quorum: the server's id or set is not the one expected, or its set
 *            is not agreed on; `fresh`: it has no set yet; `quiet`: it is idle,
 *            or no broker of its set has called for a grace period; text says
 *            where the servers of the set were found (core/parts/quorum/voters.c)
 *   CLOCK    the server's clock is beyond what a fence can hold
 *   REFUSED  no script said anything: Redis has refused the whole call, or the
 *            right to do what any other of its kind needs; text says why
 */
struct guard_report {
	enum guard_state state;
	bool takes; /* the call could take something new; else it keeps */
	bool fresh;
	const char *text;
	size_t text_len;
	uint64_t fence;	     /* the highest fence of the shard */
	int64_t server_ms;   /* the server's clock in that call; 0: unknown */
	const char *history; /* the start of its master_replid */
	size_t history_len;
	const char *node; /* quorum: its id, ... */
	size_t node_len;
	const char *set; /* ... the set in which it votes, ... */
	size_t set_len;
	const char *open; /* ... and "", or "k" or "n" (lua/guard.lua) */
	size_t open_len;
	bool quiet;
	const char *spoilt; /* `KEY FENCE`: what is no fence of ours; or "" */
	size_t spoilt_len;
	uint64_t notes; /* the server's time (ms) of its latest note for all
			   brokers; 0: none.  HEARTBEAT reads it */
};

/*
 * May a number from a server or a message be a fence?  `seen`: the highest
 * fence that this broker has seen before.  Most fences are near the
 * microseconds since 1970.  A number below FENCE_SURE is believed in any case,
 * because to forget it would let fences fall; a number from FENCE_SURE on might
 * leave no room for others.
 */
static inline bool
fence_believed(uint64_t fence, uint64_t seen)
{
	return fence > 0 && fence < FENCE_MAX &&
	       (fence < FENCE_SURE || fence < seen + FENCE_AHEAD);
}

#endif
