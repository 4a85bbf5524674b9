/*
 * The rows of ops.def as a table, for the files of src/store alone.
 */
#ifndef LOCKBROKER_STORE_OP_ROWS_H
#define LOCKBROKER_STORE_OP_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "store/op.h"
#include "store/script_call.h"

enum op_keys {
	KEYS_NONE,
	KEYS_LEASE,
	KEYS_LOOK,
	KEYS_SEMAPHORE,
	KEYS_LATCH,
	KEYS_BARRIER,
	KEYS_MAX
};

/* What an argument is made of; a number is the op's field of that name. */
enum op_arg {
	ARG_NONE, /* behind the last */
	ARG_SEQ,
	ARG_TTL,
	ARG_LINGER,
	ARG_AGAIN,
	ARG_FENCE,
	ARG_RESERVE,
	ARG_RENEWAL, /* the reserve; of a shared lease the limit */
	ARG_HAVE,
	ARG_NEED,
	ARG_WANT,
	ARG_LIMIT,
	ARG_BY,
	ARG_MOST,
	ARG_QUEUE,   /* q: queue up, t: only try */
	ARG_MODE,    /* x: exclusive, s: shared */
	ARG_NOTED,   /* n: has noted the outcome, l: leaves */
	ARG_LOOK,    /* l: lock, s: semaphore, t: latch, b: barrier */
	ARG_PEND,    /* a guard's pend value, or who asks */
	ARG_CLIENT,  /* token and user (lua/token.lua) */
	ARG_OTHER,   /* such a pair: CLAIM: that is meant; TOKEN, PASS: new;
			TAKE, HOLD: slots (lua/semaphore.lua) */
	ARG_HOW,     /* what TOKEN does; which hold it means; its bound */
	ARG_NAME,    /* `ID SET FROM HOW` of ENLIST (lua/guard.lua) */
	ARG_ADDRESS, /* where users reach the broker, or nothing */
	ARG_ABOUT,   /* what else it says about itself */
	ARG_MAX
};

#define OP_ARGS_MAX 7

struct op_row {
	const char *word;
	uint8_t len;
	uint8_t script; /* enum script_id */
	uint8_t keys;	/* enum op_keys */
	bool can_wait;
	uint8_t args[OP_ARGS_MAX + 1]; /* enum op_arg */
	unsigned answers;	       /* bits 1 << OUTCOME_x */
};

extern const struct op_row op_rows[OP_MAX];

#endif
