/*
 * Poll queues: the tokens that want a name through this broker (poll.h).
 */
#ifndef LOCKBROKER_CORE_PARTS_TOKEN_POLLERS_H
#define LOCKBROKER_CORE_PARTS_TOKEN_POLLERS_H

#include "core/parts/token/poll.h"

#define COMES_BACK_MS 2000 /* a token that is away longer loses its place */
#define LATELY_MS 250 /* one that polls this often has its place in the queue */
#define TURN_MS 250   /* how long newcomers wait, at most */
#define AGAIN_MS 50   /* after an answer that says nothing */

/* The key of a name that is kept for a program lives longer by this, so that
 * there is time to take it in. */
#define KEPT_MORE_MS 250

/* One token that wants a name.  Owned by its poll queue. */
struct poller {
	TAILQ_ENTRY(poller) link;
	struct table_link by_holder; /* of its poll queue, unless "" */
	char *holder; /* owned; "": no token, it awaits the name */
	struct arrival came;
	int64_t heard_ms; /* when it was here last */
	int64_t gap_ms;	  /* how long it was away before that */
	int64_t told_ms;  /* until then its audience is to be told; 0: none */
	unsigned tries;	  /* of a token with an audience that were refused */
	bool passed;	  /* another thread has had its turn */
	uint64_t call;	  /* a call's id; 0: the token is away */
	uint64_t session; /* on which it was refused last */
	bool polls;	  /* it has come back once */
	bool missed;	  /* it had its turn, and was away */
	bool waits;	  /* it is counted so: */
	struct measure_wait wait;
	enum measure_result result; /* if it ends now */
};

/* All tokens that want one name, in the order in which they first came. */
struct pollers {
	struct table_link by_name;
	struct timer timer;
	TAILQ_HEAD(, poller) list;
	struct table by_holder;
	unsigned n;
	int64_t swept_ms; /* places of tokens that stay away were freed then */
	uint64_t seq;	  /* of its place in the queue; 0: it has none */
	uint64_t asked_for; /* id of a call; 0: no operation is in flight */
	uint64_t passed;    /* seq of the hold that a PASS in flight makes */
	uint32_t epoch;	    /* the guard's epoch, when it was sent */
	int64_t sure_ms;    /* it is in the queue, as Redis said; till then */
	bool look;	    /* something has changed: ask */
	bool hurries;	    /* a token is back that was away at its turn */
	int64_t wake_ms;    /* ask at this time, too */
	int64_t kept_ms;    /* the name is kept until then, ... */
	int64_t kept_since_ms; /* ... was waited for since then, ... */
	char *kept_for;	       /* ... for this text; owned; NULL: never yet */
	char *kept_of; /* ... by the place of this client; owned; or NULL */
	int64_t kept_told_ms;	/* when they were told */
	uint64_t kept_came;	/* the token that came then (core.last_come) */
	unsigned kept_again;	/* how often they were told once more */
	uint64_t kept_audience; /* the audience told; 0: one session was */
	uint32_t shard;
	size_t name_len;
	char name[];
};

/* Returns NULL if there is none; pollers_get() makes one. */
struct pollers *pollers_find(
    const struct core *core, const char *name, size_t len);
struct pollers *pollers_of(const struct core *core, const struct token_call *c);
struct pollers *pollers_get(struct core *core, const struct token_call *c);
void pollers_free(struct core *core, struct pollers *ps);

/* The place of the token of a call; NULL: it has none, or there is no poll
 * queue. */
struct poller *poller_of(const struct core *core, const struct pollers *ps,
    const struct token_call *c);

/* The place of that client, which is not "". */
struct poller *poller_find(
    const struct core *core, const struct pollers *ps, const char *holder);

/*
 * Places are bounded by limits.waiters for a name, and by limits.requests for
 * the session over which their tokens came last.  poller_new() returns NULL if
 * there are too many.
 */
struct poller *poller_new(struct core *core, struct pollers *ps,
    const char *holder, uint64_t session);
bool pollers_is_full(
    const struct core *core, const struct pollers *ps, uint64_t session);

/* The place counts for this session from now on. */
void poller_move(struct core *core, struct poller *p, uint64_t session);

/* The two exchange their tokens. */
void pollers_swap(struct pollers *ps, struct poller *a, struct poller *b);
void poller_free(struct core *core, struct pollers *ps, struct poller *p);

/* Returns the first token that is here, or NULL.  Frees the places of tokens
 * that have been away for too long. */
struct poller *pollers_first_here(struct core *core, struct pollers *ps);

/* The name goes to the token in that place (NULL: to none here).  The first
 * token before it that polls, and is away, has missed its turn. */
void pollers_pass_over(
    struct core *core, struct pollers *ps, const struct poller *heir);

/* The program of this text has come, that long after its audience was told; 0:
 * it has not come. */
void pollers_answered(struct core *core, const char *program, int64_t ms);

/* The name that is about to be taken for the call is kept for that long. */
void pollers_set_kept(const struct core *core, struct token_call *c);

/* Returns the call by which an audience awaits the name in the place, or NULL.
 */
struct token_call *poller_listening(
    const struct core *core, const struct poller *p);

/* Returns until when a token that polls is expected back; 0: none polls. */
int64_t pollers_lately_ms(const struct pollers *ps);

/* Returns how many tokens are here. */
unsigned pollers_count_here(struct core *core, const struct pollers *ps);

/* The first number of their places in queues and of holds that they are about
 * to make; 0: there are none. */
uint64_t pollers_first_seq(const struct core *core);

/* Gives up the poll queue's place in the queue, or the name if it was granted.
 */
void pollers_give_back(struct core *core, struct pollers *ps);

/*
 * Redis has said that the poll queue is in the queue, behind a key that ends in
 * left_ms (-1: it has no end).  Once a lease the poll queue looks in any case:
 * that also keeps the queue.
 */
void pollers_in_queue(struct core *core, struct pollers *ps, int64_t left_ms);

/* Something has happened: asks for the name, gives it back, or waits.  May free
 * the poll queue, if the name is no longer wanted. */
void pollers_next(struct core *core, struct pollers *ps);

#endif
