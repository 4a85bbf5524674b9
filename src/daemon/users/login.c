/*
 * Attempts to log in.  Slow hashes are compared in a thread, one for each
 * struct logins, so that password attempts over HTTP do not keep a client
 * waiting.
 *
 * An attempt that takes longer than a call knows its user by name, because a
 * reload may remove the user meanwhile.
 */
#include "config.h"

#include <assert.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "auth/hasher.h"
#include "auth/users.h"
#include "base/list.h"
#include "base/now.h"
#include "base/timeval.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "daemon/bridge/bridge.h"
#include "daemon/users/login.h"

/* A wrong password is refused this long after it came, whatever was wrong. */
#define WRONG_MS 1000

/* An attempt under way.  Owned by struct logins. */
struct login {
	struct logins *logins;
	uint64_t id;
	struct login_from from;
	char *name; /* that was given */
	char *hash; /* of that user when the attempt came; "": there was none */
	bool known; /* compared with that hash, not with a decoy */
	int64_t start_ms;
	struct event *timer; /* NULL: the password may still be right */
	LIST_ENTRY(login) link;
};

struct logins {
	struct broker *broker;
	struct hasher *hasher;
	login_done *done;
	void *arg;
	uint64_t next_id;
	LIST_HEAD(, login) list;
};

static void
login_free(struct login *l)
{
	LIST_REMOVE(l, link);
	if (l->timer != NULL)
		event_free(l->timer);
	free(l->name);
	free(l->hash);
	free(l);
}

static void
end(struct login *l, enum login_answer answer, const struct user *user)
{
	struct logins *logins = l->logins;

	logins->done(logins->arg, l->from, l->name, answer, user);
	login_free(l);
}

static void
on_time_to_refuse(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	end(arg, LOGIN_WRONG, NULL);
}

static void
refuse_later(struct login *l)
{
	int64_t left_ms = l->start_ms + WRONG_MS - now_ms();
	struct timeval tv = ms_to_timeval(left_ms > 0 ? left_ms : 0);

	l->timer =
	    event_new(l->logins->broker->base, -1, 0, on_time_to_refuse, l);
	if (l->timer == NULL || event_add(l->timer, &tv) < 0)
		abort();
}

static void
settle(struct login *l, bool right)
{
	const struct users *users = l->logins->broker->config->users;
	const struct user *user = NULL;

	/* Meanwhile a reload may have removed the user, or all users, or given
	 * the user another password. */
	if (right && users != NULL)
		user = users_find(
		    users, (struct span){ l->name, strlen(l->name) });
	if (user != NULL && strcmp(user_hash(user), l->hash) == 0)
		end(l, LOGIN_RIGHT, user);
	else
		refuse_later(l);
}

static void
on_hashed(void *arg, uint64_t id, enum hasher_result result)
{
	struct logins *logins = arg;
	struct login *l;

	/* There are at most HASHER_JOBS_MAX, and those that wait out
	 * WRONG_MS. */
	LIST_FOREACH (l, &logins->list, link)
		if (l->id == id)
			break;
	assert(l != NULL && l->timer == NULL);
	if (result == HASHER_PUSHED_OUT)
		end(l, LOGIN_FULL, NULL);
	else
		settle(l, result == HASHER_IS_RIGHT && l->known);
}

/* Returns the address of a peer without its port.  Local clients, which have no
 * address, are one. */
static struct span
address_of(const char *peer)
{
	const char *port = strrchr(peer, ':');

	if (port == NULL || strncmp(peer, "pid:", 4) == 0)
		return (struct span){ "", 0 };
	return (struct span){ peer, (size_t)(port - peer) };
}

void
logins_try(struct logins *logins, struct login_from from, const char *peer,
    struct span name, struct span password)
{
	const struct users *users = logins->broker->config->users;
	const struct user *user =
	    users != NULL ? users_find(users, name) : NULL;
	struct login *l = xcalloc(1, sizeof(*l));

	l->logins = logins;
	l->id = ++logins->next_id;
	l->from = from;
	l->name = xstrndup(name.p, name.n);
	l->hash = xstrdup(user != NULL ? user_hash(user) : "");
	l->start_ms = now_ms();
	LIST_INSERT_HEAD(&logins->list, l, link);
	switch (hasher_compare(logins->hasher, l->id, address_of(peer), users,
	    name, password, l->start_ms, &l->known)) {
	case HASHER_RIGHT:
		settle(l, l->known);
		break;
	case HASHER_FULL:
		end(l, LOGIN_FULL, NULL);
		break;
	case HASHER_LATER:
		break;
	}
}

struct logins *
logins_new(struct broker *b, login_done *done, void *arg)
{
	struct logins *logins = xcalloc(1, sizeof(*logins));

	logins->broker = b;
	logins->done = done;
	logins->arg = arg;
	logins->hasher = hasher_new(b->base, on_hashed, logins);
	LIST_INIT(&logins->list);
	return logins;
}

void
logins_free(struct logins *logins)
{
	struct login *l;

	if (logins == NULL)
		return;
	while ((l = LIST_FIRST(&logins->list)) != NULL)
		login_free(l);
	hasher_free(logins->hasher);
	free(logins);
}
