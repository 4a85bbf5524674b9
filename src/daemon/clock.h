/*
 * The time.  Nothing else in the daemon reads this clock.
 *
 * CLOCK_BOOTTIME never steps and goes on while the machine is suspended, as
 * the time to live of a key in Redis does on another machine.
 */
#ifndef LOCKBROKER_DAEMON_CLOCK_H
#define LOCKBROKER_DAEMON_CLOCK_H

#include <stdint.h>

int64_t clock_now_ms(void);

/* CLOCK_MONOTONIC, which systemd wants to be told at a reload. */
int64_t clock_monotonic_us(void);

#endif
