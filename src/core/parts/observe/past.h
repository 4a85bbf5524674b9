/*
 * The latest holds, by name and in all.  Both are bounded, so that one name
 * that changes hands all the time does not push all others out.
 */
#ifndef LOCKBROKER_CORE_PARTS_OBSERVE_PAST_H
#define LOCKBROKER_CORE_PARTS_OBSERVE_PAST_H

#include "base/list.h"
#include "core/parts/observe/measure.h"

TAILQ_HEAD(past_list, past_hold);

/* The remembered holds.  Embedded in its owner. */
struct past {
	struct past_hold **names; /* by hash: the latest hold of each name */
	unsigned size;		  /* of `names`, a power of two */
	struct past_list all;	  /* the latest first */
	unsigned n, most;	  /* of all names */
	unsigned most_of_name;	  /* of any one name */
};

void past_init(struct past *p, unsigned most, unsigned most_of_name);
void past_fini(struct past *p);

/* Adds a copy, in the place of the oldest if there is no room.  Does not copy
 * the text of `end`, which must be static. */
void past_add(struct past *p, const struct measure_hold *hold);

/* See measure_past_of() and measure_losses(). */
bool past_of(const struct past *p, const char *name, size_t name_len,
    const void **place, struct measure_hold *out);
bool past_any(
    const struct past *p, const void **place, struct measure_hold *out);

#endif
