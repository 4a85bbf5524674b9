/*
 * The turn: what every module of the core must know about the present step, in
 * one struct that they all pass on.
 *
 * A module knows its own piece of struct core and those of the modules below
 * it; the pieces of the others are pointers to structs that it does not see.
 */
#ifndef LOCKBROKER_CORE_KERNEL_TURN_TURN_H
#define LOCKBROKER_CORE_KERNEL_TURN_TURN_H

#include <assert.h>
#include <stddef.h>

#include "base/heap.h"
#include "base/list.h"
#include "base/rng.h"
#include "core/core.h"
#include "core/dump.h"

#define BROKER_MAX_BYTES 64

#define PART_MAX 20	 /* parts of the core: part.h */
#define PART_ROWS_MAX 64 /* of the table that each has */

/* What kind of thing a struct timer is embedded in.  The parts number theirs
 * from TIMER_OF_PARTS on (core/parts/ids.h); a timer has 5 bits for that. */
enum timer_kind {
	TIMER_LEASE,
	TIMER_CLAIM,
	TIMER_HOLD,
	TIMER_SESSION,
	TIMER_GUARD,
	TIMER_STOP,
	TIMER_VALID,
	TIMER_OF_PARTS,
	TIMER_MAX = 32
};

/*
 * Due timers are run in this order (agenda.c): first the timers of leases,
 * permits and bounds, of guards and votes; then the timers of whatever can wait
 * for a moment.
 */
enum agenda { AGENDA_URGENT, AGENDA_PATIENT, AGENDA_MAX };

/* One kind of timers: when they are run, and by what. */
struct timer_row {
	enum agenda agenda;
	void (*run)(struct core *core, struct timer *t);
};

struct core_part;
struct slot_row;

/* Questions of the turn to the modules above it.  Static; its row is in
 * core.c. */
struct turn_listener {
	const struct timer_row *timers; /* TIMER_MAX of them */
	/* The connection of a session; 0: none, or no such session. */
	uint64_t (*conn_of)(const struct core *core, uint64_t session);
	const struct slot_row *slots; /* slot.h; SLOT_MAX of them */
	/* Go on with a job; say whether anything is left.  JOB_MAX of them. */
	bool (*const *jobs)(struct core *core);
};

struct core {
	struct core_config config;
	char broker[BROKER_MAX_BYTES + 1];
	char *address;			       /* owned; "": none */
	int64_t pad_ms, stall_ms, recovery_ms; /* from the lease: times.h */
	/* Of the present step. */
	int64_t now_ms;
	struct effects *fx;
	size_t fx_first; /* effects from here on are of this step */
	uint32_t jobs;	 /* that are queued: job.h */
	bool told_loss;	 /* the next FLUSH sends no grant */
	bool stopping;
	bool leaving;	    /* CORE_LEAVE: the end comes, by leave_ms */
	bool draining;	    /* it leaves, and turns away idle sessions */
	int64_t leave_ms;   /* INT64_MAX: whenever that may be */
	int64_t warm_ms;    /* longest time that names are kept warm; 0: none */
	int64_t drain_ms;   /* draining: since then */
	int64_t began_ms;   /* of the first step */
	uint64_t last_seq;  /* of tokens, and of other numbered things */
	uint64_t last_come; /* of requests that wait for a name, in order */
	struct rng rng;
	uint64_t unchecked; /* steps since the last core_check() */
	struct core_stats stats;
	const struct turn_listener *above;
	struct heap timers[AGENDA_MAX];
	struct slots *slots;	 /* slot.h */
	struct tallies *tallies; /* tally.h */
	struct work *work;	 /* work.h */
	/* The pieces of the other modules.  Each owns its own. */
	struct owners *owners;	   /* session/owner.h */
	struct sessions *sessions; /* session/record.h */
	struct guard *guards;	   /* guard/guard.h; one a shard */
	const struct guard_listener *guard_above;
	struct guard_notes *guard_notes;     /* guard/guard.h */
	struct sweeps *sweeps;		     /* guard/sweep.h */
	const struct electorate *electorate; /* guard/electorate.h */
	struct terms *terms;		     /* lease/term.h */
	struct leases *leases;		     /* lease/lease.h */
	struct locks *locks;		     /* lock/state.h */
	struct guard_waits *guard_waits;     /* guard/guard_wait.c */
	struct stop *stop;		     /* stop.c */
	/* part.h: all of them, with NULL at the end; and their own. */
	const struct core_part *const *parts;
	struct rows *rows; /* owned; step.c */
	void *part[PART_MAX];
	/* For each function, the parts that have it: part.c. */
	const struct core_part *const *with[PART_ROWS_MAX];
	const struct core_part **with_all; /* owned; all these lists */
};

void turn_init(struct core *core, const struct turn_listener *above);
void turn_fini(struct core *core);

/*
 * A step begins, with this time and these effects.  The core's time never goes
 * back, even if `now_ms` does.  Requires that no other step is under way.
 */
void turn_begin(struct core *core, int64_t now_ms, struct effects *fx);
void turn_end(struct core *core);

/* For jitter and seeds, nothing secret. */
int64_t core_jitter(struct core *core, int64_t ms); /* 0 .. ms - 1 */

/* For how long to ask nothing (ms), after an outcome that says nothing.  0: the
 * guard is pending, and all that wait for it are told when it is ready. */
int64_t core_pause_ms(struct core *core, const struct outcome *o);

/* Timers.  core_armed_ms() requires that the timer is armed; to arm it again
 * moves it, and to disarm one that is not armed does nothing. */
void core_arm(struct core *core, struct timer *t, int64_t at_ms);
void core_disarm(struct core *core, struct timer *t);
int64_t core_armed_ms(const struct core *core, const struct timer *t);

/* Runs the timers that are due, while the step has work left (work.h). */
void turn_run_timers(struct core *core, enum agenda which);

/* When the next timer of either agenda is due; INT64_MAX: there is none. */
int64_t turn_timer_ms(const struct core *core);

#endif
