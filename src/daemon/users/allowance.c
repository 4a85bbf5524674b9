/*
 * The allowances of users, by their names.  An allowance lives on without
 * clients: its counters only rise, and there are no more than the
 * configurations named.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "auth/auth.h"
#include "auth/users.h"
#include "base/list.h"
#include "base/table.h"
#include "base/xmalloc.h"
#include "daemon/users/allowance.h"

#define SECOND_US 1000000

struct allowance {
	struct table_link by_user;
	struct allowance_counts counts;
	int64_t due_us; /* the request after this one is early before that */
	size_t len;
	char user[];
};

struct allowances {
	struct table by_user;
	uint64_t refused;
};

static const char *
user_of(const struct table_link *link, size_t *len)
{
	const struct allowance *a =
	    container_of_const(link, struct allowance, by_user);

	*len = a->len;
	return a->user;
}

struct allowances *
allowances_new(void)
{
	struct allowances *all = xcalloc(1, sizeof(*all));

	table_init(&all->by_user, user_of);
	return all;
}

void
allowances_free(struct allowances *all)
{
	struct table_walk walk;
	struct table_link *link;

	for (link = table_first(&all->by_user, &walk); link != NULL;
	     link = table_next(&walk)) {
		table_remove(&all->by_user, link);
		free(container_of(link, struct allowance, by_user));
	}
	table_fini(&all->by_user);
	free(all);
}

static struct allowance *
find(const struct allowances *all, const char *user)
{
	return container_or_null(table_find(&all->by_user, user, strlen(user)),
	    struct allowance, by_user);
}

static struct allowance *
get(struct allowances *all, const char *user)
{
	struct allowance *a = find(all, user);

	if (a != NULL)
		return a;
	a = xcalloc(1, sizeof(*a) + strlen(user) + 1);
	a->len = strlen(user);
	memcpy(a->user, user, a->len);
	table_add(&all->by_user, &a->by_user);
	return a;
}

void
allowance_pass(
    struct allowances *all, struct allowance **of, const struct user *user)
{
	struct allowance *is = user != NULL ? get(all, user_name(user)) : NULL;

	assert(*of == NULL || (*of)->counts.clients > 0);
	if (is != NULL)
		is->counts.clients++;
	if (*of != NULL)
		(*of)->counts.clients--;
	*of = is;
}

bool
allowance_has_room(const struct allowances *all, const struct user *user)
{
	unsigned most = user_limits(user)->clients;

	return most == 0 || allowance_counts(all, user).clients < most;
}

bool
allowance_admits(struct allowances *all, struct allowance *a,
    const struct user *user, int64_t us)
{
	unsigned most = user_limits(user)->requests;
	int64_t due_us;

	assert(a != NULL && us >= 0);
	if (most == 0)
		return true;
	due_us = a->due_us > us ? a->due_us : us;
	if (due_us - us > SECOND_US - SECOND_US / most) {
		allowance_refused(all, user);
		return false;
	}
	a->due_us = due_us + SECOND_US / most;
	return true;
}

void
allowance_denied(struct allowance *a)
{
	assert(a != NULL);
	a->counts.denied++;
}

void
allowance_refused(struct allowances *all, const struct user *user)
{
	assert(user != NULL);
	get(all, user_name(user))->counts.refused++;
	all->refused++;
}

uint64_t
allowances_refused(const struct allowances *all)
{
	return all->refused;
}

struct allowance_counts
allowance_counts(const struct allowances *all, const struct user *user)
{
	static const struct allowance_counts none;
	const struct allowance *a = find(all, user_name(user));

	return a != NULL ? a->counts : none;
}
