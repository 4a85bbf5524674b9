/*
 * The page: names and labels from clients stay text, and what is wrong comes
 * first.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "http/html.h"
#include "http/page.h"
#include "test_http.h"

static const struct {
	const char *text;
	size_t n;
	const char *html;
} texts[] = {
	{ "", 0, "" },
	{ "a/b", 3, "a/b" },
	{ "<&>\"'", 5, "&lt;&amp;&gt;&quot;&#39;" },
	{ "a\0b\n\x7f", 5, "a\\u0000b\\u000a\\u007f" },
	{ "\xc3\xa4\xe2\x82\xac", 5, "\xc3\xa4\xe2\x82\xac" },
	{ "\xe2\x80\xae", 3, "\\u202e" }, /* turns the text around */
	{ "\xe2\x80\x8b", 3, "\\u200b" }, /* has no width */
	{ "\xef\xbb\xbf", 3, "\\ufeff" },
	{ "\xf3\xa0\x81\x81", 4, "\\ue0041" }, /* a tag */
	{ "\xc2\x85", 2, "\\u0085" },
	{ "\xff<\xc3", 3, "\\xff&lt;\\xc3" },
	{ "\xed\xa0\x80", 3, "\\xed\\xa0\\x80" },
};

START_TEST(text_is_escaped)
{
	struct buf b;

	buf_init(&b);
	html_text(&b, (struct span){ texts[_i].text, texts[_i].n });
	buf_addc(&b, '\0');
	ck_assert_str_eq(buf_data(&b), texts[_i].html);
	buf_fini(&b);
}
END_TEST

#define S "\302\240"
static const struct {
	int64_t ms;
	const char *text;
} durations[] = {
	{ -1, "0" S "ms" },
	{ 0, "0" S "ms" },
	{ 999, "999" S "ms" },
	{ 1000, "1.0" S "s" },
	{ 9999, "9.9" S "s" },
	{ 10000, "10" S "s" },
	{ 65000, "1" S "min 5" S "s" },
	{ 600000, "10" S "min" },
	{ 3600000, "1" S "h 0" S "min" },
	{ INT64_C(200000000), "2" S "d 7" S "h" },
};

START_TEST(durations_are_short)
{
	struct buf b;

	buf_init(&b);
	html_duration(&b, durations[_i].ms);
	buf_addc(&b, '\0');
	ck_assert_str_eq(buf_data(&b), durations[_i].text);
	buf_fini(&b);
}
END_TEST

START_TEST(numbers_are_in_groups)
{
	struct buf b;

	buf_init(&b);
	html_number(&b, 0);
	buf_addc(&b, ',');
	html_number(&b, 123);
	buf_addc(&b, ',');
	html_number(&b, 1234567);
	buf_addc(&b, '\0');
	ck_assert_str_eq(buf_data(&b), "0,123,1\342\200\257234\342\200\257567");
	buf_fini(&b);
}
END_TEST

#define EVIL "<script>&\"'\xe2\x80\xae"

/* A page on which everything from outside is hostile. */
struct hostile {
	struct page page;
	struct page_node node;
	struct page_name name;
	struct page_class class;
	struct page_hold hold;
	struct page_who who;
	struct page_focus focus;
};

static void
hostile_init(struct hostile *h)
{
	static const struct span evil = { EVIL, sizeof(EVIL) - 1 };

	memset(h, 0, sizeof(*h));
	h->node = (struct page_node){ EVIL, true, 3, 2, EVIL };
	snprintf(h->who.text, sizeof(h->who.text), "%s", EVIL);
	h->who.age_ms = 7200000;
	h->name.name = evil;
	snprintf(h->name.state, sizeof(h->name.state), "held");
	h->name.has_holder = true;
	h->name.holder = h->who;
	h->name.oldest_ms = 61000;
	h->name.waiters = 2;
	h->name.nwaits = PAGE_TRACE;
	h->name.waits_ms[3] = INT64_MAX / 100;
	h->class.name = EVIL;
	h->class.minutes[0] = (struct page_minute){ 1, 1, 1, INT64_MAX / 100 };
	h->class.minutes[PAGE_MINUTES - 1] = h->class.minutes[0];
	h->hold.name = evil;
	snprintf(h->hold.who, sizeof(h->hold.who), "%s", EVIL);
	h->hold.end = EVIL;
	h->hold.by = EVIL;
	h->focus = (struct page_focus){ .name = evil,
		.elsewhere = EVIL,
		.waiters = &h->who,
		.nwaiters = 1,
		.all_waiters = 1,
		.past = &h->hold,
		.npast = 1 };
	h->page = (struct page){ .nonce = "0f",
		.broker = EVIL,
		.address = EVIL,
		.version = "1",
		.now = "now",
		.why = EVIL,
		.nodes = &h->node,
		.nnodes = 1,
		.busiest = &h->name,
		.nbusiest = 1,
		.classes = &h->class,
		.nclasses = 1,
		.losses = &h->hold,
		.nlosses = 1,
		.focus = &h->focus };
}

