/*
 * The reading side of measurements.
 *
 * measure_each() returns rows, for programs.  measure_class() and
 * measure_minute() return the same for one class, for display.  Both go through
 * the classes that are shown, in their order; the remains of a class that is
 * gone count as `other`.
 */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "core/parts/observe/classes.h"

#define MINUTE_MS 60000

static const struct measure_family families[MEASURE_FAMILIES] = {
#define NONE false
#define SECONDS true
#define MEASURE(id, name, type, unit, label, help)                         \
	[MEASURE_OF_##id] = { MEASURE_OF_##id, name, MEASURE_##type, unit, \
		label, help },
	MEASURES(MEASURE)
#undef MEASURE
#undef SECONDS
#undef NONE
};

/* The waits and holds under way in a class. */
struct pending {
	uint64_t waits, holds;
	int64_t since_ms; /* the oldest; -1: none */
};

static void
add_pending(struct pending *p, const struct class *c)
{
	const struct measure_wait *w = TAILQ_FIRST(&c->waits);

	p->waits += c->nwaits;
	p->holds += c->nholds;
	if (w != NULL && (p->since_ms < 0 || w->since_ms < p->since_ms))
		p->since_ms = w->since_ms;
}

/* The waits and holds of classes that are gone count as `other`, which
 * therefore needs a look at all slots. */
static struct pending
pending_of(const struct measure *m, uint8_t slot)
{
	struct pending p = { 0, 0, -1 };
	unsigned i;

	add_pending(&p, m->slots[slot]);
	for (i = OTHER + 1; slot == OTHER && i < SLOTS; i++)
		if (m->slots[i] != NULL && !m->slots[i]->shown)
			add_pending(&p, m->slots[i]);
	return p;
}

/* A class as a reader sees it, and the reader. */
struct view {
	const struct class *class;
	struct pending pending;
	int64_t now_ms;
	measure_row_fn *row;
	void *arg;
};

/* Text of rows is static, or lives as long as the class. */
static void
write_row(const struct view *v, enum measure_id id, const char *value,
    uint64_t number, const struct measure_histogram *histogram)
{
	v->row(v->arg, &(struct measure_row){ .family = &families[id],
			   .class = v->class->name,
			   .value = value,
			   .number = number,
			   .histogram = histogram });
}

static void
tell_waits(const struct view *v)
{
	static const char *const results[RESULTS] = {
		[RESULT_GRANTED] = "granted",
		[RESULT_TIMEOUT] = "timeout",
		[RESULT_CANCELLED] = "cancelled",
		[RESULT_REFUSED] = "refused",
	};
	unsigned i;

	for (i = 0; i < RESULTS; i++)
		write_row(
		    v, MEASURE_OF_WAIT, results[i], 0, &v->class->wait[i]);
}

static void
tell_handovers(const struct view *v)
{
	static const char *const from[FROMS] = {
		[FROM_HERE] = "here",
		[FROM_ELSEWHERE] = "elsewhere",
	};
	unsigned i;

	for (i = 0; i < FROMS; i++)
		write_row(
		    v, MEASURE_OF_HANDOVER, from[i], 0, &v->class->handover[i]);
}

static void
tell_losses(const struct view *v)
{
	unsigned i;

	for (i = 0; i < REASONS; i++)
		write_row(v, MEASURE_OF_LOST, measure_reasons[i],
		    v->class->lost[i], NULL);
}

/* Callers may ask with a time that is a little older than the latest event. */
static int64_t
oldest_ms(const struct view *v)
{
	if (v->pending.since_ms < 0)
		return -1;
	return v->now_ms > v->pending.since_ms ? v->now_ms - v->pending.since_ms
					       : 0;
}

