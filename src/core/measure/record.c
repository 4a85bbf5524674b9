/*
 * Counts what happens.
 */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "core/measure/classes.h"
#include "core/measure/histogram.h"

#define MINUTE_MS 60000

const char *const measure_reasons[REASONS] = { "hold", "unreachable", "taken",
	"failover", "forced", "other" };

struct measure_minute *
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

void
measure_waits(struct measure *m, struct measure_wait *w,
    struct measure_mark mark, int64_t now_ms)
{
	struct class *c = m->slots[mark.class];
	struct measure_minute *minute = measure_this_minute(c, now_ms);

	assert(mark.epoch == m->epoch);
	w->class = mark.class;
	w->since_ms = now_ms;
	TAILQ_INSERT_TAIL(&c->waits, w, in_class);
	c->nwaits++;
	if (c->nwaits > minute->waiters_max)
		minute->waiters_max = (uint32_t)c->nwaits;
}

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
	minute->wait_sum_ms += (uint64_t)waited_ms;
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

void
measure_busy(struct measure *m, struct measure_mark mark, int64_t now_ms)
{
	struct class *c = measure_class_at(m, mark.class);

	c->busy++;
	measure_this_minute(c, now_ms)->busy++;
}

/* Holds. */

void
measure_holds(struct measure *m, struct measure_mark mark)
{
	assert(mark.epoch == m->epoch);
	m->slots[mark.class]->nholds++;
}

void
measure_holds_not(struct measure *m, struct measure_mark mark)
{
	assert(m->slots[mark.class]->nholds > 0);
	m->slots[mark.class]->nholds--;
}

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
	if (!lost)
		return;
	count_loss(c, hold->end, hold->ended_ms);
	past_add(&m->losses, hold);
}

void
measure_handover(struct measure *m, struct measure_mark mark,
    enum measure_from from, int64_t ms)
{
	measure_add(&measure_class_at(m, mark.class)->handover[from], ms);
}

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

void
measure_renewed(struct measure *m, struct measure_mark mark, int64_t left_ms)
{
	measure_add(&measure_class_at(m, mark.class)->margin, left_ms);
}
