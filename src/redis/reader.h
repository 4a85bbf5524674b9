/*
 * Bounds for what hiredis makes of the bytes of a server.
 */
#ifndef LOCKBROKER_REDIS_READER_H
#define LOCKBROKER_REDIS_READER_H

#include <hiredis/hiredis.h>

/* A reply may have no more elements than this in one array. */
#define READER_ELEMENTS_MAX 65536

/* For a reader of a new connection. */
void reader_limit(redisReader *reader);

#endif
