/*
 * Tests of base/address: what counts as an address, where, and how it is
 * written.
 */
#include "config.h"

#include <string.h>

#include "base/address.h"
#include "suite.h"
#include "test_base.h"

/* What each of the three functions returns for a text: the address as it is
 * written, or what is wrong. */
static const struct {
	const char *text;
	const char *given;
	const char *any;
	const char *assumed;
} rows[] = {
	{ "a:1", "a:1", "a:1", "a:1" },
	{ "a:0", "has no valid port", "a:0", "has no valid port" },
	{ "a", "has no port", "has no port", "a:5625" },
	{ "[::1]", "has no port", "has no port", "[::1]:5625" },
	{ "[::1]:7", "[::1]:7", "[::1]:7", "[::1]:7" },
	{ "::1", "has too many colons; an IPv6 address needs brackets",
	    "has too many colons; an IPv6 address needs brackets",
	    "[::1]:5625" },
	{ "::g", "has no valid port", "has no valid port",
	    "has too many colons; an IPv6 address needs brackets" },
	{ "redis://u:secret@h:1",
	    "is a URL, not HOST:PORT; set its user, password and TLS by the settings for them",
	    "is a URL, not HOST:PORT; set its user, password and TLS by the settings for them",
	    "is a URL, not HOST:PORT; set its user, password and TLS by the settings for them" },
	{ "u:secret@h:1", "has a user before the host",
	    "has a user before the host", "has a user before the host" },
	{ "a:", "has no valid port", "has no valid port", "has no valid port" },
	{ "a:07", "has no valid port", "has no valid port",
	    "has no valid port" },
	{ ":7", "has no host", "has no host", "has no host" },
	{ "[::1", "lacks a ']'", "lacks a ']'", "lacks a ']'" },
	{ "[::1]x", "has something other than :PORT after the ']'",
	    "has something other than :PORT after the ']'",
	    "has something other than :PORT after the ']'" },
	{ "1.2.3:4", "has no valid IPv4 address", "has no valid IPv4 address",
	    "has no valid IPv4 address" },
	{ "", "is empty", "is empty", "is empty" },
};

static void
check(const char *text, enum address_port port, const char *expected)
{
	char written[ADDRESS_SIZE];
	struct address address;
	const char *why = address_parse_tcp(&address, text, port);

	if (why == NULL)
		ck_assert_str_eq(address_format(&address, written), expected);
	else
		ck_assert_str_eq(why, expected);
	address_fini(&address);
}

START_TEST(ports)
{
	check(rows[_i].text, ADDRESS_PORT_GIVEN, rows[_i].given);
	check(rows[_i].text, ADDRESS_PORT_ANY, rows[_i].any);
	check(rows[_i].text, ADDRESS_PORT_ASSUMED, rows[_i].assumed);
}
END_TEST

START_TEST(paths)
{
	char path[200] = "/";
	struct address address, other;

	ck_assert_ptr_null(address_parse_unix(&address, "/run/a"));
	ck_assert_ptr_null(address_parse_tcp(&other, "A:1", ADDRESS_PORT_ANY));
	ck_assert(!address_same(&address, &other));
	address_fini(&address);
	ck_assert_ptr_null(
	    address_parse_tcp(&address, "a:1", ADDRESS_PORT_ANY));
	ck_assert(address_same(&address, &other));
	address_fini(&address);
	address_fini(&other);
	ck_assert_ptr_nonnull(address_parse_unix(&address, "run/a"));
	memset(path + 1, 'x', sizeof(path) - 2);
	ck_assert_ptr_nonnull(address_parse_unix(&address, path));
	ck_assert_ptr_nonnull(address_parse_unix(&address, "/a\nb"));
}
END_TEST

TCase *
address_cases(void)
{
	TCase *tc = tcase_create("address");

	tcase_add_loop_test(tc, ports, 0, COUNT(rows));
	tcase_add_test(tc, paths);
	return tc;
}
