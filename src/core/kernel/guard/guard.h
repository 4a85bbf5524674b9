/*
 * Guards: may a server grant anything, with the history that it has now?
 * (core/kernel/guard/DESIGN; like the grace period of NFSv4, RFC 7530, 9.5.)
 */
#ifndef LOCKBROKER_CORE_KERNEL_GUARD_GUARD_H
#define LOCKBROKER_CORE_KERNEL_GUARD_GUARD_H

#include "core/kernel/turn/slot.h"

/*
 * CAUSE(identifier, "word", "for people"): why a server may have forgotten
 * something.
 */
/* clang-format off */
#define GUARD_CAUSES(CAUSE) \
	CAUSE(NEW, "new", "no broker has used this Redis before") \
	CAUSE(UNWATCHED, "unwatched", "no broker has watched this Redis recently, or it was restarted") \
	CAUSE(EMPTIED, "emptied", "Redis was emptied") \
	CAUSE(RESTARTED, "restarted", "Redis was restarted") \
	CAUSE(MASTER, "new-master", "Redis has another master, or it was restarted") \
	CAUSE(REPLICA, "replica", "Redis has a new dataset (adding the first replica does that)") \
	CAUSE(FROZEN, "frozen", "Redis was frozen, or its clock was moved") \
	CAUSE(SETTINGS, "settings", "the last broker with other settings is gone") \
/* clang-format on */

enum guard_cause {
#define CAUSE(id, word, text) CAUSE_##id,
	GUARD_CAUSES(CAUSE)
#undef CAUSE
	    CAUSE_MAX
};

/* By how much a server's clock gained on ours, and when that was noticed. */
struct skew {
	int64_t at_ms;
	int64_t by_ms;
};

#define GUARD_REFUSAL_SIZE 256 /* as that of a text for clients */

/* What is known of one guard; guards[shard]. */
struct guard {
	struct timer timer; /* next heartbeat, or bless */
	enum guard_state state;
	bool up;     /* the store can be reached */
	bool busy;   /* a guard operation is in flight */
	bool known;  /* it was blessed before: if it is new, data was lost */
	bool fresh;  /* PENDING: it is new, and was not known */
	bool idled;  /* stopping: signed off, or gone without */
	bool again; /* there is news since the last heartbeat left */
	bool handing, handed; /* it is being told what is handed over; it was */
	uint8_t sweep, wished;	/* enum sweep, or'ed: sweep.c */
	uint32_t nblocked;	/* things that wait for it to grant */
	uint64_t fence;		/* the highest that it has reported; 0: none */
	bool fence_ahead;	/* the log says that it is far ahead */
	int64_t spoilt_ms;	/* when an odd one was logged; 0: never */
	uint8_t refused;	/* enum refused, or'ed: guard_refused.c */
	int64_t try_ms;		/* no grant is tried there before then */
	char refusal[GUARD_REFUSAL_SIZE]; /* what Redis said, and what to do */
	int64_t good_ms;	/* when the latest call that said that it may
				   grant was sent; 0: none */
	int64_t unready_ms;	/* since when it does not grant */
	int64_t noted_ms;	/* when that was logged last */
	int64_t said_ms;	/* when it was told who we are; 0: not yet */
	int64_t asked_warm_ms;	/* what the last heartbeat said of warm_ms */
	int64_t warm_ms;	/* what it knows of that; 0: nothing */
	bool old;		/* a broker is there that knows no warm names */
	uint64_t notes;		/* the latest note that it reported; 0: none */
	enum guard_cause cause; /* PENDING */
	uint32_t epoch;		/* counts changes of history seen, of all that
				   decide together: the first has it */
	int64_t epoch_ms;	/* when the present pend value arrived */
	int64_t seen_ms;	/* when the latest call was sent, or failed */
	int64_t told_ms;	/* when the latest with the state was sent */
	int64_t up_ms;		/* when it could be reached again */
	bool was_down;		/* since it last said that it may grant ... */
	char blessed[HISTORY_BYTES]; /* ... in this history */
	int64_t pended_ms;	     /* as told_ms, of PENDING and NODES */
	int64_t clock_ms;	     /* when a call was sent, ... */
	int64_t heard_ms;	     /* ... when it was answered, ... */
	int64_t server_ms;   /* ... and the server's time in it; 0: none */
	int64_t distrust_ms; /* no age of a message is trusted before then */
	/* How far that clock is ahead of ours (skew.h): */
	int64_t ahead_since_ms; /* when a period of a lease began; 0: none */
	int64_t ahead_ms, was_ahead_ms; /* the least in it, and before it */
	struct skew skew; /* counts for leases; the same */
	int64_t pause_ms; /* no heartbeat or bless before then */
	int64_t away_ms;  /* time between heartbeats; 0: as usual */
	char pend[PEND_MAX_BYTES];
	char history[HISTORY_BYTES]; /* of server_ms */
	char text[128];		     /* CONFIG: what the other brokers use */
	char down[192]; /* why it cannot be reached; "": unknown */
};

/* A change of several guards, for one line in the log. */
struct guard_note {
	uint32_t n;	/* number of guards; 0: nothing to log */
	uint32_t shard; /* the first */
	int64_t since_ms;
	const char *cause; /* static; NULL: none */
	int64_t wait_ms;   /* PENDING: before it grants */
	int64_t down_ms;   /* since it granted last, or was seen first */
	char text[320];
};

