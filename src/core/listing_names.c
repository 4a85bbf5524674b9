/*
 * NAMES: the busiest names.
 *
 *	visit all -> order them -> tell the busiest
 *
 * The names of locks come first, then those that only token holds are about.
 * The list knows only a chain of a table.  When a table grows, the list visits
 * some names again; they count once (busiest.h).
 */
#include "config.h"

#include "core/listing_state.h"
#include "core/lock/names.h"
#include "core/token/state.h"

static void
names_tell(struct core *core, struct listing *g)
{
	const struct busy *one = busiest_take(&g->busiest);
	struct row *r = &g->row;

	(void)core;
	if (one == NULL) {
		g->stage = NULL;
		return;
	}
	row_str(r, FIELD_STATE, one->state);
	row_num(r, FIELD_WAITERS, one->nwaiting);
	row_num(r, FIELD_HANDOVERS, one->handovers);
	row_num(r, FIELD_OLDEST,
	    one->nwaiting == 0 ? 0 : listing_age(g->now_ms, one->since_ms));
	row_finish(r, NULL, one->name, one->name_len);
}

static void
names_order(struct core *core, struct listing *g)
{
	(void)core;
	if (!busiest_order(&g->busiest))
		g->stage = names_tell;
}

static void
names_from(struct listing *g, uint32_t table)
{
	g->table = table;
	g->chain = g->size = 0;
}

/* The table has shrunk, and a chain may be joined of one that was seen and one
 * that was not: begins again. */
static void
names_anew(struct listing *g)
{
	busiest_fini(&g->busiest);
	busiest_init(&g->busiest, g->most);
	names_from(g, 0);
}

/* If its lease is QUEUED, somebody elsewhere has the name. */
static const char *
state_of(const struct core *core, const struct lock *l)
{
	bool held = !TAILQ_EMPTY(&l->holders) ||
		    l->lease.state == LEASE_LINGERING ||
		    l->lease.state == LEASE_QUEUED;

	if (l->nholders > 0 && l->shared_hold)
		return "shared";
	if (!held && core->tokens->nwards > 0)
		held = ward_find(core, l->name, l->name_len) != NULL;
	return held ? "held" : "free";
}

/* Adds the tokens that wait. */
static void
offer(struct core *core, struct listing *g, struct busy one)
{
	struct parked parked = park_count(core, one.name, one.name_len);

	if (parked.n > 0 &&
	    (one.nwaiting == 0 || parked.since_ms < one.since_ms))
		one.since_ms = parked.since_ms;
	one.nwaiting += parked.n;
	busiest_offer(&g->busiest, &one);
}

static void
offer_lock(struct core *core, struct listing *g, const struct lock *l)
{
	struct busy one = { .name = l->name,
		.name_len = l->name_len,
		.handovers = more_of(l)->handovers,
		.nwaiting = queue_of(l)->n,
		.state = state_of(core, l) };

	if (l->queue != NULL)
		one.since_ms = waiter_first(l)->since_ms;
	offer(core, g, one);
}

/* A name that only token holds are about.  The tokens that wait for it, if
 * there are any, wait because somebody has it. */
static void
offer_token(struct core *core, struct listing *g, const char *name, size_t len)
{
	struct busy one = { .name = name, .name_len = len, .state = "held" };

	if (lock_find(core, name, len) != NULL)
		return;
	if (ward_find(core, name, len) != NULL ||
	    park_count(core, name, len).n > 0)
		offer(core, g, one);
}

/* The tables of names, one after the other: those of locks, that of token
 * holds, and that of tokens that come back. */
static const struct table *
table_of(const struct core *core, uint32_t which)
{
	if (which < core->config.shards)
		return &core->locks->names[which].table;
	return which == core->config.shards ? &core->tokens->by_name
					    : &core->tokens->stands;
}

/* The user of a client that asks may not see all names. */
static void
names_offer(struct core *core, struct listing *g, struct table_link *link)
{
	size_t len;
	const char *name = table_of(core, g->table)->name(link, &len);

	if (g->shows != NULL && !g->shows(g->shows_arg, name, len))
		return;
	if (g->table < core->config.shards)
		offer_lock(core, g, container_of(link, struct lock, by_name));
	else
		offer_token(core, g, name, len);
}

/*
 * One chain a call.  A table that has grown has its old chains in two parts
 * each, so chains that were seen may come again; one that has shrunk is begun
 * anew.
 */
static void
names_visit(struct core *core, struct listing *g)
{
	const struct table *t = table_of(core, g->table);
	struct table_link *link;

	if (t->size < g->size) {
		names_anew(g);
		return;
	}
	g->size = t->size;
	if (t->size > 0) {
		for (link = table_chain(t, g->chain); link; link = link->next)
			names_offer(core, g, link);
		g->chain++;
	}
	if (g->chain < t->size)
		return;
	names_from(g, g->table + 1);
	if (g->table == core->config.shards + 2)
		g->stage = names_order;
}

struct listing *
core_names_begin(struct core *core, size_t limit)
{
	struct listing *g = listing_new(core, names_visit);

	g->most = limit;
	busiest_init(&g->busiest, limit);
	return g;
}

void
core_names_only(struct listing *g, core_shows_fn shows, void *arg)
{
	g->shows = shows;
	g->shows_arg = arg;
}
