/*
 * NO_CACHE_TIME: a timer counts from when it is set.  With the cached time it
 * would count from when the loop woke, or, if it was set in a long turn, be
 * late by the length of that turn.
 *
 * Not PRECISE_TIMER: libevent would use a timerfd and set it by a system call
 * in each turn.  Without it a timer is late by a few milliseconds, which does
 * no harm here: the deadlines of the core have a timer of their own (alarm.h),
 * and all other margins are far larger.
 */
#include "config.h"

#include <event2/event.h>
#include <stdlib.h>

#include "daemon/loop.h"

struct event_base *
loop_new(void)
{
	struct event_config *config = event_config_new();
	struct event_base *base;

	if (config == NULL)
		abort();
	(void)event_config_set_flag(config, EVENT_BASE_FLAG_NO_CACHE_TIME);
	/* select and poll know nothing of EV_CLOSED. */
	(void)event_config_require_features(config, EV_FEATURE_EARLY_CLOSE);
	base = event_base_new_with_config(config);
	event_config_free(config);
	if (base == NULL)
		abort();
	return base;
}
