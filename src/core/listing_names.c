/*
 * NAMES: the busiest names.
 *
 *	visit all -> order them -> tell the busiest
 *
 * The list knows only a chain of the table, and visits the chains in an order
 * that stays good when the table grows.
 */
#include "config.h"

#include "core/listing_state.h"
#include "core/lock/names.h"

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

static uint32_t
backwards(uint32_t bits)
{
	bits = (bits & 0x55555555) << 1 | (bits >> 1 & 0x55555555);
	bits = (bits & 0x33333333) << 2 | (bits >> 2 & 0x33333333);
	bits = (bits & 0x0f0f0f0f) << 4 | (bits >> 4 & 0x0f0f0f0f);
	return __builtin_bswap32(bits);
}

/* Returns the chain that comes next by reversed bits, so that the halves of a
 * chain that is split come one after the other; 0 after the last.  Requires
 * that size is a power of two. */
static uint32_t
chain_after(uint32_t chain, uint32_t size)
{
	return backwards(backwards(chain | ~(size - 1)) + 1);
}

static void
names_from(struct listing *g, uint32_t shard)
{
	g->shard = shard;
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

static void
names_offer(struct listing *g, const struct lock *l)
{
	if (g->shows == NULL || g->shows(g->shows_arg, l->name, l->name_len))
		busiest_offer(&g->busiest, l);
}

static void
names_visit(struct core *core, struct listing *g)
{
	const struct table *t = &core->locks->names[g->shard].table;
	struct table_link *link;

	if (t->size < g->size) {
		names_anew(g);
		return;
	}
	g->size = t->size;
	if (t->size > 0) {
		for (link = table_chain(t, g->chain); link; link = link->next)
			names_offer(
			    g, container_of(link, struct lock, by_name));
		g->chain = chain_after(g->chain, t->size);
	}
	if (g->chain > 0)
		return;
	names_from(g, g->shard + 1);
	if (g->shard == core->config.shards)
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
