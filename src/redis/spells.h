/*
 * Logs what a server refuses, once for each spell, and not for each call.
 */
#ifndef LOCKBROKER_REDIS_SPELLS_H
#define LOCKBROKER_REDIS_SPELLS_H

#include "store/call.h"

/* How the calls of a script have failed since the last good one. */
struct spell {
	const struct refusal *refusal; /* NULL: none */
	char failure[128];	       /* an error we don't know, or "" */
};

/*
 * One spell for each script, because Redis may refuse one script and carry out
 * the other: when it is full, or if it does not permit a command of only one.
 * All zero: all is well.
 */
struct spells {
	struct spell of[SCRIPT_MAX];
};

/* Notes how a decoded call ended; logs that if it is new. */
void spells_note(
    struct spells *spells, const char *node, const struct call *call);

#endif
