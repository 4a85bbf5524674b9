/*
 * The end of a session, in parts (work.h), since it may have very much.
 *
 *	gone --> withdraw what it waits for --> (it is over) --> let go --> free
 *
 * Its requests leave their queues before anything else happens: the driver has
 * no other event before that (core_has_losses()), and the core looks at no
 * name.  So these requests get no grant, and no decision takes them into
 * account.  The session releases its holds, the oldest first, while other
 * events go on; until then the broker vouches for them as before.  Nobody can
 * resume a session that is over.
 */
#ifndef LOCKBROKER_CORE_KERNEL_LEAVE_H
#define LOCKBROKER_CORE_KERNEL_LEAVE_H

#include "core/kernel/session/record.h"

/*
 * Takes all requests of the session out of their queues, and tells nobody.
 * Undoes grants that the client has not been told.
 */
void leave_withdraw(struct core *core, struct session *s);

/* Releases everything that the session holds.  If not `clean`, its delays
 * begin. */
void leave_let_go(struct core *core, struct session *s, bool clean);

/* The same, and then frees the session.  Requires that it waits for nothing, or
 * that leave_withdraw() has begun. */
void leave_end(struct core *core, struct session *s, bool clean);

/* Jobs: go on with either. */
bool leave_withdraw_on(struct core *core);
bool leave_let_go_on(struct core *core);

/* The broker stops, and the client of s may count on a valid= it was told. */
void leave_outlive(struct core *core, struct session *s);

/* For core_free(): frees all sessions and names, and tells nobody. */
void leave_drop_all(struct core *core);

#endif
