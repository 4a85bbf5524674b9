/*
 * One answer to STATUS, QUEUE, NAMES or HISTORY, put together from those that
 * the processes of a broker give (views.h).  These are lines as a client gets
 * them; what is written is in the protocol of the client that asks.
 *
 * STATUS: of the process whose session has the name, if there is one, and the
 * waiters of all.  QUEUE: those that came first are first, and what a process
 * knows of its own sessions goes before what others know of them.  NAMES: what
 * each knows of a name is added up.  HISTORY: the latest come first.  What comes
 * from a process that leaves has `leaving=1`, since the numbers of its sessions
 * are its own; so has a name whose holder only such a process knows.
 *
 * No input or output here.
 */
#ifndef LOCKBROKER_DAEMON_REPLACE_MERGE_H
#define LOCKBROKER_DAEMON_REPLACE_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "wire/protocol.h"

struct merge;

/* The parts are numbered from 0, which is the process that was asked. */
struct merge *merge_new(enum verb_id verb, uint64_t limit, size_t parts,
    const struct wire_protocol *protocol);
void merge_free(struct merge *m);
/* NAMES: those held longest come first, in place of the busiest. */
void merge_by_age(struct merge *m);
/* NAMES: leaves out names that are not to be shown, whoever tells of them. */
void merge_shows(struct merge *m,
    bool (*shows)(const void *arg, struct span name), const void *arg);

/* Takes bytes of a part's answer.  Returns false if they are none. */
bool merge_read(struct merge *m, size_t part, const char *bytes, size_t n);

/* Has the part come whole? */
bool merge_whole(const struct merge *m, size_t part);

/* After all have come, or won't: makes some of the answer, some tenths of a
 * millisecond long.  Returns true if there is more to do. */
bool merge_go_on(struct merge *m);

/*
 * Then: the answer; tag and verb are the caller's.  It points into the merge.
 * Returns false if no part has come whole.
 */
bool merge_reply(struct merge *m, struct wire_reply *reply);
const struct buf *merge_rows(const struct merge *m, size_t *n);

#endif
