#include "config.h"

#include <sha1.h>
#include <stdint.h>
#include <string.h>

#include "base/parse.h"
#include "resp/sha1.h"

bool
sha1_same(const struct sha1 *a, const struct sha1 *b)
{
	return memcmp(a->v, b->v, SHA1_BYTES) == 0;
}

void
sha1_of(struct sha1 *sum, struct span text)
{
	SHA1_CTX ctx;

	SHA1Init(&ctx);
	if (text.n > 0)
		SHA1Update(&ctx, (const uint8_t *)text.p, text.n);
	SHA1Final(sum->v, &ctx);
}

void
sha1_hex(const struct sha1 *sum, char hex[SHA1_HEX_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	unsigned i;

	for (i = 0; i < SHA1_BYTES; i++) {
		hex[2 * i] = digits[sum->v[i] >> 4];
		hex[2 * i + 1] = digits[sum->v[i] & 15];
	}
	hex[2 * SHA1_BYTES] = '\0';
}

static int
digit(char c)
{
	c = parse_upper(c);
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool
sha1_parse(struct sha1 *sum, struct span hex)
{
	int high, low;
	unsigned i;

	if (hex.n != 2 * SHA1_BYTES)
		return false;
	for (i = 0; i < SHA1_BYTES; i++) {
		high = digit(hex.p[2 * i]);
		low = digit(hex.p[2 * i + 1]);
		if (high < 0 || low < 0)
			return false;
		sum->v[i] = (unsigned char)(high << 4 | low);
	}
	return true;
}
