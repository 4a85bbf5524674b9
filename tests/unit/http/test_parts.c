/*
 * The parts of a request: paths, queries, Accept, Authorization, Host.
 */
#include "config.h"

#include <string.h>

#include "http/basic.h"
#include "http/listen.h"
#include "http/path.h"
#include "test_http.h"

static void
expect(const struct buf *b, const char *text, size_t n)
{
	ck_assert_uint_eq(buf_len(b), n);
	ck_assert(n == 0 || memcmp(buf_data(b), text, n) == 0);
}

static const struct {
	const char *text, *bytes; /* NULL: malformed */
	size_t n;
} paths[] = {
	{ "", "", 0 },
	{ "a/b+c", "a/b+c", 5 },
	{ "a%2Fb%2fc", "a/b/c", 5 },
	{ "%00%ff", "\0\xff", 2 },
	{ "%252f", "%2f", 3 },
	{ "%", NULL, 0 },
	{ "a%4", NULL, 0 },
	{ "%g0", NULL, 0 },
	{ "%0g", NULL, 0 },
	{ "%%41", NULL, 0 },
};

START_TEST(paths_are_decoded)
{
	const struct span text = { paths[_i].text, strlen(paths[_i].text) };
	struct buf b;
	bool ok;

	buf_init(&b);
	ok = path_decode(&b, text);
	ck_assert_int_eq(ok, paths[_i].bytes != NULL);
	expect(&b, paths[_i].bytes, paths[_i].n);
	buf_fini(&b);
}
END_TEST

static const struct {
	const char *query, *key, *value; /* NULL: not there */
} queries[] = {
	{ NULL, "a", NULL },
	{ "", "a", NULL },
	{ "a", "a", "" },
	{ "a=", "a", "" },
	{ "a=1", "a", "1" },
	{ "b=2&a=1&a=3", "a", "1" },
	{ "aa=1&b&a=x=y", "a", "x=y" },
	{ "&&a=1", "a", "1" },
	{ "verbose&x", "verbose", "" },
	{ "verbosely", "verbose", NULL },
};

START_TEST(queries_have_keys)
{
	struct span value;
	bool there = query_find(queries[_i].query, queries[_i].key, &value);

	ck_assert_int_eq(there, queries[_i].value != NULL);
	if (!there)
		return;
	ck_assert_uint_eq(value.n, strlen(queries[_i].value));
	ck_assert_int_eq(memcmp(value.p, queries[_i].value, value.n), 0);
}
END_TEST

static const struct {
	const char *accept;
	bool openmetrics;
} accepts[] = {
	{ NULL, false },
	{ "", false },
	{ "*/*", false },
	{ "text/plain", false },
	{ "application/openmetrics-text", true },
	{ "application/openmetrics-text;version=1.0.0;q=0.75,"
	  "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
	    true },
	{ "text/plain;version=0.0.4;q=0.5, "
	  "Application/OpenMetrics-Text; version=1.0.0; q=0.4",
	    false },
	{ "application/openmetrics-text;q=0", false },
	{ "application/openmetrics-text;q=0.000", false },
	{ "application/openmetrics-text;q=", false },
	{ "application/openmetrics-textual", false },
	{ "application/openmetrics-text;;;", true },
	{ ",,, ;", false },
};

START_TEST(openmetrics_when_it_is_preferred)
{
	ck_assert_int_eq(
	    accept_openmetrics(accepts[_i].accept), accepts[_i].openmetrics);
}
END_TEST

TCase *
case_path(void)
{
	TCase *tc = tcase_create("path");

	tcase_add_loop_test(tc, paths_are_decoded, 0, COUNT(paths));
	tcase_add_loop_test(tc, queries_have_keys, 0, COUNT(queries));
	tcase_add_loop_test(
	    tc, openmetrics_when_it_is_preferred, 0, COUNT(accepts));
	return tc;
}

static const struct {
	const char *header, *user, *password; /* NULL: malformed */
} basics[] = {
	{ "Basic cm9vdDp4", "root", "x" },
	{ "basic   cm9vdDp4", "root", "x" },
	{ "Basic cm9vdDo=", "root", "" },
	{ "Basic Og==", "", "" },
	{ "Basic Og", "", "" },
	{ "Basic YTpiOmM=", "a", "b:c" },
	{ "Basic dGVzdDoxMjPCow==", "test", "123\xc2\xa3" },
	{ "Basic cm9vdA==", NULL, NULL }, /* no colon */
	{ "Basic cm9vdDp4 x", NULL, NULL },
	{ "Basic cm9v!Dp4", NULL, NULL },
	{ "Basic cm9vd=Dp4", NULL, NULL },
	{ "Basic cm9vD", NULL, NULL }, /* 5 digits are no bytes */
	{ "Basic ", NULL, NULL },
	{ "Basic", NULL, NULL },
	{ "Bearer cm9vdDp4", NULL, NULL },
	{ "", NULL, NULL },
};

START_TEST(who_asks)
{
	struct span user, password;
	struct buf mem;
	bool ok;

	buf_init(&mem);
	ok = basic_parse(basics[_i].header, &mem, &user, &password);
	ck_assert_int_eq(ok, basics[_i].user != NULL);
	if (ok) {
		ck_assert_uint_eq(user.n, strlen(basics[_i].user));
		ck_assert_int_eq(memcmp(user.p, basics[_i].user, user.n), 0);
		ck_assert_uint_eq(password.n, strlen(basics[_i].password));
		ck_assert_int_eq(
		    memcmp(password.p, basics[_i].password, password.n), 0);
	}
	buf_fini(&mem);
}
END_TEST

TCase *
case_basic(void)
{
	TCase *tc = tcase_create("basic");

	tcase_add_loop_test(tc, who_asks, 0, COUNT(basics));
	return tc;
}

static const struct {
	const char *host;
	bool local;
} hosts[] = {
	{ "localhost", true },
	{ "LocalHost:5627", true },
	{ "a.localhost", true },
	{ "127.0.0.1:1", true },
	{ "192.0.2.1", true },
	{ "[::1]", true },
	{ "[::1]:5627", true },
	{ "", false },
	{ ":80", false },
	{ "[", false },
	{ "notlocalhost", false },
	{ "localhost.example", false },
	{ "127.0.0.1.example", false },
	{ "127.1", false },
	{ "2130706433", false },
	{ "example:127.0.0.1", false },
	{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	    false },
};

START_TEST(names_of_this_machine)
{
	ck_assert_msg(http_host_is_local(hosts[_i].host) == hosts[_i].local,
	    "%s", hosts[_i].host);
}
END_TEST

TCase *
case_hosts(void)
{
	TCase *tc = tcase_create("hosts");

	tcase_add_loop_test(tc, names_of_this_machine, 0, COUNT(hosts));
	return tc;
}
