/*
 * Reads the files that a ledger has left.
 */
#ifndef LOCKBROKER_DAEMON_LEDGER_READ_H
#define LOCKBROKER_DAEMON_LEDGER_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/ledger.h"

/* What is told of each line, in order. */
struct ledger_reader {
	/* Its times are of this boot; its texts do not outlive the call. */
	void (*held)(void *arg, const struct token_hold *hold);
	void (*over)(void *arg, const char *name, size_t name_len);
	void *arg;
};

/* What else the files say. */
struct ledger_past {
	bool found;	  /* there is a file */
	uint64_t number;  /* of the latest */
	int64_t floor_ms; /* nothing may be granted before then; 0: no matter */
	/* The first thing that can't be read or understood, if it may matter:
	 * a sentence; NULL: there is none. */
	char *fault; /* the caller frees it */
};

/* Reads the files PATH.0 and PATH.1, the earlier one first. */
void ledger_read(const char *path, const struct ledger_clock *clock,
    const struct ledger_reader *reader, struct ledger_past *out);

#endif
