/*
 * Tenants: the totals of all sessions of one user, and their limits
 * (auth.users[].limits), so that no user leaves the others nothing.
 *
 * The kernel counts, where an owner has a struct tenant; this part finds the
 * tenant of a user, by name, and refuses requests beyond the limits.  A request
 * that waits counts like the hold that it may become; token holds have their
 * shares.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/xmalloc.h"
#include "core/dump.h"
#include "core/kernel/session/owner.h"
#include "core/kernel/session/share.h"
#include "core/kernel/turn/emit.h"
#include "core/parts/ids.h"

/* It lives while an owner points to it, or it has limits. */
struct record {
	struct tenant tenant;
	struct table_link by_user;
	uint64_t nowners;
	unsigned holds;	  /* at most; 0: any number */
	uint64_t refused; /* requests, so far */
	size_t len;
	char user[];
};

struct tenants {
	struct table by_user;
	uint64_t refused; /* requests, so far */
};

static struct tenants *
tenants_of(const struct core *core)
{
	return core->part[PART_TENANT];
}

static struct record *
record_of(struct tenant *t)
{
	return container_of(t, struct record, tenant);
}

static const char *
user_of(const struct table_link *link, size_t *len)
{
	const struct record *r =
	    container_of_const(link, struct record, by_user);

	*len = r->len;
	return r->user;
}

static struct record *
find(const struct core *core, const char *user)
{
	return container_or_null(
	    table_find(&tenants_of(core)->by_user, user, strlen(user)),
	    struct record, by_user);
}

static struct record *
get(struct core *core, const char *user)
{
	struct record *r = find(core, user);

	if (r != NULL)
		return r;
	r = xcalloc(1, sizeof(*r) + strlen(user) + 1);
	r->len = strlen(user);
	memcpy(r->user, user, r->len);
	table_add(&tenants_of(core)->by_user, &r->by_user);
	return r;
}

static void
forget(struct core *core, struct record *r)
{
	if (r->nowners > 0 || r->holds > 0 || r->tenant.waiters > 0)
		return;
	assert(r->tenant.holdings == 0 && r->tenant.waiting == 0);
	table_remove(&tenants_of(core)->by_user, &r->by_user);
	free(r);
}

static void
tenant_user_changed(struct core *core, struct owner *owner)
{
	struct record *was =
	    owner->tenant != NULL ? record_of(owner->tenant) : NULL;
	struct record *is = owner->user != NULL ? get(core, owner->user) : NULL;
	int has = (int)owner_has(owner), waits = (int)owner->nwaiting;
	int places = (int)owner->nplaces;

	owner_counts(owner, -has, -waits, -places);
	owner->tenant = is != NULL ? &is->tenant : NULL;
	owner_counts(owner, has, waits, places);
	if (is != NULL)
		is->nowners++;
	if (was != NULL) {
		assert(was->nowners > 0);
		was->nowners--;
		forget(core, was);
	}
}

static bool
refuse(struct core *core, const struct owner *owner, uint64_t ref, uint64_t has,
    const char *what, const char *limit)
{
	record_of(owner->tenant)->refused++;
	tenants_of(core)->refused++;
	emit_error(core, owner->id, ref, ERR_LIMIT,
	    "the sessions of %s already %s %llu objects "
	    "(auth.users[].limits.%s)",
	    owner->user, what, (unsigned long long)has, limit);
	return false;
}

static bool
tenant_admits(struct core *core, const struct owner *owner, uint64_t ref,
    unsigned more, bool waits)
{
	struct tenant *t = owner->tenant;
	const struct record *r = t != NULL ? record_of(t) : NULL;
	uint64_t n;

	if (r == NULL)
		return true;
	/* A polling token's place is the request that asks for it. */
	n = (uint64_t)t->holdings + (uint64_t)t->waiting +
	    share_used(&core->owners->token_shares, owner->user);
	if (r->holds > 0 && n + more > r->holds)
		return refuse(core, owner, ref, n, "hold or wait for", "holds");
	if (!waits || !tenant_is_full(t))
		return true;
	return refuse(core, owner, ref, (uint64_t)(t->waiting + t->places),
	    "wait for", "waiters");
}

/* No user has limits any longer; the records of users without sessions go. */
static void
clear_limits(struct core *core)
{
	struct table_walk walk;
	struct table_link *link;

	for (link = table_first(&tenants_of(core)->by_user, &walk);
	     link != NULL; link = table_next(&walk)) {
		struct record *r = container_of(link, struct record, by_user);

		r->holds = r->tenant.waiters = 0;
		forget(core, r);
	}
}

void
core_limit_users(
    struct core *core, const struct core_user_limits *limits, size_t n)
{
	size_t i;

	clear_limits(core);
	for (i = 0; i < n; i++) {
		struct record *r;

		if (limits[i].holds == 0 && limits[i].waiters == 0)
			continue;
		r = get(core, limits[i].user);
		r->holds = limits[i].holds;
		r->tenant.waiters = limits[i].waiters;
	}
}

struct core_user_load
core_user_load(const struct core *core, const char *user)
{
	const struct record *r = find(core, user);
	struct core_user_load load = {
		.holds = share_used(&core->owners->token_shares, user),
	};

	if (r == NULL)
		return load;
	load.holds += (uint64_t)r->tenant.holdings;
	load.waiting = (uint64_t)(r->tenant.waiting + r->tenant.places);
	load.refused = r->refused;
	return load;
}

uint64_t
core_users_refused(const struct core *core)
{
	return tenants_of(core)->refused;
}

static void
tenant_init(struct core *core)
{
	struct tenants *all = xcalloc(1, sizeof(*all));

	table_init(&all->by_user, user_of);
	core->part[PART_TENANT] = all;
}

static void
tenant_fini(struct core *core)
{
	clear_limits(core);
	assert(tenants_of(core)->by_user.n == 0);
	table_fini(&tenants_of(core)->by_user);
	free(tenants_of(core));
}

const struct core_part tenant_part = {
	.id = PART_TENANT,
	.init = tenant_init,
	.fini = tenant_fini,
	.admits = tenant_admits,
	.user_changed = tenant_user_changed,
};
