/*
 * The users of clients.
 *
 * A struct user belongs to the configuration.  After a reload each client's
 * user is looked up by name in the new set, one client after the other; the old
 * set exists until no client points to it any more.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "auth/auth.h"
#include "auth/users.h"
#include "base/log.h"
#include "base/xmalloc.h"
#include "daemon/bridge/bridge.h"
#include "daemon/users/allowance.h"
#include "daemon/users/identity.h"
#include "daemon/users/identity_state.h"
#include "daemon/users/login.h"
#include "wire/reply.h"

#define AUTH_FIRST \
	"this connection holds or waits for a lock: send AUTH before that"

/* A user has as many of its own as auth.users[].limits says. */
#define NO_MORE "%s already has %u %s (auth.users[].limits.%s)"

#define NO_PLACE                                                         \
	"this session has a grace=, and you have the maximum number of " \
	"these for one user; send SESSION grace=0 first"

/* How many supplementary groups of a peer count. */
#define GROUPS_MAX 256

static const char *const vias[] = {
	[VIA_PASSWORD] = "password",
	[VIA_UNIX] = "unix",
	[VIA_CERTIFICATE] = "certificate",
	[VIA_ANONYMOUS] = "anonymous",
};

/* Are they the same user?  Both may be NULL (no user). */
static bool
same_name(const struct user *a, const struct user *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return strcmp(user_name(a), user_name(b)) == 0;
}

static void
become(
    struct identity *id, struct conn *c, const struct user *user, enum via via)
{
	struct core_event ev = { .kind = CORE_USER };
	struct client *client = conn_data(c);
	bool same = same_name(client->user, user);

	client->user = user;
	if (!same)
		allowance_pass(id->allowances, &client->allowance, user);
	client->via = user != NULL ? via : VIA_NOBODY;
	if (user != NULL || id->users == NULL)
		conn_set_stranger(c, false);
	/* After a reload most of 100,000 clients have the same user. */
	if (client->session == 0 || same)
		return;
	ev.u.user.session = client->session;
	ev.u.user.name = user != NULL ? user_name(user) : NULL;
	bridge_step(id->broker, &ev);
}

static const struct user *
user_of_peer(const struct identity *id, const struct conn *c)
{
	struct peer_credentials peer;
	gid_t gids[GROUPS_MAX];

	if (conn_uid(c) < 0)
		return NULL;
	peer.uid = (uid_t)conn_uid(c);
	peer.gids = gids;
	peer.ngids = conn_groups(c, gids, GROUPS_MAX);
	return users_by_peer(id->users, &peer);
}

/* Finds the user by the first of the certificate's names that has one. */
static const struct user *
user_of_certificate(const struct identity *id, const struct conn *c)
{
	const struct user *user = NULL;
	const char *const *names;
	unsigned i, n;

	names = conn_names(c, &n);
	for (i = 0; i < n && user == NULL; i++)
		user = users_by_certificate(id->users, span_of(names[i]));
	return user;
}

/* Finds out who has connected, as far as that is possible without AUTH. */
static const struct user *
user_without_auth(
    const struct identity *id, const struct conn *c, enum via *via)
{
	const struct user *user = user_of_certificate(id, c);

	*via = VIA_CERTIFICATE;
	if (user != NULL)
		return user;
	user = user_of_peer(id, c);
	*via = VIA_UNIX;
	if (user != NULL)
		return user;
	*via = VIA_ANONYMOUS;
	return users_anonymous(id->users);
}

static void
identify(struct identity *id, struct conn *c)
{
	enum via via;
	const struct user *user = user_without_auth(id, c, &via);

	become(id, c, user, via);
}

/* Does the user of the new connection have too many of them? */
static bool
refuse_crowd(struct identity *id, struct conn *c)
{
	struct client *client = conn_data(c);
	const struct user *user = client->user;
	unsigned most = user != NULL ? user_limits(user)->clients : 0;

	if (most == 0 || allowance_counts(id->allowances, user).clients <= most)
		return false;
	allowance_refused(id->allowances, user);
	conn_refuse(c, NULL, ERR_LIMIT, NO_MORE, user_name(user), most,
	    "clients", "clients");
	become(id, c, NULL, VIA_NOBODY);
	conn_quit(c);
	return true;
}

