/*
 * Notices and questions of the kernel to parts about names (turn/part.h).
 *
 * The functions are called in the order of the list of parts, at the one place
 * that each names.  None may grant, end or free anything there; a part that
 * wants a name looked at again touches it (names.h).  Functions that may answer
 * say so: the first answer counts.
 */
#ifndef LOCKBROKER_CORE_KERNEL_LOCK_HOOKS_H
#define LOCKBROKER_CORE_KERNEL_LOCK_HOOKS_H

#include <stddef.h>

#include "core/kernel/lock/state.h"
#include "core/kernel/turn/part.h"

struct about;
struct message_word;

/* Static; whatever a part does not need is NULL. */
struct lock_hooks {
	/* A name.  lock_next() begins; is done, and may free it; is done, and
	 * it lives on; it is freed.  Another broker was seen to have it; it
	 * came; its lease was renewed, with that much left. */
	void (*changed)(struct core *core, struct lock *l);
	void (*settles)(struct core *core, struct lock *l);
	void (*settled)(struct core *core, struct lock *l);
	void (*freed)(struct core *core, struct lock *l);
	void (*elsewhere)(struct core *core, struct lock *l);
	void (*arrived)(struct core *core, struct lock *l);
	void (*renewed)(struct core *core, struct lock *l, int64_t left_ms);
	/* Another client wants it, while it has no holder here. */
	void (*wanted)(struct core *core, struct lock *l);
	/* A hold or request with keep= or delay= comes; or goes, or the client of
	 * one does. */
	void (*binds)(
	    struct core *core, struct lock *l, const struct owner *owner);
	void (*unbinds)(struct core *core, struct lock *l);
	/* With neither holder nor waiter: does it stay with this broker?  How
	 * many fences to draw at once; 0: as usual. */
	bool (*stays)(struct core *core, struct lock *l);
	uint32_t (*reserve)(const struct core *core, struct lock *l);

	/* LOCK: may the request be made?  False: it was refused. */
	bool (*admits)(struct core *core, struct owner *owner,
	    const struct core_request *rq);
	/* A waiter.  It begins to wait; it is freed, with that `result`.  A
	 * request for several names was BUSY at once. */
	void (*waits)(
	    struct core *core, struct waiter *w, const struct core_request *rq);
	void (*waited)(struct core *core, struct waiter *w);
	void (*busy)(struct core *core, struct lock *const *locks, unsigned n);

	/* May it be granted to that waiter now, to whom the kernel would grant
	 * it?  A part that says no touches the name when its answer changes. */
	bool (*may_grant)(const struct core *core, const struct lock *l,
	    const struct waiter *w);
	/* A grant: the name passes on; it is granted to one session; the client
	 * is told. */
	void (*passes)(struct core *core, struct lock *l);
	void (*granted)(struct core *core, struct lock *l, bool shared);
	void (*told)(struct core *core, const struct waiter *w);

	/* A hold.  It begins; its client lets it go, or the broker for it; it is
	 * lost (`by`: who forced that, or NULL); it ends; it is freed, and was
	 * the last of what is left, or not.  Its client let it go by a word. */
	void (*begins)(
	    struct core *core, struct hold *h, const struct waiter *w);
	void (*given_back)(
	    struct core *core, const struct hold *h, const char *how);
	void (*lost)(struct core *core, const struct hold *h,
	    const char *reason, const char *by);
	void (*let_go)(struct core *core, const struct owner *owner,
	    const char *name, size_t len); /* of what it has lost: UNLOCK */
	void (*ends)(struct core *core, const struct hold *h);
	void (*ended)(struct core *core, const struct hold *h);
	void (*released)(struct core *core, struct lock *l);
	/* It is at risk, or safe again; another broker forces its end; the
	 * broker stops, and it was not given back. */
	void (*risk)(struct core *core, const struct hold *h, bool safe,
	    int64_t left_ms);
	void (*forced)(struct core *core, const struct lock *l,
	    const struct hold *h, const char *by);
	void (*stopped)(struct core *core, const struct hold *h);

	/* Does another client here want the name, with a place of its own in
	 * the store's queue, and before that request?  Who has it here, without
	 * being a session?  A reserved name is now a token hold without a
	 * client, by that operation, for that long yet. */
	bool (*comes_before)(const struct core *core, const char *name,
	    size_t len, uint64_t came);
	bool (*token_held)(const struct core *core, const char *name,
	    size_t len, struct about *out);
	void (*disowned)(struct core *core, const char *name, size_t len,
	    uint64_t seq, uint64_t fence, int64_t left_ms);

	/* Messages of other brokers: broker_message.h.  NULL ends the list. */
	const struct message_word *words;
};

#define LOCK_HOOK_ROW(function) \
	(offsetof(struct lock_hooks, function) / sizeof(void (*)(void)))

/* Of all parts, in their order; once, before any name is there. */
void hooks_init(struct core *core);

/* The parts that have this function. */
#define LOCK_HOOKS(function, core) \
	((core)->locks->hooks[LOCK_HOOK_ROW(function)])

/* Like PARTS_CALL(): the core is the first argument of each function. */
#define LOCK_HOOK(function, ...)                                    \
	do {                                                        \
		const struct lock_hooks *const *hook_ =             \
		    LOCK_HOOKS(function, PARTS_OF(__VA_ARGS__, 0)); \
		for (; *hook_ != NULL; hook_++)                     \
			(*hook_)->function(__VA_ARGS__);            \
	} while (0)

/* The first answer that is not 0. */
#define LOCK_ASK(function, ...)                                     \
	__extension__({                                             \
		const struct lock_hooks *const *hook_ =             \
		    LOCK_HOOKS(function, PARTS_OF(__VA_ARGS__, 0)); \
		uint32_t answer_ = 0;                               \
		for (; *hook_ != NULL && answer_ == 0; hook_++)     \
			answer_ = (*hook_)->function(__VA_ARGS__);  \
		answer_;                                            \
	})

/* Do all parts let the request be made?  If not, it was refused. */
static inline bool
lock_admits(
    struct core *core, struct owner *owner, const struct core_request *rq)
{
	const struct lock_hooks *const *hook = LOCK_HOOKS(admits, core);

	for (; *hook != NULL; hook++)
		if (!(*hook)->admits(core, owner, rq))
			return false;
	return true;
}

/* May the name be granted to that waiter, as far as parts go? */
static inline bool
lock_may_grant(
    const struct core *core, const struct lock *l, const struct waiter *w)
{
	const struct lock_hooks *const *hook = LOCK_HOOKS(may_grant, core);

	for (; *hook != NULL; hook++)
		if (!(*hook)->may_grant(core, l, w))
			return false;
	return true;
}

#endif
