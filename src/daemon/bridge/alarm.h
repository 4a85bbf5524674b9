/*
 * A moment at which the loop must wake, on the clock of now_ms().
 */
#ifndef LOCKBROKER_DAEMON_BRIDGE_ALARM_H
#define LOCKBROKER_DAEMON_BRIDGE_ALARM_H

#include <stdint.h>

struct alarm;
struct event_base;

typedef void (*alarm_cb)(void *arg);

/* Returns NULL if the kernel has no descriptor for it; errno says why. */
struct alarm *alarm_new(struct event_base *base, alarm_cb cb, void *arg);
void alarm_free(struct alarm *a);

/*
 * Calls cb() once, from the loop, at `at_ms` or as soon as that has passed.
 * It may come earlier: an alarm that is set is only ever moved forward.
 */
void alarm_set(struct alarm *a, int64_t at_ms);

#endif
