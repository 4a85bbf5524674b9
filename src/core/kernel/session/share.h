/*
 * Shares: how many of the names that this broker keeps reserved a user has
 * (limits.unowned), and how many of the places for grace (place.h).  Only time
 * frees them, so without shares one user could leave none for the others.
 *
 * Each of the two has a table of shares.  Whatever is counted has a pointer to
 * the share of the user who asked for it last, and gives it back.  Without
 * `auth` there is no user, and no share.
 */
#ifndef LOCKBROKER_CORE_KERNEL_SESSION_SHARE_H
#define LOCKBROKER_CORE_KERNEL_SESSION_SHARE_H

#include <stdint.h>

struct share;
struct table;

void shares_init(struct table *all);
void shares_fini(struct table *all); /* requires that all are given back */

/* How many things count for a user; 0 if `user` is NULL. */
uint64_t share_used(const struct table *all, const char *user);

/* One thing more counts for `user` (NULL: no user), and no longer for its
 * previous user. */
void share_pass(struct table *all, struct share **from, const char *user);

/* The thing is gone. */
void share_give(struct table *all, struct share **s);

/* The sum of all shares, for assertions. */
uint64_t shares_sum(const struct table *all);

#endif
