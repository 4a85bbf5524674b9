/*
 * The standard streams of a process: its starter may have closed them.
 */
#ifndef LOCKBROKER_BASE_STREAMS_H
#define LOCKBROKER_BASE_STREAMS_H

#include <stdbool.h>

/*
 * Opens /dev/null in place of closed standard streams.  Otherwise the next file
 * or socket would get such a number, and output meant for the stream would go
 * to a client, a broker or Redis.  A program that we start still finds the
 * stream closed.  Requires that the process has opened nothing else before.
 */
bool streams_fill(void) __attribute__((warn_unused_result));

#endif
