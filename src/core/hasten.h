/*
 * Sessions whose clients have shut down sending: their requests do not wait any
 * more.  The core tells the requests one after the other, in parts.  Until then
 * a request waits as before, and may be granted, as if the end of the client's
 * stream had come a little later.
 */
#ifndef LOCKBROKER_CORE_HASTEN_H
#define LOCKBROKER_CORE_HASTEN_H

#include "core/session/owner.h"

/* Requires that the owner is draining. */
void hasten_begin(struct core *core, struct owner *owner);

/* A job: goes on with it. */
bool hasten_on(struct core *core);

#endif
