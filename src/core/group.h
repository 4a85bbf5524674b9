/*
 * LOCK of several names: all or nothing (protocol, section 5).
 *
 * While it waits it holds none of them: a lease that is here only for a group
 * is idle, and passes to single requests, here and elsewhere.  Since that
 * could go on for ever, it ends when the group has waited for one lease: then
 * the group is *firm*, and nobody passes it any more.  Groups of one broker
 * queue up for all their names in one step, so that they stand in the same
 * order everywhere; between brokers, a firm group keeps an idle lease only
 * where it has all names before that one in byte order.  So no two can wait
 * for each other.
 */
#ifndef LOCKBROKER_CORE_GROUP_H
#define LOCKBROKER_CORE_GROUP_H

#include "core/state.h"

void group_request(
    struct core *core, struct session *s, const struct core_request *rq);

/* Could all its names but `l` be granted, were their leases made to fit? */
bool group_free_but(
    const struct core *core, const struct group *g, const struct lock *l);

/* Nobody passes it any more. */
bool group_firm(const struct core *core, const struct group *g);

/* May an idle lease stay here for it, although another broker waits? */
bool group_keeps(
    const struct core *core, const struct group *g, const struct lock *l);

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
