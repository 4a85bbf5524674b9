/*
 * Tests of base/proxy_header: both versions, whole and byte by byte.
 */
#include "config.h"

#include <string.h>

#include "base/proxy_header.h"
#include "test_base.h"

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"
#define FOUR "\x0a\x00\x00\x07\x7f\x00\x00\x01\x15\x88\x15\xf9"
#define SIX                                          \
	"\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01" \
	"\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x02" \
	"\xff\xff\x15\xf9"
#define MAPPED                                         \
	"\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\x00\x00\x07" \
	"\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\x00\x00\x08" \
	"\x15\x88\x15\xf9"
#define X20 "xxxxxxxxxxxxxxxxxxxx"

static const struct {
	const char *data;
	size_t size;
	const char *peer; /* NULL: it is none */
} cases[] = {
#define TEXT(text) (text), sizeof(text) - 1
	{ TEXT("PROXY TCP4 10.0.0.7 127.0.0.1 5512 5625\r\n"),
	    "10.0.0.7:5512" },
	{ TEXT("PROXY TCP6 2001:db8::1 2001:db8::2 0 65535\r\n"),
	    "[2001:db8::1]:0" },
	{ TEXT("PROXY TCP6 ::ffff:10.0.0.7 ::1 1 2\r\n"), "10.0.0.7:1" },
	{ TEXT("PROXY UNKNOWN\r\n"), "" },
	{ TEXT("PROXY UNKNOWN ffff:: and what not\r\n"), "" },
	{ TEXT("PROXY UNKNOWN " X20 X20 X20 X20 "xxxxxxxxxxx\r\n"), "" },
	{ TEXT("PROXY UNKNOWN " X20 X20 X20 X20 "xxxxxxxxxxxx\r\n"), NULL },
	{ TEXT("PROXY UNKNOWN\n"), NULL },
	{ TEXT("PROXY TCP4 10.0.0.7 127.0.0.1 5512 5625\n"), NULL },
	{ TEXT("PROXY TCP4 10.0.0.7 127.0.0.1 5512\r\n"), NULL },
	{ TEXT("PROXY TCP4 10.0.0.7 127.0.0.1 5512 5625 1\r\n"), NULL },
	{ TEXT("PROXY TCP4 10.0.0.7 127.0.0.1  5512 5625\r\n"), NULL },
	{ TEXT("PROXY TCP4 10.0.0.7 127.0.0.1 65536 5625\r\n"), NULL },
	{ TEXT("PROXY TCP4 10.0.0.7 127.0.0.1 5512 x\r\n"), NULL },
	{ TEXT("PROXY TCP4 ::1 127.0.0.1 5512 5625\r\n"), NULL },
	{ TEXT("PROXY TCP6 10.0.0.7 ::1 5512 5625\r\n"), NULL },
	{ TEXT("PROXY TCP5 10.0.0.7 127.0.0.1 5512 5625\r\n"), NULL },
	{ TEXT("PROXY \r\n"), NULL },
	{ TEXT("proxy UNKNOWN\r\n"), NULL },
	{ TEXT("PROXY\r\n"), NULL },
	{ TEXT("PING\r\n"), NULL },
	{ TEXT("*1\r\n$4\r\nPING\r\n"), NULL },
	{ TEXT(SIGNATURE "\x21\x11\0\x0c" FOUR), "10.0.0.7:5512" },
	{ TEXT(SIGNATURE "\x21\x12\0\x0c" FOUR), "10.0.0.7:5512" },
	{ TEXT(SIGNATURE "\x21\x11\0\x10" FOUR "\x04\0\x01x"),
	    "10.0.0.7:5512" },
	{ TEXT(SIGNATURE "\x21\x21\0\x24" SIX), "[2001:db8::1]:65535" },
	{ TEXT(SIGNATURE "\x21\x21\0\x24" MAPPED), "10.0.0.7:5512" },
	{ TEXT(SIGNATURE "\x20\x11\0\x0c" FOUR), "" },
	{ TEXT(SIGNATURE "\x20\0\0\0"), "" },
	{ TEXT(SIGNATURE "\x20\xff\0\x01x"), "" },
	{ TEXT(SIGNATURE "\x21\0\0\x02xx"), "" },
	{ TEXT(SIGNATURE "\x21\x31\0\0"), "" },
	{ TEXT(SIGNATURE "\x21\x11\0\x0b" FOUR), NULL },
	{ TEXT(SIGNATURE "\x21\x21\0\x23" SIX), NULL },
	{ TEXT(SIGNATURE "\x22\x11\0\x0c" FOUR), NULL },
	{ TEXT(SIGNATURE "\x11\x11\0\x0c" FOUR), NULL },
	{ TEXT(SIGNATURE "\x31\x11\0\x0c" FOUR), NULL },
	{ TEXT(SIGNATURE "\x21\x41\0\x0c" FOUR), NULL },
	{ TEXT(SIGNATURE "\x21\x13\0\x0c" FOUR), NULL },
	{ TEXT(SIGNATURE "\x21\x11\x02\x09" FOUR), NULL },
	{ TEXT("\r\n\r\n\0\r\nQUIT\r"), NULL },
	{ TEXT("\r\nLOCK a\r\n"), NULL },
};

