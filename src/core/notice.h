/*
 * THE list of the core's log lines for the operator.  A line is an effect with
 * fields; lockbroker-log(7) describes each.
 *
 * ROW(identifier, level, "name of the event")
 */
#ifndef LOCKBROKER_CORE_NOTICE_H
#define LOCKBROKER_CORE_NOTICE_H

/* clang-format off */
#define CORE_NOTICES(ROW) \
	ROW(SESSION_BEGINS, DEBUG, "session-begins") \
	ROW(SESSION_NAMED, DEBUG, "session-named") \
	ROW(SESSION_AWAY, DEBUG, "session-away") \
	ROW(SESSION_RESUMED, DEBUG, "session-resumed") \
	ROW(SESSION_ENDS, DEBUG, "session-ends") \
	ROW(GRACE_EXHAUSTED, WARNING, "grace-exhausted") \
	ROW(LOCK_GRANTED, DEBUG, "lock-granted") \
	ROW(LOCK_RELEASED, DEBUG, "lock-released") \
	ROW(PERMITS_GRANTED, DEBUG, "permits-granted") \
	ROW(PERMITS_RELEASED, DEBUG, "permits-released") \
	ROW(LOCK_LOST, WARNING, "lock-lost") \
	ROW(LOCK_BOUND, INFO, "lock-lost") \
	ROW(PERMITS_LOST, WARNING, "permits-lost") \
	ROW(PERMITS_BOUND, INFO, "permits-lost") \
	ROW(LOCK_GIVEN_UP, WARNING, "lock-given-up") \
	ROW(PERMITS_GIVEN_UP, WARNING, "permits-given-up") \
	ROW(MORE_LOST, WARNING, "locks-lost") \
	ROW(MORE_GIVEN_UP, WARNING, "locks-given-up") \
	ROW(MORE_BOUND, INFO, "locks-lost") \
	ROW(LOCK_STOPPED, NOTICE, "lock-stopped") \
	ROW(MORE_STOPPED, NOTICE, "locks-stopped") \
	ROW(LOCK_AT_RISK, WARNING, "lock-at-risk") \
	ROW(PERMITS_AT_RISK, WARNING, "permits-at-risk") \
	ROW(PERMITS_SAFE, NOTICE, "permits-safe") \
	ROW(MORE_AT_RISK, WARNING, "locks-at-risk") \
	ROW(LOCK_SAFE, NOTICE, "lock-safe") \
	ROW(MORE_SAFE, NOTICE, "locks-safe") \
	ROW(LOCK_ENDED, INFO, "lock-ended") \
	ROW(UNLOCK_FORCE, NOTICE, "unlock-force") \
	ROW(FORCE_ASKED, NOTICE, "unlock-force-asked") \
	ROW(FORCED, NOTICE, "forced") \
	ROW(TOKEN_GRANTED, DEBUG, "token-granted") \
	ROW(TOKEN_EXTENDED, DEBUG, "token-extended") \
	ROW(TOKEN_RELEASED, DEBUG, "token-released") \
	ROW(TOKEN_DELETED, DEBUG, "token-deleted") \
	ROW(TOKENS_LEFT, NOTICE, "tokens-left") \
	ROW(TOKENS_ADOPTED, NOTICE, "tokens-adopted") \
	ROW(TOKENS_NOT_ADOPTED, WARNING, "tokens-not-adopted") \
	ROW(GUARD_PENDING, NOTICE, "guard-pending") \
	ROW(GUARD_READY, NOTICE, "guard-ready") \
	ROW(GUARD_REFUSES, ERROR, "guard-refuses") \
	ROW(GUARD_FENCES, ERROR, "guard-fences") \
	ROW(CLOCK_GAINED, WARNING, "clock-gained") \
	ROW(FENCE_AHEAD, WARNING, "fence-ahead") \
	ROW(FENCE_REFUSED, WARNING, "fence-refused") \
	ROW(WARM_REFUSED, WARNING, "warm-refused") \
	ROW(WARM_PLAIN, NOTICE, "warm-plain") \
	ROW(SAME_NAME, WARNING, "broker-same-name") \
	ROW(SAME_TOKEN, NOTICE, "same-token-twice") \
	ROW(QUORUM_SERVERS, ERROR, "quorum-servers") \
	ROW(QUORUM_LOST, ERROR, "quorum-lost") \
	ROW(QUORUM_BACK, NOTICE, "quorum-back")
/* clang-format on */

enum notice_id {
#define ROW(id, level, name) NOTICE_##id,
	CORE_NOTICES(ROW)
#undef ROW
	    NOTICE_MAX
};

#endif
