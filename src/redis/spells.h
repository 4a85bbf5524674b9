/*
 * What a server refuses, told once a spell in the log, not once a call.
 */
#ifndef LOCKBROKER_REDIS_SPELLS_H
#define LOCKBROKER_REDIS_SPELLS_H

#include "store/call.h"

/* What the latest call of a script met with. */
struct spell {
	const struct refusal *refusal; /* NULL: none */
	char failure[128];	       /* an error we don't know, or "" */
};

/*
 * One for each script, because Redis may refuse the one and carry out the
 * other: when it is full, or where a command of only one is not permitted.
 * All zero: all is well.
 */
struct spells {
	struct spell of[SCRIPT_MAX];
};

/* Notes how a call ended that was decoded; logs what is new. */
void spells_note(
    struct spells *spells, const char *node, const struct call *call);

#endif
