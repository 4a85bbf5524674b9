/*
 * Counts what happens.
 *
 * Most events of a name count twice in its class: in the totals and histograms,
 * which only rise, and in the record of the present minute.  A wait or a hold
 * that is under way is also in the class at this moment: the list of waits has
 * the oldest first, so that no search is needed.
 *
 * A class may be gone from the configuration while waits and holds of its names
 * are under way.  Their end counts for measure_class_at(), which is `other`
 * then; but they leave the lists and counters of the class that has them.
 */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "core/parts/observe/classes.h"
#include "core/parts/observe/count.h"

#define MINUTE_MS 60000
#define OUT_OF_ORDER_MAX 8

/*
 * Buckets.  Most values are in the first ones, so the search begins there.
 *
 * Each family has bounds where its values matter: waits and handovers from 1 ms
 * on, holds up to hours, margins from far too little up to long leases.
 * Monitoring systems keep counts by bound, so a bound is not moved lightly.
 */

#define SEC 1000
#define HOUR (3600 * SEC)

const struct measure_scale measure_wait_scale = { 15,
	{ 1, 5, 10, 25, 50, 100, 250, 500, 1 * SEC, 2500, 5 * SEC, 10 * SEC,
	    30 * SEC, 60 * SEC, 300 * SEC } };

const struct measure_scale measure_hold_scale = { 15,
	{ 1, 5, 10, 50, 100, 500, 1 * SEC, 5 * SEC, 10 * SEC, 30 * SEC,
	    60 * SEC, 300 * SEC, 900 * SEC, 1 * HOUR, 6 * HOUR } };

const struct measure_scale measure_handover_scale = { 12,
	{ 1, 2, 5, 10, 25, 50, 100, 250, 500, 1 * SEC, 5 * SEC, 10 * SEC } };

const struct measure_scale measure_margin_scale = { 12,
	{ 50, 100, 250, 500, 1 * SEC, 2 * SEC, 3 * SEC, 5 * SEC, 7500, 10 * SEC,
	    30 * SEC, 60 * SEC } };

unsigned
measure_bucket(const struct measure_scale *scale, int64_t ms)
{
	unsigned i = 0;

	while (i < scale->n && ms > scale->le_ms[i])
		i++;
	return i;
}

/* A time or a margin below 0 counts as 0. */
void
measure_add(struct measure_histogram *h, int64_t ms)
{
	if (ms < 0)
		ms = 0;
	h->counts[measure_bucket(h->scale, ms)]++;
	h->count++;
	h->sum_ms += (uint64_t)ms;
}

int64_t
measure_percentile_ms(
    const struct measure_scale *scale, const uint32_t *counts, unsigned p)
{
	uint64_t all = 0, seen = 0;
	unsigned i;

	for (i = 0; i <= scale->n; i++)
		all += counts[i];
	for (i = 0; i < scale->n; i++) {
		seen += counts[i];
		/* Without values there is none to name; nor is an empty bucket
		 * the 0th of any. */
		if (seen > 0 && seen * 100 >= all * p)
			return scale->le_ms[i];
	}
	return -1;
}

const char *const measure_reasons[REASONS] = { "hold", "unreachable", "taken",
	"failover", "forced", "drill", "given-up", "other" };

/* The records are a ring of an hour: this one may still be the record of the
 * same minute an hour ago.  As many wait at its beginning as waited before. */
static struct measure_minute *
measure_this_minute(struct class *c, int64_t now_ms)
{
	int64_t minute = now_ms / MINUTE_MS;
	struct measure_minute *m = &c->minutes[minute % MEASURE_MINUTES];

	if (m->minute == minute)
		return m;
	memset(m, 0, sizeof(*m));
	m->minute = minute;
	m->waiters_max = (uint32_t)c->nwaits;
	return m;
}

/* Waits. */

/* The time does not go back, so the latest belongs at the end of the list; and
 * a wait that began a moment ago, near it. */
static void
line_up(struct class *c, struct measure_wait *w)
{
	struct measure_wait *last = TAILQ_LAST(&c->waits, wait_list);
	unsigned i;

	for (i = 0; i < OUT_OF_ORDER_MAX && last != NULL &&
		    last->since_ms > w->since_ms;
	     i++)
		last = TAILQ_PREV(last, wait_list, in_class);
	if (last != NULL)
		TAILQ_INSERT_AFTER(&c->waits, last, w, in_class);
	else
		TAILQ_INSERT_HEAD(&c->waits, w, in_class);
}

/* Requires that the mark is up to date (measure_classify()). */
void
measure_waits_since(struct measure *m, struct measure_wait *w,
    struct measure_mark mark, int64_t since_ms, int64_t now_ms)
{
	struct class *c = m->slots[mark.class];
	struct measure_minute *minute = measure_this_minute(c, now_ms);

