/*
 * Bounds on the replies that hiredis makes of a server's bytes.
 */
#ifndef LOCKBROKER_REDIS_READER_H
#define LOCKBROKER_REDIS_READER_H

#include <hiredis/hiredis.h>

/* A reply may have no more elements than this in one array. */
#define READER_ELEMENTS_MAX 65536

/* Sets the bound; requires the reader of a new connection. */
void reader_limit(redisReader *reader);

#endif
