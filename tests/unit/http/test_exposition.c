/*
 * The format for Prometheus, byte for byte.
 */
#include "config.h"

#include <string.h>

#include "http/exposition.h"
#include "test_http.h"

static const struct exposition_label hostile[] = {
	{ "class", "a\"b\\c\nd" },
	{ "node", "[::1]:6379" },
	{ NULL, NULL },
};

static void
write_all(struct buf *b, bool openmetrics)
{
	static const int64_t le_ms[] = { 1, 250, 60000 };
	static const uint64_t counts[] = { 1, 0, 2, 3 };
	const struct exposition_histogram h = { 1000, le_ms, counts, 4,
		1234567 };
	struct exposition x;

	buf_init(b);
	exposition_begin(&x, b, openmetrics);
	exposition_family(
	    &x, EXPOSITION_PREFIX, "build_info", EXPOSITION_INFO, "It.");
	exposition_number(&x, NULL, 1);
	exposition_family(&x, EXPOSITION_PREFIX, "grants_total",
	    EXPOSITION_COUNTER, "A \"line\"\nand a \\.");
	exposition_number(&x, hostile, UINT64_MAX);
	exposition_family(&x, "", "left_seconds", EXPOSITION_GAUGE, "Left.");
	exposition_ms(&x, NULL, 1050);
	exposition_us(&x, NULL, 7);
	exposition_ms(&x, NULL, -5);
	exposition_family(&x, "", "wait_seconds", EXPOSITION_HISTOGRAM, "W.");
	exposition_histogram(&x, hostile + 1, &h);
	exposition_end(&x);
	buf_addc(b, '\0');
}

#define HISTOGRAM                                                   \
	"# HELP wait_seconds W.\n"                                  \
	"# TYPE wait_seconds histogram\n"                           \
	"wait_seconds_bucket{node=\"[::1]:6379\",le=\"0.001\"} 1\n" \
	"wait_seconds_bucket{node=\"[::1]:6379\",le=\"0.25\"} 1\n"  \
	"wait_seconds_bucket{node=\"[::1]:6379\",le=\"60.0\"} 3\n"  \
	"wait_seconds_bucket{node=\"[::1]:6379\",le=\"+Inf\"} 6\n"  \
	"wait_seconds_sum{node=\"[::1]:6379\"} 1234.567\n"          \
	"wait_seconds_count{node=\"[::1]:6379\"} 6\n"

#define GAUGE                         \
	"# HELP left_seconds Left.\n" \
	"# TYPE left_seconds gauge\n" \
	"left_seconds 1.05\n"         \
	"left_seconds 0.000007\n"     \
	"left_seconds 0.0\n"

#define SAMPLE                                                             \
	"lockbrokerd_grants_total{class=\"a\\\"b\\\\c\\nd\",node=\"[::1]:" \
	"6379\"} 18446744073709551615\n"

START_TEST(text)
{
	struct buf b;

	write_all(&b, false);
	ck_assert_str_eq(buf_data(&b),
	    "# HELP lockbrokerd_build_info It.\n"
	    "# TYPE lockbrokerd_build_info gauge\n"
	    "lockbrokerd_build_info 1\n"
	    "# HELP lockbrokerd_grants_total A \"line\"\\nand a \\\\.\n"
	    "# TYPE lockbrokerd_grants_total counter\n" SAMPLE GAUGE HISTOGRAM);
	buf_fini(&b);
}
END_TEST

START_TEST(openmetrics)
{
	struct buf b;

	write_all(&b, true);
	ck_assert_str_eq(buf_data(&b),
	    "# HELP lockbrokerd_build It.\n"
	    "# TYPE lockbrokerd_build info\n"
	    "lockbrokerd_build_info 1\n"
	    "# HELP lockbrokerd_grants A \\\"line\\\"\\nand a \\\\.\n"
	    "# TYPE lockbrokerd_grants counter\n" SAMPLE GAUGE HISTOGRAM
	    "# EOF\n");
	buf_fini(&b);
}
END_TEST

/* Exactly these types: Prometheus 3 refuses a scrape with any other. */
START_TEST(content_types)
{
	ck_assert_str_eq(exposition_content_type(false),
	    "text/plain; version=0.0.4; charset=utf-8");
	ck_assert_str_eq(exposition_content_type(true),
	    "application/openmetrics-text; version=1.0.0; charset=utf-8");
}
END_TEST

TCase *
case_exposition(void)
{
	TCase *tc = tcase_create("exposition");

	tcase_add_test(tc, text);
	tcase_add_test(tc, openmetrics);
	tcase_add_test(tc, content_types);
	return tc;
}
