/*
 * Operations in flight: what the answer to each of them will be for.
 */
#ifndef LOCKBROKER_CORE_KERNEL_TURN_SLOT_H
#define LOCKBROKER_CORE_KERNEL_TURN_SLOT_H

#include "core/kernel/turn/turn.h"
#include "store/op.h"

struct about;

/* The module that takes the answer of an operation.  The parts number theirs
 * from SLOT_OF_PARTS on (core/parts/ids.h). */
enum slot_kind {
	SLOT_FREE,
	SLOT_LEASE,
	SLOT_GUARD,
	SLOT_STRAY, /* no module waits for it */
	SLOT_OF_PARTS,
	SLOT_MAX = 32
};

/* An operation in flight; op ids are slot number and generation. */
struct slot {
	unsigned kind; /* enum slot_kind, or of a part */
	enum op_kind op;
	uint32_t generation;
	uint32_t next_free;
	int64_t sent_ms;   /* when it was sent, once it is answered */
	int64_t waited_ms; /* of the reply timeout, before it was sent */
	uint32_t shard;
	union {
		struct lease *lease; /* LEASE */
		void *of;	     /* what a part asks for */
	};
	/* Whatever else the part wants to know by then.  The name is owned. */
	uint64_t session, ref, limit;
	char *name;
	size_t name_len;
	uint8_t verb, about; /* enum verb_id, enum kind */
	bool again;	     /* its result stands (warm/recall.c) */
};

/* The functions for operations of one kind. */
struct slot_row {
	/* Takes the outcome of an operation whose slot, now a copy, is free. */
	void (*outcome)(struct core *core, const struct slot *slot,
	    const struct outcome *o);
	/* If it may be sent again when a name has been recalled
	 * (warm/recall.c): sends it, with that much left of a reply timeout.
	 * And the name that it is about, if the slot does not say it. */
	void (*again)(
	    struct core *core, const struct slot *slot, int64_t left_ms);
	const char *(*name)(
	    const struct core *core, const struct slot *slot, size_t *len);
	/* If it may ask the broker that has the name (views/about.h): takes
	 * that broker's answer, or NULL, and what the operation has found. */
	void (*told)(struct core *core, const struct slot *slot,
	    const struct outcome *o, const struct about *a);
};

/* All slots; the free ones are a chain. */
struct slots {
	struct slot *v; /* owned */
	uint32_t n, free;
	uint32_t inflight;
	bool again; /* of those that are sent now */
};

void slot_init(struct core *core);
void slot_fini(struct core *core);

/* Sends an operation; the caller fills in the rest of it, and of its slot,
 * before it emits anything else or sends another one: both may move then. */
struct op *slot_submit(struct core *core, struct slot **out, enum op_kind op,
    unsigned kind, uint32_t shard, const char *name, size_t name_len);

/*
 * A held lease cannot be renewed before this operation is answered.  Shortens
 * its timeout, so that the reply comes, or is given up, in time for a renewal.
 */
void slot_hurry(const struct core *core, struct op *op);

/* Returns the slot of an operation in flight; NULL: there is none. */
struct slot *slot_find(struct core *core, uint64_t id);
/* Frees the slot and its name.  A caller that still needs the name takes it out
 * of the slot before. */
void slot_free(struct core *core, struct slot *slot);

/*
 * The result of an operation that is answered later: another broker is asked
 * first.  Owns its texts and the name of the slot.
 */
struct put_off {
	struct slot slot;
	struct outcome then;
	char *text, *also; /* owned; those of `then` */
};

/* Copies the outcome.  The name is still the slot's: the caller takes it out of
 * there, or copies it. */
void put_off(
    struct put_off *p, const struct slot *slot, const struct outcome *o);
/* Returns the whole, and leaves nothing to be freed. */
struct put_off put_off_take(struct put_off *p);
void put_off_fini(struct put_off *p);

/* Do slots, chain and counter agree?  For tests; aborts if not. */
void slot_check(const struct core *core);

#endif
