/*
 * Names on the page: the busiest, the one that the request asks for, and the
 * losses.
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "http/html.h"
#include "http/page.h"
#include "http/path.h"

void
page_link(struct buf *out, struct span name)
{
	buf_adds(out, "<a class=\"name\" href=\"/?name=");
	path_encode(out, name);
	buf_adds(out, "\"><bdi>");
	html_text(out, name);
	buf_adds(out, "</bdi></a>");
}

static void
add_who(struct buf *out, const char *text)
{
	buf_adds(out, "<bdi>");
	html_string(out, text);
	buf_adds(out, "</bdi>");
}

/*
 * Begins a cell of a table; `head` is shown beside it if there is little room.
 */
static void
begin_cell(struct buf *out, const char *kind, const char *head)
{
	buf_adds(out, "<td");
	if (kind[0] != '\0')
		buf_addf(out, " class=\"%s\"", kind);
	if (head[0] != '\0')
		buf_addf(out, " data-k=\"%s\"", head);
	buf_addc(out, '>');
}

static void
add_duration_cell(struct buf *out, const char *head, int64_t ms)
{
	if (ms < 0) {
		buf_adds(out, "<td class=\"num\"></td>");
		return;
	}
	begin_cell(out, "num", head);
	html_duration(out, ms);
	buf_adds(out, "</td>");
}

/* The busiest names. */

static void
add_busy_name(struct buf *out, const struct page_name *n)
{
	buf_adds(out, "<tr><th scope=\"row\">");
	page_link(out, n->name);
	buf_adds(out, "</th>");
	begin_cell(out, "wide", "held by");
	if (n->has_holder)
		add_who(out, n->holder.text);
	else
		buf_addf(out, "<span class=\"quiet\">nobody here (%s)</span>",
		    n->state);
	if (n->has_holder && n->holder.shared)
		buf_adds(out, " <span class=\"tag quiet\">shared</span>");
	buf_adds(out, "</td>");
	add_duration_cell(
	    out, "for", n->has_holder ? n->holder.age_ms : PAGE_NONE);
	begin_cell(out, "num", "waiting");
	html_number(out, n->waiters);
	buf_adds(out, "</td>");
	add_duration_cell(out, "longest", n->oldest_ms);
	begin_cell(out, "num", "handovers");
	html_number(out, n->handovers);
	buf_adds(out, "</td>");
	begin_cell(out, "", "");
	page_trace(out, n);
	buf_adds(out, "</td></tr>\n");
}

void
page_busiest(struct buf *out, const struct page *p)
{
	size_t i;

	buf_adds(out, "<section id=\"names\"><h2>Busiest locks</h2>\n");
	if (p->nbusiest == 0) {
		buf_adds(out,
		    "<p class=\"empty\">No lock is held or waited for "
		    "through this broker.</p></section>\n");
		return;
	}
	buf_addf(out,
	    "<p>Those that most requests wait for, through this broker. It has "
	    "to do with %" PRIu64 " in all.</p>\n",
	    p->names);
	buf_adds(out,
	    "<table><thead><tr><th scope=\"col\">name</th>"
	    "<th scope=\"col\">held by</th>"
	    "<th scope=\"col\" class=\"num\">for</th>"
	    "<th scope=\"col\" class=\"num\">waiting</th>"
	    "<th scope=\"col\" class=\"num\">longest</th>"
	    "<th scope=\"col\" class=\"num\">handovers</th>"
	    "<th scope=\"col\">latest waits</th></tr></thead><tbody>\n");
	for (i = 0; i < p->nbusiest; i++)
		add_busy_name(out, &p->busiest[i]);
	buf_adds(out, "</tbody></table></section>\n");
}

/* Losses. */

static const struct {
	const char *end, *words;
} ends[] = {
	{ "released", "released" },
	{ "dropped", "its client went away" },
	{ "held", "is held" },
	{ "hold", "its hold= was over" },
	{ "unreachable", "Redis could not be reached in time to renew it" },
	{ "taken", "its key in Redis was deleted or overwritten" },
	{ "failover", "Redis failed over or was restarted" },
	{ "forced", "released by force" },
	{ "shutdown", "the broker stopped" },
	{ "given-up", "given back while it was about to be lost" },
};

static void
add_end(struct buf *out, const struct page_hold *h)
{
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (strcmp(ends[i].end, h->end) == 0)
			break;
	html_string(
	    out, i < sizeof(ends) / sizeof(ends[0]) ? ends[i].words : h->end);
	if (h->by != NULL && h->by[0] != '\0') {
		buf_adds(out, " by ");
		add_who(out, h->by);
	}
}

static void
add_hold(struct buf *out, const struct page_hold *h, bool with_name)
{
	buf_adds(out, "<tr>");
	if (with_name) {
		buf_adds(out, "<th scope=\"row\">");
		page_link(out, h->name);
		buf_adds(out, "</th>");
	}
	begin_cell(out, "wide", with_name ? "was held by" : "");
	add_who(out, h->who);
	buf_adds(out, "</td>");
	begin_cell(out, "wide", "");
	add_end(out, h);
	buf_adds(out, "</td>");
	add_duration_cell(out, "waited", h->waited_ms);
	add_duration_cell(out, "held for", h->held_ms);
	add_duration_cell(out, "ago", h->ago_ms);
	buf_adds(out, "</tr>\n");
}

