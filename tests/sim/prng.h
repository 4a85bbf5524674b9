/*
 * The only source of chance in the simulator: xoshiro256**, seeded by
 * splitmix64.  The same seed gives the same run on every machine.
 */
#ifndef LOCKBROKER_SIM_PRNG_H
#define LOCKBROKER_SIM_PRNG_H

#include <stdbool.h>
#include <stdint.h>

struct prng {
	uint64_t s[4];
};

static inline uint64_t
prng_mix(uint64_t *state)
{
	uint64_t z;

	*state += 0x9e3779b97f4a7c15u;
	z = *state;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static inline void
prng_seed(struct prng *p, uint64_t seed)
{
	int i;

	for (i = 0; i < 4; i++)
		p->s[i] = prng_mix(&seed);
}

static inline uint64_t
prng_rotate(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

static inline uint64_t
prng_next(struct prng *p)
{
	uint64_t *s = p->s;
	uint64_t result = prng_rotate(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = prng_rotate(s[3], 45);
	return result;
}

/* 0 to n - 1; 0 if n is 0.  The bias of the modulus does no harm here. */
static inline uint64_t
prng_below(struct prng *p, uint64_t n)
{
	return n > 0 ? prng_next(p) % n : 0;
}

/* lo to hi, both included. */
static inline int64_t
prng_range(struct prng *p, int64_t lo, int64_t hi)
{
	if (hi <= lo)
		return lo;
	return lo + (int64_t)prng_below(p, (uint64_t)(hi - lo) + 1);
}

/* True n times of 1000. */
static inline bool
prng_chance(struct prng *p, unsigned permille)
{
	return prng_below(p, 1000) < permille;
}

/* As range, but each order of magnitude is as likely as the next. */
static inline int64_t
prng_skewed(struct prng *p, int64_t lo, int64_t hi)
{
	int64_t top = hi;

	while (top / 2 > lo && prng_chance(p, 500))
		top /= 2;
	return prng_range(p, lo, top);
}

#endif
