/*
 * What a name makes of the term of its lease, whoever holds it.
 */
#ifndef LOCKBROKER_CORE_LOCK_SHARERS_H
#define LOCKBROKER_CORE_LOCK_SHARERS_H

#include "core/lease/tell.h"
#include "core/lock/state.h"

extern const struct term_lessee lock_of_term;

/*
 * Brings the lock up to date before a request acts on it: if the lease has run
 * out or the holders are losing the name, they are told so first; if they are
 * many, at least this session is.
 */
void lock_look(struct core *core, struct lock *l, const struct owner *owner);

#endif
