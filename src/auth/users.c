/*
 * A set has a handful of users and is searched in order: a request only checks
 * the patterns of one user.
 */
#include "config.h"

#include <assert.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "auth/auth.h"
#include "auth/pattern.h"
#include "auth/secret.h"
#include "auth/users.h"
#include "base/text.h"
#include "base/xmalloc.h"

/*
 * What the kernel shows for each user and group of another user namespace
 * (user_namespaces(7)): it does not tell them apart, so it identifies no user.
 */
#define OVERFLOW_ID 65534

/* One user.  Owned by the set. */
struct user {
	char *name;
	char *hash; /* "": any password is wrong */
	struct auth_rights rights;
	struct user_limits limits;
	struct auth_words certificates;
	uid_t *uids;
	size_t nuids;
	gid_t *gids;
	size_t ngids;
	bool in_file_only; /* has no rights */
	int line;	   /* in the file; 0: not in it */
};

struct users {
	struct user *v;
	size_t n;
	size_t size;
	struct user *anonymous; /* NULL: unauthenticated clients have no user */
	const char *decoy;	/* a hash of one of the users */
	char *file;		/* "": none */
};

static void
words_copy(struct auth_words *to, const struct auth_words *from)
{
	size_t i;

	to->v = xcalloc(from->n + 1, sizeof(*to->v));
	for (i = 0; i < from->n; i++)
		to->v[i] = xstrdup(from->v[i]);
	to->n = from->n;
}

static void
words_fini(struct auth_words *words)
{
	size_t i;

	for (i = 0; i < words->n; i++)
		free(words->v[i]);
	free(words->v);
}

static void
rights_copy(struct auth_rights *to, const struct auth_rights *from)
{
	words_copy(&to->lock, &from->lock);
	words_copy(&to->watch, &from->watch);
	words_copy(&to->deny, &from->deny);
	to->admin = from->admin;
}

static void
user_fini(struct user *user)
{
	free(user->name);
	free(user->hash);
	words_fini(&user->rights.lock);
	words_fini(&user->rights.watch);
	words_fini(&user->rights.deny);
	words_fini(&user->certificates);
	free(user->uids);
	free(user->gids);
}

static struct user *
users_add(struct users *users, const char *name)
{
	struct user *user;

	if (users->n == users->size) {
		users->size = users->size == 0 ? 8 : 2 * users->size;
		users->v = xrealloc(users->v, users->size * sizeof(*users->v));
	}
	user = &users->v[users->n++];
	*user = (struct user){ .name = xstrdup(name), .hash = xstrdup("") };
	return user;
}

/* Adds a user of this host, or a group if the name begins with '%'. */
static bool
add_peer(struct user *user, const char *name, struct buf *why)
{
	const bool is_group = name[0] == '%';
	const struct group *group = is_group ? getgrnam(name + 1) : NULL;
	const struct passwd *passwd = is_group ? NULL : getpwnam(name);

	if (group != NULL) {
		user->gids = xrealloc(
		    user->gids, (user->ngids + 1) * sizeof(*user->gids));
		user->gids[user->ngids++] = group->gr_gid;
	} else if (passwd != NULL) {
		user->uids = xrealloc(
		    user->uids, (user->nuids + 1) * sizeof(*user->uids));
		user->uids[user->nuids++] = passwd->pw_uid;
	} else {
		buf_addf(why,
		    "auth.users: %s: unix: %s \"%s\" does not exist on "
		    "this host\n",
		    user->name, is_group ? "group" : "user", name + is_group);
	}
	return group != NULL || passwd != NULL;
}

static bool
add_configured(
    struct users *users, const struct auth_user *from, struct buf *why)
{
	struct user *user = users_add(users, from->name);
	bool ok = true;
	size_t i;

	free(user->hash);
	user->hash = xstrdup(from->hash);
	rights_copy(&user->rights, &from->rights);
	user->limits = from->limits;
	words_copy(&user->certificates, &from->certificates);
	for (i = 0; i < from->peers.n; i++)
		ok = add_peer(user, from->peers.v[i], why) && ok;
	return ok;
}

static struct user *
find(const struct users *users, const char *name, size_t n)
{
	size_t i;

	for (i = 0; i < users->n; i++)
		if (strlen(users->v[i].name) == n &&
		    memcmp(users->v[i].name, name, n) == 0)
			return &users->v[i];
	return NULL;
}

