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
#include <sched.h>
#include <stdlib.h>

#include "base/now.h"
#include "daemon/process/loop.h"

#define LOOK_US 200   /* Linux polls this long in a guest before it halts it */
#define PAUSE_MAX 255 /* one less than a power of two */

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

/* Were there events since it was last asked? */
static bool
had_events(struct event_base *base)
{
	return event_base_get_max_events(base, EVENT_BASE_COUNT_ACTIVE, 1) > 0;
}

/*
 * Returns 1 if there are events, which are handled, 0 if not, -1 on failure.
 * Without EVLOOP_ONCE libevent would go on for as long as there are events, and
 * the turn would not end.
 */
static int
look_once(struct event_base *base)
{
	if (event_base_loop(base, EVLOOP_ONCE | EVLOOP_NONBLOCK) < 0)
		return -1;
	return had_events(base);
}

/*
 * To wake a process that sleeps takes longer than to answer its request, on a
 * virtual machine several times as long.  So the loop looks for what comes next
 * before it sleeps, and lets other processes use its processor meanwhile.  Each
 * look in vain doubles the number of times without one: if Redis and the
 * clients need longer, looking costs next to nothing.  Linux does the same
 * before it halts the processor of a guest (its governor haltpoll).
 */
static int
look_for(struct event_base *base, struct loop_look *look)
{
	int64_t begun_us;
	int found;

	if (event_base_get_num_events(base, EVENT_BASE_COUNT_ACTIVE) > 0)
		return 0; /* had_events() would not see these */
	if (look->left > 0) {
		look->left--;
		return 0;
	}
	(void)had_events(base); /* the events that woke it last */
	begun_us = now_awake_us();
	do {
		(void)sched_yield();
		found = look_once(base);
	} while (found == 0 && now_awake_us() - begun_us < LOOK_US);
	if (found == 0) {
		if (look->pause < PAUSE_MAX)
			look->pause = 2 * look->pause + 1;
		look->left = look->pause;
	} else {
		look->pause /= 2;
	}
	return found;
}

bool
loop_once(struct event_base *base, struct loop_look *look)
{
	int found = look_for(base, look);

	if (found != 0)
		return found > 0;
	return event_base_loop(base, EVLOOP_ONCE) >= 0;
}
