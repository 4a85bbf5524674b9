/*
 * Histograms: adding a value takes a few comparisons.
 */
#ifndef LOCKBROKER_CORE_MEASURE_HISTOGRAM_H
#define LOCKBROKER_CORE_MEASURE_HISTOGRAM_H

#include "core/measure/measure.h"

/* Returns the bucket of a value; the last one has no bound. */
unsigned measure_bucket(const struct measure_scale *scale, int64_t ms);
void measure_add(struct measure_histogram *h, int64_t ms);

extern const struct measure_scale measure_hold_scale;
extern const struct measure_scale measure_handover_scale;
extern const struct measure_scale measure_margin_scale;

#endif
