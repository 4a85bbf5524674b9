/*
 * The state of measurements.  Only files of this folder include this.
 */
#ifndef LOCKBROKER_CORE_PARTS_OBSERVE_CLASSES_H
#define LOCKBROKER_CORE_PARTS_OBSERVE_CLASSES_H

#include "core/parts/observe/count.h"
#include "core/parts/observe/past.h"

#define SLOTS 256 /* a mark has a byte for it */
#define OTHER 0	  /* the slot of names that are in no class */

/* Why locks are lost; the last is for any other reason. */
#define REASONS 8
extern const char *const measure_reasons[REASONS];

TAILQ_HEAD(wait_list, measure_wait);

/* A prefix of names, or a whole name. */
struct pattern {
	char *text; /* owned */
	size_t n;
	bool open; /* a prefix: anything may follow */
};

/* A class and all its numbers.  In a slot; freed when it is neither shown nor
 * needed. */
struct class
{
	char *name;		  /* owned */
	struct pattern *patterns; /* owned */
	size_t npatterns;
	bool shown;		/* the class is in the configuration */
	struct wait_list waits; /* in the order of arrival */
	uint64_t nwaits, nholds;
	struct measure_histogram wait[RESULTS];
	struct measure_histogram hold;
	struct measure_histogram handover[FROMS];
	struct measure_histogram margin;
	uint64_t busy, lost[REASONS];
	struct measure_minute minutes[MEASURE_MINUTES]; /* a ring */
};

/* All measurements.  Owned by the core. */
struct measure {
	struct class *slots[SLOTS];	/* owned; NULL: free */
	uint8_t shown[MEASURE_CLASSES]; /* slots in the order of the
					   configuration, OTHER last */
	size_t nshown;
	uint8_t epoch; /* counts configurations; never 0 */
	struct past past, losses;
};

/* Returns the class in which numbers of a slot count: `other` if the slot's own
 * is gone from the configuration. */
static inline struct class *
measure_class_at(const struct measure *m, uint8_t slot)
{
	struct class *c = m->slots[slot];

	return c != NULL && c->shown ? c : m->slots[OTHER];
}

#endif
