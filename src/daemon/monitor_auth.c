/*
 * Finds out who asks over HTTP, and what they may see.  As with AUTH, an
 * unknown user and a wrong password get the same answer after the same time.  A
 * thread of the monitor compares slow hashes, so that nobody who tries
 * passwords here keeps a client waiting.
 */
#include "config.h"

#include <assert.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "auth/compare.h"
#include "auth/users.h"
#include "base/log.h"
#include "base/now.h"
#include "base/timeval.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "daemon/monitor_state.h"
#include "http/basic.h"

/* A wrong password is refused this long after it came. */
#define WRONG_MS 1000
#define LOG_EVERY_MS 1000

static struct span
span_of(const char *s)
{
	return (struct span){ s, strlen(s) };
}

static void
login_free(struct login *l)
{
	LIST_REMOVE(l, link);
	if (l->timer != NULL)
		event_free(l->timer);
	free(l->user);
	free(l);
}

static void
refuse(struct login *l)
{
	struct monitor *m = l->monitor;
	const struct http_request *r = http_find(m->http, l->request);

	m->auth_failed_total++;
	if (now_ms() >= m->log_ms) {
		m->log_ms = now_ms() + LOG_EVERY_MS;
		LOG(WARNING, "auth-failed", LOG_S("user", l->user),
		    LOG_S("peer", r != NULL ? r->peer : "-"),
		    LOG_S("protocol", "http"));
	}
	if (r != NULL)
		monitor_say(m, l->request, 401,
		    "there is no such user, or the password is another");
	login_free(l);
}

static void
on_time_to_refuse(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	refuse(arg);
}

/* Goes on with the request.  Meanwhile a reload may have removed the user. */
static void
settle(struct login *l, bool right)
{
	struct monitor *m = l->monitor;
	const struct http_request *r = http_find(m->http, l->request);
	const struct users *users = m->broker->config->users;
	const struct user *user = NULL;
	int64_t left_ms = l->start_ms + WRONG_MS - now_ms();
	struct timeval tv = ms_to_timeval(left_ms > 0 ? left_ms : 0);

	if (right && users != NULL)
		user = users_find(users, span_of(l->user));
	if (user != NULL) {
		login_free(l);
		if (r != NULL)
			monitor_dispatch(m, r, user);
		return;
	}
	l->timer = event_new(m->broker->base, -1, 0, on_time_to_refuse, l);
	if (l->timer == NULL || event_add(l->timer, &tv) < 0)
		abort();
}

static void
on_hashed(void *arg, uint64_t id, bool right)
{
	struct monitor *m = arg;
	struct login *l;

	LIST_FOREACH (l, &m->logins, link)
		if (l->request == id)
			break;
	assert(l != NULL && l->timer == NULL);
	settle(l, right && l->known);
}

static void
compare(struct login *l, const struct users *users, struct span password)
{
	struct monitor *m = l->monitor;

	switch (compare_password(m->hasher, l->request, users, span_of(l->user),
	    password, now_ms(), &l->known)) {
	case HASHER_RIGHT:
		settle(l, l->known);
		break;
	case HASHER_FULL:
		monitor_say(m, l->request, 503,
		    "too many passwords are being compared: try again");
		login_free(l);
		break;
	case HASHER_LATER:
		break;
	}
}

/* Finds out who asks, and dispatches the request again. */
static void
log_in(struct monitor *m, const struct http_request *r)
{
	struct span user, password;
	struct login *l;
	struct buf mem;

	buf_init(&mem);
	if (!basic_parse(r->authorization, &mem, &user, &password)) {
		monitor_say(m, r->id, 401,
		    "say who you are with HTTP Basic: name and password");
	} else {
		l = xcalloc(1, sizeof(*l));
		l->monitor = m;
		l->request = r->id;
		l->user = xstrndup(user.p, user.n);
		l->start_ms = now_ms();
		LIST_INSERT_HEAD(&m->logins, l, link);
		compare(l, m->broker->config->users, password);
	}
	if (mem.mem != NULL)
		explicit_bzero(mem.mem, mem.size);
	buf_fini(&mem);
}

bool
monitor_may(struct monitor *m, const struct http_request *r,
    const struct user *user, enum right right, struct span name)
{
	const struct users *users = m->broker->config->users;

	if (users == NULL || right == RIGHT_NONE)
		return true;
	if (user == NULL && r->authorization != NULL) {
		log_in(m, r);
		return false;
	}
	if (user == NULL)
		user = users_anonymous(users);
	if (user != NULL && user_may(user, right, name, NULL))
		return true;
	if (r->authorization == NULL)
		monitor_say(m, r->id, 401,
		    "say who you are with HTTP Basic: name and password");
	else
		monitor_say(
		    m, r->id, 403, "%s may not see this", user_name(user));
	return false;
}

void
monitor_auth_init(struct monitor *m)
{
	LIST_INIT(&m->logins);
	m->hasher = hasher_new(m->broker->base, on_hashed, m);
}

void
monitor_auth_fini(struct monitor *m)
{
	struct login *l;

	while ((l = LIST_FIRST(&m->logins)) != NULL)
		login_free(l);
	hasher_free(m->hasher);
}
