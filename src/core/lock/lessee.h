/*
 * A name as the lessee of its lease.
 */
#ifndef LOCKBROKER_CORE_LOCK_LESSEE_H
#define LOCKBROKER_CORE_LOCK_LESSEE_H

#include "core/lease/lease.h"

extern const struct lease_lessee lock_lessee;

#endif