#define CASES (sizeof(cases) / sizeof(cases[0]))

/* What follows belongs to the client. */
START_TEST(whole)
{
	struct proxy_header header;
	char data[256];
	enum proxy_header_got got;

	ck_assert_uint_lt(cases[_i].size, sizeof(data) - 1);
	memcpy(data, cases[_i].data, cases[_i].size);
	data[cases[_i].size] = '\n';
	got = proxy_header_read(data, cases[_i].size + 1, &header);
	if (cases[_i].peer == NULL) {
		ck_assert_int_eq(got, PROXY_HEADER_NONE);
		return;
	}
	ck_assert_int_eq(got, PROXY_HEADER_WHOLE);
	ck_assert_uint_eq(header.size, cases[_i].size);
	ck_assert_str_eq(header.peer, cases[_i].peer);
}
END_TEST

/* It says no as soon as it can't become one, and never too early. */
START_TEST(byte_by_byte)
{
	enum proxy_header_got got = PROXY_HEADER_PART;
	struct proxy_header header;
	size_t n;

	for (n = 0; n <= cases[_i].size && got == PROXY_HEADER_PART; n++)
		got = proxy_header_read(cases[_i].data, n, &header);
	if (cases[_i].peer == NULL) {
		ck_assert_int_eq(got, PROXY_HEADER_NONE);
		return;
	}
	ck_assert_int_eq(got, PROXY_HEADER_WHOLE);
	ck_assert_uint_eq(n - 1, cases[_i].size);
	for (n = 0; n <= cases[_i].size; n++)
		ck_assert_int_ne(
		    proxy_header_begins(cases[_i].data, n), PROXY_HEADER_NONE);
}
END_TEST

/* 536 bytes at most. */
START_TEST(longest)
{
	char data[PROXY_HEADER_MAX] = SIGNATURE "\x21\x11\x02\x08" FOUR;
	struct proxy_header header;

	ck_assert_int_eq(proxy_header_read(data, sizeof(data) - 1, &header),
	    PROXY_HEADER_PART);
	ck_assert_int_eq(
	    proxy_header_read(data, sizeof(data), &header), PROXY_HEADER_WHOLE);
	ck_assert_uint_eq(header.size, sizeof(data));
	ck_assert_str_eq(header.peer, "10.0.0.7:5512");
}
END_TEST

TCase *
proxy_header_cases(void)
{
	TCase *tc = tcase_create("proxy_header");

	tcase_add_loop_test(tc, whole, 0, CASES);
	tcase_add_loop_test(tc, byte_by_byte, 0, CASES);
	tcase_add_test(tc, longest);
	return tc;
}
