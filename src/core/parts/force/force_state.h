/*
 * Definitions shared by the two files of UNLOCK-FORCE.
 */
#ifndef LOCKBROKER_CORE_PARTS_FORCE_FORCE_STATE_H
#define LOCKBROKER_CORE_PARTS_FORCE_FORCE_STATE_H

#include "core/parts/force/force.h"
#include "core/parts/ids.h"

TAILQ_HEAD(force_list, force);

/* One UNLOCK-FORCE.  Owned by forces.list; once over, by the list it is in. */
struct force {
	TAILQ_ENTRY(force) link;
	struct table_link by_id;
	TAILQ_ENTRY(force) in_turn; /* here: of its name, or forces.touched */
	uint64_t id;		    /* what its operations carry */
	uint64_t session;	    /* id of the one that asked */
	uint64_t ref;
	char by[PEND_MAX_BYTES]; /* who asked, for the log of another broker */
	struct timer timer;	 /* the next look, or the end of patience */
	int64_t until_ms;	 /* when patience ends */
	int64_t pause_ms;
	uint64_t seq;	/* here: of the lease that ends */
	uint64_t fence; /* of the hold that is meant; 0: any */
	bool here;	/* a lease of this broker is ending */
	bool shared;	/* others may have shared it */
	bool listed;	/* linked by in_turn */
	bool over;	/* answered; freed when its turn comes */
	bool there;	/* others were asked, or are about to be */
	bool looking;	/* an operation is in flight */
	bool sure;	/* a broker that has the name has it for a session */
	char *value;	/* owned; of the key when others were asked; or NULL */
	size_t value_len;
	char history[HISTORY_BYTES]; /* of the server that told the value */
	size_t name_len;
	char name[];
};

/* All that are under way. */
struct forces {
	struct force_list list;
	struct force_list touched; /* to be looked at */
	struct table by_id;
	uint64_t last; /* id */
	bool running;  /* force_run() makes the changes itself */
};

static inline struct forces *
forces_of(const struct core *core)
{
	return core->part[PART_FORCE];
}

/* Returns NULL if it is over. */
struct force *force_find(const struct core *core, uint64_t id);

/* It is answered: frees it, or leaves that to the list that it is in. */
void force_end(struct core *core, struct force *f);

/* Adds it to a list; takes the next one off the list of those to be looked at:
 * NULL: there is none, or it was over and is now freed. */
void force_list(struct force_list *list, struct force *f);

/* Adds it to those that wait for the end of the lease of the name here. */
void force_await(struct lock *l, struct force *f);
struct force *force_next_touched(struct core *core);

#endif
