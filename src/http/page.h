/*
 * The page for people: values in, HTML out.  It does not know who fills in the
 * values, and looks up nothing; it escapes all text.
 */
#ifndef LOCKBROKER_HTTP_PAGE_H
#define LOCKBROKER_HTTP_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"

#define PAGE_MINUTES 60
#define PAGE_TRACE 24  /* waits of one name in its picture */
#define PAGE_NONE (-1) /* in place of milliseconds: none */

/* A server of Redis. */
struct page_node {
	const char *address;
	bool up;
	unsigned guards, ready; /* guards on it; those that grant */
	const char *why;	/* "": all grant */
};

/* A holder or a waiter; `text` is for people. */
struct page_who {
	char text[192];
	bool shared;
	uint64_t session;
	int64_t age_ms;	 /* since the grant, or since the wait began */
	int64_t away_ms; /* PAGE_NONE: connected */
};

/* A name in the list of the busiest. */
struct page_name {
	struct span name;
	char state[16]; /* held, shared, ... */
	uint64_t waiters, handovers;
	int64_t oldest_ms; /* of the waiters; PAGE_NONE: nobody waits */
	bool has_holder;
	struct page_who holder;
	int64_t waits_ms[PAGE_TRACE]; /* of the latest holds, oldest first */
	size_t nwaits;
};

/* A past hold. */
struct page_hold {
	struct span name;
	char who[192];
	uint64_t permits; /* of a semaphore; 0: a lock */
	int64_t ago_ms, waited_ms, held_ms;
	const char *end; /* released, dropped, or the reason of !LOST */
	const char *by;	 /* forced: by whom; NULL: not known */
};

struct page_minute {
	uint32_t granted, timeout, lost;
	int64_t wait_max_ms;
};

struct page_class {
	const char *name;
	uint64_t waiters, held;
	int64_t oldest_ms;	    /* PAGE_NONE: nobody waits */
	int64_t median_ms, slow_ms; /* p50, p99; PAGE_NONE: not known */
	struct page_minute minutes[PAGE_MINUTES]; /* 0 is the present one */
};

/* The name that the request asks for. */
struct page_focus {
	struct span name;
	const char *fault;     /* why it is no name; NULL: it is one */
	const char *elsewhere; /* who has it through others; "": nobody */
	const struct page_who *holders, *waiters;
	size_t nholders, nwaiters;
	uint64_t all_waiters;
	const struct page_hold *past;
	size_t npast;
};

struct page {
	const char *nonce; /* of the Content-Security-Policy */
	const char *broker, *address, *version, *now;
	int64_t uptime_ms;
	bool ready, stopping;
	const char *why; /* not ready */
	int64_t left_ms; /* until it is; 0: not known */
	uint64_t held, waiters, clients, names;
	int64_t oldest_ms;
	const struct page_node *nodes;
	size_t nnodes;
	const struct page_name *busiest;
	size_t nbusiest;
	const struct page_class *classes;
	size_t nclasses;
	const struct page_hold *losses; /* latest first */
	size_t nlosses;
	const struct page_focus *focus; /* NULL: none */
};

/* Room for PAGE_POLICY with a nonce. */
#define PAGE_POLICY_SIZE 320
void page_policy(char out[PAGE_POLICY_SIZE], const char *nonce);

void page_write(struct buf *out, const struct page *p);

/* page_class.c: pictures */
void page_classes(struct buf *out, const struct page *p);
void page_trace(struct buf *out, const struct page_name *n);

/* page_name.c: names, holds, holders and waiters */
void page_link(struct buf *out, struct span name);
void page_busiest(struct buf *out, const struct page *p);
void page_losses(struct buf *out, const struct page *p);
void page_of_name(struct buf *out, const struct page_focus *f);

#endif
