/*
 * A part of the core: what the kernel can do without.
 *
 * The kernel decides who has a name, and who is next.  Everything else is a
 * part: it hangs above the kernel by one table, struct core_part, in the list
 * of core.c.  The kernel calls what the table names, and knows no part; what a
 * part does there changes no grant of its own accord.
 *
 * A part has its state in core->part[id], and numbers of its own for timers,
 * slots and jobs (core/parts/ids.h).  The kernel calls the parts in the order
 * of the list.
 */
#ifndef LOCKBROKER_CORE_KERNEL_TURN_PART_H
#define LOCKBROKER_CORE_KERNEL_TURN_PART_H

#include "core/kernel/turn/job.h"
#include "core/kernel/turn/slot.h"
#include "core/kernel/turn/turn.h"

struct electorate;
struct holding_class;
struct lease_way;
struct lock_hooks;
struct owner;
struct session;
struct swept;
struct term_lessee;

/* Its rows of the tables of kinds; a row without a function ends a list. */
struct part_timer {
	unsigned kind;
	struct timer_row row;
};

struct part_slot {
	unsigned kind;
	struct slot_row row;
};

struct part_job {
	enum job job;
	bool (*run)(struct core *core);
};

/* Static; whatever a part does not need is NULL. */
struct core_part {
	unsigned id; /* below PART_MAX */
	/* The kernel is there by then, and still there. */
	void (*init)(struct core *core);
	void (*fini)(struct core *core);
	const struct part_timer *timers;
	const struct part_slot *slots;
	const struct part_job *jobs;
	/* The holdings that owners have of it (session/holding.h), and the
	 * terms that these rest on (lease/term.h). */
	const struct holding_class *holding;
	const struct term_lessee *term;
	/* What walks over all things of a guard visit before names, and after
	 * them (guard/sweep.h). */
	const struct swept *swept_first, *swept_last;
	/* Settings are new (core->config); `metrics` may be NULL: as before. */
	void (*configure)(
	    struct core *core, const struct metrics_settings *metrics);

	/* Questions and notices about names: lock/hooks.h. */
	const struct lock_hooks *lock;

	/* Over a quorum: which servers decide (guard/electorate.h), and how leases
	 * reach them (lease/lease.h).  One part has both. */
	const struct electorate *electorate;
	const struct lease_way *way;

	/* Events.  A message of another broker, or an outcome, that is for this
	 * part; it takes over the name of the slot.  True: no other part sees
	 * it. */
	bool (*message)(struct core *core, const char *text, size_t len);
	bool (*puts_off)(struct core *core, const struct slot *slot,
	    const struct outcome *o);
	/* An event of the session that the kernel does not know. */
	bool (*event)(struct core *core, struct owner *owner,
	    const struct core_event *ev);
	/* The broker leaves; stops, before sessions are told; has told them. */
	void (*leaves)(struct core *core);
	void (*stops)(struct core *core);
	void (*stopped)(struct core *core);

	/* May the owner have this many more things?  `waits`: the request may
	 * have to wait.  False: it was refused. */
	bool (*admits)(struct core *core, const struct owner *owner,
	    uint64_t ref, unsigned more, bool waits);
	/* The owner has another user, or ends; the owner's things count. */
	void (*user_changed)(struct core *core, struct owner *owner);

	/* A session has begun; its client has said something; it may be told
	 * what it has missed; there is nothing left to tell it. */
	void (*opened)(struct core *core, struct session *s);
	void (*heard)(struct core *core, struct session *s);
	void (*resumed)(struct core *core, struct session *s);
	void (*closed)(struct core *core, struct session *s);
	/* All events of the step, from that effect on, are there. */
	void (*told)(struct core *core, size_t first);
	/* The client of the owner shuts down sending; goes, or comes back after
	 * all; has another user. */
	void (*drains)(struct core *core, const struct owner *owner);
	void (*hangs_up)(struct core *core, const struct owner *owner);
	void (*gone)(struct core *core, struct owner *owner, bool gone);
	void (*user_changes)(struct core *core, const struct owner *owner);
	/* Ends what the owner has of it; true: nothing is left. */
	bool (*leave)(struct core *core, struct owner *owner);

