/*
 * Commands of Redis on keys (lockbroker-resp(7)), parsed into requests about a
 * token hold: what the broker asks of the core, and how it writes the answer.
 *
 * Nothing is allocated or kept: names and tokens point into the request.
 */
#ifndef LOCKBROKER_RESP_ASK_H
#define LOCKBROKER_RESP_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"
#include "base/text.h"
#include "core/core.h"
#include "core/parts/token/token.h"
#include "resp/commands.h"

/* How an answer is written. */
enum ask_form {
	ASK_OK_OR_NIL,	  /* +OK, or nil */
	ASK_ONE_OR_ZERO,  /* 1, or 0 */
	ASK_COUNT,	  /* for how many names it was done; 0 */
	ASK_OLD_OR_NIL,	  /* the token that holds it already, or nil */
	ASK_TOKEN_OR_NIL, /* the token, or nil */
	ASK_TYPE,	  /* +string, or +none */
	ASK_LENGTH,	  /* of the token; 0 */
	ASK_LEFT_MS,	  /* -1: no end; -2: free */
	ASK_LEFT_S,	  /* the same, in seconds */
	ASK_FENCE,	  /* if the token is the one in `token`; else nil */
	ASK_FENCE_NOW,	  /* of any hold, as a string; nil */
	/* Of scripts. */
	ASK_ONE_ZERO_GONE,	   /* 1; 0: another's; -1: free */
	ASK_ONE_ZERO_OTHERS,	   /* 1; 0: free; -1: another's */
	ASK_ONE_GONE_OTHERS,	   /* 1; -1: free; -2: another's */
	ASK_ZERO_OR_ONE,	   /* 0 done; 1 not */
	ASK_ZERO_ONE_TWO,	   /* 0 done; 1 another's; 2 without an end */
	ASK_OK_OR_ZERO,		   /* +OK, or 0 */
	ASK_OK_OR_ERROR,	   /* +OK, or the error ERROR */
	ASK_ONE_OK_ERROR,	   /* 1; +OK: free; the error: another's */
	ASK_TOKEN_AND_LEFT,	   /* [token or nil, ms] */
	ASK_TOKEN_AND_LEFT_OR_NIL, /* the same; nil: free */
	ASK_LEFT_OR_NIL,	   /* ms; nil: another's */
	ASK_LEFT_OR_NO_TIME,	   /* ms; -3: another's */
	ASK_LEFT_S_OR_ERROR,	   /* seconds; the error */
	ASK_LEFT_OR_ZERO,	   /* ms, if any are left; otherwise 0 */
	ASK_ONE_OK_NIL,		   /* 1: extended; +OK: taken; nil */
	ASK_OK_OK_NIL,		   /* OK, a string: extended; +OK: taken; nil */
	ASK_ONE,		   /* 1, for any hold */
	ASK_ONE_OR_NIL,		   /* 1, or nil */
	ASK_ONE_IF_MINE,   /* 1, if the token is the one in `token`; nil */
	ASK_NIL,	   /* nil in any case */
	ASK_NIL_OR_LEFT,   /* nil done; otherwise ms, at least 1 */
	ASK_NIL_OR_ONE,	   /* nil done; otherwise 1 */
	ASK_FENCE_OR_LEFT, /* [-1, fence] done; otherwise [ms, -1] */
	ASK_DEPTH_LEFT,	   /* 1: released; 0: some depth is left; nil */
	ASK_DEPTH_OR_GONE, /* the same; 1: free */
	ASK_HAS_DEPTH,	   /* 1: `token` holds it, with a depth; 0 */
	ASK_DEPTH,	   /* the depth of that hold, as a string; nil */
	ASK_SIGNAL	   /* [`token`, "1"], or a nil array */
};

/* Who holds a script's names: no token, its own token, or another. */
enum ask_found { ASK_FREE = 1, ASK_MINE = 2, ASK_OTHERS = 4 };

/*
 * A script checks who holds its names before it uses its number, which sets
 * their end.  If the number gives no future time, the broker only asks who
 * holds the names, or ends the hold if the time has passed, and answers with
 * the error only where the script would get that far.  All zeros: nothing is
 * wrong.
 */
struct ask_wrong {
	unsigned where;	    /* ask_found: the error is the answer */
	unsigned over;	    /* ask_found: taken, and expired at once: DONE */
	const char *error;  /* static */
	const char *behind; /* static; the answer if everything before the
			     * script's use of the number has been done */
	bool if_bound;	    /* MINE: only if the hold has an end */
	bool asks;	    /* a QUERY; otherwise it changes something */
	bool all;	    /* a QUERY: unless all are the token's, none is */
	unsigned nnames;
};

/* What the broker asks of the core.  The sender sets `rq.names`. */
struct ask {
	struct token_request rq; /* all but ref and park_ms */
	struct core_name names[CORE_NAMES_MAX];
	enum ask_form form;
	struct span token; /* the token to compare an answer with */
	struct ask_wrong wrong;
	bool hears;	   /* its program may listen for the release */
	bool fair;	   /* of Redisson's getFairLock() */
	bool repeats;	   /* a client repeats the request after TRYAGAIN */
	struct span latch; /* see SCRIPT_FLAG_LATCH; of 0 bytes: none */
	bool looks;	   /* extends only if least_ms are left */
	int64_t least_ms;
	int64_t latch_ms;	       /* 0: the answer is not remembered */
	char made[NAME_MAX_BYTES + 1]; /* a name that is not in the request */
};

/* Returns the lock name that a key of the command stands for: nearly always the
 * same. */
struct span ask_lock_of(enum resp_id id, struct span key);

/* Returns the name of the lock whose queue Redisson keeps under the key; of 0
 * bytes: there is none. */
struct span ask_queue_of(struct span key);

/*
 * Parses the words of the command `id`.  On false, `why` has an error, in the
 * words of Redis if Redis has that error.  Times of day are relative to
 * `clock_ms`.
 */
bool ask_parse(struct ask *a, enum resp_id id, const struct span *words,
    unsigned nwords, int64_t clock_ms, struct buf *why)
    __attribute__((warn_unused_result));

/*
 * Parts of ask_parse(), for scripts.  On false, `why` (if given) has the error.
 */
bool ask_refuse(struct buf *why, const char *what); /* returns false */
bool ask_name(struct ask *a, struct span name, struct buf *why);
bool ask_token(struct span token, struct buf *why);
bool ask_number(struct span word, int64_t *n);
int64_t ask_bounded(int64_t ms);
int64_t ask_until(int64_t ms);

/*
 * Writes the answer.  `token` is the token of the result, `mine` that of the
 * request.
 */
void ask_write(const struct token_result *t, struct span token,
    enum ask_form form, struct span mine, bool three, struct buf *out);

/*
 * Turns the answer to the request that was sent instead into the answer to the
 * script; returns the error if that is the answer, otherwise NULL.
 */
const char *ask_error(struct token_result *t, const struct ask_wrong *wrong)
    __attribute__((warn_unused_result));

#define ASK_LATCH_MAX 512 /* bytes */

/* The maximum time that a client whose form has LEFT sleeps before it asks
 * again by itself. */
#define ASK_SLEEP_MS 500
#define ASK_LISTEN_MS 2000 /* if a message wakes it */

#endif