	assert(mark.epoch == m->epoch);
	w->class = mark.class;
	w->since_ms = since_ms;
	line_up(c, w);
	c->nwaits++;
	if (c->nwaits > minute->waiters_max)
		minute->waiters_max = (uint32_t)c->nwaits;
}

void
measure_waits(struct measure *m, struct measure_wait *w,
    struct measure_mark mark, int64_t now_ms)
{
	measure_waits_since(m, w, mark, now_ms, now_ms);
}

/* Requires one of the results that have a number of their own. */
static void
count_wait(struct measure_minute *minute, enum measure_result result,
    int64_t waited_ms)
{
	uint32_t *const counts[RESULTS] = {
		[RESULT_GRANTED] = &minute->granted,
		[RESULT_TIMEOUT] = &minute->timeout,
		[RESULT_CANCELLED] = &minute->cancelled,
		[RESULT_REFUSED] = &minute->refused,
	};

	++*counts[result];
	minute->waits[measure_bucket(&measure_wait_scale, waited_ms)]++;
	if (waited_ms > minute->wait_max_ms)
		minute->wait_max_ms = waited_ms;
}

void
measure_waited(struct measure *m, struct measure_wait *w,
    enum measure_result result, int64_t now_ms)
{
	struct class *was = m->slots[w->class];
	struct class *c = measure_class_at(m, w->class);

	assert(was != NULL && was->nwaits > 0);
	TAILQ_REMOVE(&was->waits, w, in_class);
	was->nwaits--;
	/* A request that was put into the queue but is refused did not wait. */
	if (result == RESULT_BUSY) {
		c->busy++;
		measure_this_minute(c, now_ms)->busy++;
	}
	if (result >= RESULTS)
		return;
	measure_add(&c->wait[result], now_ms - w->since_ms);
	count_wait(
	    measure_this_minute(c, now_ms), result, now_ms - w->since_ms);
}

/* A request that never began to wait; else measure_waited() counts it. */
void
measure_busy(struct measure *m, struct measure_mark mark, int64_t now_ms)
{
	struct class *c = measure_class_at(m, mark.class);

	c->busy++;
	measure_this_minute(c, now_ms)->busy++;
}

/* Holds. */

/* Requires that the mark is up to date. */
void
measure_holds(struct measure *m, struct measure_mark mark)
{
	assert(mark.epoch == m->epoch);
	m->slots[mark.class]->nholds++;
}

/* When the class of a mark changes, its holds move along.  So they are in the
 * class of the mark whenever they end. */
void
measure_holds_not(struct measure *m, struct measure_mark mark)
{
	assert(m->slots[mark.class]->nholds > 0);
	m->slots[mark.class]->nholds--;
}

/* A reason that has no row counts as the last one, `other`. */
static void
count_loss(struct class *c, const char *reason, int64_t now_ms)
{
	struct measure_minute *minute = measure_this_minute(c, now_ms);
	unsigned i = 0;

	while (i < REASONS - 1 && strcmp(measure_reasons[i], reason) != 0)
		i++;
	c->lost[i]++;
	minute->lost++;
	if (strcmp(reason, "forced") == 0)
		minute->forced++;
}

/* A hold that its client lost is in two lists: the past of its name, which
 * newer holds push out, and the losses of all names. */
void
measure_held(struct measure *m, struct measure_mark mark,
    const struct measure_hold *hold, bool lost)
{
	struct class *c = measure_class_at(m, mark.class);
	int64_t held_ms = hold->ended_ms - hold->granted_ms;
	struct measure_minute *minute = measure_this_minute(c, hold->ended_ms);

	measure_add(&c->hold, held_ms);
	if (held_ms > minute->hold_max_ms)
		minute->hold_max_ms = held_ms;
	past_add(&m->past, hold);
	if (lost)
		measure_lost(m, mark, hold);
}

void
measure_lost(struct measure *m, struct measure_mark mark,
    const struct measure_hold *hold)
{
	count_loss(measure_class_at(m, mark.class), hold->end, hold->ended_ms);
	past_add(&m->losses, hold);
}

void
measure_handover(struct measure *m, struct measure_mark mark,
    enum measure_from from, int64_t ms)
{
	measure_add(&measure_class_at(m, mark.class)->handover[from], ms);
}

/* Waits and holds are counted one by one here, and by the modules that have
 * them: both must agree. */
void
measure_check(const struct measure *m, uint64_t waits, uint64_t holds)
{
	const struct measure_wait *w;
	unsigned i;
	uint64_t n;

	for (i = 0; i < SLOTS; i++) {
		if (m->slots[i] == NULL)
			continue;
		n = 0;
		TAILQ_FOREACH (w, &m->slots[i]->waits, in_class) {
			assert(w->class == i);
			n++;
		}
		assert(n == m->slots[i]->nwaits);
		assert(n <= waits && m->slots[i]->nholds <= holds);
		waits -= n;
		holds -= m->slots[i]->nholds;
	}
	assert(waits == 0 && holds == 0);
}
