/*
 * The structs of a pool.  Only pool.c (its life, up and down, probes),
 * pool_calls.c (calls on lanes) and pool_stale.c (connections that were lost)
 * include this.
 */
#ifndef LOCKBROKER_REDIS_POOL_STATE_H
#define LOCKBROKER_REDIS_POOL_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "redis/io.h"
#include "redis/link.h"
#include "redis/pool.h"
#include "redis/subscriber.h"
#include "store/script_call.h"

/* How the calls of a script have failed since the last good one. */
struct refusal_run {
	const struct refusal *refusal; /* NULL: none */
	char failure[REFUSAL_WORDS];   /* an error we don't know, or "" */
};

/*
 * One run for each script, because Redis may refuse one script and carry out
 * the other: when it is full, or if it does not permit a command of only one.
 * All zero: all is well.
 */
struct refusal_log {
	struct refusal_run of[SCRIPT_MAX];
	/* Kinds of operations that were refused by themselves, for want of a
	 * right, and when the last one was. */
	uint64_t lacks;
	int64_t lacks_ms;
};

#define NO_LANE UINT32_MAX

/* A command link and the calls for it.  Owned by its pool. */
struct lane {
	struct pool *pool;
	uint32_t index;
	struct link *link;
	struct call_list line; /* can wait, and not sent yet */
	unsigned patient;      /* operations under way that could have waited */
	struct call_list held; /* answered, but not yet the WAIT after them */
	bool waiting;	       /* a WAIT is under way */
	bool unconfirmed;      /* calls were sent, and no WAIT after them */

	/* Earlier connections, which may still have commands to run. */
	uint64_t *stale; /* owned; their ids */
	unsigned nstale;
	char stale_run_id[RUN_ID_MAX];
	uint32_t killer;	  /* the lane that carries their CLIENT KILLs */
	unsigned kills;		  /* not answered yet */
	bool more_stale;	  /* the CLIENT KILLs under way won't do */
	bool loading[SCRIPT_MAX]; /* a SCRIPT LOAD is under way */
	unsigned down_lines;	  /* logged since it was up */
};

struct pool {
	struct pool_config config;
	struct pool_handler handler;
	void *arg;
	char node[ADDRESS_SIZE];
	uint32_t nlanes;
	struct lane *lanes;
	uint32_t nup;
	struct subscriber *subscriber;
	struct timer *probe;
	unsigned probes;
	unsigned skipped; /* since the last probe */
	bool
	    quiet; /* the broker has nothing there (core/kernel/guard/guard_heartbeat.c) */
	unsigned under_way; /* calls */
	bool closing;	    /* no handler is called any more */

	/* As the last answered call reported them: the history of the server,
	 * and which server that was; "": not known. */
	char history[HISTORY_BYTES + 1];
	char history_run_id[RUN_ID_MAX];

	/* What was logged, so that nothing is logged twice. */
	int64_t down_ms;      /* since when; 0: it is not */
	int64_t up_ms;	      /* when it was up again; 0: never */
	unsigned flaps;	      /* how often it was soon down again, in a row */
	unsigned down_lines;  /* logged since then */
	int64_t down_told_ms; /* when it was logged last; 0: it was not */
	char down_why[160];   /* as logged last */
	char told_why[160];   /* as reported to the topology since then */
	struct refusal_log refusals;
	bool short_told; /* too few replicas confirm, and that was logged */
	bool policy_told;
};

/* pool.c: takes an answer that nobody waits for */
void pool_ignore(void *arg, const redisReply *reply);

/* pool_calls.c: sends calls that wait in line, as far as there is room */
void pool_admit(struct pool *p);

/* pool_stale.c */

/* Returns a lane that is up, from `first` on; NULL if there is none. */
struct lane *pool_any_lane(struct pool *p, uint32_t first);

/* Notes a lost connection, which may still have commands to run. */
void pool_note_stale(struct lane *lane, const struct link *l);

/* Sends the CLIENT KILLs of lost connections that are due and can be sent. */
void pool_kill_stale(struct pool *p);

/* Returns the lane that takes the calls of a lane now; NULL if none does. */
struct lane *pool_route(struct pool *p, uint32_t index);

#endif
