/*
 * NAMES: the busiest names.
 *
 *	visit all -> order them -> list the busiest
 *
 * The names of locks come first, then names with token holds only, and then
 * semaphores, latches and barriers.  The list knows only a chain of a table.
 * When a table grows, the list visits some names again; they are listed once
 * (busiest.h).
 */
#include "config.h"

#include <string.h>

#include "base/times.h"
#include "base/xmalloc.h"
#include "core/kernel/lock/names.h"
#include "core/kernel/lock/stored.h"
#include "core/kernel/session/owner.h"
#include "core/parts/fleet/fleet.h"
#include "core/parts/sync/semaphore.h"
#include "core/parts/token/state.h"
#include "core/parts/views/listing_state.h"

/* As the key said when this broker last asked for the name. */
static void
tell_broker(const struct core *core, struct row *r, const struct busy *one)
{
	char name[BROKER_MAX_BYTES + 1];
	const char *address;

	if (one->broker_len > BROKER_MAX_BYTES)
		return;
	memcpy(name, one->broker, one->broker_len);
	name[one->broker_len] = '\0';
	row_str(r, FIELD_BROKER, name);
	address = fleet_address(core, one->broker, one->broker_len);
	if (address != NULL)
		row_str(r, FIELD_ADDRESS, address);
}

static void
names_tell(struct core *core, struct listing *g)
{
	const struct busy *one = busiest_take(&g->busiest);
	struct row *r = &g->row;

	if (one == NULL) {
		g->stage = NULL;
		return;
	}
	if (one->kind != KIND_LOCK)
		row_str(r, FIELD_KIND, kind_words[one->kind]);
	row_str(r, FIELD_STATE, one->state);
	if (one->holder != NULL)
		row_str(r, FIELD_HELD_BY, one->holder);
	if (one->broker != NULL)
		tell_broker(core, r, one);
	if (one->kept_ms > 0)
		listing_kept(core, g, one->name, one->name_len, one->kept_ms);
	if (one->limit > 0) {
		row_num(r, FIELD_PERMITS, one->permits);
		row_num(r, FIELD_LIMIT, one->limit);
	}
	if (one->held_ms > 0)
		row_num(r, FIELD_AGE, listing_age(g->now_ms, one->held_ms));
	if (one->lost_ms > 0)
		row_num(r, FIELD_AT_RISK,
		    (uint64_t)max_ms(one->lost_ms - g->now_ms, 0));
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
	bool by_age = g->busiest.by_age;

	busiest_fini(&g->busiest);
	busiest_init(&g->busiest, g->most);
	g->busiest.by_age = by_age;
	g->total = 0;
	names_from(g, 0);
}

/* If its lease is QUEUED, another broker or client has the name. */
static const char *
state_of(const struct core *core, const struct lock *l)
{
	bool held = !TAILQ_EMPTY(&l->holders) ||
		    l->lease.state == LEASE_LINGERING ||
		    l->lease.state == LEASE_QUEUED;

	if (l->nholders > 0 && l->shared_hold)
		return "shared";
	if (!held && tokens_of(core)->nrecords > 0)
		held = token_record_find(core, l->name, l->name_len) != NULL;
	return held ? "held" : "free";
}

static void
offer(struct listing *g, const struct busy *one)
{
	g->total++;
	busiest_offer(&g->busiest, one);
}

static void
add_holder(
    struct busy *one, const char *label, const char *peer, int64_t since_ms)
{
	one->holder = label != NULL && label[0] != '\0' ? label : peer;
	one->held_ms = since_ms;
}

/* The broker whose token is in the key; a plain client's value says nothing. */
static void
add_broker(struct busy *one, const char *token)
{
	size_t len = token == NULL ? 0 : stored_broker(token, strlen(token));

	if (len == 0)
		return;
	one->broker = token;
	one->broker_len = len;
}

/* Until when a name at risk is vouched for; 0: it is not at risk. */
static int64_t
risk_ms(const struct core *core, const struct term *t)
{
	return t->state == TERM_ATRISK ? term_deadline_ms(core, t) : 0;
}

/* Adds the tokens that wait, and the one that has the name. */
static void
offer_with_tokens(struct core *core, struct listing *g, struct busy one)
{
	struct parked parked = poll_count(core, one.name, one.name_len);
	const struct token_record *w =
	    token_record_find(core, one.name, one.name_len);

	if (parked.n > 0 &&
	    (one.nwaiting == 0 || parked.since_ms < one.since_ms))
		one.since_ms = parked.since_ms;
	one.nwaiting += parked.n;
	if (w != NULL)
		add_holder(&one, w->label, w->peer, w->since_ms);
	offer(g, &one);
}

