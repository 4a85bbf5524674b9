/*
 * The clock by which the command judges whether its lock is still good.
 */
#ifndef LOCKBROKER_CLI_NOW_H
#define LOCKBROKER_CLI_NOW_H

#include <stdint.h>

/* Later than any deadline. */
#define NEVER_MS INT64_MAX

/* CLOCK_BOOTTIME: it goes on while the machine is suspended. */
int64_t now_ms(void);

/* The same in microseconds, for what is only shown. */
int64_t now_us(void);

#endif
