/*
 * The keyed hash, against published vectors and a plain SipHash-c-d; and a map
 * that uses it.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "suite.h"
#include "test_base.h"

#define K0 UINT64_C(0x0706050403020100)
#define K1 UINT64_C(0x0f0e0d0c0b0a0908)

static uint64_t
rotate(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static void
rounds(uint64_t v[4], unsigned n)
{
	while (n-- > 0) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] = rotate(v[2], 32);
	}
}

/* SipHash with c and d rounds, a byte at a time. */
static uint64_t
siphash(unsigned c, unsigned d, uint64_t k0, uint64_t k1,
    const unsigned char *p, size_t n)
{
	uint64_t v[4] = { UINT64_C(0x736f6d6570736575) ^ k0,
		UINT64_C(0x646f72616e646f6d) ^ k1,
		UINT64_C(0x6c7967656e657261) ^ k0,
		UINT64_C(0x7465646279746573) ^ k1 };
	uint64_t word = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		word |= (uint64_t)p[i] << (i % 8 * 8);
		if (i % 8 != 7)
			continue;
		v[3] ^= word;
		rounds(v, c);
		v[0] ^= word;
		word = 0;
	}
	word |= (uint64_t)n << 56;
	v[3] ^= word;
	rounds(v, c);
	v[0] ^= word;
	v[2] ^= 0xff;
	rounds(v, d);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static unsigned
fold(uint64_t h)
{
	return (unsigned)(h ^ h >> 32);
}

static void
fill(unsigned char *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = (unsigned char)i;
}

/* The vectors of the SipHash paper, appendix A, and of its reference code. */
START_TEST(the_model_is_siphash)
{
	unsigned char in[64];

	fill(in, sizeof(in));
	ck_assert(siphash(2, 4, K0, K1, in, 15) == 0xa129ca6149be45e5);
	ck_assert(siphash(2, 4, K0, K1, in, 0) == 0x726fdb47dd0e0e31);
	ck_assert(siphash(2, 4, K0, K1, in, 1) == 0x74f839c593dc67fd);
	ck_assert(siphash(1, 3, 0, 0, in, 0) == 0xd1fba762150c532c);
	ck_assert(siphash(1, 3, 0, 0, in, 1) == 0x68a914128e01e473);
	ck_assert(siphash(1, 3, K0, K1, in, 0) == 0xabac0158050fc4dc);
}
END_TEST

START_TEST(hash_is_siphash_1_3)
{
	unsigned char in[300];
	size_t n;

	fill(in, sizeof(in));
	/* Before a seed is set the key is zero. */
	ck_assert_uint_eq(hash_of(in, 0), fold(0xd1fba762150c532c));
	hash_seed(K0, K1);
	for (n = 0; n < sizeof(in); n++)
		ck_assert_uint_eq(
		    hash_of(in, n), fold(siphash(1, 3, K0, K1, in, n)));
	/* Not aligned. */
	for (n = 0; n < 40; n++)
		ck_assert_uint_eq(
		    hash_of(in + 3, n), fold(siphash(1, 3, K0, K1, in + 3, n)));
	hash_seed(0, 0);
}
END_TEST

START_TEST(the_key_matters)
{
	unsigned a, b, c;

	hash_seed(1, 2);
	a = hash_of("nightly-report", 14);
	hash_seed(1, 3);
	b = hash_of("nightly-report", 14);
	hash_seed(2, 2);
	c = hash_of("nightly-report", 14);
	hash_seed(1, 2);
	ck_assert_uint_ne(a, b);
	ck_assert_uint_ne(a, c);
	ck_assert_uint_ne(b, c);
	ck_assert_uint_eq(a, hash_of("nightly-report", 14));
	hash_seed(0, 0);
}
END_TEST

TCase *
hash_cases(void)
{
	TCase *tc = tcase_create("hash");

	tcase_add_test(tc, the_model_is_siphash);
	tcase_add_test(tc, hash_is_siphash_1_3);
	tcase_add_test(tc, the_key_matters);
	return tc;
}