void
identity_opened(struct identity *id, struct conn *c)
{
	const struct client *client = conn_data(c);

	if (id->users == NULL)
		return;
	identify(id, c);
	if (refuse_crowd(id, c))
		return;
	/*
	 * A client that a reload leaves without a user may hold names: it may
	 * stay.
	 */
	conn_set_stranger(c, client->user == NULL);
}

void
identity_gone(struct identity *id, struct client *client)
{
	assert(client != NULL);
	allowance_pass(id->allowances, &client->allowance, NULL);
}

bool
identity_handed(
    struct identity *id, struct conn *c, const char *name, const char *via)
{
	const struct user *user =
	    id->users != NULL ? users_find(id->users, span_of(name)) : NULL;
	enum via as = VIA_ANONYMOUS;

	while (as > VIA_PASSWORD && strcmp(via, vias[as]) != 0)
		as--;
	/* No client may do more because this process does not know its user. */
	if (user == NULL)
		return false;
	become(id, c, user, as);
	return true;
}

const char *
identity_via(const struct conn *c)
{
	const struct client *client = conn_data(c);

	return client->user != NULL ? vias[client->via] : "";
}

const char *
identity_name(const struct conn *c)
{
	const struct client *client = conn_data(c);

	return client->user != NULL ? user_name(client->user) : "";
}

/*
 * Returns the user that the client has in the new set, NULL if the client would
 * no longer be that user: another hash, peer or certificate.
 */
static const struct user *
still(const struct identity *id, const struct conn *c)
{
	const struct client *client = conn_data(c);
	const struct user *was = client->user, *user;
	enum via via;

	if (client->via == VIA_PASSWORD) {
		user = users_find(id->users, span_of(user_name(was)));
		return user != NULL &&
			       strcmp(user_hash(user), user_hash(was)) == 0
			   ? user
			   : NULL;
	}
	user = user_without_auth(id, c, &via);
	return via == client->via && same_name(user, was) ? user : NULL;
}

/*
 * Gives the connection its user in the new set, and closes it if it would not
 * be that user any more.  A client without a user, or with the anonymous one,
 * is identified again.
 */
static void
rebind(struct identity *id, struct conn *c)
{
	struct client *client = conn_data(c);
	const struct user *was;

	if (client == NULL)
		return; /* not served yet, or it has ended */
	was = client->user;
	if (was == NULL || client->via == VIA_ANONYMOUS) {
		if (id->users != NULL)
			identify(id, c);
		else
			become(id, c, NULL, VIA_NOBODY);
		return;
	}
	if (id->users == NULL) {
		become(id, c, NULL, VIA_NOBODY);
		return;
	}
	client->user = still(id, c); /* of the same name, or none */
	if (client->user == NULL)
		conn_kill(c);
}

/* The core limits what all sessions of a user hold and wait for. */
static void
limit_users(struct identity *id)
{
	size_t i, n = id->users != NULL ? users_count(id->users) : 0;
	struct core_user_limits *limits = xcalloc(n + 1, sizeof(*limits));

	assert(id->broker->core != NULL);
	for (i = 0; i < n; i++) {
		const struct user *user = users_at(id->users, i);

		limits[i].user = user_name(user);
		limits[i].holds = user_limits(user)->holds;
		limits[i].waiters = user_limits(user)->waiters;
	}
	core_limit_users(id->broker->core, limits, n);
	free(limits);
}

void
identity_load(struct identity *id, const struct users *users, struct users *was)
{
	struct former *former;

	id->rebinding = id->rebinding || users != id->users;
	id->users = users;
	limit_users(id);
	if (was == NULL)
		return;
	former = xcalloc(1, sizeof(*former));
	former->users = was;
	LIST_INSERT_HEAD(&id->former, former, link);
}

void
identity_reloaded(struct identity *id, struct conn *c)
{
	if (id->rebinding)
		rebind(id, c);
}

