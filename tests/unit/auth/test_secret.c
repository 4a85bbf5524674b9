/*
 * Hashes of secrets: some are compared in the loop, others by crypt(3).
 */
#include "config.h"

#include <string.h>

#include "auth/secret.h"
#include "suite.h"
#include "test_auth.h"

/* `printf secret | sha256sum`, and crypt(3) of the same with a salt. */
#define OF_SECRET                         \
	"sha256:2bb80d537b1da3e38bd30361" \
	"aa855686bde0eacd7162fef6a25fe97bf527a25b"
#define CRYPT_OF_SECRET                         \
	"$5$rounds=1000$saltsalt$eKLZU9t9OoPWr" \
	"qOQsoTIKG0aYkZ5rGOoOQhiIvoSWX2"

static struct span
span(const char *s)
{
	return (struct span){ s, strlen(s) };
}

START_TEST(cheap)
{
	ck_assert(secret_is_cheap(OF_SECRET));
	ck_assert(secret_matches(OF_SECRET, span("secret")));
	ck_assert(!secret_matches(OF_SECRET, span("secreT")));
	ck_assert(!secret_matches(OF_SECRET, span("")));
	ck_assert(!secret_matches(OF_SECRET, span("secret2")));
}
END_TEST

START_TEST(slow)
{
	ck_assert(!secret_is_cheap(CRYPT_OF_SECRET));
	ck_assert(secret_matches_slowly(CRYPT_OF_SECRET, "secret"));
	ck_assert(!secret_matches_slowly(CRYPT_OF_SECRET, "secreT"));
	ck_assert(!secret_matches_slowly(CRYPT_OF_SECRET, ""));
	ck_assert(!secret_matches_slowly("$5$saltsalt$", "secret"));
	ck_assert(!secret_matches_slowly("$nonsense", "secret"));
	ck_assert(!secret_matches_slowly("*0", "secret"));
}
END_TEST

struct why_row {
	const char *hash;
	const char *part; /* of why; NULL: it is good */
};

static const struct why_row whys[] = {
	{ OF_SECRET, NULL },
	{ CRYPT_OF_SECRET, NULL },
	{ "$y$j9T$F5Jx5fExrKuPp53xLKQ..1$tnSYvahCwPBHKZUspmcxMfb0.WiB9W.zE"
	  "aKlOBL35rC",
	    NULL },
	{ "$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
	    NULL },
	{ "sha256:", "needs 64 digits" },
	{ OF_SECRET "0", "needs 64 digits" },
	{ "sha256:2BB80D537B1DA3E38BD30361AA855686BDE0EACD7162FEF6A25FE97BF527"
	  "A25B",
	    "needs 64 digits" },
	{ "", "neither" },
	{ "plain", "neither" },
	{ "$nonsense$x", "does not support" },
};

START_TEST(fault_of)
{
	const struct why_row *row = &whys[_i];
	const char *why = secret_hash_why(row->hash);

	if (row->part == NULL) {
		ck_assert_msg(why == NULL, "%s: %s", row->hash, why);
		return;
	}
	ck_assert_msg(why != NULL && strstr(why, row->part) != NULL, "%s: %s",
	    row->hash, why);
}
END_TEST

START_TEST(made)
{
	char secret[2][SECRET_SIZE], hash[2][SECRET_HASH_SIZE];

	secret_make(secret[0], hash[0]);
	secret_make(secret[1], hash[1]);
	ck_assert_uint_eq(strlen(secret[0]), SECRET_SIZE - 1);
	ck_assert_ptr_null(secret_hash_why(hash[0]));
	ck_assert_str_ne(secret[0], secret[1]);
	ck_assert(secret_matches(hash[0], span(secret[0])));
	ck_assert(!secret_matches(hash[0], span(secret[1])));
}
END_TEST

TCase *
secret_cases(void)
{
	TCase *tc = tcase_create("secret");

	tcase_add_test(tc, cheap);
	tcase_add_test(tc, slow);
	tcase_add_loop_test(tc, fault_of, 0, (int)COUNT(whys));
	tcase_add_test(tc, made);
	return tc;
}
