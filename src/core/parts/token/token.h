/*
 * Token holds: locks as lock libraries take them from Redis ("Lock libraries"
 * in lockbroker-resp(7)).  This header has the requests of a protocol and the
 * answers of the core; token/state.h has their records in the core.
 *
 * A token hold belongs to the pair of a user and a token, not to a connection.
 * It lasts until its bound, whatever becomes of the broker that granted it, and
 * a client may ask any broker about it.
 *
 * A request is the event CORE_TOKEN.  The core answers it once: by an
 * EFFECT_TOKEN with a struct token_result; or, if the core cannot carry it out,
 * by an EFFECT_REPLY with STATUS_ERR: limit, unsupported (a quorum),
 * unavailable (Redis), shutdown.  If the client goes away, there is no answer,
 * and the core gives back what Redis grants.
 */
#ifndef LOCKBROKER_CORE_PARTS_TOKEN_TOKEN_H
#define LOCKBROKER_CORE_PARTS_TOKEN_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOKEN_MAX_BYTES 512
#define TOKEN_LATCH_BYTES 16

/* No bound is later than that: the range of a number in the scripts. */
#define TOKEN_MS_MAX ((INT64_C(1) << 53) - 1)

struct core_name;

enum token_op {
	/* SET k t NX, SETNX, and scripts that set all names or none. */
	TOKEN_ACQUIRE,
	/* PEXPIRE, SET XX, SET IFEQ, and scripts: sets a new bound, perhaps a
	 * new token, of all names or none. */
	TOKEN_EXTEND,
	/* DEL, DELEX, and scripts: ends the hold of each name that matches; see
	 * `all`. */
	TOKEN_RELEASE,
	/* GET, PTTL, EXISTS, TYPE, LB.FENCE: changes nothing. */
	TOKEN_QUERY,
	TOKEN_OP_MAX
};

/* Which holds the request means; always those of the same user. */
enum token_match {
	TOKEN_EXACT,  /* its token is `token` */
	TOKEN_PREFIX, /* the first `prefix` bytes of both are the same */
	TOKEN_NOT,    /* its token is not `token` (IFNE) */
	TOKEN_ANY,    /* its token does not matter: DEL, SET XX, PEXPIRE */
	/* Its token is `token`, and it is counted: a hold has a depth, which
	 * begins with 1.  ACQUIRE (with `either`) makes a hold that is counted,
	 * or adds 1 to its depth; RELEASE takes 1 from it, and ends the hold
	 * at 0, or else gives it the bound ttl_ms. */
	TOKEN_COUNTED,
	TOKEN_MATCH_MAX
};

/* EXTEND: how the bound changes. */
enum token_bound {
	TOKEN_REPLACE,	  /* ends ttl_ms from now; 0: no bound */
	TOKEN_ADD,	  /* ends later by ttl_ms, or sooner; without a bound:
			     UNBOUND */
	TOKEN_IF_BOUND,	  /* as REPLACE; without a bound: UNBOUND */
	TOKEN_IF_UNBOUND, /* as REPLACE; with a bound: UNBOUND */
	TOKEN_IF_LONGER,  /* as REPLACE, if the end moves later; else UNBOUND */
	TOKEN_IF_SHORTER, /* the same, if the end moves earlier */
	TOKEN_BOUND_MAX
};

