/* Functions that all parts of the process need. */
#include "config.h"

#include <stdlib.h>

#include "tls/engine.h"

struct event *
engine_event(struct engine *e, int fd, short what, event_callback_fn fn,
    void *arg, enum priority priority)
{
	struct event *event = event_new(e->base, fd, what, fn, arg);

	if (event == NULL || event_priority_set(event, priority) < 0)
		abort();
	return event;
}
