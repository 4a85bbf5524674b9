/*
 * What the core knows of token holds.  Only files of src/core include this.
 *
 * A token hold is a key in Redis, and nothing else (lua/token.lua): no broker
 * vouches for it, so any may end or extend it in one script, whatever has
 * become of the one that granted it.  What brokers have of it:
 *
 *	call	a request that has not been answered
 *	ward	a hold that this broker has granted or extended last.  It tells
 *		people about it, and writes it again where Redis forgets it
 *
 * A lease never becomes such a key, nor the other way round: neither a session
 * is granted a name on the strength of one, nor is it handed over here.
 */
#ifndef LOCKBROKER_CORE_TOKEN_STATE_H
#define LOCKBROKER_CORE_TOKEN_STATE_H

#include "base/table.h"
#include "core/session/record.h"
#include "core/turn/slot.h"

/* A name of a call, and what is known of it. */
struct token_name {
	char *name; /* owned */
	size_t len;
	bool first;	/* as the request has them */
	uint64_t seq;	/* that it was asked by; 0: not yet */
	uint32_t spell; /* of the guard, then */
	bool asked;	/* an operation is in flight */
	bool settled;	/* it was answered, and how: */
	enum outcome_status status;
	uint64_t fence;
	int64_t left_ms;
	unsigned kind, whose; /* outcome.first and .second */
	char *text;	      /* owned; as the outcome has it */
};

/* A CORE_TOKEN that has not been answered.  Freed with its answer. */
struct token_call {
	TAILQ_ENTRY(token_call) link; /* in tokens.calls */
	TAILQ_ENTRY(token_call) in_waiting;
	struct table_link by_id;
	uint64_t id;	  /* what its operations carry */
	uint64_t session; /* id */
	uint64_t ref;
	enum token_op op;
	char how[3]; /* of its operations (store/op.h) */
	bool either, all;
	bool looks;	 /* is it one that is looked at first */
	bool waits;	 /* in tokens.waiting, for its guard */
	bool broken;	 /* one of its operations was answered by nobody */
	char *client;	 /* owned; which holds are meant, ... */
	char *other;	 /* owned; ... and what they are to be; "": the same */
	int64_t ttl_ms;	 /* 0: no bound */
	int64_t park_ms; /* it may wait so long (park.h); 0: not at all */
	bool parked;	 /* it does */
	struct timer deadline; /* waits: no longer */
	unsigned n;
	struct token_name names[]; /* in byte order */
};

/* A token hold that this broker looks after.  Freed by ward_drop(). */
struct ward {
	struct table_link by_name;
	TAILQ_ENTRY(ward) link; /* in tokens.wards or .strays */
	struct timer timer;	/* when it is over, or looked at next */
	uint64_t seq, fence;
	int64_t since_ms;
	int64_t until_ms; /* its bound; INT64_MAX: none */
	uint32_t shard;
	uint32_t spell;	      /* of the guard, when it was confirmed last ... */
	uint32_t asked_epoch; /* ... and when that was asked for */
	bool asked;	      /* an operation is in flight */
	bool stray;   /* nobody was told of it, perhaps: it is to be ended */
	char *client; /* owned; token and user, as in the key */
	char *peer, *label; /* owned; of who took it last; or NULL */
	uint64_t session;   /* the same */
	size_t name_len;
	char name[];
};

TAILQ_HEAD(ward_list, ward);
TAILQ_HEAD(token_call_list, token_call);

/* Answers that may be under way when messages about them come. */
#define TAKEN_MAX 64

struct tokens {
	struct token_call_list calls;
	struct table by_id;
	/* For a guard.  So many of them try again. */
	struct token_call_list waiting;
	unsigned nwaiting, nretrying;
	uint64_t last_call;   /* id */
	struct table by_name; /* wards that are no strays */
	struct ward_list wards, strays;
	unsigned nwards, nstrays;
	uint64_t taken[TAKEN_MAX]; /* the latest messages about no ward: seq */
	unsigned ntaken;
	unsigned nproving;   /* wards with an operation in flight */
	struct table stands; /* park.c: by name */
	unsigned nplaces;
	struct ward *sweep; /* the next that may have to be written again */
	struct ward *proof; /* all before it are */
};

/* text.c */

/*
 * Token and user as they stand in a key: what could be mistaken there is
 * written %XX.  The result is owned by the caller.
 */
char *client_text(const char *token, size_t token_len, const char *user);

/* The token in such a text, as it was; owned by the caller. */
char *client_token(const char *text, size_t *len);

/* ward.c */

void wards_init(struct core *core);
void wards_fini(struct core *core);
struct ward *ward_find(const struct core *core, const char *name, size_t len);

/* The hold was granted to that session, or extended for it (NULL: it has gone
 * meanwhile). */
void ward_take(struct core *core, const struct token_name *n,
    const char *client, const struct session *s);
void ward_drop(struct core *core, struct ward *w);

/* An operation that may have made a hold was answered by nobody, or too late. */
void ward_stray(struct core *core, const struct token_name *n);

#endif
