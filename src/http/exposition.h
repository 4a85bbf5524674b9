/*
 * Metrics as Prometheus reads them: its text format 0.0.4, and OpenMetrics 1.0.
 *
 * A family begins with its name, which for a counter ends with _total.  All its
 * samples follow before the next family.
 */
#ifndef LOCKBROKER_HTTP_EXPOSITION_H
#define LOCKBROKER_HTTP_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* The prefix of each metric name, except for those of the process. */
#define EXPOSITION_PREFIX "lockbrokerd_"

enum exposition_type {
	EXPOSITION_COUNTER,
	EXPOSITION_GAUGE,
	EXPOSITION_HISTOGRAM,
	EXPOSITION_INFO
};

#define EXPOSITION_BUCKETS 16

struct exposition {
	struct buf *out;
	bool openmetrics;
	const char *prefix; /* of the current family */
	const char *name;   /* borrowed; without _total */
	size_t name_len;
	enum exposition_type type;
	const int64_t *le; /* bounds whose texts are in the next member */
	char le_text[EXPOSITION_BUCKETS][24];
};

/* A label; an array of labels ends with a NULL key. */
struct exposition_label {
	const char *key;
	const char *value;
};

/* Returns the Content-Type of the text. */
const char *exposition_content_type(bool openmetrics);

void exposition_begin(struct exposition *x, struct buf *out, bool openmetrics);
void exposition_end(struct exposition *x);

/* prefix: EXPOSITION_PREFIX or "".  Borrows the name until the next family. */
void exposition_family(struct exposition *x, const char *prefix,
    const char *name, enum exposition_type type, const char *help);

/* labels may be NULL: none. */
void exposition_number(struct exposition *x,
    const struct exposition_label *labels, uint64_t value);
void exposition_ms(struct exposition *x, const struct exposition_label *labels,
    int64_t ms); /* in seconds */
void exposition_us(struct exposition *x, const struct exposition_label *labels,
    int64_t us); /* in seconds */

/*
 * A histogram of seconds.  `le` are the upper bounds of all buckets but the
 * last; each count is of its bucket alone.
 */
struct exposition_histogram {
	unsigned per_second; /* the unit of bounds and sum: 1000 is ms */
	const int64_t *le;
	const uint64_t *counts;
	size_t nbuckets; /* including the last, without a bound */
	uint64_t sum;
};

void exposition_histogram(struct exposition *x,
    const struct exposition_label *labels,
    const struct exposition_histogram *h);

#endif
