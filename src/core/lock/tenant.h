/*
 * A name as the tenant of its lease.
 */
#ifndef LOCKBROKER_CORE_LOCK_TENANT_H
#define LOCKBROKER_CORE_LOCK_TENANT_H

#include "core/lease/lease.h"

extern const struct lease_tenant lock_tenant;

/* What a name makes of the tenure of its lease. */
extern const struct tenure_tenant lock_of_tenure;

#endif
