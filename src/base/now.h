/*
 * The time.  Nothing else reads a clock but for times of day.
 *
 * Whatever a lease is counted by is CLOCK_BOOTTIME: it never steps, and goes
 * on while the machine is suspended, as the time to live of a key in Redis
 * does on another machine.
 */
#ifndef LOCKBROKER_BASE_NOW_H
#define LOCKBROKER_BASE_NOW_H

#include <stdint.h>

/* Later than any deadline. */
#define NEVER_MS INT64_MAX

int64_t now_ms(void);
int64_t now_us(void);

/*
 * CLOCK_MONOTONIC, which stands still meanwhile: for the patience that we have
 * with clients, for the length of a turn, and what systemd is told at a reload.
 */
int64_t now_awake_ms(void);
int64_t now_awake_us(void);

#endif