/* Lines about guards to be logged (journal.c). */
struct guard_notes {
	struct guard_note v[GUARD_MAX];
};

/*
 * Notices and questions of guards to the modules above.  Static, in core.c.
 */
struct guard_listener {
	/* The server can be reached, or not; or it may grant again. */
	void (*changed)(struct core *core, uint32_t shard);
	/* All that was confirmed there is in doubt: write it again. */
	void (*history_changed)(struct core *core, uint32_t shard);
	/* Stopping: has everything been given back? */
	bool (*all_over)(const struct core *core);
	/* Does the broker hold, await and owe nothing there? */
	bool (*has_nothing)(const struct core *core, uint32_t shard);
	/* How many keys does it leave for another broker to look after? */
	size_t (*left_behind)(const struct core *core);
	/* Up to which number may the process that has replaced this one have
	 * its token holds?  0: none. */
	uint64_t (*hands_over)(const struct core *core);
	/* Another broker has gone, and may have left keys: this one looks for
	 * them. */
	void (*broker_gone)(struct core *core, uint32_t shard);
};

struct electorate;

/* Requires static tables; without an electorate each server decides alone. */
void guard_init(struct core *core, const struct guard_listener *above,
    const struct electorate *electorate);
void guard_fini(struct core *core);

/* The guards that decide together with that one (electorate.h): it alone, or all
 * of them; the first, and the one behind the last. */
static inline uint32_t
guard_first(const struct core *core, uint32_t shard)
{
	return core->config.quorum ? 0 : shard;
}

static inline uint32_t
guard_end(const struct core *core, uint32_t shard)
{
	return core->config.quorum ? core->config.shards : shard + 1;
}

/* Can operations be sent?  Can something new be granted?  Whichever `shard` is of
 * those that decide together. */
bool guard_up(const struct core *core, uint32_t shard);
bool guard_ready(const struct core *core, uint32_t shard);

/* The same as operators see it: a server that is back does not count before it
 * has said that it may grant. */
bool guard_grants(const struct core *core, uint32_t shard);

/* When was a grant possible last, for all that is known?  0: never.  It does not
 * move before one is possible again: not when the server is back, nor with the
 * grace period. */
int64_t guard_granted_ms(const struct core *core, uint32_t shard);

/* Can this one server be reached, even if others decide with it? */
bool guard_reached(const struct core *core, uint32_t shard);

/*
 * Counts changes of history, and gains of clocks (skew.h): whatever an older
 * epoch confirmed is in doubt.  It is good only for a comparison with an
 * earlier value.
 */
uint32_t guard_epoch(const struct core *core, uint32_t shard);

/*
 * The history of that one server, as it has told last: whatever another history
 * shows about a name proves nothing.  HISTORY_BYTES; all zero if it has not
 * told any yet.
 */
const char *guard_history(const struct core *core, uint32_t shard);

/* May a number be a fence of that server?  See fence_believed(). */
bool guard_believes(const struct core *core, uint32_t shard, uint64_t fence);

/* The guard of a name; of several, one of a server that can be reached. */
uint32_t guard_shard(const struct core *core, const char *name, size_t len);

#define GUARD_WHY_SIZE 256 /* of the texts for clients */

/* The guard grants nothing before an operator acts. */
#define GUARD_FOR_GOOD (INT64_MAX / 2)

/*
 * Writes why nothing is granted, in plain words, and what to do; "" if nothing
 * is wrong.  Returns for how long; 0: unknown.
 */
int64_t guard_why(
    const struct core *core, uint32_t shard, char *why, size_t size);

/*
 * Writes why Redis did not do what a request needs, and returns that: in its
 * own words (`o`; NULL: it said nothing), or else why nothing is granted, or
 * else that it took too long.
 */
const char *guard_excuse(const struct core *core, uint32_t shard,
    const struct outcome *o, char why[GUARD_WHY_SIZE]);

/* It may grant, and has said so since it was reached. */
static inline bool
guard_said(const struct guard *g)
{
	return g->up && g->state == GUARD_BLESSED && g->told_ms >= g->up_ms;
}

/* The shard of a guard. */
static inline uint32_t
guard_index(const struct core *core, const struct guard *g)
{
	return (uint32_t)(g - core->guards);
}

/* Take events: a link, the report in a reply, the end of an operation, a timer.
 * They call listeners, which may send operations. */
void guard_link(struct core *core, uint32_t shard, bool up, const char *why);
void guard_report(struct core *core, uint32_t shard, int64_t sent_ms,
    const struct guard_report *report);
void guard_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o);
void guard_timer(struct core *core, struct timer *t);

/* The entry of this broker in BROKERS has changed: tells all servers soon. */
void guard_say_again(struct core *core);

/* There is something more for the successor: tells that server soon. */
void guard_hand_over(struct core *core, uint32_t shard);

/* Do the other brokers know that this one keeps names warm? */
bool guard_knows_warm(const struct core *core, uint32_t shard);

/*
 * Stopping: signs off from all servers once everything has been released.  Has
 * it been?  Has the broker signed off from all that can be reached?
 * `counted_on`: a client still counts on a valid=, so the broker leaves
 * without.
 */
void guard_sign_off(struct core *core, bool counted_on);
bool guard_all_over(const struct core *core);
bool guard_signed_off(const struct core *core);

/* Is the state of each guard consistent?  For tests; aborts if not. */
void guard_check(const struct core *core);

#endif
