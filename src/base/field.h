/*
 * The fields of replies and events, one list.
 *
 * FIELD(identifier, "key on the wire", how the value is written)
 * NUM decimal, MS decimal with "ms" after it, STR as it is.
 *
 * Consecutive NUM fields with the same identifier are one field with its
 * values joined by commas: `fence=7,8`.
 */
#ifndef LOCKBROKER_BASE_FIELD_H
#define LOCKBROKER_BASE_FIELD_H

#include <stdint.h>

/* clang-format off */
#define FIELDS(FIELD) \
	FIELD(ID, "id", NUM) \
	FIELD(PID, "pid", NUM) \
	FIELD(KEY, "key", STR) \
	FIELD(LABEL, "label", STR) \
	FIELD(GRACE, "grace", MS) \
	FIELD(HEARTBEAT, "heartbeat", MS) \
	FIELD(LOCKS, "locks", NUM) \
	FIELD(LINES, "lines", NUM) \
	FIELD(TOTAL, "total", NUM) \
	FIELD(VALID, "valid", MS) \
	FIELD(VERSION, "version", STR) \
	FIELD(INSTANCE, "instance", STR) \
	FIELD(PROTOCOL, "protocol", NUM) \
	FIELD(REDIS, "redis", STR) \
	FIELD(FENCE, "fence", NUM) \
	FIELD(LEASE_FENCE, "lease_fence", NUM) \
	FIELD(DEPTH, "depth", NUM) \
	FIELD(DEFERRED, "deferred", NUM) \
	FIELD(USER, "user", STR) \
	FIELD(VIA, "via", STR) \
	FIELD(STATE, "state", STR) \
	FIELD(WAITERS, "waiters", NUM) \
	FIELD(HELD_BY, "holder", STR) \
	FIELD(HANDOVERS, "handovers", NUM) \
	FIELD(OLDEST, "oldest", MS) \
	FIELD(BROKER, "broker", STR) \
	FIELD(ADDRESS, "address", STR) \
	FIELD(SESSION, "session", NUM) \
	FIELD(PEER, "peer", STR) \
	FIELD(MODE, "mode", STR) \
	FIELD(AGE, "age", MS) \
	FIELD(UNTIL, "until", MS) \
	FIELD(AT_RISK, "at_risk", MS) \
	FIELD(HOLDERS, "holders", NUM) \
	FIELD(AWAY, "away", MS) \
	FIELD(TTL, "ttl", MS) \
	FIELD(LEFT, "left", MS) \
	FIELD(REASON, "reason", STR) \
	FIELD(KIND, "kind", STR) \
	FIELD(OTHER, "other", STR) \
	FIELD(LIMIT, "limit", NUM) \
	FIELD(PARTIES, "parties", NUM) \
	FIELD(ARRIVED, "arrived", NUM) \
	FIELD(PERMITS, "permits", NUM) \
	FIELD(FREE, "free", NUM) \
	FIELD(SLOT, "slot", NUM) \
	FIELD(COUNT, "count", NUM) \
	FIELD(INDEX, "index", NUM) \
	FIELD(GENERATION, "generation", NUM) \
	FIELD(WAITED, "waited", MS) \
	FIELD(HELD, "held", MS) \
	FIELD(END, "end", STR) \
	FIELD(BY, "by", STR) \
	FIELD(AGO, "ago", MS) \
	FIELD(LEASE, "lease", MS) \
	FIELD(SEEN, "seen", MS) \
	FIELD(HTTP, "http", STR) \
	FIELD(LEAVING, "leaving", NUM) \
	FIELD(HOLDS, "holds", NUM) \
	FIELD(CLIENTS, "clients", NUM) \
	FIELD(MISSING, "missing", NUM) \
	FIELD(ASOF, "asof", MS) \
	FIELD(SELF, "self", NUM) \
	FIELD(TWICE, "twice", NUM) \
	FIELD(NAME, "name", STR) \
	FIELD(BEFORE, "before", NUM) \
	FIELD(KEPT, "kept", MS) \
	FIELD(WAS, "was", STR) \
	FIELD(WHY, "why", STR) \
	FIELD(TAGGED, "tagged", NUM) \
	FIELD(VALUE, "value", STR) \
	FIELD(TOOK, "took", MS) \
	FIELD(TOOK_MAX, "took", STR) \
	FIELD(TRACE, "trace", STR)

/*
 * LOGFIELD: the same for keys of log lines only.  Durations in the log are
 * numbers, and their keys end with "_ms".
 */
#define LOG_FIELDS(LOGFIELD) \
	LOGFIELD(TEXT, "text", STR) \
	LOGFIELD(ADVICE, "advice", STR) \
	LOGFIELD(SHARD, "node", NUM) \
	LOGFIELD(CAUSE, "cause", STR) \
	LOGFIELD(WAIT, "wait", MS) \
	LOGFIELD(AFTER, "after", MS) \
	LOGFIELD(DOWN, "down", MS) \
	LOGFIELD(OF, "of", NUM) \
	LOGFIELD(UP, "up", NUM) \
	LOGFIELD(READY, "ready", NUM) \
	LOGFIELD(NEEDED, "needed", NUM) \
	LOGFIELD(UID, "uid", NUM) \
	LOGFIELD(HOLDER, "holder", NUM) \
	LOGFIELD(HOLDER_LABEL, "holder_label", STR) \
	LOGFIELD(HOLDER_PEER, "holder_peer", STR)
/* clang-format on */

enum field_id {
#define FIELD(id, key, how) FIELD_##id,
	FIELDS(FIELD)
#undef FIELD
	    FIELD_MAX, /* of replies and events */
	FIELD_LOG_FIRST = FIELD_MAX - 1,
#define LOGFIELD(id, key, how) FIELD_##id,
	LOG_FIELDS(LOGFIELD)
#undef LOGFIELD
	    FIELD_LOG_MAX
};

/*
 * One field of a reply or event.  Strings are in a text arena of the field's
 * maker (`str` is an offset into it), because their source may be gone when the
 * field is written.
 */
struct field {
	enum field_id id;
	uint32_t str; /* offset of a STR value */
	uint32_t len; /* its length in bytes */
	uint64_t num; /* a NUM or MS value */
};

#endif
