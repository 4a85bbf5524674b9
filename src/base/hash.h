/*
 * The hash of all tables.
 *
 * Names come from clients, who must not be able to aim at collisions.  So the
 * hash is SipHash-1-3 under a key, which the daemon draws when it starts and
 * the simulator fixes.
 */
#ifndef LOCKBROKER_BASE_HASH_H
#define LOCKBROKER_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

void hash_seed(uint64_t k0, uint64_t k1);
unsigned hash_of(const void *key, size_t len);

#endif
