/*
 * Taking measurements: the core calls these functions when something happens.
 * Their cost does not depend on how much there is.
 */
#ifndef LOCKBROKER_CORE_PARTS_OBSERVE_COUNT_H
#define LOCKBROKER_CORE_PARTS_OBSERVE_COUNT_H

#include "core/kernel/turn/marks.h"
#include "core/parts/observe/measure.h"

struct measure *measure_new(void);
void measure_free(struct measure *m);

/*
 * Sets the classes, from a copy.  A class that was there before keeps its
 * numbers; waits and holds of a class that is gone count as `other`.
 */
void measure_configure(
    struct measure *m, const struct metrics_settings *settings);

/*
 * Looks up the class of a name again if the configuration has changed.  `holds`
 * is how many holds of the name are counted in its class.
 */
void measure_classify(struct measure *m, struct measure_mark *mark,
    const char *name, size_t len, uint32_t holds);

/* A wait begins; it ends. */
void measure_waits_since(struct measure *m, struct measure_wait *w,
    struct measure_mark mark, int64_t since_ms, int64_t now_ms);
void measure_waits(struct measure *m, struct measure_wait *w,
    struct measure_mark mark, int64_t now_ms);
void measure_waited(struct measure *m, struct measure_wait *w,
    enum measure_result result, int64_t now_ms);

/* A request is answered BUSY without a wait. */
void measure_busy(struct measure *m, struct measure_mark mark, int64_t now_ms);

/* A hold begins; it ends, whether its client was told of it or not. */
void measure_holds(struct measure *m, struct measure_mark mark);
void measure_holds_not(struct measure *m, struct measure_mark mark);

/* A hold of which its client was told has ended: adds it to the histograms and
 * the past. */
void measure_held(struct measure *m, struct measure_mark mark,
    const struct measure_hold *hold, bool lost);

/* The same for holdings that count only if they are lost: permits. */
void measure_lost(struct measure *m, struct measure_mark mark,
    const struct measure_hold *hold);

enum measure_from { FROM_HERE, FROM_ELSEWHERE, FROMS };
void measure_handover(struct measure *m, struct measure_mark mark,
    enum measure_from from, int64_t ms);

/* Checks that all classes together have this many waits and holds.  Aborts if
 * not. */
void measure_check(const struct measure *m, uint64_t waits, uint64_t holds);

/*
 * Histograms: adding a value takes a few comparisons.
 */

/* Returns the bucket of a value; the last one has no bound. */
unsigned measure_bucket(const struct measure_scale *scale, int64_t ms);
void measure_add(struct measure_histogram *h, int64_t ms);

extern const struct measure_scale measure_hold_scale;
extern const struct measure_scale measure_handover_scale;
extern const struct measure_scale measure_margin_scale;

#endif
