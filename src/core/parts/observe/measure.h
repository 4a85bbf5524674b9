/*
 * Measurements: how long requests wait for locks, how long sessions hold them,
 * and how that ends.  They are kept by class of names (metrics.classes), so
 * that the numbers are few, however many names there are.
 *
 *	lock --(count.h)---> classes: totals, histograms, the last hour
 *	                 \-> past: the latest holds of each name; what was lost
 *
 * This header is for modules that read measurements.  The module knows neither
 * clients nor the core: callers pass the core's time in milliseconds
 * (base/now.h).  All of it is bounded, whatever names clients invent, and the
 * cost of recording does not depend on how many there are.  A pointer that it
 * returns is valid until the next step of the core.
 */
#ifndef LOCKBROKER_CORE_PARTS_OBSERVE_MEASURE_H
#define LOCKBROKER_CORE_PARTS_OBSERVE_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"

#define MEASURE_CLASSES (METRICS_CLASSES_MAX + 1) /* with `other` */
#define MEASURE_BUCKETS 16			  /* the last is +Inf */
#define MEASURE_MINUTES 60			  /* remembered minutes */
#define MEASURE_NAME_HOLDS 100 /* remembered holds of one name */
#define MEASURE_HOLDS 10000    /* the same, of all names */
#define MEASURE_LOSSES 100     /* remembered losses, of all names */

struct measure;

/* Histograms. */

/* The upper bounds of buckets.  A value equal to a bound is in its bucket. */
struct measure_scale {
	unsigned n; /* bounds; one more bucket has none */
	int64_t le_ms[MEASURE_BUCKETS - 1];
};

struct measure_histogram {
	const struct measure_scale *scale;
	uint64_t counts[MEASURE_BUCKETS]; /* not cumulative */
	uint64_t count;			  /* of all buckets */
	uint64_t sum_ms;
};

/* Returns the p-th percentile as the upper bound of its bucket; -1 if it is in
 * the last bucket, or if there are no values. */
int64_t measure_percentile_ms(
    const struct measure_scale *scale, const uint32_t *counts, unsigned p);

/* For all waits, whatever their end; also in struct measure_minute. */
extern const struct measure_scale measure_wait_scale;

/* Families and rows. */

enum measure_type { MEASURE_COUNTER, MEASURE_GAUGE, MEASURE_HISTOGRAM };

/*
 * MEASURE(identifier, "name without prefix", type, unit, "second label" or
 * NULL, "help").  Unit SECONDS: values are in milliseconds, and the name ends
 * with _seconds; NONE: they are numbers.
 */
/* clang-format off */
#define MEASURES(MEASURE) \
	MEASURE(WAIT, "lock_wait_seconds", HISTOGRAM, SECONDS, "result", \
	    "How long requests for locks waited, by end: granted, timeout, cancelled (by CANCEL, or because the client had gone), refused.") \
	MEASURE(HOLD, "lock_hold_seconds", HISTOGRAM, SECONDS, NULL, \
	    "How long locks were held.") \
	MEASURE(HANDOVER, "lock_handover_seconds", HISTOGRAM, SECONDS, "from", \
	    "Time from the release of a contended lock to the next grant: from a session of this broker (here), or from another broker (elsewhere).") \
	MEASURE(MARGIN, "lease_renewal_margin_seconds", HISTOGRAM, SECONDS, NULL, \
	    "Time left of the lease when its renewal was confirmed.") \
	MEASURE(OLDEST, "lock_oldest_wait_seconds", GAUGE, SECONDS, NULL, \
	    "How long the oldest request has waited, or polled.") \
	MEASURE(WAITERS, "lock_waiters", GAUGE, NONE, NULL, \
	    "Requests for locks that wait, or poll.") \
	MEASURE(HELD, "lock_holds", GAUGE, NONE, NULL, \
	    "Locks that are held: locks_held by class.") \
	MEASURE(BUSY, "lock_busy_total", COUNTER, NONE, NULL, \
	    "Requests answered BUSY, and first tries of pollers that were refused.") \
	MEASURE(LOST, "lock_losses_total", COUNTER, NONE, "reason", \
	    "Locks, and permits of sessions, that were lost, or (given-up) released while at risk.") \
