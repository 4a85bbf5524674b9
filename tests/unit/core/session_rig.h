/*
 * The core by itself, for stories: what it is told, and all that it says, as
 * text.
 *
 * A line is `CONNECTION: what it is told`; `-` is nobody.  The store answers at
 * once, but for operations that a story holds back.
 */
#ifndef LOCKBROKER_TESTS_UNIT_SESSION_RIG_H
#define LOCKBROKER_TESTS_UNIT_SESSION_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "core/core.h"

#define LEASE_MS 10000
#define OPS_MAX 1024

/* An operation that is to be answered. */
struct pending_op {
	uint64_t id;
	enum op_kind kind;
	bool draws; /* fences */
};

/* One core, the time, and what it said.  One a test. */
struct rig {
	struct core *core;
	struct effects fx;
	struct buf said;
	struct buf key; /* of the last SESSION */
	int64_t now_ms;
	uint64_t fence;
	bool hold_back[OP_MAX];	   /* not answered by itself */
	struct outcome status;	   /* of STATUS and FORCE */
	struct outcome token;	   /* of operations on token holds */
	uint64_t waiting[OPS_MAX]; /* held back: ids */
	size_t nwaiting;
	struct pending_op asked[OPS_MAX];
	size_t nasked;
	unsigned noted[NOTICE_MAX];   /* lines of the log */
	uint64_t counted[NOTICE_MAX]; /* by their field "count" */
};

void rig_tick(struct rig *r, enum core_event_kind kind);
/* Lets time pass; whatever is due happens when it is due. */
void rig_pass(struct rig *r, int64_t ms);
void rig_open(struct rig *r, uint64_t session);
void rig_init(struct rig *r, unsigned sessions);
/* Of which no step does more than so many things. */
void rig_init_slow(struct rig *r, unsigned sessions, unsigned work);
void rig_fini(struct rig *r);
/* All that was said since the last time. */
void rig_expect(struct rig *r, const char *text);
void rig_ask_quietly(struct rig *r, uint64_t session, enum verb_id verb,
    const char *name, int64_t hold_ms);
void rig_ask(
    struct rig *r, uint64_t session, enum verb_id verb, const char *name);
void rig_tenure(struct rig *r, uint64_t session, int64_t grace_ms);
void rig_resume(struct rig *r, uint64_t session);
void rig_user(struct rig *r, uint64_t session, const char *name);
void rig_gone(struct rig *r, uint64_t session, bool orderly, bool quit);
void rig_step(struct rig *r, struct core_event *ev);
/* Answers what was held back. */
void rig_answer(struct rig *r, uint64_t id, enum op_kind kind);

#endif
