/*
 * Pictures: the last hour of each class, and the latest waits of a name.  Bars
 * have logarithmic heights, because waits range from milliseconds to hours.
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "http/html.h"
#include "http/page.h"

#define WIDTH 300
#define HEIGHT 84
#define MARKS 10 /* for losses, below the bars */
#define BAR (WIDTH / PAGE_MINUTES)
#define SCALE_MS 10000000 /* some 3 hours; no bar is higher */

/*
 * Returns the height of a wait: a millisecond has none, and each factor of ten
 * adds a seventh of `full`.
 */
static unsigned
height(int64_t ms, unsigned full)
{
	int64_t power = 1;
	unsigned step = 0, part;

	if (ms <= 0)
		return 1;
	while (power * 10 <= ms && power < SCALE_MS) {
		power *= 10;
		step++;
	}
	part = ms / power > 9 ? 9 : (unsigned)(ms / power) - 1;
	/* Within a step, 1 to 10 counts as a straight line. */
	return 1 + (step * 9 + part) * (full - 1) / 63;
}

static void
add_bar(struct buf *out, const char *kind, unsigned x, unsigned y, unsigned w,
    unsigned h)
{
	buf_addf(out,
	    "<rect class=\"%s\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\"",
	    kind, x, y, w, h);
}

static void
add_minute(struct buf *out, const struct page_minute *m, unsigned ago)
{
	unsigned x = WIDTH - (ago + 1) * BAR, h;

	if (m->granted + m->timeout + m->lost == 0)
		return;
	h = height(m->wait_max_ms, HEIGHT - MARKS);
	add_bar(out, m->timeout > 0 ? "timeout" : "bar", x, HEIGHT - MARKS - h,
	    BAR - 1, h);
	buf_addf(
	    out, "><title>%u min ago: %" PRIu32 " granted", ago, m->granted);
	if (m->timeout > 0)
		buf_addf(out, ", %" PRIu32 " timed out", m->timeout);
	if (m->lost > 0)
		buf_addf(out, ", %" PRIu32 " lost", m->lost);
	buf_adds(out, ", longest wait ");
	html_duration(out, m->wait_max_ms);
	buf_adds(out, "</title></rect>\n");
	if (m->lost == 0)
		return;
	add_bar(out, "lost", x, HEIGHT - MARKS + 2, BAR - 1, MARKS - 4);
	buf_adds(out, "/>\n");
}

static void
add_line(struct buf *out, int64_t ms, const char *text)
{
	unsigned y = HEIGHT - MARKS - height(ms, HEIGHT - MARKS);

	buf_addf(out,
	    "<line class=\"grid\" x1=\"0\" x2=\"%d\" y1=\"%u\" y2=\"%u\"/>"
	    "<text x=\"%d\" y=\"%u\">%s</text>\n",
	    WIDTH, y, y, WIDTH + 4, y + 4, text);
}

/* Says what the picture shows, for people who can't see it. */
static void
add_label(struct buf *out, const struct page_class *c)
{
	uint64_t granted = 0, timeout = 0, lost = 0;
	int64_t most_ms = 0;
	unsigned i;

	for (i = 0; i < PAGE_MINUTES; i++) {
		granted += c->minutes[i].granted;
		timeout += c->minutes[i].timeout;
		lost += c->minutes[i].lost;
		if (c->minutes[i].wait_max_ms > most_ms)
			most_ms = c->minutes[i].wait_max_ms;
	}
	if (granted + timeout + lost == 0) {
		buf_adds(out, "Nothing in the last hour.");
		return;
	}
	html_number(out, granted);
	buf_adds(out, " granted, ");
	html_number(out, timeout);
	buf_adds(out, " timed out, ");
	html_number(out, lost);
	buf_adds(out, " lost; longest wait ");
	html_duration(out, most_ms);
	buf_addc(out, '.');
	if (c->median_ms < 0)
		return;
	/* These are bounds of buckets, and may exceed all waits there were. */
	buf_adds(out, " Half waited at most ");
	html_duration(out, c->median_ms < most_ms ? c->median_ms : most_ms);
	buf_adds(out, ", all but 1&nbsp;% at most ");
	html_duration(out,
	    c->slow_ms >= 0 && c->slow_ms < most_ms ? c->slow_ms : most_ms);
	buf_addc(out, '.');
}

static void
add_class(struct buf *out, const struct page_class *c)
{
	unsigned i;

	buf_adds(out, "<figure class=\"class\"><h3><bdi>");
	html_string(out, c->name);
	buf_addf(out, "</bdi><span>%" PRIu64 " held, %" PRIu64 " waiting",
	    c->held, c->waiters);
	if (c->oldest_ms >= 0) {
		buf_adds(out, ", for up to ");
		html_duration(out, c->oldest_ms);
	}
	buf_addf(out,
	    "</span></h3>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" "
	    "aria-label=\"",
	    WIDTH + 44, HEIGHT + 14);
	add_label(out, c);
	buf_adds(out, "\">\n");
	add_line(out, 10, "10 ms");
	add_line(out, 1000, "1 s");
	add_line(out, 100000, "100 s");
	for (i = 0; i < PAGE_MINUTES; i++)
		add_minute(out, &c->minutes[i], i);
	buf_addf(out,
	    "<text x=\"0\" y=\"%d\">an hour ago</text><text x=\"%d\" y=\"%d\" "
	    "text-anchor=\"end\">now</text></svg>\n<figcaption>",
	    HEIGHT + 10, WIDTH, HEIGHT + 10);
	add_label(out, c);
	buf_adds(out, "</figcaption></figure>\n");
}

void
page_classes(struct buf *out, const struct page *p)
{
	size_t i;

	buf_adds(out,
	    "<section id=\"classes\"><h2>The last hour, by class of names</h2>"
	    "\n<p>A bar for each minute: the longest wait that ended in it. "
	    "It stands out if a request timed out; a mark below it is a lock "
	    "that was lost.</p>\n<div class=\"classes\">\n");
	for (i = 0; i < p->nclasses; i++)
		add_class(out, &p->classes[i]);
	buf_adds(out, "</div></section>\n");
}

/* The shape is of interest here: the longest wait has the full height. */
void
page_trace(struct buf *out, const struct page_name *n)
{
	int64_t most_ms = 1;
	unsigned h, x;
	size_t i;

	if (n->nwaits == 0)
		return;
	for (i = 0; i < n->nwaits; i++)
		if (n->waits_ms[i] > most_ms)
			most_ms = n->waits_ms[i];
	buf_addf(out,
	    "<svg class=\"trace\" viewBox=\"0 0 %d 24\" role=\"img\" "
	    "aria-label=\"latest waits, up to ",
	    PAGE_TRACE * 5);
	html_duration(out, most_ms);
	buf_adds(out, "\">");
	for (i = 0; i < n->nwaits; i++) {
		h = 1 + (unsigned)(n->waits_ms[i] * 22 / most_ms);
		x = (unsigned)(PAGE_TRACE - n->nwaits + i) * 5;
		add_bar(out, "bar", x, 24 - h, 4, h);
		buf_adds(out, "><title>waited ");
		html_duration(out, n->waits_ms[i]);
		buf_adds(out, "</title></rect>");
	}
	buf_adds(out, "</svg>");
}
