/*
 * What a pool is made of.  Only pool.c (its life, up and down, probes),
 * pool_calls.c (calls on lanes) and pool_stale.c (connections that were lost)
 * include this.
 */
#ifndef LOCKBROKER_REDIS_POOL_STATE_H
#define LOCKBROKER_REDIS_POOL_STATE_H

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "redis/link.h"
#include "redis/listener.h"
#include "redis/pool.h"
#include "redis/spells.h"

#define NO_LANE UINT32_MAX

/* A command link and what it is for. Owned by its pool. */
struct lane {
	struct pool *pool;
	uint32_t index;
	struct link *link;
	struct call_list line; /* not sent yet: they can wait */
	unsigned patient;      /* operations under way that could have waited */
	struct call_list held; /* answered, but not yet the WAIT behind them */
	bool waiting;	       /* a WAIT is under way */
	bool unconfirmed;      /* calls were sent and no WAIT behind them */

	/* Connections before, which may still have commands to run. */
	uint64_t *stale; /* owned; their ids */
	unsigned nstale;
	char stale_run_id[RUN_ID_MAX];
	uint32_t killer;	  /* the lane that was sent their CLIENT KILL */
	unsigned kills;		  /* not answered yet */
	bool more_stale;	  /* than the CLIENT KILLs under way are for */
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
	struct listener *listener;
	struct event *probe;
	unsigned probes;
	unsigned skipped; /* since the last of them */
	bool quiet;	  /* the broker has nothing there (core/guard/beat.c) */
	unsigned under_way; /* calls */
	bool closing;	    /* nobody is told any more */

	/* Spells, so that each is logged once. */
	int64_t down_ms;      /* since when; 0: it is not */
	unsigned down_lines;  /* logged of this spell */
	int64_t down_told_ms; /* when it was logged last; 0: it was not */
	char down_why[160];   /* the last of them */
	char told_why[160];   /* what the owner was told, of this spell */
	struct spells spells;
	bool short_told; /* of replicas */
	bool policy_told;
};

/* pool.c: the answer of a command that nobody waits for */
void pool_ignore(void *arg, const redisReply *reply);

/* pool_calls.c: sends what stands in line, where there is room for it */
void pool_admit(struct pool *p);

/* pool_stale.c */

/* A lane that is up, looked for from the first on; NULL: there is none. */
struct lane *pool_any_lane(struct pool *p, uint32_t first);

/* Its connection was lost, and may still have commands to run. */
void pool_note_stale(struct lane *lane, const struct link *l);

/* Has lost connections killed, where that is to be done and can be. */
void pool_kill_stale(struct pool *p);

/* What takes the calls of a lane now; NULL: nothing does. */
struct lane *pool_route(struct pool *p, uint32_t index);

#endif
