/*
 * The one place that checks the right to each request, and how many requests a
 * user makes.
 */
#include "config.h"

#include "auth/auth.h"
#include "auth/users.h"
#include "base/log.h"
#include "base/now.h"
#include "daemon/bridge/bridge.h"
#include "daemon/users/allowance.h"
#include "daemon/users/identity_state.h"

static void
note_denial(
    struct identity *id, struct conn *c, const char *verb, struct span name)
{
	const struct client *client = conn_data(c);
	const char *user = user_name(client->user);
	uint64_t left_out;

	id->stats.denied++;
	allowance_denied(client->allowance);
	if (quiet_may_log(&id->denials, &left_out))
		LOG(NOTICE, "request-denied", LOG_S("user", user),
		    LOG_S("verb", verb), LOG_B("name", name.p, name.n),
		    LOG_S("peer", conn_peer(c)), LOG_N("left_out", left_out));
}

static void
deny(struct identity *id, struct conn *c, const struct request *r,
    struct span name)
{
	const struct client *client = conn_data(c);
	const char *verb = verbs[r->verb].word;
	const char *user = user_name(client->user);

	note_denial(id, c, verb, name);
	if (name.n > 0)
		conn_refuse(c, r, ERR_DENIED, "%s may not %s %.*s", user, verb,
		    (int)name.n, name.p);
	else
		conn_refuse(c, r, ERR_DENIED, "%s may not %s", user, verb);
}

/*
 * A holder may always release its holds, whatever its rights are by now.
 */
static bool
may_name(struct identity *id, const struct conn *c, const struct request *r,
    struct span name)
{
	const struct client *client = conn_data(c);

	return user_may(client->user, verbs[r->verb].right, name, NULL) ||
	       (verb_has(r->verb, VERB_FLAG_GIVES_BACK) &&
		   core_holds(
		       id->broker->core, client->session, name.p, name.n));
}

/* Returns the first name that the user has no right to, or NULL. */
static const struct span *
first_denied(struct identity *id, const struct conn *c, const struct request *r)
{
	unsigned i;

	for (i = 0; i < r->nwords; i++)
		if (!may_name(id, c, r, r->words[i]))
			return &r->words[i];
	return NULL;
}

static bool
refuse_nobody(struct identity *id, struct conn *c, const struct request *r)
{
	if (verb_has(r->verb, VERB_FLAG_GIVES_BACK) &&
	    first_denied(id, c, r) == NULL)
		return false;
	conn_refuse(c, r, ERR_AUTH, "log in first: AUTH USER PASSWORD");
	return true;
}

static bool
refuse_remote(struct conn *c, const struct request *r)
{
	if (!verb_has(r->verb, VERB_FLAG_LOCAL) || conn_is_admin(c))
		return false;
	conn_refuse(c, r, ERR_DENIED,
	    "%s is for administrators, at the Unix socket",
	    verbs[r->verb].word);
	return true;
}

/*
 * Of the clients that come while the broker is drained, it keeps administrators
 * that want no locks, unlike programs that run as one, and clients that come
 * back to their sessions.
 */
static bool
refuse_late(struct identity *id, struct conn *c, const struct request *r,
    bool wants_locks)
{
	static const struct span no_name = { "", 0 };
	const struct client *client = conn_data(c);
	bool admin;

	if (!client->late || !id->broker->draining)
		return false;
	admin = id->users == NULL
		    ? conn_is_admin(c)
		    : user_may(client->user, RIGHT_ADMIN, no_name, NULL);
	if (admin && !wants_locks)
		return false;
	conn_refuse(c, r, ERR_SHUTDOWN,
	    "the broker is draining and accepts no new clients");
	conn_quit(c);
	return true;
}

/*
 * Does the user make more than its limit of requests a second?  Requests that
 * release something count, but are not refused.
 */
static bool
refuse_haste(struct identity *id, struct conn *c, const struct request *r,
    bool gives_back)
{
	const struct client *client = conn_data(c);
	const struct user *user = client->user;

	if (user == NULL || user_limits(user)->requests == 0 ||
	    allowance_admits(
		id->allowances, client->allowance, user, now_awake_us()) ||
	    gives_back)
		return false;
	conn_refuse(c, r, ERR_LIMIT,
	    "%s has sent more than %u requests in a second "
	    "(auth.users[].limits.requests); wait a moment",
	    user_name(user), user_limits(user)->requests);
	return true;
}

bool
identity_refuses(struct identity *id, struct conn *c, const struct request *r)
{
	static const struct span no_name = { "", 0 };
	const struct client *client = conn_data(c);
	enum right right = verbs[r->verb].right;
	const struct span *denied = &no_name;

	if (r->verb != VERB_RESUME && r->verb != VERB_AUTH &&
	    r->verb != VERB_QUIT &&
	    refuse_late(
		id, c, r, r->verb == VERB_SESSION || right == RIGHT_LOCK))
		return true;
	if (id->users == NULL)
		return refuse_remote(c, r);
	if (refuse_haste(id, c, r,
		r->verb == VERB_QUIT || r->verb == VERB_CANCEL ||
		    verb_has(r->verb, VERB_FLAG_GIVES_BACK)))
		return true;
	if (right == RIGHT_NONE)
		return false;
	if (client->user == NULL)
		return refuse_nobody(id, c, r);
	if (right == RIGHT_USER)
		return false;
	if (r->nwords > 0)
		denied = first_denied(id, c, r);
	else if (user_may(client->user, right, no_name, NULL))
		return false;
	if (denied != NULL)
		deny(id, c, r, *denied);
	return denied != NULL;
}

/* The same for a command on holds of tokens. */
static bool
may_command(const struct identity *id, const struct conn *c,
    const struct need *need, struct span name)
{
	const struct client *client = conn_data(c);

	return user_may(client->user, need->right, name, NULL) ||
	       (need->gives_back && client->session != 0 &&
		   core_gave_token(
		       id->broker->core, client->session, name.p, name.n));
}

bool
identity_refuses_command(struct identity *id, struct conn *c,
    const struct request *r, const struct need *need)
{
	const struct client *client = conn_data(c);
	static const struct span no_name = { "", 0 };
	const struct span *denied = NULL;
	unsigned i;

	/* A script counts when its names are known, and what it does. */
	if (need->right != RIGHT_USER && id->users != NULL &&
	    refuse_haste(id, c, r, need->gives_back))
		return true;
	if (need->right == RIGHT_NONE)
		return false;
	if (refuse_late(id, c, r, need->right == RIGHT_LOCK))
		return true;
	if (id->users == NULL)
		return false;
	if (client->user == NULL) {
		conn_refuse(c, r, ERR_AUTH, "%s", "");
		return true;
	}
	if (need->right == RIGHT_USER)
		return false;
	if (need->nnames == 0 &&
	    !user_may(client->user, need->right, no_name, NULL))
		denied = &no_name;
	for (i = 0; i < need->nnames && denied == NULL; i++)
		if (!may_command(id, c, need, need->names[i]))
			denied = &need->names[i];
	if (denied == NULL)
		return false;
	note_denial(id, c, need->word, *denied);
	if (denied->n > 0)
		conn_refuse(c, r, ERR_DENIED, "No permissions to access a key");
	else
		conn_refuse(c, r, ERR_DENIED,
		    "User %s has no permissions to run the '%s' command",
		    user_name(client->user), need->word);
	return true;
}