static void
offer_lock(struct core *core, struct listing *g, const struct lock *l)
{
	const struct hold *h = hold_first(l);
	struct busy one = { .kind = KIND_LOCK,
		.name = l->name,
		.name_len = l->name_len,
		.handovers = lock_rare(l)->handovers,
		.nwaiting = queue_of(l)->n,
		.state = state_of(core, l) };

	if (l->queue != NULL)
		one.since_ms = waiter_first(l)->claim.since_ms;
	if (l->lease.state == LEASE_LINGERING && h == NULL)
		one.kept_ms = lease_rare(&l->lease)->linger_ms;
	if (l->lease.state == LEASE_QUEUED)
		add_broker(&one, lease_rare(&l->lease)->elsewhere);
	if (h != NULL) {
		add_holder(&one, h->holding.owner->label,
		    h->holding.owner->peer, h->holding.since_ms);
		one.lost_ms = risk_ms(core, &l->lease.term);
	}
	offer_with_tokens(core, g, one);
}

/* A name with token holds only.  Tokens that wait for it, if there are any,
 * wait because it is held. */
static void
offer_token(struct core *core, struct listing *g, const char *name, size_t len)
{
	struct busy one = { .kind = KIND_LOCK,
		.name = name,
		.name_len = len,
		.state = "held" };

	if (lock_find(core, name, len) != NULL)
		return;
	if (token_record_find(core, name, len) != NULL ||
	    poll_count(core, name, len).n > 0)
		offer_with_tokens(core, g, one);
}

/* A latch or a barrier has no owner; clients that wait there wait for
 * others. */
static void
offer_sync(struct core *core, struct listing *g, const struct sync *y)
{
	const struct permits *p =
	    y->kind == KIND_SEMAPHORE ? semaphore_holder(y) : NULL;
	struct busy one = { .kind = y->kind,
		.name = y->name,
		.name_len = y->name_len,
		.nwaiting = y->queue.n,
		.state = p != NULL || y->queue.n > 0 ? "held" : "free" };

	if (y->kind == KIND_SEMAPHORE)
		one.permits = semaphore_out(y, &one.limit);
	if (!TAILQ_EMPTY(&y->queue.list))
		one.since_ms = TAILQ_FIRST(&y->queue.list)->claim.since_ms;
	if (p != NULL) {
		add_holder(&one, p->holding.owner->label,
		    p->holding.owner->peer, p->holding.since_ms);
		one.lost_ms = risk_ms(core, semaphore_term(y));
	}
	offer(g, &one);
}

/* The tables of names, one after the other: locks, token holds, tokens that
 * come back, and the other kinds. */
static const struct table *
table_of(const struct core *core, uint32_t which)
{
	if (which < core->config.shards)
		return &core->locks->names[which];
	which -= core->config.shards;
	if (which < 2)
		return which == 0 ? &tokens_of(core)->by_name
				  : &tokens_of(core)->pollers;
	return &syncs_of(core)->by_name[KIND_SYNC + which - 2];
}

static uint32_t
count_tables(const struct core *core)
{
	return core->config.shards + 2 + KIND_MAX - KIND_SYNC;
}

static bool
is_like(const struct listing *g, const char *name, size_t len)
{
	return g->pattern == NULL ||
	       (len >= g->pattern_len && (g->begins || len == g->pattern_len) &&
		   memcmp(name, g->pattern, g->pattern_len) == 0);
}

/* The user of the client that asks may not see all names. */
static void
names_offer(struct core *core, struct listing *g, struct table_link *link)
{
	size_t len;
	const char *name = table_of(core, g->table)->name(link, &len);

	if (!is_like(g, name, len) ||
	    (g->shows != NULL && !g->shows(g->shows_arg, name, len)))
		return;
	if (g->table < core->config.shards)
		offer_lock(core, g, container_of(link, struct lock, by_name));
	else if (g->table < core->config.shards + 2)
		offer_token(core, g, name, len);
	else
		offer_sync(core, g, container_of(link, struct sync, by_name));
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
	if (g->table == count_tables(core))
		g->stage = names_order;
}

struct listing *
core_names_begin(struct core *core, size_t limit)
{
	struct listing *g = listing_new(names_visit);

	(void)core;
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

void
core_names_like(struct listing *g, const char *pattern, size_t len)
{
	g->begins = len > 0 && pattern[len - 1] == '*';
	g->pattern_len = g->begins ? len - 1 : len;
	g->pattern = xstrndup(pattern, g->pattern_len);
}

void
core_names_by_age(struct listing *g)
{
	g->busiest.by_age = true;
}

uint64_t
core_listing_total(const struct listing *g)
{
	return g->total;
}
