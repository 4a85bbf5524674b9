/*
 * Those who watch a name, of whom there may be very many: they are told in
 * parts, between which the core goes on (work.h).
 *
 *	WATCH --> asking --answer--> watches: those who were not told yet first
 *
 * A watcher hears how the name is when its turn comes, which may be otherwise
 * than it was in between.  What watch.c has found out about a name is the
 * answer to all who asked before.
 */
#ifndef LOCKBROKER_CORE_LOCK_WATCHERS_H
#define LOCKBROKER_CORE_LOCK_WATCHERS_H

#include "core/lock/state.h"

/* Who watches what: by this a watch is found. */
struct watch_key {
	struct session *session;
	struct watched *watched;
};

/* One session's WATCH of one name.  Owned by the watched name. */
struct watch {
	TAILQ_ENTRY(watch) in_session;
	TAILQ_ENTRY(watch) in_watched; /* its watches, or those who ask */
	struct table_link by_key;      /* in watches.table */
	struct watch_key key;
	uint64_t seen;	  /* the change that it was told of last; 0: none */
	uint64_t fence;	  /* what it was told then */
	bool held;	  /* the same */
	bool asking;	  /* its OK waits for a look */
	uint64_t number;  /* asking: of those who asked */
	uint64_t ref;	  /* asking: of the request */
	int64_t until_ms; /* asking: Redis must be reached before */
};

/* What a name looks like from outside. */
struct snapshot {
	bool held;
	uint64_t fence;	   /* 0: unknown */
	size_t broker_len; /* 0: unknown */
	char broker[BROKER_MAX_BYTES];
};

/* A name with watchers.  Freed with the last of them. */
struct watched {
	struct table_link by_name;
	TAILQ_ENTRY(watched) in_touched;
	TAILQ_ENTRY(watched) in_telling;
	struct watch_list watches; /* those who were not told of `now` first */
	struct watch_list asking;  /* who asked first */
	struct timer timer;	   /* the next look */
	struct snapshot now;
	uint64_t changes;  /* of `now` */
	uint64_t asked;	   /* how many have, ever */
	uint64_t answered; /* of them, those who may be answered ... */
	char *refusal;	   /* ... with that; NULL: with OK.  Owned */
	uint32_t shard;
	bool known;   /* `now` is */
	bool here;    /* this broker had it when it was looked at last ... */
	bool passing; /* ... and another may have it since, or still */
	bool taken;   /* it was seen in another's hands */
	bool looking; /* an operation is in flight */
	bool touched; /* in watches.touched */
	bool telling; /* in watches.telling */
	uint8_t name_len;
	char name[];
};

/* All watched names. */
struct watches {
	struct table by_name;
	TAILQ_HEAD(, watched) touched; /* in that order */
	TAILQ_HEAD(, watched) telling; /* in turn */
	struct table table;	       /* of watches, by session and name */
};

struct watch *watchers_find(
    const struct core *core, struct session *s, struct watched *w);
struct watch *watchers_join(
    struct core *core, struct session *s, struct watched *w);

/* Ends one; true: it was the last, and the name is freed. */
bool watchers_leave(struct core *core, struct watch *one);

/* Its WATCH `ref` waits for an answer. */
void watchers_ask(struct watch *one, uint64_t ref);

/* The answer: how it is now, or why that is not known.  The latter is true if
 * it was the last, and the name is freed. */
void watchers_welcome(struct core *core, struct watch *one);
bool watchers_refuse(struct core *core, struct watch *one, const char *why);

/* All who have asked by now are answered so; takes over `refusal`; NULL: OK. */
void watchers_answer(struct core *core, struct watched *w, char *refusal);

/* So it is now; those who watch are told, if that is new. */
void watchers_change(
    struct core *core, struct watched *w, const struct snapshot *fresh);

/* Tells some of them. */
void watchers_tell_on(struct core *core);

#endif