/*
 * Takes NAME:HASH.  Returns what is wrong with it, or NULL if the user got the
 * hash.
 */
static const char *
add_line(struct users *users, char *line, int number)
{
	char *colon = strchr(line, ':');
	struct user *user;
	const char *why;

	if (colon == NULL)
		return "is not NAME:HASH";
	*colon = '\0';
	why = user_name_why(line);
	if (why == NULL)
		why = secret_hash_why(colon + 1);
	if (why != NULL)
		return why;
	user = find(users, line, strlen(line));
	if (user != NULL && user->hash[0] != '\0')
		return "gives a second hash to a user that has one";
	if (user == NULL) {
		user = users_add(users, line);
		user->in_file_only = true;
	}
	free(user->hash);
	user->hash = xstrdup(colon + 1);
	user->line = number;
	return NULL;
}

/* Skips comments and empty lines, and cuts each line at a carriage return. */
static bool
add_lines(struct users *users, const char *text, struct buf *why)
{
	char *copy = xstrdup(text), *rest = copy;
	const char *fault;
	bool ok = true;
	int number = 0;
	char *line;

	while ((line = strsep(&rest, "\n")) != NULL) {
		number++;
		line[strcspn(line, "\r")] = '\0';
		if (line[0] == '\0' || line[0] == '#')
			continue;
		fault = add_line(users, line, number);
		if (fault == NULL)
			continue;
		buf_addf(
		    why, "%s:%d: this line %s\n", users->file, number, fault);
		ok = false;
	}
	explicit_bzero(copy, strlen(text));
	free(copy);
	return ok;
}

static void
choose_decoy(struct users *users)
{
	size_t i;

	users->decoy = "";
	for (i = 0; i < users->n; i++)
		if (users->v[i].hash[0] != '\0' &&
		    !secret_is_cheap(users->v[i].hash))
			users->decoy = users->v[i].hash;
}

struct users *
users_new(const struct auth_settings *auth, struct buf *why)
{
	struct users *users = xcalloc(1, sizeof(*users));
	bool ok = true;
	size_t i;

	users->file = xstrdup(auth->users_file);
	for (i = 0; i < auth->users.n; i++)
		ok = add_configured(users, &auth->users.v[i], why) && ok;
	ok = add_lines(users, auth->users_text, why) && ok;
	if (!ok) {
		users_free(users);
		return NULL;
	}
	choose_decoy(users);
	if (auth->anonymous.given) {
		users->anonymous = xcalloc(1, sizeof(*users->anonymous));
		users->anonymous->name = xstrdup(USERS_ANONYMOUS);
		users->anonymous->hash = xstrdup("");
		rights_copy(&users->anonymous->rights, &auth->anonymous.rights);
	}
	return users;
}

void
users_free(struct users *users)
{
	size_t i;

	if (users == NULL)
		return;
	for (i = 0; i < users->n; i++)
		user_fini(&users->v[i]);
	if (users->anonymous != NULL)
		user_fini(users->anonymous);
	free(users->anonymous);
	free(users->v);
	free(users->file);
	free(users);
}

static bool
can_come(const struct user *user)
{
	return user->hash[0] != '\0' || user->nuids > 0 || user->ngids > 0 ||
	       user->certificates.n > 0;
}

void
users_tell_idle(const struct users *users, struct buf *out)
{
	const struct user *user;
	size_t i;

	for (i = 0; i < users->n; i++) {
		user = &users->v[i];
		if (user->in_file_only)
			buf_addf(out,
			    "%s:%d: %s has no rights: add the user to "
			    "auth.users\n",
			    users->file, user->line, user->name);
		else if (!can_come(user))
			buf_addf(out,
			    "auth.users: no client can log in as %s: give it a "
			    "hash, unix or certificate\n",
			    user->name);
	}
}

const struct user *
users_find(const struct users *users, struct span name)
{
	if (users->anonymous != NULL && name.n == strlen(USERS_ANONYMOUS) &&
	    memcmp(name.p, USERS_ANONYMOUS, name.n) == 0)
		return users->anonymous;
	return find(users, name.p, name.n);
}

