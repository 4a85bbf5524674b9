/*
 * Shares: how many of the names that this broker keeps for nobody a user has
 * (limits.unowned).  Only time frees such names, so without shares one user
 * could leave none for the others.
 *
 * Whatever is counted has a pointer to the share of the user who asked for it
 * last, and gives it back.  Without `auth` there is no user, and no share.
 */
#ifndef LOCKBROKER_CORE_SESSION_SHARE_H
#define LOCKBROKER_CORE_SESSION_SHARE_H

#include <stdint.h>

struct core;
struct share;

void shares_init(struct core *core);
void shares_fini(struct core *core); /* requires that all are given back */

/* How many things count for a user; 0 if `user` is NULL. */
uint64_t share_used(const struct core *core, const char *user);

/* One thing more counts for `user` (NULL: nobody), and no longer for whom it
 * counted until now. */
void share_pass(struct core *core, struct share **from, const char *user);

/* The thing is gone. */
void share_give(struct core *core, struct share **s);

/* The sum of all shares, for assertions. */
uint64_t shares_sum(const struct core *core);

#endif
