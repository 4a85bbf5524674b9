/*
 * Commands of Redis on keys (lockbroker-resp(7)), read as requests about a
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
	ASK_COUNT,	  /* of how many names it was done; 0 */
	ASK_OLD_OR_NIL,	  /* the token that is in the way, or nil */
	ASK_TOKEN_OR_NIL, /* the token, or nil */
	ASK_TYPE,	  /* +string, or +none */
	ASK_LENGTH,	  /* of the token; 0 */
	ASK_LEFT_MS,	  /* -1: no bound; -2: free */
	ASK_LEFT_S,	  /* the same, in seconds */
	ASK_FENCE,	  /* if the token is the one in `token`; else nil */
	ASK_FENCE_NOW,	  /* of whatever is held, as a string; nil */
	/* Of scripts. */
	ASK_ONE_ZERO_GONE,	   /* 1; 0: another's; -1: free */
	ASK_ONE_ZERO_OTHERS,	   /* 1; 0: free; -1: another's */
	ASK_ONE_GONE_OTHERS,	   /* 1; -1: free; -2: another's */
	ASK_ZERO_OR_ONE,	   /* 0 done; 1 not */
	ASK_ZERO_ONE_TWO,	   /* 0 done; 1 another's; 2 without a bound */
	ASK_OK_OR_ZERO,		   /* +OK, or 0 */
	ASK_OK_OR_ERROR,	   /* +OK, or the error ERROR */
	ASK_ONE_OK_ERROR,	   /* 1; +OK: free; the error: another's */
	ASK_TOKEN_AND_LEFT,	   /* [token or nil, ms] */
	ASK_TOKEN_AND_LEFT_OR_NIL, /* the same; nil: free */
	ASK_LEFT_OR_NIL,	   /* ms; nil: another's */
	ASK_LEFT_OR_NO_TIME,	   /* ms; -3: another's */
	ASK_LEFT_S_OR_ERROR,	   /* seconds; the error */
	ASK_LEFT_OR_ZERO,	   /* ms, if any are left; 0 */
	ASK_ONE_OK_NIL,		   /* 1: extended; +OK: taken; nil */
	ASK_OK_OK_NIL,		   /* OK, a string: extended; +OK: taken; nil */
	ASK_ONE,		   /* 1, whatever is held */
	ASK_ONE_OR_NIL,		   /* 1, or nil */
	ASK_ONE_IF_MINE,   /* 1, if the token is the one in `token`; nil */
	ASK_NIL,	   /* nil, whatever was done */
	ASK_NIL_OR_LEFT,   /* nil done; else ms, at least 1 */
	ASK_NIL_OR_ONE,	   /* nil done; else 1 */
	ASK_FENCE_OR_LEFT, /* [-1, fence] done; else [ms, -1] */
	ASK_DEPTH_LEFT,	   /* 1: released; 0: a depth is left; nil */
	ASK_DEPTH_OR_GONE, /* the same; 1: free */
	ASK_HAS_DEPTH,	   /* 1: `token` has it, and it is counted; 0 */
	ASK_DEPTH,	   /* the depth of that, as a string; nil */
	ASK_SIGNAL	   /* [`token`, "1"], or a nil array */
};

/* How a script finds its names: each is free, each is its token's, or else. */
enum ask_found { ASK_FREE = 1, ASK_MINE = 2, ASK_OTHERS = 4 };

/*
 * A script looks who has its names before it uses the number of their end.  If
 * that is no time to come, the broker asks who has them, or ends what a time
 * that is over ends, and answers with the error only where the script would
 * come so far.  With nothing but zeros, nothing is wrong.
 */
struct ask_wrong {
	unsigned where;	    /* ask_found: the error is the answer */
	unsigned over;	    /* ask_found: taken, and over at once: DONE */
	const char *error;  /* static */
	const char *behind; /* static; the answer where all has been done, which
			       is before the script comes to the number */
	bool if_bound;	    /* MINE: only if the hold has a bound */
	bool asks;	    /* a QUERY; else the request changes something */
	bool all;	    /* a QUERY: if one is not the token's, none is */
	unsigned nnames;
};

/* What the broker asks of the core.  The sender sets `rq.names`. */
struct ask {
	struct token_request rq; /* all but ref and park_ms */
	struct core_name names[CORE_NAMES_MAX];
	enum ask_form form;
	struct span token; /* the token that an answer is compared with */
	struct ask_wrong wrong;
	bool hears;	   /* its program may listen for the release */
	bool fair;	   /* of Redisson's getFairLock() */
	bool repeats;	   /* a client told TRYAGAIN asks again by itself */
	struct span latch; /* see SCRIPT_FLAG_LATCH; of 0 bytes: none */
	bool looks;	   /* extends only if least_ms are left */
	int64_t least_ms;
	int64_t latch_ms;	       /* 0: the answer is not kept */
	char made[NAME_MAX_BYTES + 1]; /* a name that is not in the request */
};

/* Returns the name of the lock that a key of the command means: nearly always
 * the same. */
struct span ask_lock_of(enum resp_id id, struct span key);

/* Returns the name of the lock whose queue Redisson keeps under the key; of 0
 * bytes: it is no such key. */
struct span ask_queue_of(struct span key);

/*
 * Takes the words of the command `id`.  On false, `why` has an error, in the
 * words of Redis if Redis has that error.  Times of the day count from
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
 * Writes the answer.  `token` is that of the result, `mine` that of the
 * request.
 */
void ask_write(const struct token_result *t, struct span token,
    enum ask_form form, struct span mine, bool three, struct buf *out);

/*
 * The answer to what was asked instead becomes that to the script; returns the
 * error if that is the answer, else NULL.
 */
const char *ask_error(struct token_result *t, const struct ask_wrong *wrong)
    __attribute__((warn_unused_result));

#define ASK_LATCH_MAX 512 /* bytes */

/* How long a client whose form has LEFT sleeps at most, before it comes again
 * by itself. */
#define ASK_SLEEP_MS 500
#define ASK_LISTEN_MS 2000 /* if a message wakes it */

#endif
