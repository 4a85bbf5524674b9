/*
 * Pollers (--tokens): programs with a lock library of Redis.  Each takes names
 * by tokens, polls for those that are taken, extends and releases what it has;
 * and believes that a name is its own until the time is over that it has asked
 * for, whatever becomes of brokers.
 *
 * To the checker that is what a plain client's key is: nobody else may have the
 * name until then, nor may another token.  What Redis has forgotten is excused,
 * unless the broker that looks after it was there all the time
 * (pollers_check.c).
 */
#ifndef LOCKBROKER_SIM_POLLERS_H
#define LOCKBROKER_SIM_POLLERS_H

#include <stdbool.h>
#include <stdint.h>

#include "checker.h"
#include "core/core.h"
#include "core/parts/token/token.h"
#include "prng.h"

#define POLLERS_MAX 6
#define POLLERS_FIRST \
	(UINT64_C(1) << 41) /* their sessions; no crowd has such */

struct broker;
struct op;
struct world;

/* A token's place in the queue of a broker, as far as its poller knows. */
struct poller_place {
	int name;
	unsigned token;	  /* 0: there is none */
	uint64_t since;	  /* the place is as old as that, at most, ... */
	uint64_t firm;	  /* ... and at least as old as that; UINT64_MAX: it
			     may be gone */
	int64_t heard_us; /* the broker heard of it last, or later */
	unsigned passed;  /* others were granted the name since then */
};

/* So many of its holds a token client remembers. */
#define POLLER_EARLIER 8

struct poller {
	struct world *w;
	int index;
	/* What kind of program it is. */
	bool sticks; /* goes on with the broker that has refused it, and soon */
	bool either; /* has one script to take a name and to extend it */
	bool common; /* uses one token for ever, as others do */
	bool listens; /* if it is refused, it is told when the name is free */
	/* threads.c */
	bool thread;	  /* of a program with Redisson ... */
	bool sure;	  /* ... that sleeps for long */
	bool asleep;	  /* it is to be told when it has its turn */
	bool woken;	  /* it was told, and comes */
	int64_t slept_us; /* when it fell asleep */
	bool renews;	/* that is what it has asked for, and no other level */
	int depth;	/* as it was told last */
	int deepest;	/* ... and at most since the hold was granted */
	int more, less; /* levels asked for, or given back, without an answer */
	int64_t held_us;  /* it had the name till then, when it asked last */
	unsigned passed;  /* others were granted the name since it waits */
	int64_t told_us;  /* it was told that the name is kept for it; 0: no */
	int told_by;	  /* ... by this process */
	bool awaits;	  /* that is what it has asked for */
	int broker;	  /* whom it asks, or has asked last */
	bool due;	  /* it asks in that one's next turn */
	uint64_t ref;	  /* of what was not answered yet; 0: nothing */
	enum token_op op; /* of that */
	bool known, here; /* that may have its place, and waits there */
	int64_t claimed_us; /* when a broker claimed the name for it last ... */
	uint64_t claim;	    /* ... by this operation ... */
	int64_t reached_us; /* ... and sent that, perhaps elsewhere, last */
	int64_t sent_us, px_ms;
	int name;
	unsigned token; /* that it uses now */
	unsigned next_token;
	unsigned tries; /* part of the token; 0 but for an ablation */
	uint64_t fence; /* of what it has, or had last by this token */
	uint64_t earlier[POLLER_EARLIER]; /* of what it had before, in a ring */
	unsigned nearlier;
	int64_t until_us; /* it believes to have the name; 0: it does not */
	int64_t ends_us; /* Redis ends it by itself till then, if nobody does */
	int64_t since_us; /* when it was told that, first */
	bool had;	  /* and has not let go of it */
	int ward;	  /* the broker that looks after it; -1: none */
	bool unsure;	  /* perhaps another one does */
	bool doubtful;	  /* Redis may have forgotten it, but not the broker */
	/* What it has asked for of this name and token without an answer may
	 * run until stray_us, and leave it no more than stray_ms. */
	int stray_name;
	unsigned stray_token;
	int64_t stray_us, stray_ms;
	struct poller_place places[CHECKER_BROKERS_MAX];
	uint64_t tick;
};

/* Of the hold that is left to itself (pollers_orphan.c). */
enum orphan {
	ORPHAN_NONE,   /* there is none in this run */
	ORPHAN_WANTED, /* nothing has happened yet */
	ORPHAN_TAKEN,  /* its broker is about to die */
	ORPHAN_LEFT,   /* it has died */
	ORPHAN_ADOPTED /* another broker looks after it */
};

