/*
 * Which function answers which path, and the monitor's life; see monitor.h.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/text.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "daemon/monitor/monitor_state.h"
#include "daemon/users/login.h"
#include "http/path.h"

/* Routes. */

static const struct route {
	const char *path;
	bool named; /* a name follows the path */
	enum right right;
	void (*fn)(
	    struct monitor *m, const struct http_request *r, struct span name);
} routes[] = {
	{ "/livez", false, RIGHT_NONE, monitor_livez },
	{ "/readyz", false, RIGHT_NONE, monitor_readyz },
	{ "/metrics", false, RIGHT_ADMIN, monitor_metrics },
	{ "/status.json", false, RIGHT_ADMIN, monitor_json },
	{ "/locks/", true, RIGHT_WATCH, monitor_lock },
	{ "/page/", true, RIGHT_NONE, monitor_page },
	{ "/", false, RIGHT_ADMIN, monitor_page },
};

static const struct route *
find_route(const char *path)
{
	const struct route *r;
	size_t i;

	for (i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		r = &routes[i];
		if (r->named ? strncmp(path, r->path, strlen(r->path)) == 0
			     : strcmp(path, r->path) == 0)
			return r;
	}
	return NULL;
}

/* Returns false if it has answered the request. */
static bool
take_name(struct monitor *m, const struct http_request *r,
    const struct route *route, struct buf *name)
{
	const char *rest = r->path + strlen(route->path), *why;

	if (!route->named)
		return true;
	if (!path_decode(name, (struct span){ rest, strlen(rest) })) {
		monitor_say(m, r->id, 400,
		    "a '%%' in the path is not followed by two hexadecimal "
		    "digits");
		return false;
	}
	why = text_name_why(
	    (struct span){ buf_data(name), buf_len(name) }, NAME_MAX_BYTES);
	if (why != NULL)
		monitor_say(m, r->id, 400, "the name %s", why);
	return why == NULL;
}

static void
dispatch(
    struct monitor *m, const struct http_request *r, const struct user *user)
{
	const struct route *route = find_route(r->path);
	struct span span;
	struct buf name;

	if (route == NULL) {
		monitor_say(m, r->id, 404,
		    "not found; try / /metrics /livez /readyz /status.json "
		    "/locks/NAME");
		return;
	}
	m->asker = NULL;
	buf_init(&name);
	if (take_name(m, r, route, &name)) {
		span = (struct span){ buf_data(&name), buf_len(&name) };
		if (monitor_may(m, r, user, route->right, span))
			route->fn(m, r, span);
	}
	buf_fini(&name);
}

static void
on_request(void *arg, const struct http_request *r)
{
	struct monitor *m = arg;

	bridge_catch_up(m->broker);
	dispatch(m, r, NULL);
}

/* Life. */

static bool
is_wanted(const struct config_listen *listen)
{
	size_t i;

	for (i = 0; i < listen->n; i++)
		if (listen->v[i].place == CONFIG_PLACE_HTTP)
			return true;
	return false;
}

struct monitor *
monitor_new(struct broker *b)
{
	struct monitor *m;

	if (!is_wanted(&b->config->listen))
		return NULL;
	m = xcalloc(1, sizeof(*m));
	m->broker = b;
	m->dispatch = dispatch;
	m->http = http_new(b->base, on_request, m);
	LIST_INIT(&m->questions);
	m->nodes = xcalloc(redis_shards(b->config), sizeof(*m->nodes));
	monitor_auth_init(m);
	buf_init(&m->names.rows.text);
	m->born_s = (int64_t)time(NULL);
	return m;
}

bool
monitor_listen(struct monitor *m, struct buf *why)
{
	const struct config_listen *listen;
	const struct config_endpoint *e;
	size_t i;

	if (m == NULL)
		return true;
	listen = &m->broker->config->listen;
	for (i = 0; i < listen->n; i++) {
		e = &listen->v[i];
		if (e->place == CONFIG_PLACE_HTTP &&
		    !http_listen(
			m->http, e->address.host, e->address.port, why))
			return false;
	}
	if (http_is_open(m->http) && m->broker->config->users == NULL)
		LOG(WARNING, "http-open",
		    LOG_S("text",
			"anyone who reaches that address can read names, "
			"labels and addresses of clients: configure `auth`, "
			"or listen at 127.0.0.1"));
	return true;
}

void
monitor_hold_back(struct monitor *m, bool hold)
{
	if (m != NULL)
		http_hold_back(m->http, hold);
}

void
monitor_hand_over(const struct monitor *m, struct handed_list *out)
{
	if (m != NULL)
		http_hand_over(m->http, out);
}

void
monitor_stop_listening(struct monitor *m)
{
	if (m != NULL)
		http_stop_listening(m->http);
}

bool
monitor_is_visited(const struct monitor *m)
{
	struct http_stats http;

	if (m == NULL)
		return false;
	http_stats(m->http, &http);
	return http.connections > 0;
}

void
monitor_free(struct monitor *m)
{
	struct question *q;
	unsigned i;

	if (m == NULL)
		return;
	logins_free(m->logins);
	monitor_names_fini(m);
	while ((q = LIST_FIRST(&m->questions)) != NULL) {
		LIST_REMOVE(q, link);
		buf_fini(&q->lock);
		free(q);
	}
	http_free(m->http);
	for (i = 0; i < redis_shards(m->broker->config); i++)
		free(m->nodes[i]);
	free(m->nodes);
	free(m);
}