/* The protocol has checked it.  The core copies what it needs. */
struct token_request {
	enum token_op op;
	uint64_t ref; /* set by the driver; the answer repeats it */
	const struct core_name *names;
	unsigned nnames; /* 1 to CORE_NAMES_MAX; no name twice */
	enum token_match match;
	enum token_bound bound;
	/* 1 to 512 bytes of any kind.  QUERY has none, a request that awaits
	 * seldom has one, and TOKEN_ANY only if it is also the new token. */
	const char *token;
	size_t token_len;
	size_t prefix; /* TOKEN_PREFIX; not more than token_len */
	/* ACQUIRE of one name: this much of the token identifies its program;
	 * 0: none. */
	size_t program;
	const char *new_token; /* EXTEND: from now on; NULL: as it was */
	size_t new_token_len;
	/* ACQUIRE, EXTEND, RELEASE of COUNTED; 0: no bound; below 0: over, so
	 * that an EXTEND ends the hold (DONE).  TOKEN_ADD: of any sign.  At
	 * most TOKEN_MS_MAX, either way.  The core cuts it to locks.max_hold;
	 * an ACQUIRE without a bound gets locks.default_hold. */
	int64_t ttl_ms;
	/* ACQUIRE: extends a hold that matches instead (ACQ-OR-EXT), and gives
	 * it the token of the request.  EXTEND: acquires a free name instead
	 * (EXT-OR-ACQ). */
	bool either;
	bool all; /* RELEASE: all names or none */
	/* RELEASE of COUNTED: which request it is, in hexadecimal digits.  A
	 * request that is sent twice, also to two brokers, gives back one
	 * level, unless that was the last; empty: each one does. */
	char latch[TOKEN_LATCH_BYTES + 1];
	/* ACQUIRE of one name: how long a token that comes back may wait; 0:
	 * not at all.  A token that comes for the first time is answered at
	 * once, and so is one that extends its hold. */
	int64_t park_ms;
	/* ACQUIRE of one name by a token of a program: the driver's number of
	 * the clients that listen for the name, for that user; 0: none does.
	 * Then the request is answered at once.  If that is BUSY and `listed`,
	 * its token has a place in the queue until its client comes back: after
	 * park_ms, or when the obstacle is gone.  When the token has its turn
	 * before that, the name is kept for a moment for the program, and all
	 * listeners are to be told: an EFFECT_TOKEN of no session, with this
	 * number as its reference.  They are to be told once more if no client
	 * of the program has come. */
	uint64_t audience;
	/* ACQUIRE of one name by no token: waits for park_ms at most until the
	 * name is free (DONE).  Then the name is kept for a moment for the
	 * user, whose next ACQUIRE of it here gets it.  A park_ms of 0: BUSY at
	 * once, and the token, which is COUNTED, no longer wants the name. */
	bool awaits;
};

enum token_answer {
	TOKEN_DONE,    /* RELEASE, QUERY: of `done` names */
	TOKEN_BUSY,    /* ACQUIRE: another has the name, or comes first */
	TOKEN_ABSENT,  /* no one has a name that the request needs held */
	TOKEN_OTHERS,  /* a name has a hold that does not match */
	TOKEN_UNBOUND, /* EXTEND: the bound does not allow it (token_bound) */
	TOKEN_ANSWER_MAX
};

/* What a name is. */
enum token_kind {
	TOKEN_FREE,
	TOKEN_HELD,   /* a token hold */
	TOKEN_NATIVE, /* a session has it, or sessions share it */
	TOKEN_PLAIN,  /* the key of a plain Redis client */
	TOKEN_KIND_MAX
};

/*
 * kind, token and left_ms are of the first name.  With DONE they describe it as
 * it is now, or, for RELEASE, the hold that was ended; with BUSY and OTHERS,
 * the obstacle.
 */
struct token_result {
	enum token_answer answer;
	unsigned done; /* names acquired, extended, released, or (QUERY) held
			  by anyone */
	enum token_kind kind;
	bool own;	 /* HELD: by the same user */
	bool matches;	 /* HELD: the hold matches the request */
	unsigned meant;	 /* QUERY: of how many names it does */
	bool all_free;	 /* ABSENT: so are all names of the request */
	bool extended;	 /* DONE: the token had the name before */
	bool listed;	 /* BUSY: the listeners will be told; RELEASE: the
			    same of others that want the name */
	uint64_t depth;	 /* HELD: of a hold that is counted; RELEASE: what is
			    left of it; else 0 */
	uint64_t fence;	 /* HELD, and NATIVE if it is known; else 0 */
	int64_t left_ms; /* what is left of the bound; -1: it has none; of
			    several names the least */
	/* HELD: the token, if it belongs to the same user; NATIVE: a text that
	 * stands for the lease; PLAIN: the value, if it is known.  Offset and
	 * length in effects.text; 0: none. */
	uint32_t token, token_len;
};

#define TOKEN_HOLD_ALWAYS INT64_MAX

#endif
