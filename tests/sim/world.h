/*
 * One simulated world: servers, brokers, clients, faults, and a checker that
 * watches all of them.  A run is one world from its seed to its end.
 *
 *	client --lines--> broker (real core, gather) --calls--> server (real
 *	       <-replies-                            <-replies- scripts, Lua)
 *
 * World time is microseconds from 0.  Every broker and every server has a
 * clock of its own, with another zero and a rate that is a little off.
 */
#ifndef LOCKBROKER_SIM_WORLD_H
#define LOCKBROKER_SIM_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "ablate.h"
#include "alone.h"
#include "beats.h"
#include "bond.h"
#include "broker.h"
#include "checker.h"
#include "client.h"
#include "crowd.h"
#include "electorate.h"
#include "events.h"
#include "faults.h"
#include "history.h"
#include "leaving.h"
#include "lua_host.h"
#include "pollers.h"
#include "prng.h"
#include "sentinel.h"
#include "server.h"
#include "topology.h"
#include "trace.h"
#include "uses.h"
#include "warmth.h"

#define WORLD_BROKERS_MAX 24
#define WORLD_BROKERS_DRAWN 4 /* at most, if nobody asks for more */
#define WORLD_CLIENTS_MAX 24
#define WORLD_NAMES_MAX 4
#define WORLD_PREFIX "lock:"

/* What the command line asks for. */
struct sim_options {
	uint64_t seed;
	const struct topology *topology;
	int brokers; /* 0: as the seed says */
	int seconds; /* of faults and work; 0: as the seed says */
	unsigned faults;
	bool faults_given; /* if not given: as the seed says, out of `faults` */
	unsigned uses;
	bool uses_given; /* if not given: as the seed says, out of `uses` */
	bool tokens;	 /* there are pollers */
	bool redisson;	 /* most of them are threads of programs (threads.c) */
	bool leave;	 /* brokers are replaced */
	bool alone;	 /* the core is the kernel alone (alone.h) */
	bool lines;	 /* keep the last lines, and the hash of all */
	bool trace;	 /* and print each */
	const struct ablation *ablation; /* NULL: none */
	const char *history;		 /* file to write, or NULL */
};

struct world {
	const struct sim_options *o;
	struct prng prng;
	struct events events;
	struct trace trace;
	struct lua_host *lua; /* not owned: compiled once for all runs */
	const int *scripts;   /* by enum script_id; those of an earlier version
				 follow */
	struct server servers[WORLD_SERVERS_MAX];
	struct sentinels sentinels;
	struct broker brokers[WORLD_BROKERS_MAX];
	struct cluster cluster;
	struct electorate electorate;
	struct client clients[WORLD_CLIENTS_MAX];
	struct checker checker;
	struct faults faults;
	struct uses uses;
	struct crowd crowd;
	struct warmth warmth;
	struct pollers pollers;
	struct beats beats;
	struct history history;
	int nservers, nbrokers, nclients, nnames;
	/* Brokers: each place has two where they are replaced (leaving.h). */
	int places;
	bool leaves;
	struct prng leaving;
	struct bond bonds[WORLD_BROKERS_MAX / 2];
	uint64_t bond_number, quest_number;
	TAILQ_HEAD(quest_list, quest) quests; /* owned */
	uint32_t shards;   /* their number, as the core sees it */
	uint32_t lanes;	   /* redis.connections */
	int members;	   /* servers of a master, without the spare ones */
	unsigned replicas; /* redis.replicas */
	unsigned work;	   /* of a step of the core; 0: as usual */
	bool replicates;   /* servers have replicas */
	bool writable;	   /* replicas carry out scripts that write */
	bool strict;	   /* min-replicas-to-write is redis.replicas */
	bool quorum;	   /* the shards are servers that vote */
	bool clocks_apart; /* the wall clocks of brokers are days apart */
	bool tagged;	   /* the shards are buckets of a cluster */
	bool owned;	   /* the server is the broker's own */
	bool whole;	   /* and its data are all that it ever had */
	bool written;	   /* and it ever had any */
	bool trusts;	   /* redis.trust_new */
	bool still;	   /* clocks stand still while servers are frozen */
	bool steps;  /* clocks that jump a little do so twice in a lease */
	bool shares; /* clients lock with mode=shared, too */
	bool groups; /* clients lock several names at once, too */
	/* Limits of the semaphores that clients use; 0: there is none. */
	uint64_t permits[CHECKER_SEMAPHORES_MAX];
	bool hasty;   /* they lock again at once; there are few of them */
	bool proxies; /* some clients come through proxies */
	bool circles; /* a client that holds something may wait for ever for
		       * more */
	int64_t lease_ms, pad_ms, grace_ms, reply_timeout_ms;
	int64_t latency_us; /* of the network, the usual one */
	int64_t heal_us;    /* no fault from then on */
	int64_t split_us;   /* until then there were two masters; -1: never */
	int64_t leave_us;   /* when clients leave */
	int64_t end_us;
	struct embedded *embedded; /* not owned; NULL: there is none */
	uint64_t next_session;
	uint64_t next_conn;
	uint64_t next_timer;
	bool failed;
	char failure[256];
};

static inline int64_t
world_now(const struct world *w)
{
	return w->events.now_us;
}

static inline bool
world_ablated(const struct world *w, enum ablation_switch what)
{
	return w->o->ablation != NULL && w->o->ablation->off == what;
}

/* Runs one world; false: a promise was broken, and world_report() says it. */
bool world_run(struct world *w, const struct sim_options *o,
    struct lua_host *lua, const int *scripts);
void world_report(const struct world *w);
void world_free(struct world *w);

/* How long the next message takes on the network. */
int64_t world_delay_us(struct world *w);

/* A promise is broken.  Only the first one counts. */
void world_fail(struct world *w, const char *promise, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#define TRACE(w, ...)                                                      \
	do {                                                               \
		if ((w)->trace.on)                                         \
			trace_add(                                         \
			    &(w)->trace, (w)->events.now_us, __VA_ARGS__); \
	} while (0)

#endif
