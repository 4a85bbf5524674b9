/*
 * How long a lock is valid by our own clock (PING in lockbroker-protocol(7)),
 * and when to act so that the command is gone before that time ends. Pure: the
 * caller reads the clock.
 *
 *	sent            +D/3                 end-grace          end
 *	 |---------------|----------------------|----------------|
 *	 PING            next PING              TERM           KILL
 */
#ifndef LOCKBROKER_CLI_VALIDITY_H
#define LOCKBROKER_CLI_VALIDITY_H

#include <stdbool.h>
#include <stdint.h>

/* Embedded in a run. All times in ms of one clock. */
struct validity {
	int64_t
	    kill_after_ms;  /* how long before the end to send TERM, at most */
	int64_t asked_ms;   /* when the PING under way was sent */
	bool asking;	    /* is one under way? */
	int64_t sent_ms;    /* when the last answered PING was sent */
	int64_t valid_ms;   /* valid= in its answer */
	int64_t longest_ms; /* the longest valid= so far */
};

void validity_init(struct validity *v, int64_t kill_after_ms);

/* Notes that a PING is being sent. Requires that none is under way. */
void validity_ask(struct validity *v, int64_t now_ms);

/* Notes that the PING under way will not be answered. */
void validity_forget(struct validity *v);

/* Notes the answer to the PING, with this `valid=`. */
void validity_told(struct validity *v, int64_t valid_ms);

/* When to send the next PING; NEVER_MS while one is under way. */
int64_t validity_ask_at(const struct validity *v);

/*
 * When to send TERM. The grace is at most a quarter of the longest validity:
 * with more, even a prompt answer about a lease that is due for renewal would
 * come too late.
 */
int64_t validity_term_at(const struct validity *v);

/* When every process must be gone: a little before the end. */
int64_t validity_kill_at(const struct validity *v);

#endif