void
identity_reload_over(struct identity *id)
{
	struct former *former;

	id->rebinding = false;
	while ((former = LIST_FIRST(&id->former)) != NULL) {
		LIST_REMOVE(former, link);
		users_free(former->users);
		free(former);
	}
}

/* AUTH. */

#define FIELDS_OF_USER 2

/* Writes user=U via=V as fields in `arena`; `via` may be NULL. */
static size_t
user_fields(const char *user, const char *via,
    struct field fields[FIELDS_OF_USER], struct buf *arena)
{
	fields[0] =
	    (struct field){ .id = FIELD_USER, .len = (uint32_t)strlen(user) };
	buf_adds(arena, user);
	if (via == NULL)
		return 1;
	fields[1] = (struct field){ .id = FIELD_VIA,
		.str = (uint32_t)buf_len(arena),
		.len = (uint32_t)strlen(via) };
	buf_adds(arena, via);
	return 2;
}

/* Does the session hold nothing, and wait for nothing? */
static bool
is_idle(const struct identity *id, const struct conn *c)
{
	const struct client *client = conn_data(c);

	return client->session != 0 &&
	       core_is_idle(id->broker->core, client->session);
}

/* Would the user have too many sessions with grace= with this one? */
static bool
has_place(const struct identity *id, const struct conn *c, const char *user)
{
	const struct client *client = conn_data(c);

	return core_has_place(id->broker->core, client->session, user);
}

static void
log_failure(struct identity *id, const struct conn *c, const char *user)
{
	uint64_t left_out;

	if (quiet_may_log(&id->failures, &left_out))
		LOG(WARNING, "auth-failed", LOG_S("user", user),
		    LOG_S("peer", conn_peer(c)), LOG_N("left_out", left_out));
}

/* Would the user have too many clients with this one, which may already be of
 * that user? */
static bool
has_room(struct identity *id, const struct conn *c, const struct user *user)
{
	const struct client *client = conn_data(c);

	if (same_name(client->user, user) ||
	    allowance_has_room(id->allowances, user))
		return true;
	allowance_refused(id->allowances, user);
	return false;
}

/* How an AUTH has ended. */
struct attempt {
	const char *name;
	enum login_answer answer;
	const struct user *user; /* LOGIN_RIGHT: who it is */
};

/*
 * The answer to an AUTH, unless the AUTH is right.  A tagged AUTH does not keep
 * back other requests: the session may hold something by now.
 */
static bool
refusal(struct identity *id, const struct conn *c, const struct attempt *at,
    struct wire_reply *reply)
{
	const char *name = at->name;
	enum login_answer answer = at->answer;

	reply->status = STATUS_ERR;
	if (answer == LOGIN_WRONG) {
		id->stats.auth_failed++;
		if (c != NULL)
			log_failure(id, c, name);
		reply->code = ERR_AUTH;
		reply->text = span_of(LOGIN_WRONG_TEXT);
	} else if (answer == LOGIN_FULL) {
		reply->code = ERR_LIMIT;
		reply->text = span_of(LOGIN_FULL_TEXT);
	} else if (c != NULL && !is_idle(id, c)) {
		reply->code = ERR_BAD_REQUEST;
		reply->text = span_of(AUTH_FIRST);
	} else if (c != NULL && !has_place(id, c, name)) {
		reply->code = ERR_LIMIT;
		reply->text = span_of(NO_PLACE);
	} else if (c != NULL && !has_room(id, c, at->user)) {
		buf_clear(&id->arena);
		buf_addf(&id->arena, NO_MORE, name,
		    user_limits(at->user)->clients, "clients", "clients");
		reply->code = ERR_LIMIT;
		reply->text =
		    (struct span){ buf_data(&id->arena), buf_len(&id->arena) };
	} else {
		reply->status = STATUS_OK;
	}
	return reply->status != STATUS_OK;
}

/* Answers an AUTH, if its client still waits for that. */
static void
on_settled(void *arg, struct login_from from, const char *name,
    enum login_answer answer, const struct user *user)
{
	struct identity *id = arg;
	struct conn *c = front_find(id->broker->front, from.who);
	struct field fields[FIELDS_OF_USER];
	struct wire_reply reply = { .status = STATUS_OK };
	struct client *client = c != NULL ? conn_data(c) : NULL;
	const struct attempt at = { name, answer, user };
	bool refused = refusal(id, c, &at, &reply);

