/*
 * Guards: may the history that a server has now grant anything?
 * (ARCHITECTURE, "The guard"; research in NFSv4's grace period, RFC 7530 9.5.)
 */
#ifndef LOCKBROKER_CORE_GUARD_GUARD_H
#define LOCKBROKER_CORE_GUARD_GUARD_H

#include "core/turn/turn.h"

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
	uint32_t epoch;		/* counts changes of history seen */
	int64_t epoch_ms;	/* arrival of the present pend */
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
	int64_t away_ms;  /* heartbeats are so far apart (beat.c); 0: usual */
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

/* What was told of guards of late (journal.c), and of the quorum (quorum.c). */
struct guard_notes {
	struct guard_note v[GUARD_MAX];
	bool quorum;	  /* there is one, as far as the servers have told */
	bool quorum_lost; /* that was told, and none of it since */
};

/*
 * What guards tell the modules above, and ask of them.  Static rows, in core.c,
 * which are called in their order; NULL: that one need not know.
 */
struct guard_listener {
	/* The store can be reached, or not; or something new can be granted. */
	void (*changed)(struct core *core, uint32_t shard);
	/* What was confirmed there before is in doubt: write it again. */
	void (*history_changed)(struct core *core, uint32_t shard);
	/* Is all written again that is held there? */
	bool (*reclaimed)(struct core *core, uint32_t shard);
	/* A store can be reached. */
	void (*link_up)(struct core *core);
	/* Stopping: is all given back? */
	bool (*all_over)(const struct core *core);
	/* Is nothing held there, waited for or owed? */
	bool (*has_nothing)(const struct core *core, uint32_t shard);
};

/* Each of the rows is static; the last is NULL. */
void guard_init(
    struct core *core, const struct guard_listener *const *listeners);
void guard_fini(struct core *core);

/* Can operations be sent; can something new be granted? */
bool guard_up(const struct core *core, uint32_t shard);
bool guard_ready(const struct core *core, uint32_t shard);

/* Can the one server be reached, also of a quorum? */
bool guard_reached(const struct core *core, uint32_t shard);

/* Changes of history that were seen: what was confirmed before is in doubt. */
uint32_t guard_epoch(const struct core *core, uint32_t shard);

/* The guard of a name; over a quorum, of a server that can be asked. */
uint32_t guard_shard(const struct core *core, const char *name, size_t len);

/* Somebody must do something before it grants. */
#define GUARD_FOR_GOOD (INT64_MAX / 2)

/*
 * Why not, in plain words with what to do; and for how long: 0 where that is
 * not known.
 */
int64_t guard_why(
    const struct core *core, uint32_t shard, char *why, size_t size);

/* The shard of a guard. */
static inline uint32_t
guard_index(const struct core *core, const struct guard *g)
{
	return (uint32_t)(g - core->guards);
}

void guard_link(struct core *core, uint32_t shard, bool up, const char *why);
void guard_report(struct core *core, uint32_t shard, int64_t sent_ms,
    const struct guard_report *report);
void guard_outcome(struct core *core, uint32_t shard, enum op_kind op,
    const struct outcome *o);
void guard_timer(struct core *core, struct timer *t);

/*
 * Stopping: signs off where nothing is held any more.  Is all given back?  Have
 * all signed off that can be reached?
 */
void guard_sign_off(struct core *core);
bool guard_all_over(const struct core *core);
bool guard_signed_off(const struct core *core);

/* Is each in a state that it can be in?  For tests; aborts if not. */
void guard_check(const struct core *core);

#endif