/* Every row of the family, also those that are 0. */
static void
tell_one(const struct view *v, enum measure_id id)
{
	int64_t ms;

	switch (id) {
	case MEASURE_OF_WAIT:
		tell_waits(v);
		return;
	case MEASURE_OF_HOLD:
		write_row(v, id, NULL, 0, &v->class->hold);
		return;
	case MEASURE_OF_HANDOVER:
		tell_handovers(v);
		return;
	case MEASURE_OF_MARGIN:
		write_row(v, id, NULL, 0, &v->class->margin);
		return;
	case MEASURE_OF_OLDEST:
		ms = oldest_ms(v);
		write_row(v, id, NULL, ms < 0 ? 0 : (uint64_t)ms, NULL);
		return;
	case MEASURE_OF_WAITERS:
		write_row(v, id, NULL, v->pending.waits, NULL);
		return;
	case MEASURE_OF_HELD:
		write_row(v, id, NULL, v->pending.holds, NULL);
		return;
	case MEASURE_OF_BUSY:
		write_row(v, id, NULL, v->class->busy, NULL);
		return;
	default:
		assert(id == MEASURE_OF_LOST);
		tell_losses(v);
	}
}

static struct view
view_of(const struct measure *m, size_t i, int64_t now_ms)
{
	assert(i < m->nshown);
	return (struct view){ .class = m->slots[m->shown[i]],
		.pending = pending_of(m, m->shown[i]),
		.now_ms = now_ms };
}

/* The views come first: waits and holds under way are added up once for each
 * class, and not again for each family. */
void
measure_each(
    const struct measure *m, int64_t now_ms, measure_row_fn *row, void *arg)
{
	struct view views[MEASURE_CLASSES];
	unsigned id;
	size_t i;

	for (i = 0; i < m->nshown; i++) {
		views[i] = view_of(m, i, now_ms);
		views[i].row = row;
		views[i].arg = arg;
	}
	for (id = 0; id < MEASURE_FAMILIES; id++)
		for (i = 0; i < m->nshown; i++)
			tell_one(&views[i], id);
}

/* For people. */

size_t
measure_classes(const struct measure *m)
{
	return m->nshown;
}

struct measure_class
measure_class(const struct measure *m, size_t i, int64_t now_ms)
{
	struct view v = view_of(m, i, now_ms);
	struct measure_class c = { .name = v.class->name,
		.waiters = v.pending.waits,
		.held = v.pending.holds,
		.granted = v.class->wait[RESULT_GRANTED].count,
		.oldest_ms = oldest_ms(&v) };
	unsigned k;

	/* A wait was given up if it ended in any other way than with a
	 * grant. */
	for (k = 0; k < RESULTS; k++) {
		c.given_up += v.class->wait[k].count;
		c.wait_ms += v.class->wait[k].sum_ms;
	}
	c.given_up -= c.granted;
	for (k = 0; k < REASONS; k++)
		c.lost += v.class->lost[k];
	return c;
}

/* A record of the ring for another minute is older, and nothing has happened
 * since. */
const struct measure_minute *
measure_minute(
    const struct measure *m, size_t class, unsigned ago, int64_t now_ms)
{
	int64_t minute = now_ms / MINUTE_MS - ago;
	const struct measure_minute *at;

	assert(class < m->nshown && ago < MEASURE_MINUTES);
	if (minute < 0)
		return NULL;
	at = &m->slots[m->shown[class]]->minutes[minute % MEASURE_MINUTES];
	return at->minute == minute ? at : NULL;
}

bool
measure_past_of(const struct measure *m, const char *name, size_t name_len,
    const void **place, struct measure_hold *out)
{
	return past_of(&m->past, name, name_len, place, out);
}

bool
measure_losses(
    const struct measure *m, const void **place, struct measure_hold *out)
{
	return past_any(&m->losses, place, out);
}

const char *
measure_last_holder(const struct measure *m, const char *name, size_t name_len)
{
	struct measure_hold h;
	const void *place = NULL;

	while (past_of(&m->past, name, name_len, &place, &h))
		if (h.permits == 0)
			return h.label != NULL ? h.label : h.peer;
	return NULL;
}
