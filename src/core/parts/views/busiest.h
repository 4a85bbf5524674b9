/*
 * The busiest of many names: in the order of how many wait, then of how often
 * the name changed hands, then of the names.  A heap has as many as are wanted,
 * with the least busy on top: a busier name replaces that one.  Or the names
 * that have been held longest, in the order of that time.
 */
#ifndef LOCKBROKER_CORE_PARTS_VIEWS_BUSIEST_H
#define LOCKBROKER_CORE_PARTS_VIEWS_BUSIEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/kind.h"
#include "base/table.h"

/* What is known of a name of a kind. */
struct busy {
	enum kind kind;
	const char *name;
	size_t name_len;
	uint64_t handovers;
	uint64_t nwaiting;
	int64_t since_ms;   /* when the oldest waiter came; 0: no one waits */
	const char *state;  /* a word */
	const char *holder; /* its holder, or one of several; NULL: unknown */
	const char *broker; /* through which it is held elsewhere; NULL */
	size_t broker_len;
	int64_t held_ms;  /* since when; 0: unknown */
	int64_t lost_ms;  /* it is at risk, until then; 0: it is not */
	int64_t kept_ms;  /* reserved until then; 0: it is not */
	uint64_t permits; /* of a semaphore: out, through this broker ... */
	uint64_t limit;	  /* ... of this many; 0: it is none */
};

/* A name as it was when it was offered; it may be gone by now. */
struct busy_entry;

struct busiest {
	struct busy_entry **v; /* owned, with what it points to */
	struct table by_name;
	size_t n, size;
	bool by_age;   /* the names held longest are wanted */
	size_t most;   /* how many are wanted */
	size_t nheap;  /* how many are not in order yet */
	size_t ntaken; /* how many were taken */
};

void busiest_init(struct busiest *b, size_t most);
void busiest_fini(struct busiest *b);

/* A name that is among the busiest already stays as it was offered first.  The
 * texts are copied. */
void busiest_offer(struct busiest *b, const struct busy *one);

/* After all were offered, brings one more into order.  Returns false if all
 * are. */
bool busiest_order(struct busiest *b);

/* Returns the next, the busiest first, or NULL.  Requires that all are in
 * order.  It lives until the next call. */
const struct busy *busiest_take(struct busiest *b);

#endif
