/*
 * How much each user has of what has a bound for all.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/table.h"
#include "base/xmalloc.h"
#include "core/kernel/session/share.h"

struct share {
	struct table_link by_user;
	uint64_t n; /* never 0: it is freed then */
	size_t len;
	char user[];
};

static const char *
user_of(const struct table_link *link, size_t *len)
{
	const struct share *s = container_of_const(link, struct share, by_user);

	*len = s->len;
	return s->user;
}

void
shares_init(struct table *all)
{
	table_init(all, user_of);
}

void
shares_fini(struct table *all)
{
	assert(all->n == 0);
	table_fini(all);
}

static struct share *
find_share(const struct table *all, const char *user)
{
	struct table_link *link = table_find(all, user, strlen(user));

	return link == NULL ? NULL : container_of(link, struct share, by_user);
}

static struct share *
take_share(struct table *all, const char *user)
{
	struct share *s;

	if (user == NULL)
		return NULL;
	s = find_share(all, user);
	if (s == NULL) {
		s = xcalloc(1, sizeof(*s) + strlen(user) + 1);
		s->len = strlen(user);
		memcpy(s->user, user, s->len);
		table_add(all, &s->by_user);
	}
	s->n++;
	return s;
}

uint64_t
share_used(const struct table *all, const char *user)
{
	const struct share *s = user == NULL ? NULL : find_share(all, user);

	return s == NULL ? 0 : s->n;
}

void
share_give(struct table *all, struct share **s)
{
	assert(*s == NULL || (*s)->n > 0);
	if (*s != NULL && --(*s)->n == 0) {
		table_remove(all, &(*s)->by_user);
		free(*s);
	}
	*s = NULL;
}

void
share_pass(struct table *all, struct share **from, const char *user)
{
	struct share *to = take_share(all, user);

	share_give(all, from);
	*from = to;
}

uint64_t
shares_sum(const struct table *all)
{
	struct table_walk walk;
	const struct table_link *link;
	uint64_t n = 0;

	for (link = table_first(all, &walk); link != NULL;
	     link = table_next(&walk))
		n += container_of_const(link, struct share, by_user)->n;
	return n;
}