const struct user *
users_anonymous(const struct users *users)
{
	return users->anonymous;
}

static bool
has_peer(const struct user *user, const struct peer_credentials *peer)
{
	size_t i, k;

	for (i = 0; i < user->nuids; i++)
		if (user->uids[i] == peer->uid && peer->uid != OVERFLOW_ID)
			return true;
	for (i = 0; i < user->ngids; i++)
		for (k = 0; k < peer->ngids; k++)
			if (user->gids[i] == peer->gids[k] &&
			    peer->gids[k] != OVERFLOW_ID)
				return true;
	return false;
}

const struct user *
users_by_peer(const struct users *users, const struct peer_credentials *peer)
{
	size_t i;

	for (i = 0; i < users->n; i++)
		if (has_peer(&users->v[i], peer))
			return &users->v[i];
	return NULL;
}

static bool
has_word(const struct auth_words *words, struct span word)
{
	size_t i;

	for (i = 0; i < words->n; i++)
		if (strlen(words->v[i]) == word.n &&
		    memcmp(words->v[i], word.p, word.n) == 0)
			return true;
	return false;
}

const struct user *
users_by_certificate(const struct users *users, struct span name)
{
	size_t i;

	for (i = 0; i < users->n; i++)
		if (has_word(&users->v[i].certificates, name))
			return &users->v[i];
	return NULL;
}

const char *
user_name_why(const char *name)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789._-+@";

	if (name[0] == '\0')
		return "has no name of a user";
	if (strlen(name) > LABEL_MAX_BYTES)
		return "has a name of over 64 bytes";
	if (name[strspn(name, good)] != '\0')
		return "has a name with other characters than letters, digits "
		       "and . _ - + @";
	if (strcmp(name, USERS_ANONYMOUS) == 0 || strcmp(name, "-") == 0)
		return "has a name that is reserved for unauthenticated clients";
	return NULL;
}

const struct user_limits *
user_limits(const struct user *user)
{
	assert(user != NULL);
	return &user->limits;
}

size_t
users_count(const struct users *users)
{
	return users->n;
}

const struct user *
users_at(const struct users *users, size_t i)
{
	assert(i < users->n);
	return &users->v[i];
}

const char *
user_name(const struct user *user)
{
	return user->name;
}

const char *
user_hash(const struct user *user)
{
	return user->hash;
}

const char *
users_decoy(const struct users *users)
{
	return users->decoy;
}

/* Returns the first pattern that stands for the name, or NULL. */
static const char *
match(const struct user *user, const struct auth_words *words, struct span name)
{
	size_t i;

	for (i = 0; i < words->n; i++)
		if (pattern_matches(words->v[i], name, user->name))
			return words->v[i];
	return NULL;
}

static bool
say(struct buf *rule, bool may, const char *what, const char *pattern)
{
	if (rule == NULL)
		return may;
	buf_adds(rule, what);
	if (pattern != NULL)
		buf_addf(rule, " \"%s\"", pattern);
	return may;
}

static bool
may_on_name(const struct user *user, enum right right, struct span name,
    struct buf *rule)
{
	const char *p;

	p = match(user, &user->rights.lock, name);
	if (p != NULL)
		return say(rule, true, "lock", p);
	p = right == RIGHT_WATCH ? match(user, &user->rights.watch, name)
				 : NULL;
	if (p != NULL)
		return say(rule, true, "watch", p);
	if (right == RIGHT_WATCH && user->rights.admin)
		return say(rule, true, "admin", NULL);
	return say(rule, false, "no pattern matches", NULL);
}

bool
user_may(const struct user *user, enum right right, struct span name,
    struct buf *rule)
{
	const char *p;

	if (right == RIGHT_NONE)
		return say(rule, true, "everybody may", NULL);
	if (user == NULL)
		return say(rule, false, "is not logged in", NULL);
	if (right == RIGHT_USER)
		return say(rule, true, "every user has this right", NULL);
	p = name.n > 0 ? match(user, &user->rights.deny, name) : NULL;
	if (p != NULL)
		return say(rule, false, "deny", p);
	if (right == RIGHT_ADMIN)
		return say(rule, user->rights.admin,
		    user->rights.admin ? "admin" : "is not an administrator",
		    NULL);
	return may_on_name(user, right, name, rule);
}