	/* What else a walk over all names has to do, because the guard of that
	 * shard has changed (guard/sweep.h); the guard has changed. */
	unsigned (*sweeps)(const struct core *core, uint32_t shard);
	void (*guard_changed)(struct core *core, uint32_t shard);
	/* Its server has a new note for all brokers: written at that time of
	 * the server, that long ago; and the text of the note. */
	void (*noted)(
	    struct core *core, uint32_t shard, uint64_t at, int64_t ago_ms);
	void (*note_read)(
	    struct core *core, uint32_t shard, const char *text, size_t len);
	/*
	 * Is nothing of it left that would keep the broker from its end?
	 * Nothing of that shard?  How much does it leave behind in the store?
	 */
	bool (*all_over)(const struct core *core);
	bool (*has_nothing)(const struct core *core, uint32_t shard);
	size_t (*left_behind)(const struct core *core);
	/* The number of its things that sessions have, or wait for. */
	uint64_t (*held)(const struct core *core);
	uint64_t (*waiting)(const struct core *core);

	/* Up to which operation may what it has in the store be handed over, with
	 * those before it?  0: nothing.  A broker of that shard is gone. */
	uint64_t (*hands_over)(const struct core *core);
	void (*broker_gone)(struct core *core, uint32_t shard);

	/* The reply that was begun says BUSY or TIMEOUT: adds who holds the
	 * name. */
	void (*refused)(struct core *core, const struct owner *owner,
	    enum kind kind, const char *name, size_t len, uint64_t before);
	/* UNLOCK-FORCE has this outcome. */
	void (*forced)(struct core *core, const struct slot *slot,
	    const struct outcome *o, const char *by);
	/* Do its data agree?  How many things wait for a guard?  For tests. */
	size_t (*check)(const struct core *core);
};

/* Lists the parts by function; the core has its parts by then. */
void parts_init(struct core *core);
void parts_fini(struct core *core);

/* Is that row of the table, which is nothing but pointers, not NULL? */
bool part_has(const void *table, size_t row);

/* The parts that have this function.  The core is its first argument. */
#define PARTS_WITH(function, ...) \
	(PARTS_OF(__VA_ARGS__, 0) \
		->with[offsetof(struct core_part, function) / sizeof(void *)])
#define PARTS_OF(core, ...) (core)

/* Calls it for each part that has it. */
#define PARTS_CALL(function, ...)                        \
	do {                                             \
		const struct core_part *const *part_ =   \
		    PARTS_WITH(function, __VA_ARGS__);   \
		for (; *part_ != NULL; part_++)          \
			(*part_)->function(__VA_ARGS__); \
	} while (0)

/* Calls them until one returns true; is true then. */
#define PARTS_ANY(function, ...)                                           \
	__extension__({                                                    \
		const struct core_part *const *part_ =                     \
		    PARTS_WITH(function, __VA_ARGS__);                     \
		while (*part_ != NULL && !(*part_)->function(__VA_ARGS__)) \
			part_++;                                           \
		*part_ != NULL;                                            \
	})

/* Does none of them return false? */
#define PARTS_ALL(function, ...)                                          \
	__extension__({                                                   \
		const struct core_part *const *part_ =                    \
		    PARTS_WITH(function, __VA_ARGS__);                    \
		while (*part_ != NULL && (*part_)->function(__VA_ARGS__)) \
			part_++;                                          \
		*part_ == NULL;                                           \
	})

/* The sum of what they return. */
#define PARTS_SUM(function, ...)                                 \
	__extension__({                                          \
		const struct core_part *const *part_ =           \
		    PARTS_WITH(function, __VA_ARGS__);           \
		uint64_t sum_ = 0;                               \
		for (; *part_ != NULL; part_++)                  \
			sum_ += (*part_)->function(__VA_ARGS__); \
		sum_;                                            \
	})

#endif
