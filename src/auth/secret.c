/*
 * SHA-256 comes from libmd, and crypt_r() from libxcrypt.
 */
#include "config.h"

#include <crypt.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "auth/secret.h"
#include "base/xmalloc.h"

static const char digits[] = "0123456789abcdef";

void
secret_digest(uint8_t digest[SECRET_DIGEST_BYTES], const struct span *pieces,
    size_t npieces)
{
	SHA2_CTX ctx;
	size_t i;

	SHA256Init(&ctx);
	for (i = 0; i < npieces; i++)
		if (pieces[i].n > 0)
			SHA256Update(
			    &ctx, (const uint8_t *)pieces[i].p, pieces[i].n);
	SHA256Final(digest, &ctx);
	explicit_bzero(&ctx, sizeof(ctx));
}

bool
secret_same(const void *a, const void *b, size_t n)
{
	const volatile uint8_t *x = a, *y = b;
	uint8_t differ = 0;

	while (n-- > 0)
		differ |= (uint8_t)(*x++ ^ *y++);
	return differ == 0;
}

static void
write_hash(
    char hash[SECRET_HASH_SIZE], const uint8_t digest[SECRET_DIGEST_BYTES])
{
	char *p = stpcpy(hash, SECRET_PREFIX);
	unsigned i;

	for (i = 0; i < SECRET_DIGEST_BYTES; i++) {
		*p++ = digits[digest[i] >> 4];
		*p++ = digits[digest[i] & 15];
	}
	*p = '\0';
}

bool
secret_is_cheap(const char *hash)
{
	return strncmp(hash, SECRET_PREFIX, strlen(SECRET_PREFIX)) == 0;
}

static const char *
cheap_why(const char *hex)
{
	if (strspn(hex, digits) != 2 * (size_t)SECRET_DIGEST_BYTES ||
	    hex[2 * SECRET_DIGEST_BYTES] != '\0')
		return "needs 64 digits (0 to 9, a to f) after \"sha256:\"";
	return NULL;
}

const char *
secret_hash_why(const char *hash)
{
	if (secret_is_cheap(hash))
		return cheap_why(hash + strlen(SECRET_PREFIX));
	if (hash[0] != '$')
		return "is neither \"sha256:\" with 64 digits nor a hash of "
		       "crypt(3), which begins with \"$\"";
	switch (crypt_checksalt(hash)) {
	case CRYPT_SALT_OK:
	case CRYPT_SALT_METHOD_LEGACY:
	case CRYPT_SALT_TOO_CHEAP:
		return NULL;
	default:
		return "is of a kind that crypt(3) does not support on this host";
	}
}

bool
secret_matches(const char *hash, struct span password)
{
	char theirs[SECRET_HASH_SIZE];
	uint8_t digest[SECRET_DIGEST_BYTES];
	bool same;

	secret_digest(digest, &password, 1);
	write_hash(theirs, digest);
	same = strlen(hash) == strlen(theirs) &&
	       secret_same(hash, theirs, strlen(theirs));
	explicit_bzero(digest, sizeof(digest));
	return same;
}

bool
secret_matches_slowly(const char *hash, const char *password)
{
	struct crypt_data *data = xcalloc(1, sizeof(*data));
	const char *theirs = crypt_r(password, hash, data);
	bool same;

	same = theirs != NULL && theirs[0] == '$' &&
	       strlen(theirs) == strlen(hash) &&
	       secret_same(theirs, hash, strlen(hash));
	explicit_bzero(data, sizeof(*data));
	free(data);
	return same;
}

/* Writes base64url without padding: 32 bytes make 43 characters. */
static void
write_secret(char secret[SECRET_SIZE], const uint8_t random[32])
{
	static const char alphabet[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	uint32_t bits = 0;
	unsigned i, nbits = 0;

	for (i = 0; i < 32; i++) {
		bits = bits << 8 | random[i];
		for (nbits += 8; nbits >= 6; nbits -= 6)
			*secret++ = alphabet[bits >> (nbits - 6) & 63];
	}
	*secret++ = alphabet[bits << (6 - nbits) & 63];
	*secret = '\0';
}

void
secret_make(char secret[SECRET_SIZE], char hash[SECRET_HASH_SIZE])
{
	uint8_t random[32], digest[SECRET_DIGEST_BYTES];
	struct span text;

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		abort();
	write_secret(secret, random);
	text = (struct span){ secret, strlen(secret) };
	secret_digest(digest, &text, 1);
	write_hash(hash, digest);
	explicit_bzero(random, sizeof(random));
}