static void
add_holds(struct buf *out, const struct page_hold *h, size_t n, bool with_name)
{
	size_t i;

	buf_adds(out, "<table><thead><tr>");
	if (with_name)
		buf_adds(out, "<th scope=\"col\">name</th>");
	buf_adds(out, "<th scope=\"col\">held by</th>"
		      "<th scope=\"col\">how it ended</th>"
		      "<th scope=\"col\" class=\"num\">waited</th>"
		      "<th scope=\"col\" class=\"num\">held for</th>"
		      "<th scope=\"col\" class=\"num\">ago</th>"
		      "</tr></thead><tbody>\n");
	for (i = 0; i < n; i++)
		add_hold(out, &h[i], with_name);
	buf_adds(out, "</tbody></table>\n");
}

void
page_losses(struct buf *out, const struct page *p)
{
	buf_adds(out, "<section id=\"losses\"><h2>Lost and released by force"
		      "</h2>\n");
	if (p->nlosses == 0)
		buf_adds(out, "<p class=\"empty\">None since this broker was "
			      "started.</p>");
	else
		add_holds(out, p->losses, p->nlosses, true);
	buf_adds(out, "</section>\n");
}

/* The name that the request asks for. */

static void
add_row(struct buf *out, const struct page_who *w, uint64_t place)
{
	buf_adds(out, "<tr><th scope=\"row\">");
	if (place > 0)
		buf_addf(out, "%" PRIu64 ". ", place);
	add_who(out, w->text);
	if (w->shared)
		buf_adds(out, " <span class=\"tag quiet\">shared</span>");
	if (w->away_ms >= 0) {
		buf_adds(out, " <span class=\"tag warn\">connection lost, may "
			      "come back within ");
		html_duration(out, w->away_ms);
		buf_adds(out, "</span>");
	}
	buf_adds(out, "</th>");
	begin_cell(out, "num", "session");
	buf_addf(out, "%" PRIu64 "</td>", w->session);
	add_duration_cell(
	    out, place > 0 ? "has waited for" : "has it for", w->age_ms);
	buf_adds(out, "</tr>\n");
}

static void
add_rows(struct buf *out, const char *title, const char *age,
    const struct page_who *w, size_t n, bool places)
{
	size_t i;

	buf_addf(out,
	    "<h3>%s</h3><table><thead><tr><th scope=\"col\">who</th>"
	    "<th scope=\"col\" class=\"num\">session</th>"
	    "<th scope=\"col\" class=\"num\">%s</th></tr></thead><tbody>\n",
	    title, age);
	for (i = 0; i < n; i++)
		add_row(out, &w[i], places ? i + 1 : 0);
	buf_adds(out, "</tbody></table>\n");
}

static void
add_summary(struct buf *out, const struct page_focus *f)
{
	buf_adds(out, "<p class=\"who\">");
	if (f->nholders > 0) {
		add_who(out, f->holders[0].text);
		if (f->nholders > 1)
			buf_addf(out,
			    " and %zu others have it; the first has "
			    "had it for ",
			    f->nholders - 1);
		else
			buf_adds(out, " has had it for ");
		html_duration(out, f->holders[0].age_ms);
	} else if (f->elsewhere[0] != '\0') {
		html_string(out, f->elsewhere);
	} else {
		buf_adds(out, "Nobody has it");
	}
	if (f->all_waiters == 0)
		buf_adds(out, "; nobody waits for it here.</p>\n");
	else
		buf_addf(out, "; %" PRIu64 " %s for it here.</p>\n",
		    f->all_waiters, f->all_waiters == 1 ? "waits" : "wait");
}

void
page_of_name(struct buf *out, const struct page_focus *f)
{
	buf_adds(out, "<section id=\"name-asked\" class=\"focus\"><h2>"
		      "<bdi class=\"name\">");
	html_text(out, f->name);
	buf_adds(out, "</bdi></h2>\n");
	if (f->fault != NULL) {
		buf_adds(out, "<p>This is no name of a lock: it ");
		html_string(out, f->fault);
		buf_adds(out, ".</p></section>\n");
		return;
	}
	add_summary(out, f);
	if (f->nholders > 0)
		add_rows(
		    out, "Who has it", "for", f->holders, f->nholders, false);
	if (f->nwaiters > 0)
		add_rows(out, "Who is next", "has waited", f->waiters,
		    f->nwaiters, true);
	if (f->npast > 0) {
		buf_adds(out, "<h3>Who had it before</h3>");
		add_holds(out, f->past, f->npast, false);
	}
	buf_adds(out, "<p class=\"small\"><a href=\"/\">back to all</a></p>"
		      "</section>\n");
}
