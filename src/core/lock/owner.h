/*
 * A name as the owner of its lease.
 */
#ifndef LOCKBROKER_CORE_LOCK_OWNER_H
#define LOCKBROKER_CORE_LOCK_OWNER_H

#include "core/lease/lease.h"

extern const struct lease_owner lock_owner;

/* What a name makes of the tenure of its lease. */
extern const struct tenure_owner lock_of_tenure;

#endif
