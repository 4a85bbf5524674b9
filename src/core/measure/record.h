/*
 * The side of measurements that takes them: what the core tells when it
 * happens.  Each of these costs the same, however much there is.
 */
#ifndef LOCKBROKER_CORE_MEASURE_RECORD_H
#define LOCKBROKER_CORE_MEASURE_RECORD_H

#include "base/list.h"
#include "core/measure/measure.h"

struct measure *measure_new(void);
void measure_free(struct measure *m);

/*
 * Takes over the classes, which are copied.  One that was there before keeps
 * its numbers; what is under way in one that is gone belongs to `other`.
 */
void measure_configure(
    struct measure *m, const struct metrics_settings *settings);

/* The class of a name, kept with it.  All zero: not looked for yet. */
struct measure_mark {
	uint8_t class; /* a slot of the classes */
	uint8_t epoch; /* of the configuration by which it was found */
};

/*
 * Sees to it that the mark is that of the present configuration.  `holds`: how
 * many of the name are counted as held.
 */
void measure_classify(struct measure *m, struct measure_mark *mark,
    const char *name, size_t len, uint32_t holds);

/* How a wait ends.  NONE is one that is not counted: a re-entry. */
enum measure_result {
	RESULT_GRANTED,
	RESULT_TIMEOUT,
	RESULT_CANCELLED,
	RESULT_REFUSED,
	RESULTS,
	RESULT_BUSY = RESULTS,
	RESULT_NONE
};

/* In each request; they come in the order of time. */
struct measure_wait {
	TAILQ_ENTRY(measure_wait) in_class;
	int64_t since_ms;
	uint8_t class; /* that of the name when it came */
};

void measure_waits(struct measure *m, struct measure_wait *w,
    struct measure_mark mark, int64_t now_ms);
void measure_waited(struct measure *m, struct measure_wait *w,
    enum measure_result result, int64_t now_ms);

/* BUSY without a wait. */
void measure_busy(struct measure *m, struct measure_mark mark, int64_t now_ms);

/* A hold begins; ends, told or not. */
void measure_holds(struct measure *m, struct measure_mark mark);
void measure_holds_not(struct measure *m, struct measure_mark mark);

/* One that was told has ended: into the histograms and the past. */
void measure_held(struct measure *m, struct measure_mark mark,
    const struct measure_hold *hold, bool lost);

enum measure_from { FROM_HERE, FROM_ELSEWHERE, FROMS };
void measure_handover(struct measure *m, struct measure_mark mark,
    enum measure_from from, int64_t ms);
void measure_renewed(
    struct measure *m, struct measure_mark mark, int64_t left_ms);

/* Aborts unless so many wait and are held in all classes together. */
void measure_check(const struct measure *m, uint64_t waits, uint64_t holds);

#endif
