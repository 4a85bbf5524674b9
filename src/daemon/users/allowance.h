/*
 * The limits of a user's connections: clients, and requests a second
 * (auth.users[].limits).  The core limits the holds and waiters of its sessions
 * (parts/tenant).
 *
 * Each client has the allowance of its user, by name: a reload changes the
 * limits, and leaves the counts.  Requests are admitted by the generic cell
 * rate algorithm (ITU-T I.371), with a burst of one second.
 */
#ifndef LOCKBROKER_DAEMON_USERS_ALLOWANCE_H
#define LOCKBROKER_DAEMON_USERS_ALLOWANCE_H

#include <stdbool.h>
#include <stdint.h>

struct allowance;
struct allowances;
struct user;

struct allowances *allowances_new(void);
void allowances_free(struct allowances *all); /* even if clients have one */

/* A client has another user; NULL: none any more. */
void allowance_pass(
    struct allowances *all, struct allowance **of, const struct user *user);

/* May the user have one client more? */
bool allowance_has_room(const struct allowances *all, const struct user *user);

/* May the user ask something now (us: now_awake_us())?  Then that counts.
 * Requires that `a` is of that user. */
bool allowance_admits(struct allowances *all, struct allowance *a,
    const struct user *user, int64_t us);

/* A request was denied; it, or a client, was refused by a limit. */
void allowance_denied(struct allowance *a);
void allowance_refused(struct allowances *all, const struct user *user);

uint64_t allowances_refused(const struct allowances *all); /* of all users */

/* What a user has, and what was refused, for metrics. */
struct allowance_counts {
	uint64_t clients;
	uint64_t denied;
	uint64_t refused;
};
struct allowance_counts allowance_counts(
    const struct allowances *all, const struct user *user);

#endif
