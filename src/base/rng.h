/*
 * xorshift128+ (Vigna, 2014): for jitter, and for numbers that only must not
 * repeat; never for secrets.
 */
#ifndef LOCKBROKER_BASE_RNG_H
#define LOCKBROKER_BASE_RNG_H

#include <stdint.h>

struct rng {
	uint64_t s[2];
};

static inline void
rng_init(struct rng *rng, uint64_t a, uint64_t b)
{
	rng->s[0] = a == 0 && b == 0 ? 1 : a;
	rng->s[1] = b;
}

static inline uint64_t
rng_next(struct rng *rng)
{
	uint64_t x = rng->s[0], y = rng->s[1];

	rng->s[0] = y;
	x ^= x << 23;
	rng->s[1] = x ^ y ^ (x >> 17) ^ (y >> 26);
	return rng->s[1] + y;
}

#endif
