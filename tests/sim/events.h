/*
 * Virtual time: what will happen, in order of time and, at equal times, in the
 * order in which it was scheduled.
 */
#ifndef LOCKBROKER_SIM_EVENTS_H
#define LOCKBROKER_SIM_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `tag` is the scheduler's: by it, a callback finds that its event is stale. */
typedef void event_fn(void *object, uint64_t tag);

struct happening {
	int64_t at_us;
	uint64_t order;
	event_fn *fn;
	void *object;
	uint64_t tag;
};

/* Owned by the world. */
struct events {
	struct happening *heap;
	size_t n, size;
	uint64_t next_order;
	int64_t now_us;
	uint64_t fired;
};

void events_init(struct events *e);
void events_fini(struct events *e);
void events_at(
    struct events *e, int64_t at_us, event_fn *fn, void *object, uint64_t tag);

/* Runs the next event, unless there is none or it is after until_us. */
bool events_step(struct events *e, int64_t until_us);

#endif
