/*
 * LOCK of several names: all or nothing (protocol, section 5).
 *
 * While it waits it holds none of them: a lease that is here only for groups is
 * idle, and passes to single requests, here and elsewhere.  Since that could go
 * on for ever, it ends when the group has waited for one lease: then the group
 * is *starving*, and nobody passes it any more.
 *
 * Groups of one broker queue up for all their names in one step, so that they
 * stand in the same order everywhere.  Between brokers, names are taken in byte
 * order: a group is *in turn* for a name when all its names before that one are
 * here for it.  Only then does the broker queue up for the name, and keep it idle for
 * a moment (or, for a starving group, for as long as it takes) while another broker
 * waits.  So no two brokers can wait for each other.  The first attempt asks
 * for all names in one call all the same: mostly they are free.
 */
#ifndef LOCKBROKER_CORE_LOCK_GROUP_H
#define LOCKBROKER_CORE_LOCK_GROUP_H

#include "core/lock/state.h"

void group_request(
    struct core *core, struct session *s, const struct core_request *rq);

/*
 * Work is bounded: in a queue, the first GROUPS_FIRST groups are looked at, and
 * what stands behind so many waits until one of them has gone.  Some always
 * goes: the group that came first stands before all others in all its queues,
 * but for those that have a right to the name and soon use it.
 */
#define GROUPS_FIRST 8

/*
 * Could all names of its group but this member's be granted, were their leases
 * made to fit?  In their queues it passes nobody whom it may not.
 */
bool group_free_but(const struct core *core, const struct waiter *w);

/* Nobody passes it any more. */
bool group_starving(const struct core *core, const struct group *g);

/*
 * Are all its names before this member's here and free for it, before all
 * others, or linger for it?
 */
bool group_in_turn(const struct core *core, const struct waiter *w);

/*
 * A waiter that can not be granted yet is a *blocker* of those who stand behind
 * it and came later: they may not have the name before it.  One of a group is
 * where that is starving, and all its names before are here: kept for another, the
 * name could be what the broker waits for that has an earlier name of it.
 * (Who came earlier may: one that jumped the queue of one name stands behind
 * others in those of its other names, and they would wait for each other.)
 * group_blocker() tells the blocker behind w, of all members that stand there.
 */
const struct waiter *group_blocker(const struct core *core,
    const struct waiter *blocker, const struct waiter *w);
bool group_blocked_by(const struct waiter *blocker, const struct waiter *w);

/*
 * The name lingers for the session: is it time to take it up for this member?
 * When its other names are here, or linger for it, too, and come later: else it
 * would go back to where it is, and that over and over.
 */
bool group_takes_up(const struct core *core, const struct waiter *w);

/* A name is here: looks at the others of the groups that wait for it. */
void group_arrived(struct core *core, struct lock *l);

/* Its session has one of the names now, by another request. */
void group_has(struct core *core, const struct group *g);

/*
 * It is here, and a group comes first: that may be in turn for others now that
 * are not, and are to be asked for.
 */
void group_idle(struct core *core, struct lock *l);

/*
 * Grants all names, where all leases fit; else sees to it that the others
 * are made to.
 */
bool group_grant(struct core *core, struct group *g);

/* One member is about to be freed. */
void group_forget(struct waiter *w);

/* Frees all members without a word. */
void group_free(struct core *core, struct group *g);

/* Replies for all members, which are on the list of those granted. */
void group_tell(struct core *core, struct group *g);

#endif
