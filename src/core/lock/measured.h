/*
 * Reports what happens to names to the measurements (measure/count.h).
 */
#ifndef LOCKBROKER_CORE_LOCK_MEASURED_H
#define LOCKBROKER_CORE_LOCK_MEASURED_H

#include "core/lock/state.h"

/* A request begins to wait; how it will end (for all its names; without this it
 * counts as cancelled); its waiter is being freed. */
void measured_waits(struct core *core, struct waiter *w);
void measured_answer(struct waiter *w, enum measure_result result);
void measured_waited(struct core *core, struct waiter *w);
enum measure_result measured_result(enum status status);

/* A request for several names got BUSY at once. */
void measured_busy(struct core *core, struct lock *const *locks, unsigned n);

/* A hold begins, ends or is lost, and is freed.  One whose grant was never told
 * is only freed. */
void measured_begins(struct core *core, struct hold *h, const struct waiter *w);
void measured_ended(struct core *core, const struct hold *h, const char *how);
void measured_lost(struct core *core, const struct hold *h, const char *reason,
    const char *by);
void measured_freed(struct core *core, const struct hold *h);

/* Logs a hold that is over, of whatever kind (log.audit). */
void measured_audit(struct core *core, const struct measure_hold *h);

/* A name passes on: to the next waiter here, or from another broker to us. */
void measured_handed(struct core *core, struct lock *l);
void measured_arrived(struct core *core, struct lock *l);

void measured_renewed(struct core *core, struct lock *l, int64_t left_ms);

#endif
