/*
 * A gatherer of operations, and what it says: the calls that it sends, and
 * what the handler of their answers is told.  No Redis.
 */
#ifndef LOCKBROKER_TESTS_STORE_RIG_H
#define LOCKBROKER_TESTS_STORE_RIG_H

#include <stdint.h>

#include "store/gather.h"

#define TOLD_MAX 512

/* What was sent by the last flush, and what the handler was told since the
 * beginning. */
struct store_seen {
	struct call *calls[16];
	unsigned ncalls, guards;
	struct guard_report guard;
	struct outcome outcomes[TOLD_MAX];
	uint64_t ids[TOLD_MAX];
	char text[TOLD_MAX][160];
	unsigned told;
	int64_t sent_ms;
};

extern struct gather *store;
extern struct store_seen store_seen;
extern const struct store_handler store_handler;

/* What the words of each call have in common. */
#define COMMON(seen_fence, cut)                           \
	"NONCE " seen_fence " v1,lease=10000,replicas=2 " \
	"web-1.0000000000000abc 10000 3000 3000 13600 lock: " cut " "

/* The settings of most tests. */
struct store_config store_plain(void);

/* Makes the gatherer; the test frees it. */
void store_begin(const struct store_config *config);
void store_begin_plain(void);

/* An operation with a value in each field. */
struct op store_op(enum op_kind kind, uint64_t id, const char *name);

void store_add(enum op_kind kind, uint64_t id, const char *name);

/* Sends what was added. */
void store_flush(void);
void store_on_send(void *arg, struct call *call);

/* The words of a call, joined by spaces, with NONCE for the nonce.  They are
 * good until the next call of this function. */
const char *store_words(const struct call *call);

#endif
