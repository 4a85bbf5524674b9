/*
 * The core with very many names, waiters and sessions.  What it says is
 * counted, and not written down, and no step may look at more things than
 * CORE_WORK_MAX.
 *
 * Sessions have the ids 1, 2, ...; a name is a prefix and a number.  When a
 * test tells the rig to, the store answers each operation in a step of its
 * own.
 */
#ifndef LOCKBROKER_TESTS_UNIT_WORK_RIG_H
#define LOCKBROKER_TESTS_UNIT_WORK_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/core.h"

/* What a sanitizer finds, it finds with fewer, too. */
#ifdef __SANITIZE_ADDRESS__
#define WORK_MANY 20000
#else
#define WORK_MANY 100000
#endif
#define WORK_LEASE_MS 10000

struct work_op {
	uint64_t id;
	enum op_kind kind;
	bool draws;
	uint64_t need, limit;
};

/* One core, the time, and what the core has said since work_forget(). */
struct work_rig {
	struct core *core;
	struct effects fx;
	int64_t now_ms;
	uint64_t fence;
	struct work_op *ops; /* not answered yet; owned */
	size_t nops, ops_size;
	uint64_t steps;
	uint64_t visits; /* things that all steps have looked at */
	uint64_t replies[STATUS_ERR + 1];
	uint64_t events[EVENT_MAX];
	uint64_t asked[OP_MAX];
	uint64_t first_event_step[EVENT_MAX]; /* the number of the step with
					       * the first event */
	uint64_t last_event_step[EVENT_MAX];
	uint64_t last_reply_step;
	const struct outcome *outcome; /* for all operations; NULL: success */
	struct outcome token;	       /* of operations on token holds */
	bool silent[OP_MAX];	       /* operations that are not answered */
	void (*look)(const struct work_rig *r, const struct effect *e);
	uint64_t permits; /* that the store has; 0: one */
	uint64_t arrived; /* at the barrier */
};

/* The one of most tests: work_init() it; as a teardown, work_over() ends it. */
extern struct work_rig rig;
void work_over(void);

/* Opens `sessions`; Redis grants. */
void work_init(struct work_rig *r, unsigned sessions);
void work_fini(struct work_rig *r);
void work_forget(struct work_rig *r);

void work_step(struct work_rig *r, struct core_event *ev);
void work_tick(struct work_rig *r, enum core_event_kind kind);

/* Answers the operations that are in flight now, and no others. */
void work_answer(struct work_rig *r);

/* Answers all operations, and those that follow from them; tells grants. */
void work_settle(struct work_rig *r);

/* Steps as long as the core asks for a step at once; returns how often. */
unsigned work_catch_up(struct work_rig *r);

/* Lets time pass; each timer fires when it is due, and operations are
 * answered. */
void work_pass(struct work_rig *r, int64_t ms);

/* Sends a request.  The caller may set all fields but names, ref and
 * session. */
void work_ask(struct work_rig *r, uint64_t session, struct core_request *rq,
    const char *name);
/* Sends the same request for each session from 1 to WORK_MANY. */
void work_ask_each(
    struct work_rig *r, struct core_request *rq, const char *name);
/* Sends the same request of one session for WORK_MANY names: PREFIX0, PREFIX1,
 * ... */
void work_ask_names(struct work_rig *r, uint64_t session,
    struct core_request *rq, const char *prefix);
void work_lock(struct work_rig *r, uint64_t session, const char *name);
void work_lock_n(
    struct work_rig *r, uint64_t session, const char *prefix, unsigned i);
struct core_request work_request(enum verb_id verb);

void work_link(struct work_rig *r, bool up);
void work_guard(struct work_rig *r, enum guard_state state, const char *pend);
void work_gone(struct work_rig *r, uint64_t session, bool quit);
void work_grace(struct work_rig *r, uint64_t session, int64_t grace_ms);

#endif
