/*
 * Clients that have promised to send a line at least every so often
 * (src/front/heartbeat.c): a broker takes a client that is silent for longer
 * for dead.  A client owes nothing while an untagged request waits, or while
 * the broker has not yet looked at something that it sent.
 */
#include "config.h"

#include <string.h>

#include "base/xmalloc.h"

#include "beats.h"
#include "world.h"

#define LOOK_AGAIN_MS 20
#define ROUNDED_MS 2 /* from one clock to another and back */

static event_fn beat_due;

static struct beat *
beat_of(struct world *w, uint64_t sitting)
{
	struct beats *beats = &w->beats;
	size_t n = sitting * 2;

	if (sitting > beats->n) {
		beats->v = xrealloc(beats->v, n * sizeof(*beats->v));
		memset(
		    beats->v + beats->n, 0, (n - beats->n) * sizeof(*beats->v));
		beats->n = n;
	}
	return &beats->v[sitting - 1];
}

/*
 * If there are several events, only the latest counts.  The time always
 * advances: it is rounded on its way from the broker's clock to the world's.
 */
static void
beat_arm(struct broker *b, uint64_t sitting, int64_t at_ms)
{
	int64_t least_us = world_now(b->w) + 1000;
	int64_t at_us = broker_world_us(b, at_ms + 1);

	beat_of(b->w, sitting)->armed_ms = at_ms;
	events_at(&b->w->events, at_us < least_us ? least_us : at_us, beat_due,
	    b, sitting);
}

void
beats_owe(struct broker *b, uint64_t sitting, int64_t ms)
{
	struct beat *beat = beat_of(b->w, sitting);

	beat->ms = ms;
	beat->armed_ms = 0;
	TRACE(b->w, "%s: connection %llu owes a line every %lld ms", b->name,
	    (unsigned long long)sitting, (long long)ms);
	beats_heard(b, sitting);
}

void
beats_heard(struct broker *b, uint64_t sitting)
{
	struct beat *beat = beat_of(b->w, sitting);

	beat->heard_ms = broker_clock_ms(b);
	if (beat->ms == 0 || beat->armed_ms != 0)
		return;
	beat_arm(b, sitting, beat->heard_ms + beat->ms);
}

void
beats_wait(struct broker *b, uint64_t sitting, uint64_t ref)
{
	beat_of(b->w, sitting)->waits = ref;
}

void
beats_answered(struct broker *b, uint64_t sitting, uint64_t ref)
{
	struct beat *beat = beat_of(b->w, sitting);

	if (beat->waits != ref)
		return;
	beat->waits = 0;
	beats_heard(b, sitting);
}

static void
beat_due(void *object, uint64_t sitting)
{
	struct broker *b = object;
	struct world *w = b->w;
	struct beat *beat = beat_of(w, sitting);
	int64_t now_ms = broker_clock_ms(b);

	if (beat->armed_ms == 0 || now_ms + ROUNDED_MS < beat->armed_ms)
		return;
	beat->armed_ms = 0;
	if (!b->alive || checker_sitting_gone(w, sitting) || beat->ms == 0 ||
	    beat->waits != 0)
		return;
	if (beat->heard_ms + beat->ms > now_ms) {
		beat_arm(b, sitting, beat->heard_ms + beat->ms);
	} else if (broker_stalled(b) || !STAILQ_EMPTY(&b->inputs)) {
		beat_arm(b, sitting, now_ms + LOOK_AGAIN_MS);
	} else {
		TRACE(w, "%s: connection %llu is silent", b->name,
		    (unsigned long long)sitting);
		broker_input(b, input_new(INPUT_GONE, sitting));
		client_hung_up(w, sitting);
	}
}
