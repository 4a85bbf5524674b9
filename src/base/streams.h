/*
 * The standard streams of a process: the process that started it may have
 * closed them.
 */
#ifndef LOCKBROKER_BASE_STREAMS_H
#define LOCKBROKER_BASE_STREAMS_H

#include <stdbool.h>

/*
 * Opens /dev/null in place of closed standard streams.  Otherwise the next file
 * or socket would get the number of a stream, and output meant for the stream
 * would go to a client, a broker or Redis.  A program that we start still finds
 * the stream closed.  To be called before the process opens anything else.
 */
bool streams_fill(void) __attribute__((warn_unused_result));

#endif
