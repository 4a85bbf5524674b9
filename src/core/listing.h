/*
 * Lists that are made in parts (dump.h).  Before something is freed, its owner
 * tells these functions, so that a list that would come to it next goes on
 * after it.
 */
#ifndef LOCKBROKER_CORE_LISTING_H
#define LOCKBROKER_CORE_LISTING_H

#include "core/lock/state.h"

void listing_init(struct core *core);
void listing_fini(struct core *core);

void listing_leave_hold(struct core *core, const struct hold *h);
void listing_leave_waiter(struct core *core, const struct waiter *w);
void listing_leave_permits(struct core *core, const struct permits *p);
/* It leaves the line of its object, granted or not. */
void listing_leave_line(struct core *core, const struct claim *c);
void listing_leave_claim(struct core *core, const struct claim *c);
void listing_leave_owner(struct core *core, const struct owner *owner);
void listing_leave_lock(struct core *core, const struct lock *l);

#endif
