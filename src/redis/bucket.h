/*
 * Buckets and slots: a Redis Cluster spreads 16384 slots over its masters, and
 * all keys of one bucket, which begin PREFIX{N}:, are in one slot.
 */
#ifndef LOCKBROKER_REDIS_BUCKET_H
#define LOCKBROKER_REDIS_BUCKET_H

#include <stdint.h>

#define SLOTS 16384

/* Returns the slot of the bucket N. */
unsigned bucket_slot(uint32_t bucket);

#endif
