/* The SHA-1 of a text, which identifies a script in Redis. */
#ifndef LOCKBROKER_RESP_SHA1_H
#define LOCKBROKER_RESP_SHA1_H

#include <stdbool.h>

#include "base/span.h"

#define SHA1_BYTES 20
#define SHA1_HEX_SIZE 41

struct sha1 {
	unsigned char v[SHA1_BYTES];
};

bool sha1_same(const struct sha1 *a, const struct sha1 *b);
void sha1_of(struct sha1 *sum, struct span text);
void sha1_hex(const struct sha1 *sum, char hex[SHA1_HEX_SIZE]);
/* Returns false if it is not a sha1 in hexadecimal digits. */
bool sha1_parse(struct sha1 *sum, struct span hex);

#endif
