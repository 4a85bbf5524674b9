/*
 * Times in texts for people: `0.4 s`, `12.6 s`, `15 min`.  Programs read
 * fields, which are in milliseconds.
 */
#ifndef LOCKBROKER_BASE_HUMAN_H
#define LOCKBROKER_BASE_HUMAN_H

#include <stdint.h>

#define HUMAN_SIZE 32

/* Rounds up, so that the time has really passed then.  Returns buf. */
const char *human_ms(char buf[HUMAN_SIZE], int64_t ms);

#endif
