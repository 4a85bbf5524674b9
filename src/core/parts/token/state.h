/*
 * What the core knows of token holds.  Only files of src/core include this.
 *
 * A token hold is a key in Redis, and nothing else (lua/token.lua).  No broker
 * vouches for it, so any broker may end or extend it in one script, whatever
 * has become of the one that granted it.  A broker has of it:
 *
 *	call	a request that has not been answered
 *	record	a hold that this broker has granted or extended last.  The
 *		broker reports it, and writes it again if Redis forgets
 *
 * A lease never becomes such a key, nor the other way round: the broker grants
 * no session a name because of a token hold.  A token hold that ends may become
 * that of the next token which waits here, but Redis makes it so (poll.h).
 */
#ifndef LOCKBROKER_CORE_PARTS_TOKEN_STATE_H
#define LOCKBROKER_CORE_PARTS_TOKEN_STATE_H

#include "base/table.h"
#include "core/kernel/guard/guard_wait.h"
#include "core/kernel/session/owner.h"
#include "core/kernel/turn/slot.h"
#include "core/parts/ids.h"
#include "core/parts/observe/count.h"
#include "core/parts/token/token.h"

/* A name of a call, and what is known of it. */
struct token_name {
	char *name; /* owned */
	size_t len;
	bool first;	  /* of the names, as the request has them */
	uint64_t seq;	  /* of its operation; 0: none was sent yet */
	uint32_t epoch;	  /* the guard's epoch then */
	int64_t asked_ms; /* when it was submitted */
	bool asked;	  /* the operation is in flight */
	bool extends;	  /* the next operation extends a hold; see call.c */
	bool extended, claimed; /* an operation has tried that */
	bool passed;		/* a PASS was in vain */
	bool settled;		/* Redis has answered it; and how: */
	enum outcome_status status;
	uint64_t fence;
	int64_t left_ms;
	bool padded;	      /* that counts the pad of its key, too */
	enum token_kind kind; /* of the key that was there */
	unsigned key_bits;    /* enum key_bits */
	int64_t waited_ms;    /* GRANTED: since its token first came */
	char *text;	      /* owned; as the outcome has it */
};

/* A CORE_TOKEN that has not been answered.  Its answer frees it. */
struct token_call {
	TAILQ_ENTRY(token_call) link; /* in tokens.calls */
	struct guard_wait wait;	      /* for its guard */
	struct table_link by_id;
	uint64_t id;	  /* its operations carry it */
	uint64_t session; /* id */
	uint64_t ref;
	enum token_op op;
	struct op_how how; /* of its operations */
	bool either, all;
	bool looks;	 /* first only asks how all its names are */
	bool broken;	 /* one of its operations was never answered */
	char *holder;	 /* owned; which holds it means, ... */
	char *other;	 /* owned; ... and what they become; "": the same */
	char *latched;	 /* owned; holder with its latch; or NULL */
	int64_t ttl_ms;	 /* 0: no bound */
	int64_t most_ms; /* locks.max_hold when it came; 0: none */
	int64_t park_ms; /* how long it may wait (poll.h); 0: not at all */
	bool parked;	 /* it waits */
	bool pressed;	 /* ... for the answer of Redis, and no longer */
	bool yields;	 /* it lets another token go first, till its deadline */
	int64_t yields_ms; /* it may do so until then; 0: it has not yet */
	bool awaits;	   /* it takes the name to keep it for another call */
	bool inherits;	   /* it takes over a hold that was kept for its user */
	char *program; /* owned; what is kept for it has this text; or NULL */
	uint64_t audience; /* as in the request; of a call that awaits: it is of
			      no session, and they are told when it ends */
	bool listed;	   /* as in the answer */
	struct timer deadline;	    /* when it stops waiting */
	int64_t since_ms;	    /* when its token first came */
	enum measure_result result; /* parked: how that ends */
	unsigned n;
	struct token_name names[]; /* in byte order */
};

/* A token hold that this broker looks after.  token_record_drop() frees it. */
struct token_record {
	struct table_link by_name;
	TAILQ_ENTRY(token_record) link; /* in tokens.records or .orphans */
	struct timer timer; /* its end, or when the broker looks again */
	uint64_t seq, fence;
	int64_t since_ms;
	int64_t until_ms; /* its bound; INT64_MAX: none ... */
	bool padded;	  /* ... or the end of its key, a pad later */
	uint32_t shard;
	uint32_t epoch;	      /* the guard's epoch, as last confirmed ... */
	uint32_t asked_epoch; /* ... and when the broker asked last */
	bool asked;	      /* an operation is in flight */
	bool blocked;	      /* counted in guard.nblocked */
	bool orphan; /* perhaps no client was told of it: the broker ends it */
	/* Operations without a known outcome may end it: it lasts till then
	 * whatever became of them; INT64_MAX: till its bound. */
	int64_t sure_ms;
	unsigned returned; /* how often it was given back so */
	char *holder;	   /* owned; token and user, as in the key */
	/* Owned; of the last session, or NULL. */
	char *peer, *label, *user;
	struct share *share; /* of the user */
	uint64_t session;    /* its id */
	int64_t waited_ms;   /* before it was granted */
	struct measure_mark mark;
	size_t name_len;
	char name[];
};