/* clang-format on */

enum measure_id {
#define MEASURE(id, name, type, unit, label, help) MEASURE_OF_##id,
	MEASURES(MEASURE)
#undef MEASURE
	    MEASURE_FAMILIES
};

struct measure_family {
	enum measure_id id;
	const char *name;
	enum measure_type type;
	bool seconds;	   /* values are milliseconds */
	const char *label; /* name of the second label; NULL: none */
	const char *help;
};

/* One number or histogram of one class. */
struct measure_row {
	const struct measure_family *family;
	const char *class;	   /* of the label `class` */
	const char *value;	   /* of the second label; NULL: none */
	uint64_t number;	   /* a counter or gauge */
	const struct measure_histogram *histogram; /* else NULL */
};

/*
 * Calls `row` for all rows: family by family, the classes in the order of the
 * configuration, `other` last.  All rows are there from the beginning, so that
 * a scraper sees the first event of a kind as a difference.
 */
typedef void measure_row_fn(void *arg, const struct measure_row *row);
void measure_each(const struct measure *m, int64_t now_ms, measure_row_fn *row,
    void *arg);

/* Classes, as operators read them. */

struct measure_class {
	const char *name;
	uint64_t waiters, held;
	int64_t oldest_ms; /* how long the oldest has waited; -1: none waits */
	/* Totals: waits that ended with a grant, and without; how long both
	 * took; locks lost. */
	uint64_t granted, given_up, wait_ms, lost;
};

/* Returns how many classes there are; `other` is the last of them. */
size_t measure_classes(const struct measure *m);
struct measure_class measure_class(
    const struct measure *m, size_t i, int64_t now_ms);
/* Returns the name of the class in which the numbers of a name count. */
const char *measure_class_of(
    const struct measure *m, const char *name, size_t name_len);

/* One minute of a class. */
struct measure_minute {
	int64_t minute; /* of the clock of the core: now_ms / 60000 */
	uint32_t granted, timeout, cancelled, refused, busy, lost, forced;
	uint32_t waiters_max;
	int64_t wait_max_ms, hold_max_ms; /* of those that ended then */
	uint32_t waits[MEASURE_BUCKETS]; /* by measure_wait_scale */
};

/* Returns the minute that long ago, 0 being the present one; NULL if nothing
 * happened in it.  Requires that `ago` is less than MEASURE_MINUTES. */
const struct measure_minute *measure_minute(
    const struct measure *m, size_t class, unsigned ago, int64_t now_ms);

/* The past. */

/* A hold that is over. */
struct measure_hold {
	const char *name; /* not terminated */
	size_t name_len;
	uint64_t session;
	const char *label; /* NULL: none */
	const char *peer;
	const char *user; /* NULL: none */
	bool shared;
	uint64_t fence;
	uint64_t permits; /* of a semaphore; 0: it is a lock */
	int64_t granted_ms, ended_ms; /* times of the core */
	int64_t waited_ms;	      /* before it was granted */
	/* "released", "dropped" (its session ended), "given-up" (either, while
	 * it was at risk), or why it was lost, in the words of !LOST. */
	const char *end;
	const char *by; /* who forced its end; NULL: it was not forced */
	const char *trace; /* of the request; NULL: none */
};

/*
 * Return, one a call, the latest holds of a name, and the latest losses of all
 * names, with forced releases.  The latest comes first.  `place` is NULL at
 * first; after that, the caller leaves it alone.  Return false if there are no
 * more.
 */
bool measure_past_of(const struct measure *m, const char *name, size_t name_len,
    const void **place, struct measure_hold *out);
bool measure_losses(
    const struct measure *m, const void **place, struct measure_hold *out);

/* Returns the label, or else the peer, of the last holder of the name as a
 * lock; NULL: not known. */
const char *measure_last_holder(
    const struct measure *m, const char *name, size_t name_len);

#endif