static char *
written(const struct page *p, struct buf *b)
{
	buf_init(b);
	page_write(b, p);
	buf_addc(b, '\0');
	return buf_data(b);
}

static unsigned
count(const char *text, const char *what)
{
	unsigned n = 0;

	while ((text = strstr(text, what)) != NULL) {
		n++;
		text += strlen(what);
	}
	return n;
}

START_TEST(nothing_gets_out)
{
	struct hostile h;
	struct buf b;
	char *text;
	int ready;

	for (ready = 0; ready < 2; ready++) {
		hostile_init(&h);
		h.page.ready = ready;
		text = written(&h.page, &b);
		/* The only script is the page's own, which has the nonce. */
		ck_assert_uint_eq(count(text, "<script"), 1);
		ck_assert_uint_eq(count(text, "<script nonce=\"0f\">"), 1);
		ck_assert_uint_eq(count(text, "\xe2\x80\xae"), 0);
		ck_assert_uint_eq(count(text, "{{"), 0);
		ck_assert_uint_ge(count(text, "&lt;script&gt;"), 10);
		/* In addresses it is encoded in another way. */
		ck_assert_uint_ge(
		    count(text, "?name=%3Cscript%3E%26%22%27%E2%80%AE\""), 3);
		buf_fini(&b);
	}
}
END_TEST

/* The pieces, in the order in which the page must show them. */
START_TEST(what_is_wrong_comes_first)
{
	static const char *const order[] = { "Locks are granted, but",
		"does not count at the moment", "<b>1 lock was lost</b>",
		"Somebody has waited for", "<dl", "<form", "<main>" };
	struct hostile h;
	struct buf b;
	const char *at;
	size_t i;

	hostile_init(&h);
	h.page.ready = true;
	at = written(&h.page, &b);
	for (i = 0; i < COUNT(order); i++) {
		ck_assert_msg(strstr(at, order[i]) != NULL, "%s", order[i]);
		at = strstr(at, order[i]);
	}
	buf_fini(&b);
}
END_TEST

static const struct {
	bool ready, stopping;
	int64_t left_ms;
	const char *title, *verdict;
} states[] = {
	{ true, false, 0, "Granting - b", "nothing is wrong</h2>" },
	{ false, false, 7000, "Paused - b",
	    "Grants are paused for 7.0" S "s</h2><p>No new locks.</p>" },
	{ false, false, 0, "Paused - b", "Grants are paused</h2>" },
	{ false, true, 0, "Stopping - b", "This broker is stopping</h2>" },
};

START_TEST(the_state_in_words)
{
	struct page p = { .nonce = "0f",
		.broker = "b",
		.address = "",
		.version = "1",
		.now = "now",
		.oldest_ms = PAGE_NONE,
		.why = "no new locks" };
	struct buf b;
	char *text;

	p.ready = states[_i].ready;
	p.stopping = states[_i].stopping;
	p.left_ms = states[_i].left_ms;
	text = written(&p, &b);
	ck_assert_ptr_nonnull(strstr(text, states[_i].verdict));
	ck_assert_ptr_nonnull(strstr(text, states[_i].title));
	ck_assert_ptr_null(strstr(text, "troubles\">"));
	buf_fini(&b);
}
END_TEST

START_TEST(what_is_no_name)
{
	struct page_focus f = { .name = { "a b", 3 },
		.fault = "contains a space" };
	struct buf b;

	buf_init(&b);
	page_of_name(&b, &f);
	buf_addc(&b, '\0');
	ck_assert_ptr_nonnull(strstr(
	    buf_data(&b), "This is no name of a lock: it contains a space."));
	buf_fini(&b);
}
END_TEST

TCase *
case_page(void)
{
	TCase *tc = tcase_create("page");

	tcase_add_loop_test(tc, text_is_escaped, 0, COUNT(texts));
	tcase_add_loop_test(tc, durations_are_short, 0, COUNT(durations));
	tcase_add_test(tc, numbers_are_in_groups);
	tcase_add_test(tc, nothing_gets_out);
	tcase_add_test(tc, what_is_wrong_comes_first);
	tcase_add_loop_test(tc, the_state_in_words, 0, COUNT(states));
	tcase_add_test(tc, what_is_no_name);
	return tc;
}
