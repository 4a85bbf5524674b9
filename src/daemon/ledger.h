/*
 * The ledger: which token holds there are, in a file that outlives a broker
 * with an embedded server.
 *
 * A token hold lasts until its time is over, whatever becomes of the broker;
 * but the data of an embedded server end with its broker.  So the broker notes
 * each token hold, its extensions and its end in the runtime directory before
 * it tells the client, and the next broker of its name begins with them.
 */
#ifndef LOCKBROKER_DAEMON_LEDGER_H
#define LOCKBROKER_DAEMON_LEDGER_H

#include <stdint.h>

#include "base/buf.h"
#include "core/token/token.h"

struct ledger;

/* What the time is. */
struct ledger_clock {
	const char *boot; /* which boot this is; copied */
	int64_t now_ms;	  /* CLOCK_BOOTTIME */
	int64_t day_ms;	  /* the time of day, in ms since 1970 */
};

/*
 * Reads what the broker before has left in the files PATH.0 and PATH.1, and
 * goes on with them.  A hold can last `most_ms` at most; 0: nobody knows.  If
 * the files can't be read or understood, every name may be held for so long; if
 * nobody knows, returns NULL, and adds to `why` what to do.
 */
struct ledger *ledger_open(const char *path, const struct ledger_clock *clock,
    int64_t most_ms, struct buf *why);

/* Removes the files if nothing is held. */
void ledger_close(struct ledger *l, int64_t now_ms);

/* The broker must not grant anything before then. */
int64_t ledger_floor_ms(const struct ledger *l);

/* Calls fn for each hold, the oldest line first. */
typedef void ledger_fn(void *arg, const struct token_hold *hold);
void ledger_each(struct ledger *l, ledger_fn *fn, void *arg);

/* Notes a hold, as it is from now on; or that it is over.  l may be NULL. */
void ledger_hold(struct ledger *l, const struct token_hold *hold);
void ledger_over(struct ledger *l, const char *name, size_t name_len);

/*
 * Writes what was noted since the last call; to be called before a client is
 * told of it.  It costs nothing if there was nothing.
 */
void ledger_write(struct ledger *l, int64_t now_ms, int64_t day_ms);

/* Is there anything to write? */
bool ledger_has_more(const struct ledger *l);

#endif
