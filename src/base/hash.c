/*
 * The hash function of every table: SipHash-1-3, from the description in
 * Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012), with one
 * compression round for each word and three at the end.  The authors name this
 * variant for hash tables.
 *
 * This file keeps only the key.  It must be set once, before any table is
 * filled: in a table that was filled under another key nothing is found.
 */
#include "config.h"

#include <string.h>

#include "base/hash.h"

/* The initial state of SipHash, "somepseudorandomlygeneratedbytes". */
#define SIP_V0 UINT64_C(0x736f6d6570736575)
#define SIP_V1 UINT64_C(0x646f72616e646f6d)
#define SIP_V2 UINT64_C(0x6c7967656e657261)
#define SIP_V3 UINT64_C(0x7465646279746573)

struct sip {
	uint64_t v0, v1, v2, v3;
};

/* The initial state with the key in it. */
static struct sip hash_key = { SIP_V0, SIP_V1, SIP_V2, SIP_V3 };

static inline uint64_t
rotl(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static inline void
sip_round(struct sip *s)
{
	s->v0 += s->v1;
	s->v1 = rotl(s->v1, 13) ^ s->v0;
	s->v0 = rotl(s->v0, 32);
	s->v2 += s->v3;
	s->v3 = rotl(s->v3, 16) ^ s->v2;
	s->v0 += s->v3;
	s->v3 = rotl(s->v3, 21) ^ s->v0;
	s->v2 += s->v1;
	s->v1 = rotl(s->v1, 17) ^ s->v2;
	s->v2 = rotl(s->v2, 32);
}

static inline void
sip_word(struct sip *s, uint64_t m)
{
	s->v3 ^= m;
	sip_round(s);
	s->v0 ^= m;
}

static inline uint64_t
load_le64(const unsigned char *p)
{
	uint64_t m;

	memcpy(&m, p, sizeof(m));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	m = __builtin_bswap64(m);
#endif
	return m;
}

/* The last 0 to 7 bytes, and the length in the highest byte. */
static inline uint64_t
load_tail(const unsigned char *p, size_t n, size_t len)
{
	uint64_t m = (uint64_t)len << 56;
	size_t i;

	for (i = 0; i < n; i++)
		m |= (uint64_t)p[i] << (8 * i);
	return m;
}

void
hash_seed(uint64_t k0, uint64_t k1)
{
	hash_key.v0 = SIP_V0 ^ k0;
	hash_key.v1 = SIP_V1 ^ k1;
	hash_key.v2 = SIP_V2 ^ k0;
	hash_key.v3 = SIP_V3 ^ k1;
}

unsigned
hash_of(const void *key, size_t len)
{
	struct sip s = hash_key;
	const unsigned char *p = key;
	size_t left = len;
	uint64_t h;

	for (; left >= 8; left -= 8, p += 8)
		sip_word(&s, load_le64(p));
	sip_word(&s, load_tail(p, left, len));
	s.v2 ^= 0xff;
	sip_round(&s);
	sip_round(&s);
	sip_round(&s);
	h = s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
	return (unsigned)(h ^ h >> 32);
}
