/*
 * A request that waits: what all of them have in common, from their arrival to
 * their answer.
 *
 *	claim_begin --> waits: owner.waiting --> granted: owner.granted
 *	                    |         ^               |       |
 *	                    |         |  taken back   |       | the FLUSH
 *	                    |         +---------------+       | tells it
 *	                    +--> answered, claim_end <--------+
 *
 * It is embedded in what waits: a waiter (lock/state.h), which stands for one
 * name of a LOCK, an entry in the line of a synchronizer (sync/sync.h), a
 * STATUS while Redis is away (status.c).  What embeds it says by a class what
 * its end means there.  A tagged request can be cancelled while it waits.
 */
#ifndef LOCKBROKER_CORE_KERNEL_SESSION_CLAIM_H
#define LOCKBROKER_CORE_KERNEL_SESSION_CLAIM_H

#include "core/kernel/session/owner.h"

/* What a claim may be embedded in. */
enum claim_kind { CLAIM_WAITER, CLAIM_ENTRY, CLAIM_ASK };

/* Each ends the request, or does what leads to its end.  Static. */
struct claim_class {
	enum claim_kind kind;
	/* Its deadline has come. */
	void (*time_up)(struct core *core, struct claim *c);
	/* A CANCEL, `by`, asks for its end. */
	void (*cancel)(struct core *core, struct claim *c, uint64_t by);
	/* Its client sends nothing more: it does not wait for others. */
	void (*hasten)(struct core *core, struct claim *c);
	/* No client is there to read an answer. */
	void (*withdraw)(struct core *core, struct claim *c);
	/* The broker stops. */
	void (*refuse)(struct core *core, struct claim *c);
	/* It was granted: tells that, or takes it back. */
	void (*tell)(struct core *core, struct claim *c);
};

struct claim {
	TAILQ_ENTRY(claim) in_owner;   /* owner.waiting or owner.granted */
	TAILQ_ENTRY(claim) in_granted; /* owners.granted once granted */
	struct table_link by_ref;      /* in owners.by_ref, if listed */
	union {
		struct {
			struct owner *owner;
			uint64_t ref;
		};
		struct claim_key {
			const struct owner *owner;
			uint64_t ref;
		} key; /* the same two, as bytes */
	};
	const struct claim_class *class;
	struct timer deadline; /* disarmed once it is granted */
	int64_t since_ms;
	bool untagged : 1;
	bool try_only : 1; /* wait=0 */
	bool granted : 1;
	bool listed : 1;
};

/* For owners_init(). */
void claims_init(struct core *core);

/* Requires that all of it is zero. */
void claim_begin(struct core *core, struct claim *c,
    const struct claim_class *class, struct owner *owner,
    const struct core_request *rq);

/* It can be cancelled from now on, if it is tagged; no longer. */
void claim_list(struct core *core, struct claim *c);
void claim_unlist(struct core *core, struct claim *c);

/* The FLUSH will tell it; or no longer, since the grant was taken back. */
void claim_grant(struct core *core, struct claim *c);
void claim_ungrant(struct core *core, struct claim *c);

/* It has been answered, or never will be: what embeds it frees it. */
void claim_end(struct core *core, struct claim *c);

void claim_timer(struct core *core, struct timer *t);

/* For a class of claims that only ask, and that their `withdraw` frees. */
void claim_cancel(struct core *core, struct claim *c, uint64_t by);
void claim_hasten(struct core *core, struct claim *c);
void claim_refuse(struct core *core, struct claim *c);

/* The waiting request that a CANCEL means; NULL: there is none. */
struct claim *claim_find(
    const struct core *core, const struct owner *owner, uint64_t ref);

/*
 * A part in each step (work.h).  The owner's requests are withdrawn, or refused,
 * as the broker stops; grants first.  Both return true when none is left.
 */
bool claims_withdraw(struct core *core, struct owner *owner);
bool claims_refuse(struct core *core, struct owner *owner);

/* Tells what was granted, at a FLUSH, until a loss was found (core.h). */
void claims_tell(struct core *core);

/* Do the lists of an owner agree with its counters?  For tests; aborts if not. */
void claims_check(const struct owner *owner);

#endif
