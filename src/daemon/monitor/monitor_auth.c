/*
 * Finds out who asks over HTTP, and what they may see.
 */
#include "config.h"

#include <string.h>

#include "auth/users.h"
#include "base/log.h"
#include "base/now.h"
#include "config/config.h"
#include "daemon/monitor/monitor_state.h"
#include "daemon/users/identity.h"
#include "daemon/users/login.h"
#include "http/basic.h"

#define LOG_EVERY_MS 1000

static void
log_failure(struct monitor *m, const struct http_request *r, const char *name)
{
	m->auth_failed_total++;
	if (now_ms() < m->log_ms)
		return;
	m->log_ms = now_ms() + LOG_EVERY_MS;
	LOG(WARNING, "auth-failed", LOG_S("user", name),
	    LOG_S("peer", r != NULL ? r->peer : "-"),
	    LOG_S("protocol", "http"));
}

/* Goes on with the request, if its client is still there. */
static void
on_settled(void *arg, struct login_from from, const char *name,
    enum login_answer answer, const struct user *user)
{
	struct monitor *m = arg;
	const struct http_request *r = http_find(m->http, from.who);

	if (answer == LOGIN_WRONG)
		log_failure(m, r, name);
	if (r == NULL)
		return;
	if (answer == LOGIN_RIGHT)
		m->dispatch(m, r, user);
	else if (answer == LOGIN_WRONG)
		monitor_say(m, r->id, 401, "%s", LOGIN_WRONG_TEXT);
	else
		monitor_say(m, r->id, 503, "%s", LOGIN_FULL_TEXT);
}

/* Finds out who asks, and dispatches the request again. */
static void
log_in(struct monitor *m, const struct http_request *r)
{
	struct span user, password;
	struct buf mem;

	buf_init(&mem);
	if (basic_parse(r->authorization, &mem, &user, &password))
		logins_try(m->logins, (struct login_from){ .who = r->id },
		    r->peer, user, password);
	else
		monitor_say(
		    m, r->id, 401, "log in with HTTP Basic: name and password");
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
	m->asker = user;
	if (user != NULL && user_may(user, right, name, NULL))
		return true;
	if (r->authorization == NULL)
		monitor_say(
		    m, r->id, 401, "log in with HTTP Basic: name and password");
	else
		monitor_say(
		    m, r->id, 403, "%s may not see this", user_name(user));
	return false;
}

bool
monitor_shows(const struct monitor *m, const char *user, struct span name)
{
	return identity_shows(m->broker->identity, user, name);
}

void
monitor_auth_init(struct monitor *m)
{
	m->logins = logins_new(m->broker, on_settled, m);
}
