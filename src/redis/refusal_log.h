/*
 * Logs what a server refuses: the first of a run of refusals, and not each
 * call.
 */
#ifndef LOCKBROKER_REDIS_REFUSAL_LOG_H
#define LOCKBROKER_REDIS_REFUSAL_LOG_H

#include "store/call.h"

/* How the calls of a script have failed since the last good one. */
struct refusal_run {
	const struct refusal *refusal; /* NULL: none */
	char failure[128];	       /* an error we don't know, or "" */
};

/*
 * One run for each script, because Redis may refuse one script and carry out
 * the other: when it is full, or if it does not permit a command of only one.
 * All zero: all is well.
 */
struct refusal_log {
	struct refusal_run of[SCRIPT_MAX];
};

/* Notes how a decoded call ended; logs that if it is new. */
void refusal_log_note(
    struct refusal_log *log, const char *node, const struct call *call);

#endif
