/*
 * The end of a session, which may have very much: in parts (work.h).
 *
 *	gone --> withdraw what it waits for --> (it is over) --> let go --> free
 *
 * What it waits for leaves its queues before anything else happens: the driver
 * has no other event before that (core_has_losses()), and no name is looked at.
 * So nobody is judged by it, and nothing is granted to it.  What it has is let
 * go in the order in which it was had, beside other events; until then it is
 * vouched for, as ever.  Nobody can resume a session that is over.
 */
#ifndef LOCKBROKER_CORE_LEAVE_H
#define LOCKBROKER_CORE_LEAVE_H

#include "core/lock/state.h"

/*
 * Everything that waits leaves its queue, and nobody is there to be told;
 * grants that will not be told any more are as if they had not been made.
 */
void leave_withdraw(struct core *core, struct session *s);

/* All that it holds is given back; not `clean`: its delays begin. */
void leave_let_go(struct core *core, struct session *s, bool clean);

/* The same, and then it is freed. */
void leave_end(struct core *core, struct session *s, bool clean);

/* What former steps have left. */
void leave_withdraw_on(struct core *core);
void leave_let_go_on(struct core *core);

/* The broker stops, and the client of s counts on the valid= it was told. */
void leave_outlive(struct core *core, struct session *s);

/* For core_free(): drops all of all sessions, without a word to anybody. */
void leave_drop_all(struct core *core);

#endif
