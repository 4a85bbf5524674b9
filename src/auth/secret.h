/*
 * Secrets and their hashes, in the forms of auth.users and the file of users.
 *
 *	sha256:HEX	of a secret that `lockbroker genpass` made.  It has 256
 *			random bits, so that one round is enough, and the loop
 *			itself compares it.
 *	$id$...		of crypt(3), for passwords that people think of.  Such a
 *			hash takes milliseconds on purpose, so that only the
 *			worker thread of hasher.h computes it.
 */
#ifndef LOCKBROKER_AUTH_SECRET_H
#define LOCKBROKER_AUTH_SECRET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

#define SECRET_PREFIX "sha256:"
#define SECRET_DIGEST_BYTES 32

/* "sha256:", 64 hexadecimal digits, and the end of the string. */
#define SECRET_HASH_SIZE (sizeof(SECRET_PREFIX) + 2 * SECRET_DIGEST_BYTES)

/* 256 random bits in 43 characters of base64url (RFC 4648), and the end. */
#define SECRET_SIZE 44

/*
 * Returns what is wrong with a hash, as the end of a sentence; NULL if it is
 * valid.
 */
const char *secret_hash_why(const char *hash);

/* Is it a hash of the first kind, which costs next to nothing? */
bool secret_is_cheap(const char *hash);

/*
 * Does this hash of the first kind belong to the password?  The time of the
 * comparison depends on neither.
 */
bool secret_matches(const char *hash, struct span password);

/* The same for a hash of the second kind: slow, and safe in any thread. */
bool secret_matches_slowly(const char *hash, const char *password);

/* Draws a secret, and writes it with its hash as strings. */
void secret_make(char secret[SECRET_SIZE], char hash[SECRET_HASH_SIZE]);

/* Computes the SHA-256 of several pieces. */
void secret_digest(uint8_t digest[SECRET_DIGEST_BYTES],
    const struct span *pieces, size_t npieces);

/* Compares in a time that does not depend on where the two differ. */
bool secret_same(const void *a, const void *b, size_t n);

#endif
