/*
 * The standard streams of a process, which whoever started it may have closed.
 */
#ifndef LOCKBROKER_BASE_STREAMS_H
#define LOCKBROKER_BASE_STREAMS_H

#include <stdbool.h>

/*
 * Puts /dev/null where a standard stream is closed, else the next thing opened
 * would get its number, and what is written there would go to a client, a
 * broker or Redis.  A program that is started still finds it closed.  Called
 * before anything else is opened.
 */
bool streams_fill(void) __attribute__((warn_unused_result));

#endif