TAILQ_HEAD(token_record_list, token_record);
TAILQ_HEAD(token_call_list, token_call);

/* Answers that may be under way when messages about them come. */
#define TAKEN_MAX 64

/* Programs of which the broker knows how fast they are. */
#define ANSWERED_MAX 256

struct tokens {
	struct token_call_list calls;
	struct table by_id;
	uint64_t last_call;   /* id */
	struct table by_name; /* records that are no orphans */
	struct token_record_list records, orphans;
	unsigned nrecords, norphans;
	uint64_t
	    taken[TAKEN_MAX]; /* the latest messages about no record: seq */
	unsigned ntaken;
	struct adoption *adoptions; /* adopt.c: for each guard */
	size_t nleft;	      /* stopping: records that were left to Redis */
	struct table pollers; /* poll.c: by name */
	unsigned npollers;
	/* How long programs took to answer when they last had their turn. */
	struct answered {
		uint32_t hash; /* of the program */
		uint32_t ms;   /* 0: it is not known */
	} answered[ANSWERED_MAX];
	int64_t twice_ms; /* when the log reported a token twice; 0: never */
};

static inline struct tokens *
tokens_of(const struct core *core)
{
	return core->part[PART_TOKEN];
}

/* When a token first came for a name, and not only this time. */
struct arrival {
	uint64_t number; /* core.last_come */
	int64_t ms;
};

/* pollers.c: calls `fn` (NULL: none) for each token that waits for the name,
 * here or away, in the order in which the tokens came, with the session over
 * which it came last.  Returns how many wait. */

typedef void parked_fn(void *arg, uint64_t session, struct arrival came);
unsigned poll_each(const struct core *core, const char *name, size_t len,
    parked_fn *fn, void *arg);

/* How many wait, and since when the oldest does; 0: none waits. */
struct parked {
	unsigned n;
	int64_t since_ms;
};

struct parked poll_count(const struct core *core, const char *name, size_t len);

/* holder_text.c */

/*
 * Returns token and user in the form of a key, with %XX for bytes that could be
 * mistaken there.  The caller frees it.
 */
char *holder_text(const char *token, size_t token_len, const char *user);

/* Returns the text of a key while the name is kept for a user (poll.h), or for
 * a program of the user, if its text is not empty: no token is written so.  The
 * caller frees it. */
char *holder_kept(const char *program, size_t program_len, const char *user);

/* Is it such a text?  A reserved name (adopt.c) has another one. */
bool holder_is_kept(const char *text);

/* Returns the same of a hold that is counted, with a depth of 1, and with the
 * latch of the last request that gave back a level, if that is not empty.  The
 * caller frees it. */
char *holder_counted(
    const char *token, size_t token_len, const char *user, const char *latch);

/* Returns the depth of the hold; 0: it is not counted. */
uint64_t holder_depth(const char *text);

/* Are both counted, and of the same token and user? */
bool holder_same_counted(const char *a, const char *b);

/* Returns the token of such a text, as it was.  The caller frees it. */
char *holder_token(const char *text, size_t *len);

/* token_record.c */

void token_records_init(struct core *core);
void token_records_fini(struct core *core);
struct token_record *token_record_find(
    const struct core *core, const char *name, size_t len);

/* Redis has granted the hold to the asker, or extended it for it (NULL: the
 * asker has gone meanwhile). */
void token_record_take(struct core *core, const struct token_name *n,
    const char *holder, const struct owner *asker);
/* It is over, and that is reported: `end` as in struct measure_hold. */
void token_record_drop(
    struct core *core, struct token_record *r, const char *end);

/* Redis says that it is no longer this broker's, and not why. */
void token_record_gone(struct core *core, struct token_record *r);

/* It is unknown whether an operation extended or ended it; if so, it lasts till
 * then: the broker asks now. */
void token_record_doubt(
    struct core *core, struct token_record *r, int64_t sure_ms);

/* The hold as it is now: with the end "held". */
struct measure_hold token_record_hold(
    const struct token_record *r, int64_t now_ms);

/* Ends the hold that an operation may have made, because no answer came, or one
 * that can no longer be told. */
void token_record_orphan(struct core *core, const struct token_name *n);

#endif
