/*
 * Questions to the core besides its steps: LIST, QUEUE, HISTORY, NAMES,
 * BROKERS, STATS, and the time that PING vouches for.
 */
#ifndef LOCKBROKER_CORE_DUMP_H
#define LOCKBROKER_CORE_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/field.h"
#include "base/kind.h"

struct core;

/* One line of a list: a word or NULL, a name or NULL, and fields. */
struct core_row {
	const char *word;
	const char *name;
	size_t name_len;
	const struct field *fields;
	size_t nfields;
	const char *text; /* the strings of the fields */
};
typedef void (*core_row_fn)(void *arg, const struct core_row *row);

/*
 * The core makes a list in parts of less than a millisecond; it may step
 * between them.  LIST is about a session, QUEUE (core_line_begin(): of a
 * synchronizer) and HISTORY about a name; `limit` is the maximum number of
 * rows.  core_listing_end() frees a list.
 */
struct listing;
struct listing *core_list_begin(struct core *core, uint64_t session);
struct listing *core_queue_begin(
    struct core *core, const char *name, size_t name_len, size_t limit);
struct listing *core_line_begin(struct core *core, enum kind kind,
    const char *name, size_t name_len, size_t limit);
struct listing *core_history_begin(
    struct core *core, const char *name, size_t name_len, size_t limit);
struct listing *core_names_begin(struct core *core, size_t limit);

/* BROKERS: the brokers that Redis listed last, by name.  `told_ms`: when it did
 * so; 0: never. */
struct listing *core_brokers_begin(struct core *core);
int64_t core_brokers_told_ms(const struct core *core);
/* Is that list old, because Redis could not be asked when it was last
 * wanted? */
bool core_brokers_stale(const struct core *core);

/*
 * NAMES: leaves out names for which `shows`, called by the parts, is false, and
 * names that do not match the pattern, which is copied: a name, or a prefix and
 * an asterisk.  By age, the names that have been held longest come first.
 */
typedef bool (*core_shows_fn)(void *arg, const char *name, size_t name_len);
void core_names_only(struct listing *g, core_shows_fn shows, void *arg);
void core_names_like(struct listing *g, const char *pattern, size_t len);
void core_names_by_age(struct listing *g);

/* NAMES: returns how many there are, also beyond the limit.  Names that come and
 * go while the list is made may be left out, or counted twice. */
uint64_t core_listing_total(const struct listing *g);

/*
 * Makes the next part.  Returns false if it was the last one.  A NULL row says
 * that the rows so far are no longer true, and that all rows come again.
 */
bool core_listing_part(struct core *core, struct listing *g, int64_t now_ms,
    core_row_fn row, void *arg) __attribute__((warn_unused_result));

/* QUEUE: returns how many wait for the name. */
uint64_t core_listing_waiters(const struct core *core, const struct listing *g);

/* Frees a list that is complete, or that the driver gives up. */
void core_listing_end(struct listing *g);

/*
 * Returns what PING may answer: for how long the broker vouches for everything
 * that the session holds; -1 if it holds nothing.  The core remembers the
 * answer, because it binds the broker ("End of stream" in
 * lockbroker-protocol(7)).
 */
int64_t core_ping(struct core *core, int64_t now_ms, uint64_t session);

/* Totals of all sessions of a user (parts/tenant). */
struct core_user_load {
	uint64_t holds;	  /* locks, permits, token holds */
	uint64_t waiting; /* requests, and tokens that poll */
	uint64_t refused; /* requests, so far, by auth.users[].limits */
};
struct core_user_load core_user_load(const struct core *core, const char *user);

/* Number of such requests of all users, so far. */
uint64_t core_users_refused(const struct core *core);

/* Does the session hold the name, as a lock or permits of it? */
bool core_holds(const struct core *core, uint64_t session, const char *name,
    size_t name_len);

/* Has this broker granted the name to a token of the session's user, or
 * extended that hold last? */
bool core_gave_token(const struct core *core, uint64_t session,
    const char *name, size_t name_len);

/* Would RESUME by this user find a session?  NULL: there are no users. */
bool core_resumable(struct core *core, int64_t now_ms, const char *key,
    size_t key_len, const char *user);

/* May the session be this user's, or has that one too many with grace=? */
bool core_has_place(
    const struct core *core, uint64_t session, const char *user);

/* Does the session hold nothing, and wait for nothing? */
bool core_is_idle(const struct core *core, uint64_t session);

