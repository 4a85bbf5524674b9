/*
 * Token holds: locks as lock libraries take them from Redis (protocol, section
 * 10).  This is what a protocol asks of the core and is told; what the core
 * does with it is in token/state.h.
 *
 * Such a hold belongs to the pair of a user and a token, on no connection.  It
 * lives in Redis until its bound, whatever becomes of the broker that granted
 * it, and any broker may be asked about it.
 *
 * A request is the event CORE_TOKEN.  It is answered once: by an EFFECT_TOKEN
 * with a struct token_result; or, if it could not be carried out, by an
 * EFFECT_REPLY with STATUS_ERR: limit, unsupported (a quorum), unavailable
 * (Redis), shutdown.  A request whose client goes is not answered, and what it
 * would have been granted is given back.
 */
#ifndef LOCKBROKER_CORE_TOKEN_TOKEN_H
#define LOCKBROKER_CORE_TOKEN_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOKEN_MAX_BYTES 512

struct core_name;

enum token_op {
	/* SET k t NX, SETNX, and scripts that set all or none. */
	TOKEN_ACQUIRE,
	/* PEXPIRE, SET XX, SET IFEQ, and scripts: a new bound, perhaps a new
	 * token.  All names or none. */
	TOKEN_EXTEND,
	/* DEL, DELEX, and scripts: each name that matches, or `all`. */
	TOKEN_RELEASE,
	/* GET, PTTL, EXISTS, TYPE, LB.FENCE: changes nothing. */
	TOKEN_QUERY,
	TOKEN_OP_MAX
};

/* Which holds are meant; always those of the same user. */
enum token_match {
	TOKEN_EXACT,  /* its token is `token` */
	TOKEN_PREFIX, /* the first `prefix` bytes of both are the same */
	TOKEN_NOT,    /* its token is not `token` (IFNE) */
	TOKEN_ANY,    /* whatever its token: DEL, SET XX, PEXPIRE */
	TOKEN_MATCH_MAX
};

/* EXTEND: how the bound changes. */
enum token_bound {
	TOKEN_REPLACE,	  /* ends ttl_ms from now; 0: no bound */
	TOKEN_ADD,	  /* later by ttl_ms; a hold without one: UNBOUND */
	TOKEN_IF_BOUND,	  /* as REPLACE; a hold without one: UNBOUND */
	TOKEN_IF_UNBOUND, /* as REPLACE; a hold with one: UNBOUND */
	TOKEN_IF_LONGER,  /* as REPLACE, if it ends later by it; else UNBOUND */
	TOKEN_IF_SHORTER, /* the same, sooner */
	TOKEN_BOUND_MAX
};

/* Checked by the protocol.  Copied by the core as needed. */
struct token_request {
	enum token_op op;
	uint64_t ref; /* the driver's: comes back with the answer */
	const struct core_name *names;
	unsigned nnames; /* 1 to CORE_NAMES_MAX; no name twice */
	enum token_match match;
	enum token_bound bound;
	/* 1 to 512 bytes of any kind.  Not for QUERY; not for TOKEN_ANY, but
	 * where it is also the new token. */
	const char *token;
	size_t token_len;
	size_t prefix;	       /* TOKEN_PREFIX; not more than token_len */
	const char *new_token; /* EXTEND: from now on; NULL: as it was */
	size_t new_token_len;
	int64_t ttl_ms; /* ACQUIRE, EXTEND: 0: no bound.  The core cuts it to
			   locks.max_hold, and puts locks.default_hold in the
			   place of none. */
	/* ACQUIRE: a hold that matches is extended instead (ACQ-OR-EXT), to
	 * the token of the request.  EXTEND: a free name is acquired instead
	 * (EXT-OR-ACQ). */
	bool either;
	bool all; /* RELEASE: all names or none */
	/* ACQUIRE of one name: a token that comes back may wait so long; 0: it
	 * never does.  Else, and when it comes for the first time, it is
	 * answered at once. */
	int64_t park_ms;
};

enum token_answer {
	TOKEN_DONE,    /* RELEASE, QUERY: of `done` names */
	TOKEN_BUSY,    /* ACQUIRE: somebody has it, or comes first */
	TOKEN_ABSENT,  /* no name, or one that matters, is held at all */
	TOKEN_OTHERS,  /* held, and not by what the request has said */
	TOKEN_UNBOUND, /* EXTEND: not on these terms (enum token_bound) */
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
 * kind, token and left_ms are of the first name: as it is after DONE (but for
 * RELEASE, where they are of what was ended), and of what was in the way after
 * BUSY and OTHERS.
 */
struct token_result {
	enum token_answer answer;
	unsigned done; /* names acquired, extended, released, or (QUERY) held by
			  whatever there is */
	enum token_kind kind;
	bool own;	 /* HELD: by the same user */
	bool matches;	 /* HELD: by what the request has said */
	uint64_t fence;	 /* HELD, and NATIVE where it is known; else 0 */
	int64_t left_ms; /* what is left of the bound; -1: it has none; of
			    several names the least */
	/* HELD: the token, of the same user only; NATIVE: what stands for the
	 * lease; PLAIN: the value, as far as it is known.  Offset and length in
	 * effects.text; 0: none. */
	uint32_t token, token_len;
};

#endif
