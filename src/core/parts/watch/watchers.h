/*
 * The owners that watch a name may be very many, so the core tells them in
 * parts, over several steps (work.h).
 *
 *	WATCH --> asking --answer--> watches: those not told yet come first
 *
 * A watcher is told the state of the name when its turn comes, and may miss
 * states in between.  A state that watch.c finds out answers all watchers that
 * asked before.
 */
#ifndef LOCKBROKER_CORE_PARTS_WATCH_WATCHERS_H
#define LOCKBROKER_CORE_PARTS_WATCH_WATCHERS_H

#include "base/span.h"
#include "core/kernel/lock/state.h"
#include "core/parts/ids.h"

/* A watcher and a name: the key by which a watch is found. */
struct watch_key {
	struct owner *owner;
	struct watched *watched;
};

/* The state of a name, as seen from outside. */
struct snapshot {
	bool held;
	uint64_t fence;	   /* 0: unknown */
	uint64_t value;	   /* of watched.values, when it was so; 0: none */
	size_t broker_len; /* 0: unknown */
	char broker[BROKER_MAX_BYTES];
};

/* One owner's WATCH of one name.  Owned by the watched name. */
struct watch {
	TAILQ_ENTRY(watch) in_owner;
	TAILQ_ENTRY(watch) in_watched; /* in its watches, or its asking */
	struct table_link by_key;      /* in watches.table */
	struct watch_key key;
	uint64_t seen;	      /* the change that it was told of last; 0: none */
	struct snapshot told; /* what it was told then */
	bool asking;	      /* its OK waits for a look at the key */
	uint64_t number;      /* asking: its number in watched.asked */
	uint64_t ref;	      /* asking: of the request */
	int64_t until_ms; /* asking: refuse then if Redis cannot be reached */
};

/* A name with watchers.  Freed with the last of them. */
struct watched {
	struct table_link by_name;
	TAILQ_ENTRY(watched) in_touched;
	TAILQ_ENTRY(watched) in_telling;
	struct watch_list watches; /* those not told of `now` come first */
	struct watch_list asking;  /* in the order of requests */
	struct timer timer;	   /* the next look */
	struct snapshot now;
	char *value;	   /* of the hold; owned; NULL: none */
	uint64_t values;   /* that `value` has had */
	uint64_t changes;  /* of `now` */
	uint64_t asked;	   /* requests, ever */
	uint64_t answered; /* those up to this number may be answered ... */
	char *refusal;	   /* ... with this error; NULL: with OK.  Owned */
	uint32_t shard;
	bool known;   /* `now` is */
	bool here;    /* this broker had it at the last look ... */
	bool passing; /* ... and another broker may have it now */
	bool taken;   /* another broker was seen to have it */
	bool looking; /* an operation is in flight */
	bool touched; /* in watches.touched */
	bool telling; /* in watches.telling */
	uint8_t name_len;
	char name[];
};

/* All watched names. */
struct watches {
	struct table by_name;
	TAILQ_HEAD(, watched) touched; /* in the order of touching */
	TAILQ_HEAD(, watched) telling; /* each gets its turn */
	struct table table;	       /* of watches, by owner and name */
};

static inline struct watches *
watches_of(const struct core *core)
{
	return core->part[PART_WATCH];
}

struct watch *watchers_find(
    const struct core *core, struct owner *owner, struct watched *w);
struct watch *watchers_join(
    struct core *core, struct owner *owner, struct watched *w);

/* Ends a watch and frees it; true: it was the last, and the name is freed. */
bool watchers_leave(struct core *core, struct watch *one);

/* The request `ref` of this watcher waits for an answer. */
void watchers_ask(struct watch *one, uint64_t ref);

/*
 * Answers a watcher that asked: with the state of the name now, or why that is
 * not known.  watchers_refuse() is true if it was the last, and the name is
 * freed.
 */
void watchers_welcome(struct core *core, struct watch *one);
bool watchers_refuse(struct core *core, struct watch *one, const char *why);

/* All that have asked by now will be answered with `refusal`, which it takes
 * over; NULL: with OK. */
void watchers_answer(struct core *core, struct watched *w, char *refusal);

/* This is the state of the name now, with the value of its hold (empty: none):
 * if that is new, its watchers will be told. */
void watchers_change(struct core *core, struct watched *w,
    struct snapshot fresh, struct span value);

/* Tells and answers watchers, as many as the step has work left for. */
bool watchers_tell_on(struct core *core);

#endif
