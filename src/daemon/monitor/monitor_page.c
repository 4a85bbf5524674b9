/*
 * The page: files that were embedded at build time (http/page).  They draw
 * /status.json.
 */
#include "config.h"

#include <string.h>

#include "daemon/monitor/monitor_state.h"
#include "http/page/sources.h"

/*
 * No script but ours, and none that makes HTML of text: names and labels come
 * from untrusted clients.
 */
#define POLICY                                                      \
	"default-src 'none'; style-src 'self'; script-src 'self'; " \
	"connect-src 'self'; img-src data:; form-action 'self'; "   \
	"base-uri 'none'; frame-ancestors 'none'; "                 \
	"require-trusted-types-for 'script'; trusted-types 'none'"

static const struct {
	const char *path, *type, *text;
} files[] = {
	{ "/", "text/html; charset=utf-8", page_html },
	{ "/page/page.css", "text/css; charset=utf-8", page_css },
	{ "/page/page.js", "text/javascript; charset=utf-8", page_js },
	{ "/page/draw.js", "text/javascript; charset=utf-8", draw_js },
};

void
monitor_page(struct monitor *m, const struct http_request *r, struct span name)
{
	struct http_answer answer = { .status = 200, .policy = POLICY };
	struct buf body;
	size_t i = 0;

	(void)name;
	while (i < sizeof(files) / sizeof(files[0]) &&
	       strcmp(files[i].path, r->path) != 0)
		i++;
	if (i == sizeof(files) / sizeof(files[0])) {
		monitor_say(m, r->id, 404, "the status page has no such file");
		return;
	}
	buf_init(&body);
	buf_adds(&body, files[i].text);
	answer.type = files[i].type;
	http_answer(m->http, r->id, &answer, &body);
}
