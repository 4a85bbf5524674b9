/*
 * Tenants: what all sessions of one user have together, and how much that may
 * be (auth.users[].limits), so that none of them leaves the others nothing.
 *
 * The kernel counts, where an owner has a struct tenant; this part finds the one
 * of a user, and refuses what would be too much.  A request that waits counts
 * as what it may come to hold.  Token holds count by what is kept for the user
 * in all (session/share.h).
 */
#ifndef LOCKBROKER_CORE_PARTS_TENANT_TENANT_H
#define LOCKBROKER_CORE_PARTS_TENANT_TENANT_H

#include "core/kernel/session/owner.h"

/* May the owner have so many more token holds?  If not, answers that, and
 * returns false. */
bool tenant_admits_tokens(
    struct core *core, const struct owner *owner, uint64_t ref, unsigned more);

#endif
