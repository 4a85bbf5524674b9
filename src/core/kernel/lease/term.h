/*
 * Terms: what this broker has in the store for a time, and until when it
 * vouches for that.
 *
 *	over --> safe <--> at risk
 *	  ^        |          |
 *	  +--------+----------+
 *
 * The lease of a name has a term, and so have the permits of a semaphore.  A
 * term is embedded in its lessee, which asks the store.  The term knows
 * what time means: a call that was carried out keeps it from the moment at
 * which the call was sent; it is renewed after a third of a lease, at risk
 * after half of one, and lost at its end; whatever an older epoch of the server
 * confirmed must be written again.
 *
 * Nothing is granted on a term whose end has come (term_vouched()), and
 * that end comes before the key's in the store, by the pad and by what clocks
 * may have gained.  So nobody else is granted the same before the broker has
 * told its own clients of the loss.
 */
#ifndef LOCKBROKER_CORE_KERNEL_LEASE_TERM_H
#define LOCKBROKER_CORE_KERNEL_LEASE_TERM_H

#include "core/kernel/turn/turn.h"

/* What a term may be embedded in. */
enum term_kind { TERM_LEASE, TERM_PERMITS, TERM_KINDS };

enum term_state {
	TERM_OVER,   /* the broker vouches for nothing */
	TERM_SAFE,   /* it does, and expects a renewal in time */
	TERM_ATRISK, /* half of the time has passed without one */
	TERM_STATES
};

struct term {
	TAILQ_ENTRY(term) in_line; /* unless it is OVER: terms.firm ... */
	int64_t confirmed_ms;	   /* when the call that keeps it was sent */
	int64_t wake_ms;      /* when to renew it; OVER: its lessee's to use */
	uint32_t epoch;	      /* of the guard, when last confirmed */
	uint16_t shard;	      /* the guard */
	uint8_t kind : 2;     /* enum term_kind */
	uint8_t state : 2;    /* enum term_state */
	bool provisional : 1; /* ... or terms.provisional: for one pad */
	bool paced : 1;	      /* its renewal was put off to wake_ms */
	/* Its holders are being told: tell.c. */
	bool losing : 1, warning : 1;
};

TAILQ_HEAD(term_list, term);
TAILQ_HEAD(telling_list, telling); /* tell.c */
struct loss;

/* Whether another broker waits for what this one has.  All zero: none does. */
struct contention {
	int64_t since_ms;   /* 0: none waits */
	uint32_t handovers; /* grants here since then */
};

/* Questions and notices of a term to its lessee.  Static. */
struct term_lessee {
	enum term_kind kind;
	const char *(*name)(const struct term *t, size_t *len);
	/* Is there a holder that must hear of a risk? */
	bool (*in_use)(const struct term *t);
	/* How many holds, or permits in use, rest on it? */
	uint64_t (*users)(const struct term *t);
	/* It has run out; the lessee calls term_end(). */
	void (*lost)(struct core *core, struct term *t);
	/* It has become at risk, or is safe again. */
	void (*risk_changed)(struct core *core, struct term *t);
	/* For tell.c.  Who is to lose it next; NULL: all have lost it. */
	struct holding *(*loser)(struct term *t, const struct loss *loss);
	void (*touch)(struct core *core, struct term *t);
	/* The first of those who have it, and the cursors in their list. */
	struct holding *(*first)(const struct term *t);
	struct cursors *(*cursors)(struct term *t);
	/* Where it keeps what they are being told. */
	struct telling **(*telling)(struct term *t);
};

/* A slice of time, and the renewals planned for it (pace.c). */
struct slice {
	int64_t number;
	uint32_t planned;
};

#define PACE_SLICES 128 /* half of them are a third of a lease */

/* All terms of this broker. */
struct terms {
	const struct term_lessee *const *lessees; /* static; by kind */
	size_t n;				  /* also those that are over */
	/* Nearly in the order in which they run out; provisional ones are
	 * shorter. */
	struct term_list firm, provisional;
	struct telling_list losing, warning;
	uint64_t at_risk[TERM_KINDS]; /* users of those that are */
	int64_t room_ms; /* pace.c: has room for renewals that are due */
	uint32_t room_taken;
	struct slice pace[PACE_SLICES];
};

/* Requires a static row for each kind. */
void terms_init(struct core *core, const struct term_lessee *const *lessees);
void terms_fini(struct core *core);

void term_init(
    struct core *core, struct term *t, enum term_kind kind, uint32_t shard);
void term_fini(struct core *core, struct term *t);

static inline const struct term_lessee *
lessee_of(const struct core *core, const struct term *t)
{
	return core->terms->lessees[t->kind];
}

/* The broker vouches for it from now on, since confirmed_ms; or no longer. */
void term_vouch(struct core *core, struct term *t);
void term_end(struct core *core, struct term *t);

/* This many more users rest on it from now on, or fewer (term_lessee). */
void term_used(struct core *core, const struct term *t, int64_t more);

/*
 * A call that was sent then, in that epoch, was carried out: it counts from
 * there.  If the broker vouches for it and it was at risk, it is safe again.
 */
void term_confirm(
    struct core *core, struct term *t, int64_t sent_ms, uint32_t epoch);

/* Until when the broker vouches for it, if no call is confirmed before. */
int64_t term_deadline_ms(const struct core *core, const struct term *t);

/* Does the broker vouch for it at this moment? */
bool term_vouched(const struct core *core, const struct term *t);

/* Does it count as vouched for, although its time is up? */
bool term_overdue(const struct core *core, const struct term *t);

/* Returns the first that has run out by then; NULL: none has. */
struct term *term_first_overdue(const struct core *core, int64_t now_ms);

/* Requires an overdue one.  Its lessee hears of the loss. */
void term_run_out(struct core *core, struct term *t);

/* Looks at the time: is it at risk, or has it run out?  True: the latter. */
bool term_look(struct core *core, struct term *t);

/* When it wants attention next; `renews`: a renewal could be sent by then. */
int64_t term_due_ms(const struct core *core, const struct term *t, bool renews);

/* If an older epoch has confirmed it, plans to renew it at once; pace.h plans
 * other renewals. */
void term_prove(struct core *core, struct term *t);

/* Did an older epoch confirm what the broker vouches for? */
bool term_needs_reclaim(const struct core *core, const struct term *t);

/* Another broker waits, or none does: begins to count the handovers. */
void contention_told(
    const struct core *core, struct contention *c, bool waiting);

/* Has this broker had its turn ("Queue" in lockbroker-protocol(7))? */
bool contention_must_yield(const struct core *core, const struct contention *c);

/* Do states and lines agree?  For tests; abort if not. */
void term_check(const struct core *core, const struct term *t);
void terms_check(const struct core *core);

#endif
