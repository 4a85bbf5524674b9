/*
 * Reads a Sentinel's answer to SENTINEL get-master-addr-by-name.
 *
 * An answer is input like any other: it may come from anything that listens
 * where a Sentinel was configured.
 */
#ifndef LOCKBROKER_REDIS_SENTINEL_ANSWER_H
#define LOCKBROKER_REDIS_SENTINEL_ANSWER_H

#include <hiredis/hiredis.h> /* only for redisReply */
#include <stdbool.h>
#include <stdint.h>

#define SENTINEL_HOST_SIZE 256

/* A host, by name or by number, and its port.  Plain data. */
struct sentinel_answer {
	char host[SENTINEL_HOST_SIZE];
	uint16_t port;
};

/* Returns false, and leaves *out alone, if it names no place to connect to. */
bool sentinel_answer_read(const redisReply *reply, struct sentinel_answer *out);

#endif
