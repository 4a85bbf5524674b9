/*
 * The page from top to end: it begins with what is wrong.  See page.h.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "http/html.h"
#include "http/page.h"
#include "http/page/sources.h"

/* Longer waits are shown at the top. */
#define LONG_WAIT_MS 60000
#define RECENT_MS (10 * 60000)
#define LONG_WAITS 3 /* at most so many names */

void
page_policy(char out[PAGE_POLICY_SIZE], const char *nonce)
{
	snprintf(out, PAGE_POLICY_SIZE,
	    "default-src 'none'; style-src 'nonce-%s'; script-src 'nonce-%s'; "
	    "connect-src 'self'; img-src data:; form-action 'self'; "
	    "base-uri 'none'; frame-ancestors 'none'",
	    nonce, nonce);
}

/* Texts of the core begin with a small letter; sentences don't. */
static void
add_sentence(struct buf *out, const char *text)
{
	char first[2] = { text[0], '\0' };

	if (first[0] >= 'a' && first[0] <= 'z')
		first[0] = (char)(first[0] - 'a' + 'A');
	html_string(out, first);
	if (text[0] != '\0')
		html_string(out, text + 1);
}

/* Troubles. */

static void
begin_trouble(struct buf *out, unsigned *n, bool bad)
{
	if ((*n)++ == 0)
		buf_adds(out, "<ul class=\"troubles\">\n");
	buf_adds(out, bad ? "<li class=\"bad\">" : "<li>");
}

/* If the broker grants nothing at all, the verdict has said why. */
static void
trouble_of_nodes(struct buf *out, const struct page *p, unsigned *n)
{
	size_t i;

	for (i = 0; p->ready && i < p->nnodes; i++) {
		const struct page_node *node = &p->nodes[i];

		if (node->up && node->ready == node->guards)
			continue;
		begin_trouble(out, n, true);
		buf_adds(out, "<b>Redis server <code>");
		html_string(out, node->address);
		buf_adds(out, "</code></b> does not count at the moment: ");
		html_string(out, node->why);
		buf_adds(out, ".</li>\n");
	}
}

static void
trouble_of_waits(struct buf *out, const struct page *p, unsigned *n)
{
	unsigned told = 0;
	size_t i;

	for (i = 0; i < p->nbusiest && told < LONG_WAITS; i++) {
		const struct page_name *name = &p->busiest[i];

		if (name->oldest_ms < LONG_WAIT_MS)
			continue;
		told++;
		begin_trouble(out, n, false);
		buf_adds(out, "Somebody has waited for <b>");
		html_duration(out, name->oldest_ms);
		buf_adds(out, "</b> for ");
		page_link(out, name->name);
		if (name->has_holder) {
			buf_adds(out, ", which <bdi>");
			html_string(out, name->holder.text);
			buf_adds(out, "</bdi> has had for ");
			html_duration(out, name->holder.age_ms);
		}
		buf_adds(out, ".</li>\n");
	}
}

static void
trouble_of_losses(struct buf *out, const struct page *p, unsigned *n)
{
	size_t i = 0;

	while (i < p->nlosses && p->losses[i].ago_ms < RECENT_MS)
		i++;
	if (i == 0)
		return;
	begin_trouble(out, n, true);
	buf_addf(out, "<b>%zu %s</b> in the last 10 minutes, the latest ", i,
	    i == 1 ? "lock was lost" : "locks were lost");
	html_duration(out, p->losses[0].ago_ms);
	buf_adds(out, " ago: ");
	page_link(out, p->losses[0].name);
	buf_adds(out, ".</li>\n");
}

static unsigned
add_troubles(struct buf *out, const struct page *p)
{
	unsigned n = 0;

	trouble_of_nodes(out, p, &n);
	trouble_of_losses(out, p, &n);
	trouble_of_waits(out, p, &n);
	if (n > 0)
		buf_adds(out, "</ul>\n");
	return n;
}

/* The verdict. */

static void
begin_verdict(struct buf *out, const char *kind, const char *sign)
{
	buf_addf(out,
	    "<div class=\"verdict %s\" role=\"status\"><div class=\"sign\" "
	    "aria-hidden=\"true\">%s</div><h2>",
	    kind, sign);
}

static void
add_verdict(struct buf *out, const struct page *p, bool troubles)
{
	if (p->stopping) {
		begin_verdict(out, "warn", "&#9632;");
		buf_adds(out,
		    "This broker is stopping</h2><p>It grants nothing "
		    "more, and gives back what it holds.</p>");
	} else if (!p->ready) {
		begin_verdict(out, "bad", "&#10074;&#10074;");
		buf_adds(out, "Grants are paused");
		if (p->left_ms > 0) {
			buf_adds(out, " for ");
			html_duration(out, p->left_ms);
		}
		buf_adds(out, "</h2><p>");
		add_sentence(out, p->why);
		buf_adds(out, ".</p>");
	} else if (troubles) {
		begin_verdict(out, "warn", "!");
		buf_adds(out, "Locks are granted, but look at this</h2>");
	} else {
		begin_verdict(out, "good", "&#10003;");
		buf_adds(out, "Locks are granted, and nothing is wrong</h2>");
	}
	buf_adds(out, "</div>\n");
}

/* Figures. */

static void
add_figure(struct buf *out, const char *what, uint64_t n)
{
	buf_adds(out, "<div><dt>");
	buf_adds(out, what);
	buf_adds(out, "</dt><dd>");
	html_number(out, n);
	buf_adds(out, "</dd></div>\n");
}