/* STAT(identifier, "name", COUNTER or GAUGE, "help"): as statistics.def */
/* clang-format off */
#define CORE_STATS(STAT) \
	STAT(grants, "grants_total", COUNTER, "Grants of locks, re-entries not counted.") \
	STAT(handovers, "handovers_total", COUNTER, "Grants of locks handed from one session of this broker to the next.") \
	STAT(warm_grants, "warm_grants_total", COUNTER, "Grants from a cached lease, without a round trip to Redis.") \
	STAT(warm_recalls, "warm_recalls_total", COUNTER, "Cached leases that were revoked because another client asked for the lock.") \
	STAT(releases, "releases_total", COUNTER, "Releases of locks.") \
	STAT(renewals, "renewals_total", COUNTER, "Renewals of leases in Redis.") \
	STAT(lost, "lost_total", COUNTER, "Locks, and permits of sessions, lost or given up.") \
	STAT(timeouts, "timeouts_total", COUNTER, "Requests that timed out.") \
	STAT(reasserted, "reasserted_total", COUNTER, "Leases that were re-registered on a server with a new dataset.") \
	STAT(adopted, "token_holds_adopted_total", COUNTER, "Token holds and reserved names adopted from brokers that had gone.") \
	STAT(spells, "redis_history_changes_total", COUNTER, "Changes of dataset that were found on servers, such as restarts.") \
	STAT(withdrawn, "grants_withdrawn_total", COUNTER, "Grants that expired before the client was notified, and were withdrawn.") \
	STAT(graces_refused, "graces_refused_total", COUNTER, "SESSION requests for grace= refused because all places were taken.") \
	STAT(graces_dropped, "graces_dropped_total", COUNTER, "Disconnected sessions without locks that were ended to free their place.") \
	STAT(step_visits_max, "things_at_a_time_max", GAUGE, "Most objects that the broker has processed in one step.")
/* clang-format on */

struct core_stats {
#define STAT(id, name, type, help) uint64_t id;
	CORE_STATS(STAT)
#undef STAT
};

/* No name stays warm on a server (or bucket), because a program that uses Redis
 * without a broker was found there. */
struct core_plain {
	uint64_t since_s, until_s; /* since 1970, by its clock; 0: none was */
	const char *name; /* that it had; good until the next step; or NULL */
};

/* Gauges: they cost nothing but a look at each guard. */
struct core_gauges {
	uint64_t graces; /* sessions that take a place for grace= */
	uint64_t sessions, locks_held, waiters, names;
	uint64_t locks_at_risk, permits_at_risk;
	uint64_t unowned; /* reserved names */
	uint64_t nplain;  /* servers, or buckets, with a core_plain; ... */
	struct core_plain plain; /* ... the first since, and the last until */
	uint64_t tokens;	 /* token holds that this broker looks after */
	uint64_t parked;	 /* tokens that wait; also in waiters */
	uint64_t bound;		 /* the same, and names that may become so */
	uint64_t latches_made;	 /* whose ttl= has not expired */
	uint64_t permits_held;
	uint64_t syncs[KIND_MAX]; /* synchronizers of each kind ... */
	uint64_t all_syncs;	  /* ... and of all */
	bool ready;		  /* every guard grants */
	int64_t paused_ms; /* since all could be granted last; 0: it can */
	int64_t grace_ms;  /* until the last of them does; 0: none pending */
	char why[320];	   /* not ready: why, in words */
};

/* The guard of one shard, as operators see it. */
struct core_guard {
	bool up;	 /* operations can be sent there */
	bool ready;	 /* it would grant, if it decided alone */
	int64_t left_ms; /* not ready: until it is; 0: not known, or never */
	char why[256];	 /* not ready: why, in words */
	struct core_plain plain;
};

void core_guard(
    const struct core *core, uint32_t shard, struct core_guard *out);

/*
 * Returns the latest time that the clock of the name's server can show, in
 * milliseconds since 1970; 0: unknown, because that server has not answered
 * yet.
 */
int64_t core_server_ms(
    const struct core *core, int64_t now_ms, const char *name, size_t name_len);

/*
 * Writes the history that the server reported last, as a text, so that two
 * brokers can compare; "" if it has not reported any.
 */
#define CORE_HISTORY_SIZE 17
void core_history(
    const struct core *core, uint32_t shard, char out[CORE_HISTORY_SIZE]);

const struct core_stats *core_stats(const struct core *core);
void core_gauges(struct core *core, int64_t now_ms, struct core_gauges *gauges);

/* Times of waiting and holding, by class of names: observe/measure.h. */
struct measure;
const struct measure *core_measure(const struct core *core);

#endif
