/*
 * What measurements are made of.  Only files of this folder include this.
 */
#ifndef LOCKBROKER_CORE_MEASURE_CLASSES_H
#define LOCKBROKER_CORE_MEASURE_CLASSES_H

#include "core/measure/past.h"
#include "core/measure/record.h"

#define SLOTS 256 /* a mark has a byte for it */
#define OTHER 0	  /* the slot of what is in no class */

/* Why locks are lost; what is none of these comes last. */
#define REASONS 6
extern const char *const measure_reasons[REASONS];

TAILQ_HEAD(wait_list, measure_wait);

/* A beginning of names, or a whole one. */
struct pattern {
	char *text; /* owned */
	size_t n;
	bool open; /* anything may follow */
};

struct class
{
	char *name;		  /* owned */
	struct pattern *patterns; /* owned */
	size_t npatterns;
	bool shown;		/* it is in the configuration */
	struct wait_list waits; /* in the order of their arrival */
	uint64_t nwaits, nholds;
	struct measure_histogram wait[RESULTS];
	struct measure_histogram hold;
	struct measure_histogram handover[FROMS];
	struct measure_histogram margin;
	uint64_t busy, lost[REASONS];
	struct measure_minute minutes[MEASURE_MINUTES]; /* a ring */
};

struct measure {
	struct class *slots[SLOTS];	/* owned; NULL: free */
	uint8_t shown[MEASURE_CLASSES]; /* slots in the order of the
					   configuration, OTHER last */
	size_t nshown;
	uint8_t epoch; /* of the configuration; never 0 */
	struct past past, losses;
};

/* The class that numbers of a slot are counted in. */
static inline struct class *
measure_class_at(const struct measure *m, uint8_t slot)
{
	struct class *c = m->slots[slot];

	return c != NULL && c->shown ? c : m->slots[OTHER];
}

/* The present minute, which begins here if nothing has happened in it yet. */
struct measure_minute *measure_this_minute(struct class *c, int64_t now_ms);

#endif