	if (!refused)
		id->stats.auth_ok++;
	if (c == NULL)
		return;
	client->asking = false;
	if (!refused) {
		become(id, c, user, VIA_PASSWORD);
		buf_clear(&id->arena);
		reply.fields = fields;
		reply.nfields =
		    user_fields(user_name(user), NULL, fields, &id->arena);
		reply.arena = buf_data(&id->arena);
	}
	(void)bridge_answer(id->broker, c, from.ref, &reply);
}

/* Returns false if it has answered the request. */
static bool
may_ask(struct broker *b, struct conn *c, const struct request *r)
{
	const struct client *client = conn_data(c);

	if (b->identity->users == NULL) {
		conn_refuse(c, r, ERR_AUTH, "this broker has no users");
		return false;
	}
	if (!client->asking && !conn_owes(c) && is_idle(b->identity, c))
		return true;
	conn_refuse(c, r, ERR_BAD_REQUEST, "%s",
	    client->asking ? "an AUTH of this connection is in progress"
			   : AUTH_FIRST);
	return false;
}

void
identity_auth(struct broker *b, struct conn *c, const struct request *r,
    struct span user, struct span password)
{
	struct client *client = conn_data(c);
	struct login_from from = { .who = conn_id(c) };

	if (!may_ask(b, c, r))
		return;
	from.ref = conn_defer(c, r);
	client->asking = true;
	logins_try(b->identity->logins, from, conn_peer(c), user, password);
}

void
handle_auth(struct broker *b, struct conn *c, const struct request *r)
{
	identity_auth(b, c, r, r->words[0], r->words[1]);
}

bool
identity_has_users(const struct identity *id)
{
	return id->users != NULL;
}

void
handle_whoami(struct broker *b, struct conn *c, const struct request *r)
{
	const struct client *client = conn_data(c);

	struct field fields[FIELDS_OF_USER];
	struct wire_reply reply = { .tag = r->tag,
		.verb = r->verb,
		.status = STATUS_OK,
		.fields = fields };
	bool known = client->user != NULL;
	struct buf *arena = &b->identity->arena;

	buf_clear(arena);
	reply.nfields = user_fields(known ? user_name(client->user) : "-",
	    known ? identity_via(c) : NULL, fields, arena);
	reply.arena = buf_data(arena);
	conn_reply(c, &reply);
}

bool
identity_may_watch(
    const struct identity *id, const struct conn *c, struct span name)
{
	const struct client *client = conn_data(c);
	const struct user *user;

	if (id->users == NULL)
		return true;
	if (client == NULL)
		return false; /* it has ended */
	user = client->user;
	/* Asked for an event, before the connection took note of a reload. */
	if (id->rebinding && user != NULL)
		user = still(id, c);
	return user_may(user, RIGHT_WATCH, name, NULL);
}

bool
identity_shows(const struct identity *id, const char *user, struct span name)
{
	return id->users == NULL ||
	       user_may(users_find(id->users, span_of(user)), RIGHT_WATCH, name,
		   NULL);
}

const struct allowances *
identity_allowances(const struct identity *id)
{
	return id->allowances;
}

uint64_t
identity_limited(const struct identity *id)
{
	return allowances_refused(id->allowances) +
	       core_users_refused(id->broker->core);
}

const struct identity_stats *
identity_stats(const struct identity *id)
{
	return &id->stats;
}

struct identity *
identity_new(struct broker *b)
{
	struct identity *id = xcalloc(1, sizeof(*id));

	id->broker = b;
	id->logins = logins_new(b, on_settled, id);
	id->allowances = allowances_new();
	LIST_INIT(&id->former);
	buf_init(&id->arena);
	return id;
}

void
identity_free(struct identity *id)
{
	if (id == NULL)
		return;
	logins_free(id->logins);
	allowances_free(id->allowances);
	identity_reload_over(id);
	buf_fini(&id->arena);
	free(id);
}
