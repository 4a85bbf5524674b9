/*
 * One call of a script: operations of one shard on their way to Redis, and
 * what became of them.
 *
 * The gather (gather.h) builds calls, and keeps finished ones for another use,
 * so that an operation costs no allocation.  The sender of a call owns it until
 * call_finish() or call_deliver().
 *
 *	argv:  EVALSHA  sha  numkeys  KEYS ...  ARGV ...
 *
 *	KEYS   PREFIX@guard PREFIX@fence, then for each operation on a name
 *	       PREFIX NAME, PREFIX@queue:NAME, PREFIX@shared:NAME, or
 *	       PREFIX NAME, PREFIX@sem:NAME, PREFIX@latch:NAME,
 *	       PREFIX@barrier:NAME (look), or
 *	       PREFIX@sem:NAME, PREFIX@latch:NAME, PREFIX@barrier:NAME
 *	ARGV   nonce seen cfg me lease_ms pad_ms stall_ms grace_ms prefix
 *	       key_prefix_length quorum (q and `ID SET`; w or n: what the
 *	       server has begun with; or nothing); the
 *	       nonce is followed by the history in which the guard noted the
 *	       broker; then for each operation its word and the arguments of
 *	       its row in ops.def, or for a row of operations
 *	       keep       ttl, and the seqs of renewals, each with only the
 *	                  first two keys
 *	       grab       ttl reserve flags, and the seqs of acquires
 *	       drop       the seqs of ends
 */
#ifndef LOCKBROKER_STORE_SCRIPT_CALL_H
#define LOCKBROKER_STORE_SCRIPT_CALL_H

#include <hiredis/hiredis.h> /* only for redisReply */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "store/op.h"
#include "store/refusal.h"

enum script_id { SCRIPT_KEEP, SCRIPT_ACQUIRE, SCRIPT_MAX };

/*
 * Operations of one kind that have much in common form a row: one word and the
 * arguments that they share, then a seq for each.
 */
enum call_row { ROW_NONE, ROW_KEEP, ROW_GRAB, ROW_DROP };

#define CALL_OPS_MAX 64	      /* of any kind */
#define CALL_RENEWALS_MAX 100 /* if there are only renewals */
#define CALL_OP_KEYS_MAX 5    /* of one operation; of a renewal 3 */

#define CALL_HEAD 3    /* EVALSHA, sha, numkeys */
#define CALL_COMMON 11 /* ARGV before the first operation */
#define CALL_KEYS_MAX (2 + CALL_OP_KEYS_MAX * CALL_OPS_MAX)
#define CALL_ARGS_MAX (CALL_COMMON + 6 * CALL_RENEWALS_MAX)
#define CALL_ARGV_MAX (CALL_HEAD + CALL_KEYS_MAX + CALL_ARGS_MAX)

/* How an answer was understood. */
enum call_verdict {
	CALL_ANSWERED,	/* by the script */
	CALL_LOST,	/* no answer: the outcomes are unknown */
	CALL_UNSENT,	/* never sent */
	CALL_REFUSED,	/* Redis ran nothing; call.refused says why */
	CALL_FAILED,	/* another error: outcomes unknown; the same */
	CALL_MALFORMED, /* no answer of our script: outcomes unknown */
	CALL_VERDICT_MAX
};

struct call_block;

TAILQ_HEAD(call_list, call);

/*
 * Owned by its gather, but by the sender from the gather's send() to the end.
 * The sender sets argv[1] (the SHA) and sent_ms.
 */
struct call {
	TAILQ_ENTRY(call) entry; /* for the owner's use */
	uint32_t shard;
	uint32_t lane; /* less than store_config.lanes; one name, one lane */
	enum script_id script;
	int argc;
	unsigned nkeys;
	unsigned nops;
	int64_t timeout_ms; /* the smallest of the operations */
	bool can_wait;	    /* keeps nothing that a client relies on */
	int64_t sent_ms;    /* CLOCK_BOOTTIME, before it went to the socket */
	int64_t sent_us;    /* now_awake_us() then; the sender's */
	int64_t trip_us;    /* until it was answered; 0: it was not; the same */
	unsigned resent;    /* how often, after NOSCRIPT; the sender's */
	unsigned redirects; /* how often, in a cluster; the topology's */
	int64_t until_ms;   /* once redirected: its deadline; the same */
	bool asking;	    /* to be sent after an ASKING; the same */
	uint64_t seen;	    /* the fence that it passes */
	void *sender;	    /* the sender's own */

	/* Set by call_decode(). */
	enum call_verdict verdict;
	struct refused refused; /* REFUSED, FAILED; `lacks` */
	uint64_t lacks; /* of ops that Redis refused for want of a right, by
			   kind; `refused` is that of the first */
	bool has_guard;
	struct guard_report guard;
	const char *malformed; /* static: what is */

	/* The gather's own. */
	unsigned nargs;
	bool mixed;	    /* not only renewals */
	bool prompt;	    /* another broker waits for one of them */
	bool counted;	    /* as under way, in its slot */
	unsigned ahead;	    /* operations under way when it left, its own too */
	bool only_ends;	    /* of leases: both scripts can carry them out */
	struct call *guest; /* whose ends travel with this call; or NULL */
	enum call_row row;  /* the row of the latest operation ... */
	int64_t row_ttl_ms; /* ... and what all operations of it share */
	uint32_t row_reserve;
	uint32_t row_flags;
	const char *cfg;     /* settings that the guard may disagree with */
	const char *address; /* where users reach this broker; or "" */
	const char *about;   /* VERSION LEASE_MS URL [leaving]; -: no URL */
	struct call_block *block; /* current */

	/* call_reset() clears all before this. */
	struct call_block *blocks; /* first; bytes of argv */
	const char *argv[CALL_ARGV_MAX];
	size_t argvlen[CALL_ARGV_MAX];
	const char *args[CALL_ARGS_MAX]; /* the gather's own */
	size_t arglen[CALL_ARGS_MAX];
	uint64_t ids[CALL_RENEWALS_MAX]; /* of nops, as the next two */
	enum op_kind kinds[CALL_RENEWALS_MAX];
	struct outcome outcomes[CALL_RENEWALS_MAX];
};

/* Receives what an answer said.  The strings live until the callback
 * returns. */
struct store_handler {
	/* Called before the outcomes, if a script answered. */
	void (*guard)(void *arg, uint32_t shard, int64_t sent_ms,
	    const struct guard_report *report);
	void (*outcome)(void *arg, uint64_t op, int64_t sent_ms,
	    const struct outcome *outcome);
};

/* Returns what the scripts call an operation; static. */
const char *call_op_word(enum op_kind kind);

struct call *call_new(void);
void call_free(struct call *call);

/* Empties an old call for another use; keeps its memory. */
void call_reset(struct call *call);

/* Returns room for n bytes, which do not move until call_reset(). */
char *call_room(struct call *call, size_t n);

/*
 * Puts the operations of `guest` before those of `call`: a lease that the guest
 * ends may be one that the call takes.  `call` owns the guest from then on,
 * because it uses the guest's bytes.  Requires room for all of them.
 */
void call_take_along(struct call *call, struct call *guest);

/*
 * Decodes an answer.  reply == NULL: there is none, so the outcomes are unknown
 * or, if `unsent`, nothing was carried out.  The reply may be freed afterwards.
 */
enum call_verdict call_decode(
    struct call *call, const redisReply *reply, bool unsent);

/* Too few replicas have what the call wrote.  Makes decoded outcomes unknown
 * that do not count then, such as grants and renewals, and marks the others. */
void call_doubt(struct call *call);

#endif
