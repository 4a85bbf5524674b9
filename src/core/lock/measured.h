/*
 * What happens to names, for those who measure it (measure/record.h).
 */
#ifndef LOCKBROKER_CORE_LOCK_MEASURED_H
#define LOCKBROKER_CORE_LOCK_MEASURED_H

#include "core/lock/state.h"

/* A request begins to wait; and how it ends, where that is not by the end of
 * its client: all of it, if it has several names. */
void measured_waits(struct core *core, struct waiter *w);
void measured_answer(struct waiter *w, enum measure_result result);
void measured_waited(struct core *core, struct waiter *w);
enum measure_result measured_result(enum status status);

/* BUSY at once, for several names. */
void measured_busy(struct core *core, struct lock *const *locks, unsigned n);

/* A hold begins; is freed, after it has ended in one of these ways, unless it
 * was never told. */
void measured_begins(struct core *core, struct hold *h, const struct waiter *w);
void measured_ended(struct core *core, const struct hold *h, const char *how);
void measured_lost(struct core *core, const struct hold *h, const char *reason,
    const char *by);
void measured_freed(struct core *core, const struct hold *h);

/* A name passes on: given to the next, or come from another broker. */
void measured_handed(struct core *core, struct lock *l);
void measured_arrived(struct core *core, struct lock *l);

void measured_renewed(struct core *core, struct lock *l, int64_t left_ms);

#endif