/* Part of the world. */
struct pollers {
	int n; /* 0: there are none */
	struct prng prng;
	struct prng presses;
	unsigned
	    press; /* in thousand: how often one has more to ask meanwhile */
	struct poller v[POLLERS_MAX];
	int64_t park_ms; /* resp.park */
	/* A name is kept for the next that asks, of whatever token. */
	int64_t kept_us[CHECKER_BROKERS_MAX][CHECKER_NAMES_MAX];
	/* Until when one of them had a name, asked for it, or was about to; or
	 * it is kept for one. */
	int64_t busy_us[CHECKER_NAMES_MAX];
	bool rush; /* all of them want one name */
	enum orphan orphan;
	int64_t forgot_us; /* when Redis lost data last; -1: never */
	uint64_t order;	   /* of places */
	uint64_t sessions, refs;
	uint64_t grants, extended, released, refused; /* counters for reports */
	unsigned passed, overtaken; /* the most that was seen of either */
};

void pollers_make(struct world *w);

/* A broker begins, takes a turn of them, stops, is gone. */
void pollers_begin(struct broker *b);
void pollers_act(struct broker *b);
void pollers_stop(struct broker *b);
void pollers_end(struct broker *b);

/*
 * pollers_orphan.c: for how long a poller asks, 0 if that is not the orphan; it
 * has that and leaves it alone; it was granted a name.
 */
void orphan_make(struct world *w);
int64_t orphan_px_ms(const struct poller *p);
bool orphan_is_left(const struct poller *p);
void orphan_granted(struct broker *b, struct poller *p);

/* One of them asks a broker for a name now; false: none can. */
bool pollers_claim(struct world *w, int name, int broker);

/* It tries again, soon. */
void pollers_wake(struct poller *p);

/* threads.c: before a poller asks, and when its answer has come or does not. */
bool threads_are_there(const struct world *w);
void threads_make(struct world *w);
void thread_begins(struct poller *p);
void thread_chooses(struct poller *p);
bool thread_keeps(const struct poller *p);
void thread_asks(
    const struct poller *p, struct token_request *rq, char program[8]);
void thread_unanswered(struct poller *p);
void thread_counts(struct poller *p, const struct token_result *r);
int64_t thread_sleeps_us(struct poller *p, const struct token_result *r);

/* Now and then: is one that sleeps told in time? */
void threads_look(struct world *w);

/* Returns false if that is not for one that listens. */
bool threads_told(
    struct broker *b, const struct effects *fx, const struct effect *e);

/* They all go home. */
void pollers_leave(struct world *w);

/* What is told to one of their sessions. */
void pollers_tell(
    struct broker *b, const struct effects *fx, const struct effect *e);

/* A broker sends an operation, and hears what became of it. */
void pollers_op(struct broker *b, const struct op *op);
void pollers_outcome(struct broker *b, uint64_t op, int64_t sent_ms);

/* Redis has forgotten something.  Does one of them count on a name even so? */
void pollers_amnesia(struct world *w);
bool pollers_count_on(const struct world *w, int name);

/* pollers_check.c */

/* Writes its token.  Returns the length. */
size_t poller_token(const struct poller *p, char *text, size_t size);

/* It believes so, and nobody has forced it. */
bool poller_has(const struct poller *p);

/* It must let go of it; whoever may have the name now, nobody need be granted
 * it. */
void poller_give_up(struct poller *p);
void poller_hush(struct world *w, int name, int64_t until_us);
void pollers_busy(struct world *w, int name, int64_t until_us);

/* It was told that a name is kept for it; was it, or may it be, when p asked? */
void poller_kept(struct broker *b, struct poller *p);
void pollers_hush_kept(struct world *w, int name);

/* It asks; is refused; is granted the name, or its hold is extended. */
void poller_asks(struct poller *p);
void poller_refused(struct broker *b, struct poller *p);
void poller_granted(struct broker *b, struct poller *p, uint64_t fence);
void poller_extended(struct broker *b, struct poller *p, uint64_t fence);

/* Has it had a hold with that fence, not long ago? */
bool poller_had(const struct poller *p, uint64_t fence);

/* It is granted the name when its time is over already. */
void poller_late(struct broker *b, const struct poller *p);

/* The broker does not look after any hold any more, and keeps no name. */
void pollers_forsaken(struct broker *b);

#endif
