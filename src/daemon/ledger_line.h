/*
 * Lines of a ledger (daemon/ledger.h), which people can read:
 *
 *	tokens 1 NUMBER BOOT FLOOR CHECK			the first line
 *	+ FENCE SINCE UNTIL DAY TOKEN NAME CHECK		a hold, as it is
 *	- NAME CHECK						it is over
 *
 * Times are milliseconds of CLOCK_BOOTTIME.  DAY is UNTIL by the time of day,
 * which counts in another boot.  UNTIL and DAY are `-` for a hold without a
 * bound.  CHECK is the CRC-16 of what stands before it in the line.
 */
#ifndef LOCKBROKER_DAEMON_LEDGER_LINE_H
#define LOCKBROKER_DAEMON_LEDGER_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"
#include "core/token/token.h"

enum ledger_word { LEDGER_HEAD, LEDGER_HELD, LEDGER_OVER };

/* A line; its texts point into it. */
struct ledger_line {
	enum ledger_word word;
	/* HEAD. */
	uint64_t number; /* of the file: a later one has a higher */
	struct span boot;
	int64_t floor_ms; /* nothing is granted before then; 0: no matter */
	/* HELD; OVER has the name only. */
	struct token_hold hold;
	int64_t day_ms; /* TOKEN_HOLD_ALWAYS: no bound */
};

/* Each appends a line; its length is what the buffer grows by. */
void ledger_add_head(
    struct buf *out, uint64_t number, const char *boot, int64_t floor_ms);
void ledger_add_hold(
    struct buf *out, const struct token_hold *hold, int64_t day_ms);
void ledger_add_over(struct buf *out, const char *name, size_t name_len);

/* Reads a line without its end.  Returns false if it is damaged. */
bool ledger_parse(const char *text, size_t len, struct ledger_line *out);

#endif
