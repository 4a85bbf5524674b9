/*
 * A possession of an owner: what all such things have in common, from their
 * grant to their end.
 *
 * A holding is embedded in a hold of a name (lock/state.h), and in the permits
 * that an owner has of a semaphore (sync/semaphore.h).  Both rest on a term
 * (lease/term.h), and may end sooner by a bound.  What embeds it says by a
 * class what a loss, a risk and the end of its owner mean for it.
 */
#ifndef LOCKBROKER_CORE_KERNEL_SESSION_HOLDING_H
#define LOCKBROKER_CORE_KERNEL_SESSION_HOLDING_H

#include "core/kernel/session/owner.h"

struct loss;

/* Static. */
struct holding_class {
	enum holding_kind kind;
	/* Until when is it vouched for: the end of its term, or the bound. */
	int64_t (*valid_ms)(const struct core *core, const struct holding *h);
	/* How many things it is, of those told; NULL: it is one. */
	uint64_t (*count)(const struct holding *h);
	/* No one else may have it before then: its client, which is not there,
	 * was told so. */
	void (*outlive)(struct core *core, struct holding *h, int64_t valid_ms);
	/* Its owner leaves, by its own will (`clean`) or not: ends it. */
	void (*let_go)(struct core *core, struct holding *h, bool clean);
	/* The broker is freed: ends it, and nothing follows. */
	void (*drop)(struct core *core, struct holding *h);
	/* All holders on its term lose it: tells that, and ends it. */
	void (*lose)(
	    struct core *core, struct holding *h, const struct loss *loss);
	/* Its term is at risk, or safe again: tells that. */
	void (*warn)(struct core *core, const struct holding *h,
	    enum event_id event, int64_t left_ms);
};

/* The first member of what embeds it.  Small, because there are very many. */
struct holding {
	TAILQ_ENTRY(holding) in_owner;	 /* owner.holdings */
	TAILQ_ENTRY(holding) in_holders; /* of the thing that is held */
	struct owner *owner;
	int64_t since_ms : 42;	 /* of the grant */
	uint64_t waited_ms : 21; /* before the grant; as lock/hold.h says */
	uint64_t kind : 1;	 /* enum holding_kind */
};

static inline const struct holding_class *
holding_class(const struct core *core, const struct holding *h)
{
	return core->owners->classes[h->kind];
}

/* It is granted now.  Requires that all of it is zero. */
void holding_begin(struct core *core, struct holding *h, enum holding_kind kind,
    struct owner *owner);

/* It has ended: what embeds it frees it. */
void holding_end(struct core *core, struct holding *h);

/* For how long it may be held if that long is asked for; 0: no bound. */
int64_t holding_bound_ms(const struct core *core, int64_t hold_ms);

/* Until when it is vouched for if its term ends then; `bound`: armed if there
 * is one. */
int64_t holding_bounded_ms(
    const struct core *core, const struct timer *bound, int64_t end_ms);

/* Do the lists of the owner agree with its counters?  For tests; aborts if
 * not. */
void holdings_check(const struct owner *owner);

#endif
