/*
 * The state of one `run`. Only run.c, which runs the machine, and the files
 * with the rows (run_state.h) may include this.
 */
#ifndef LOCKBROKER_CLI_RUN_H
#define LOCKBROKER_CLI_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/child.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/run_options.h"
#include "cli/signals.h"
#include "cli/validity.h"
#include "client/reconnect.h"

struct run_state;

/* A call may take this much longer than its wait. */
#define PATIENCE_MS 1000

/* One `run`. Lives on the stack of run_main(). */
struct run {
	const struct run_options *options;
	struct cli *cli;
	struct client client;
	struct signals signals;
	struct validity validity;
	struct reconnect reconnect;
	struct child child;
	struct progress progress;
	int timer_fd;		       /* on CLOCK_BOOTTIME, like deadlines */
	const struct run_state *state; /* NULL when done */
	int64_t deadline_ms;	       /* of the state */
	int64_t began_ms;	       /* when the wait began */
	int64_t ask_ms;		       /* when to ask, or to stop waiting */
	int64_t granted_ms;	       /* when the grant was received */
	uint64_t session;	       /* at the broker */
	char *fence, *slot;	       /* owned; NULL: none */
	char *names;		       /* owned; all names, as text */
	int status;		       /* the exit status */
	int stopped_by;		       /* last signal asking us to end, or 0 */
	bool inside_told;	       /* said that it may wait for itself */
	bool away_told;		       /* said that no broker answers */
	bool foreign_told;	       /* said that it cannot end others */
	bool blind_told;	       /* said that it cannot see what to end */
	bool asked;		       /* a PING to its broker is unanswered */
	bool listens;		       /* lock: to the end of input */
	bool lost;
	bool again; /* the broker vanished before the start */
};

/*
 * A row of the state machine: its functions handle the events of a state.
 * `message` and `signal` are NULL in a state that ignores these; `message` does
 * not own its message.
 */
struct run_state {
	const char *name;
	void (*message)(struct run *run, const struct message *m);
	void (*signal)(struct run *run, const struct signals_one *one);
	void (*closed)(struct run *run, const char *why);
	void (*reaped)(struct run *run);
	void (*time)(struct run *run, int64_t now);
	int64_t (*deadline)(const struct run *run);
};

/* Sends the request on a new connection and begins to wait for the lock. */
void run_begin(struct run *run);

#endif
