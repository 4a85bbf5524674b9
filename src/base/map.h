/*
 * uthash with a keyed hash function.
 *
 * Names come from clients, so the hash must not be one that they can aim at:
 * SipHash-1-3 under a key that daemon start draws (map_seed) and that the
 * simulator fixes.  Memory failure aborts like everywhere else.
 */
#ifndef LOCKBROKER_BASE_MAP_H
#define LOCKBROKER_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

void map_seed(uint64_t k0, uint64_t k1);
unsigned map_hash(const void *key, size_t len);

#define HASH_FUNCTION(key, len, out) ((out) = map_hash((key), (len)))
#define uthash_fatal(msg) abort()
#include <uthash.h>

#endif
