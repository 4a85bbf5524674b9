/*
 * Histories: what clients asked, were told and did, one event a line, and the
 * check that nothing in them breaks a promise.  The README of this directory
 * has the format.  Both the simulator and tests against a real daemon make
 * histories; the check knows nothing but the history.
 */
#ifndef LOCKBROKER_SIM_HISTORY_H
#define LOCKBROKER_SIM_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/table.h"

enum history_phase {
	HISTORY_INVOKE,
	HISTORY_OK,
	HISTORY_FAIL,
	HISTORY_INFO,
	HISTORY_PHASES
};

enum history_kind {
	HISTORY_LOCK,
	HISTORY_UNLOCK,
	HISTORY_LOST,
	HISTORY_CLOSED,
	HISTORY_DOUBT,
	HISTORY_END,
	HISTORY_KINDS
};

/* One line.  `lock` is owned by the history; NULL: none. */
struct history_event {
	int64_t at_us;
	enum history_phase phase;
	enum history_kind kind;
	uint64_t session;
	const char *lock;
	uint64_t fence;	  /* 0: none */
	uint64_t id;	  /* joins a request and its answer; 0: none */
	uint64_t depth;	  /* of a grant; 0: not said, which means 1 */
	int64_t wait_us;  /* of a LOCK; -1: for ever */
	int64_t limit_us; /* a time when the hold is over; 0: none */
	bool shared;	  /* of a LOCK: mode=shared */
	size_t line;
};

/* history_init() makes it, and history_fini() frees what it owns. */
struct history {
	struct history_event *v;
	size_t n, size;
	struct table names; /* owned: each text once */
};

/* The limits of the check.  `late_us`: how late an answer may be; -1: not
 * checked. */
struct history_limits {
	int64_t late_us;
	int64_t longest_us; /* no LOCK may take longer; -1: not checked */
};

typedef void history_fault_fn(void *arg, const char *text);

void history_init(struct history *h);
void history_fini(struct history *h);

/* Appends; the text of the lock is copied. */
struct history_event *history_add(
    struct history *h, const struct history_event *event);

/* Appends an event without the rarer fields. */
struct history_event *history_note(struct history *h, int64_t at_us,
    enum history_phase phase, uint64_t session, enum history_kind kind,
    const char *lock, uint64_t id);

/* Reads all lines; false: one is malformed, and `fault` was told. */
bool history_read(
    struct history *h, FILE *in, history_fault_fn *fault, void *arg);
void history_write(const struct history *h, FILE *out);

/* Tells every fault; returns how many there were. */
size_t history_check(const struct history *h,
    const struct history_limits *limits, history_fault_fn *fault, void *arg);

#endif
