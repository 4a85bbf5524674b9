/*
 * The time.  No other file reads a clock, except for times of day.
 *
 * Leases are measured by CLOCK_BOOTTIME: it never steps, and continues while
 * the machine is suspended, like the time to live of a key in Redis on another
 * machine.
 */
#ifndef LOCKBROKER_BASE_NOW_H
#define LOCKBROKER_BASE_NOW_H

#include <stdint.h>

/* Later than any deadline. */
#define NEVER_MS INT64_MAX

int64_t now_ms(void);
int64_t now_us(void);

/*
 * CLOCK_MONOTONIC, which stands still while the machine is suspended: for
 * timeouts of clients, for the length of a turn, and for the time that systemd
 * gets at a reload.
 */
int64_t now_awake_ms(void);
int64_t now_awake_us(void);

int64_t now_wall_us(void); /* since 1970: it may step */

#endif