static void
add_figures(struct buf *out, const struct page *p)
{
	buf_adds(out, "<dl class=\"figures\">\n");
	add_figure(out, "locks held", p->held);
	add_figure(out, "requests waiting", p->waiters);
	buf_adds(out, "<div><dt>longest wait now</dt><dd>");
	if (p->oldest_ms >= 0)
		html_duration(out, p->oldest_ms);
	else
		buf_adds(out, "none");
	buf_adds(out, "</dd></div>\n");
	add_figure(out, "clients connected", p->clients);
	buf_adds(out, "</dl>\n");
}

static void
add_form(struct buf *out, const struct page *p)
{
	buf_adds(out,
	    "<form action=\"/\" method=\"get\" role=\"search\">"
	    "<label for=\"name\">Who has</label>"
	    "<input id=\"name\" name=\"name\" type=\"text\" maxlength=\"255\" "
	    "autocomplete=\"off\" autocapitalize=\"none\" spellcheck=\"false\" "
	    "placeholder=\"name of a lock\" value=\"");
	if (p->focus != NULL)
		html_text(out, p->focus->name);
	buf_adds(out, "\"><button>Look</button></form>\n");
}

/* Servers. */

static void
add_node(struct buf *out, const struct page_node *n)
{
	bool good = n->up && n->ready == n->guards;

	buf_adds(out, "<tr><th scope=\"row\"><code>");
	html_string(out, n->address);
	buf_addf(out, "</code></th><td><span class=\"tag %s\">%s</span></td>",
	    good    ? "good"
	    : n->up ? "warn"
		    : "bad",
	    good    ? "grants"
	    : n->up ? "paused"
		    : "can't be reached");
	buf_adds(out, "<td class=\"wide\">");
	if (n->guards > 1)
		buf_addf(
		    out, "%u of %u buckets of names. ", n->ready, n->guards);
	if (n->why[0] != '\0')
		add_sentence(out, n->why);
	buf_adds(out, "</td></tr>\n");
}

static void
add_nodes(struct buf *out, const struct page *p)
{
	size_t i;

	buf_adds(out, "<section id=\"redis\"><h2>Redis</h2>\n<table>"
		      "<thead><tr><th scope=\"col\">server</th>"
		      "<th scope=\"col\">state</th><th scope=\"col\">why</th>"
		      "</tr></thead><tbody>\n");
	for (i = 0; i < p->nnodes; i++)
		add_node(out, &p->nodes[i]);
	buf_adds(out, "</tbody></table></section>\n");
}

/* All. */

static void
add_header(struct buf *out, const struct page *p)
{
	buf_adds(out, "<header><h1>");
	html_string(out, p->broker);
	if (p->address[0] != '\0') {
		buf_adds(out, " <span>at ");
		html_string(out, p->address);
		buf_adds(out, "</span>");
	}
	buf_adds(out, "</h1><p class=\"quiet small\">lockbroker ");
	html_string(out, p->version);
	buf_adds(out, ", up for ");
	html_duration(out, p->uptime_ms);
	buf_adds(out, "; as of <time>");
	html_string(out, p->now);
	buf_adds(out, "</time></p></header>\n");
}

static void
add_body(struct buf *out, const struct page *p)
{
	struct buf troubles;
	unsigned n;

	buf_init(&troubles);
	n = add_troubles(&troubles, p);
	add_header(out, p);
	buf_adds(out, "<div id=\"now\">\n");
	add_verdict(out, p, n > 0);
	if (n > 0)
		buf_add(out, buf_data(&troubles), buf_len(&troubles));
	buf_fini(&troubles);
	add_figures(out, p);
	buf_adds(out, "</div>\n");
	add_form(out, p);
	buf_adds(out, "<main>\n");
	if (p->focus != NULL)
		page_of_name(out, p->focus);
	page_busiest(out, p);
	page_classes(out, p);
	page_losses(out, p);
	add_nodes(out, p);
	buf_adds(out, "</main>\n");
	buf_adds(out, "<footer>The same for programs: "
		      "<a href=\"/metrics\">metrics</a>, "
		      "<a href=\"/status.json\">status.json</a>, "
		      "<a href=\"/readyz?verbose\">readyz</a>. "
		      "lockbroker-metrics(7) explains them.</footer>\n");
}

/* Writes the value of a word that stood in two pairs of braces. */
static void
add_value(struct buf *out, const struct page *p, struct span word)
{
	static const char *const words[] = { "title", "nonce", "css", "js",
		"body" };
	size_t i = 0;

	while (
	    strlen(words[i]) != word.n || memcmp(words[i], word.p, word.n) != 0)
		i++;
	switch (i) {
	case 0:
		buf_adds(out, p->stopping ? "Stopping"
			      : p->ready  ? "Granting"
					  : "Paused");
		buf_adds(out, " - ");
		html_string(out, p->broker);
		break;
	case 1:
		html_string(out, p->nonce);
		break;
	case 2:
		buf_adds(out, page_css);
		break;
	case 3:
		buf_adds(out, page_js);
		break;
	default:
		add_body(out, p);
		break;
	}
}

void
page_write(struct buf *out, const struct page *p)
{
	const char *at = page_html, *open, *end;

	while ((open = strstr(at, "{{")) != NULL) {
		end = strstr(open, "}}");
		buf_add(out, at, (size_t)(open - at));
		add_value(out, p,
		    (struct span){ open + 2, (size_t)(end - open) - 2 });
		at = end + 2;
	}
	buf_adds(out, at);
}
