/*
 * LOCK of several names: all or nothing ("Several names" in
 * lockbroker-protocol(7)).  group_turn.c has the rules below, group.c the
 * requests, their grants and their answers.
 *
 * A waiting group holds none of its names.  A lease that is here only for
 * groups is idle, and passes to single requests, here and elsewhere.  That
 * could go on for ever, so it ends when the group has waited as long as a lease
 * lasts: then the group is *starving*, and no one passes it any longer.
 *
 * Groups of one broker queue up for all their names in one step, so they stand
 * in the same order everywhere.  Between brokers, groups take names in byte
 * order: a group is *in turn* for a name when all its names before that one are
 * here for it.  Only then does the broker queue up for the name, and keep it
 * idle for a moment (or, for a starving group, for as long as it takes) while
 * another broker waits.  So no two brokers can wait for each other.  The first
 * attempt ignores that order and asks for all names in one call, because mostly
 * they are free.
 */
#ifndef LOCKBROKER_CORE_KERNEL_LOCK_GROUP_H
#define LOCKBROKER_CORE_KERNEL_LOCK_GROUP_H

#include "core/kernel/lock/state.h"

void group_request(
    struct core *core, struct owner *owner, const struct core_request *rq);

/*
 * Work is bounded: the broker looks at the first GROUPS_FIRST groups of a
 * queue; the waiters behind them wait until one of these groups has gone.  One
 * always goes: the group that came first is ahead of all others in all its
 * queues, except for waiters that have a right to the name and soon use it.
 */
#define GROUPS_FIRST 8

/* Does the session of w have the name in a mode that will do? */
bool group_has_already(const struct core *core, const struct waiter *w);

/*
 * Could the group of w be granted all its other names, if their leases fitted,
 * without passing anyone that it may not pass?
 */
bool group_free_but(const struct core *core, const struct waiter *w);

/* Has the group waited so long that no one may pass it any longer? */
static inline bool
group_starving(const struct core *core, const struct group *g)
{
	return core->now_ms - g->since_ms >= core->config.lease_ms;
}

/*
 * For each of the group's names before this member's: does the name linger for
 * the group's session, or is it here and free, with the group next in line?
 */
bool group_in_turn(const struct core *core, const struct waiter *w);

/*
 * Who may overtake a group.  A member that cannot be granted yet is a *blocker*
 * of the waiters that stand behind it and came later: they may not have the
 * name before it.  It is one only if
 *
 *   (1) its group is starving, and
 *   (2) all its names before this one, in byte order, are here.  A name that
 *       nobody holds and that lingers for another session was taken up for
 *       that session alone, and does not count.
 *
 * Everybody else may pass.  So no group waits for ever: for its first name (2)
 * holds at once, so from (1) on nobody new passes it there; the name comes, and
 * then (2) holds for the next one.
 *
 * And nobody waits in a circle.  A blocker keeps its name from others while its
 * group waits for names behind that one in byte order, since those before it
 * are here.  So of several groups that keep names from each other, here or on
 * other brokers, the one that keeps the highest name waits for none of them.
 * Without (2) a group could keep this name from the broker that has an earlier
 * one and waits for this; or from the session for which an earlier one lingers,
 * which would take that up and let it go, over and over.  Waiters that came
 * earlier than the blocker may pass, because a group that jumped the queue of
 * one name stands behind others in its other queues: each of two such groups
 * would block the other.
 *
 * group_blocker() takes the blocker of w (NULL: none) and returns the blocker
 * of the waiters behind w: w itself, if it is a blocker that came before the
 * other.
 */
const struct waiter *group_blocker(const struct core *core,
    const struct waiter *blocker, const struct waiter *w);
bool group_blocked_by(const struct waiter *blocker, const struct waiter *w);

/*
 * The name lingers for the session: is it time to take it up for this member?
 * Yes if each other name is free for the group, or lingers for it, too, and
 * follows in byte order.  Otherwise the name would be taken up and go back to
 * lingering, over and over.
 */
bool group_takes_up(const struct core *core, const struct waiter *w);

/* A name has arrived: touches all names of the first groups in its queue. */
void group_arrived(struct core *core, struct lock *l);

/* The group's session now has one of the names, by another request. */
void group_has(struct core *core, const struct group *g);

/*
 * The name is here, and a group comes first.  The group may now be in turn for
 * names that are not here: touches these, so that the broker asks for them.
 */
void group_idle(struct core *core, struct lock *l);

/*
 * If all leases fit, grants all names and returns true.  Otherwise asks the
 * store for what they lack, and returns false.
 */
bool group_grant(struct core *core, struct group *g);

/* A member is about to be freed.  Frees the group with its last member. */
void group_forget(struct waiter *w);

/* Frees all members in that way, and so the group. */
void group_free(struct core *core, struct group *g,
    void (*free_one)(struct core *core, struct waiter *w));

/* Tells the grant of all members, or withdraws it if a hold has been lost.
 * Requires that all of them are granted. */
void group_tell(struct core *core, struct group *g);

#endif
