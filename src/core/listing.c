/*
 * LIST, QUEUE, HISTORY and NAMES: lists of things of which there may be
 * 100,000.
 *
 *	LIST	holds -> permits -> claims	of a session
 *	QUEUE	find the first holder -> holders -> waiters -> tokens	of a name
 *	HISTORY	token -> holders -> what has been	of a name
 *	NAMES	visit all -> order them -> tell the busiest
 *
 * They are made in parts, between which the core goes on.  A row is as the
 * thing was when the list came by.  A list knows what comes next, and is told
 * when that goes away.  NAMES knows only a chain of the table, and visits the
 * chains in an order that stays good when the table grows.
 */
#include "config.h"

#include <string.h>

#include "base/xmalloc.h"
#include "core/busiest.h"
#include "core/life.h"
#include "core/listing.h"
#include "core/lock/hold.h"
#include "core/lock/lock.h"
#include "core/measure/measure.h"
#include "core/sync/line.h"
#include "core/sync/semaphore.h"
#include "core/token/state.h"

/* Rows, names or comparisons of a part: some tenths of a millisecond. */
#define PART 256

/* A list that began again so often makes the rest in one part. */
#define ANEW_MAX 3

#define ROW_FIELDS 12

/* One row being built; strings go to its arena. */
struct row {
	struct field fields[ROW_FIELDS];
	size_t n;
	struct buf text;
	core_row_fn fn;
	void *arg;
	size_t count; /* rows that were finished */
};

static void
row_init(struct row *r)
{
	memset(r, 0, sizeof(*r));
	buf_init(&r->text);
}

static void
row_num(struct row *r, enum field_id id, uint64_t num)
{
	assert(r->n < ROW_FIELDS);
	r->fields[r->n++] = (struct field){ .id = id, .num = num };
}

static void
row_str(struct row *r, enum field_id id, const char *str)
{
	assert(r->n < ROW_FIELDS);
	r->fields[r->n++] = (struct field){ .id = id,
		.str = (uint32_t)buf_len(&r->text),
		.len = (uint32_t)strlen(str) };
	buf_adds(&r->text, str);
}

static void
row_finish(struct row *r, const char *word, const char *name, size_t len)
{
	struct core_row row = { .word = word,
		.name = name,
		.name_len = len,
		.fields = r->fields,
		.nfields = r->n,
		.text = buf_len(&r->text) == 0 ? "" : buf_data(&r->text) };

	r->fn(r->arg, &row);
	r->count++;
	r->n = 0;
	buf_clear(&r->text);
}

static void
row_end(struct row *r, const char *word, const struct lock *l)
{
	row_finish(
	    r, word, l == NULL ? NULL : l->name, l == NULL ? 0 : l->name_len);
}

static uint64_t
age(int64_t now_ms, int64_t since_ms)
{
	return now_ms > since_ms ? (uint64_t)(now_ms - since_ms) : 0;
}

static const char *
mode_name(bool shared)
{
	return shared ? "shared" : "exclusive";
}

/* A stage does a bit of the work, and sets the next stage when it is done. */
typedef void (*stage_fn)(struct core *core, struct listing *g);

/* core_..._begin() makes it, core_listing_end() frees it. */
struct listing {
	LIST_ENTRY(listing) link;
	struct row row;
	stage_fn stage; /* NULL: that was all */
	unsigned anew;	/* how often it began again */
	bool spoilt;	/* perhaps it has listed a hold that is over */
	int64_t now_ms;
	size_t left;		       /* rows that are wanted */
	const struct session *session; /* LIST; NULL: it ended */
	const struct lock *lock;       /* QUEUE, HISTORY; NULL: there is none */
	uint64_t nparked;	       /* QUEUE: tokens that wait */
	char *name;		       /* QUEUE, HISTORY; owned */
	size_t name_len;
	/* What comes next in the present stage. */
	const struct hold *hold;
	const struct permits *permits;
	const struct claim *claim;
	const struct waiter *waiter;
	/* NAMES. */
	struct busiest busiest;
	core_shows_fn shows; /* NULL: all */
	void *shows_arg;
	size_t most;	/* names that are wanted */
	uint32_t shard; /* the table, ... */
	uint32_t chain; /* ... its chain that comes next, ... */
	uint32_t size;	/* ... and how many chains it had at the last look */
};

/* All unfinished lists. */
struct listings {
	LIST_HEAD(, listing) list;
};

void
listing_init(struct core *core)
{
	core->listings = xcalloc(1, sizeof(*core->listings));
	LIST_INIT(&core->listings->list);
}

void
listing_fini(struct core *core)
{
	assert(LIST_EMPTY(&core->listings->list));
	free(core->listings);
}

static struct listing *
listing_new(struct core *core, stage_fn stage)
{
	struct listing *g = xcalloc(1, sizeof(*g));

	g->stage = stage;
	row_init(&g->row);
	LIST_INSERT_HEAD(&core->listings->list, g, link);
	return g;
}

void
core_listing_end(struct listing *g)
{
	LIST_REMOVE(g, link);
	busiest_fini(&g->busiest);
	free(g->name);
	buf_fini(&g->row.text);
	free(g);
}

/* LIST. */

/* Lists places at barriers; other claims only wait, and are not listed. */
static void
list_claim(struct core *core, struct listing *g)
{
	const struct claim *c = g->claim;

	(void)core;
	if (c == NULL) {
		g->stage = NULL;
		return;
	}
	g->claim = TAILQ_NEXT(c, in_session);
	if (c->verb != VERB_BARRIER || c->leaving ||
	    line_state(c) != CLAIM_PARKED)
		return;
	row_num(&g->row, FIELD_AGE, age(g->now_ms, c->since_ms));
	row_finish(&g->row, "barrier", c->sync->name, c->sync->name_len);
}

static void
list_permits(struct core *core, struct listing *g)
{
	const struct permits *p = g->permits;

	(void)core;
	if (p == NULL) {
		g->stage = list_claim;
		if (g->session != NULL)
			g->claim = TAILQ_FIRST(&g->session->claims);
		return;
	}
	g->permits = TAILQ_NEXT(p, in_session);
	row_num(&g->row, FIELD_PERMITS, p->n);
	row_num(&g->row, FIELD_AGE, age(g->now_ms, p->since_ms));
	row_finish(&g->row, "semaphore", p->sync->name, p->sync->name_len);
}

static void
list_hold(struct core *core, struct listing *g)
{
	const struct hold *h = g->hold;

	(void)core;
	if (h == NULL) {
		g->stage = list_permits;
		if (g->session != NULL)
			g->permits = TAILQ_FIRST(&g->session->permits);
		return;
	}
	g->hold = TAILQ_NEXT(h, in_session);
	row_str(&g->row, FIELD_MODE, mode_name(h->lock->shared_hold));
	row_num(&g->row, FIELD_DEPTH, hold_depth(h));
	row_num(&g->row, FIELD_FENCE, h->fence);
	row_num(&g->row, FIELD_AGE, age(g->now_ms, h->since_ms));
	row_end(&g->row, "lock", h->lock);
}

struct listing *
core_list_begin(struct core *core, uint64_t session)
{
	struct listing *g = listing_new(core, list_hold);

	g->session = session_find(core, session);
	if (g->session != NULL)
		g->hold = TAILQ_FIRST(&g->session->holds);
	return g;
}

/* The client hears of a loss before it has the list, so the list must not have
 * the hold: begins again. */
static void
list_anew(struct listing *g)
{
	g->spoilt = false;
	g->anew++;
	g->stage = list_hold;
	g->hold = g->session != NULL ? TAILQ_FIRST(&g->session->holds) : NULL;
	g->permits = NULL;
	g->claim = NULL;
	g->row.count = 0;
	g->row.fn(g->row.arg, NULL);
}

/* QUEUE. */

static void
row_session(const struct core *core, struct listing *g, const struct session *s,
    bool shared)
{
	struct row *r = &g->row;

	row_num(r, FIELD_SESSION, s->id);
	if (s->label != NULL)
		row_str(r, FIELD_LABEL, s->label);
	if (s->detached)
		row_num(r, FIELD_AWAY,
		    age(core_armed_ms(core, &s->end), g->now_ms));
	else
		row_str(r, FIELD_PEER, s->peer);
	row_str(r, FIELD_MODE, mode_name(shared));
}

/* A row of a token that waits. */
struct parking {
	struct core *core;
	struct listing *g;
};

static void
queue_token(void *arg, const struct token_call *c)
{
	const struct parking *p = arg;
	const struct session *s = session_find(p->core, c->session);

	if (s == NULL || p->g->left == 0)
		return;
	p->g->left--;
	row_session(p->core, p->g, s, false);
	row_num(&p->g->row, FIELD_AGE, age(p->g->now_ms, c->since_ms));
	row_end(&p->g->row, "waiter", NULL);
}

/* They are few, and told in one part. */
static void
queue_tokens(struct core *core, struct listing *g)
{
	struct parking p = { core, g };

	g->nparked = park_each(core, g->name, g->name_len, queue_token, &p);
	g->stage = NULL;
}

static void
queue_waiter(struct core *core, struct listing *g)
{
	const struct waiter *w = g->waiter;

	if (w == NULL || g->left == 0) {
		g->stage = queue_tokens;
		return;
	}
	g->left--;
	g->waiter = TAILQ_NEXT(w, in_lock);
	row_session(core, g, w->session, w->shared);
	row_num(&g->row, FIELD_AGE, age(g->now_ms, w->since_ms));
	row_end(&g->row, "waiter", NULL);
}

static void
queue_holder(struct core *core, struct listing *g)
{
	const struct hold *h = g->hold;

	if (h == NULL || g->left == 0) {
		g->stage = queue_waiter;
		if (g->lock != NULL)
			g->waiter = TAILQ_FIRST(&g->lock->queue);
		return;
	}
	g->left--;
	g->hold = hold_later(h);
	row_session(core, g, h->session, h->lock->shared_hold);
	row_num(&g->row, FIELD_FENCE, h->fence);
	row_num(&g->row, FIELD_AGE, age(g->now_ms, h->since_ms));
	row_end(&g->row, "holder", NULL);
}

/* Goes to the oldest holder; the list has the latest first. */
static void
queue_first(struct core *core, struct listing *g)
{
	const struct hold *h = g->hold;

	(void)core;
	if (h == NULL || TAILQ_NEXT(h, in_lock) == NULL)
		g->stage = queue_holder;
	else
		g->hold = TAILQ_NEXT(h, in_lock);
}

/* Nobody holds the name, but it lingers. */
static void
queue_lingering(struct core *core, struct listing *g)
{
	const struct lock *l = g->lock;
	struct row *r = &g->row;

	g->stage = queue_holder;
	if (l == NULL || l->lease.state != LEASE_LINGERING || g->hold != NULL ||
	    g->left == 0)
		return;
	g->left--;
	row_str(r, FIELD_BROKER, core->broker);
	if (core->address[0] != '\0')
		row_str(r, FIELD_ADDRESS, core->address);
	row_num(
	    r, FIELD_UNTIL, age(lease_rare(&l->lease)->linger_ms, g->now_ms));
	row_end(r, "holder", NULL);
}

struct listing *
core_queue_begin(
    struct core *core, const char *name, size_t name_len, size_t limit)
{
	struct listing *g = listing_new(core, queue_first);

	g->left = limit;
	g->name = xstrndup(name, name_len);
	g->name_len = name_len;
	g->lock = lock_find(core, name, name_len);
	if (g->lock != NULL)
		g->hold = TAILQ_FIRST(&g->lock->holders);
	if (g->lock != NULL && g->lock->lease.state == LEASE_LINGERING)
		g->stage = queue_lingering;
	return g;
}

uint64_t
core_listing_waiters(const struct listing *g)
{
	return g->nparked + (g->lock != NULL ? g->lock->nwaiting : 0);
}

/* HISTORY. */

static void
history_ended(
    const struct listing *g, struct row *r, const struct measure_hold *h)
{
	row_num(r, FIELD_SESSION, h->session);
	if (h->label != NULL)
		row_str(r, FIELD_LABEL, h->label);
	row_str(r, FIELD_PEER, h->peer);
	if (h->user != NULL)
		row_str(r, FIELD_USER, h->user);
	row_str(r, FIELD_MODE, mode_name(h->shared));
	row_num(r, FIELD_FENCE, h->fence);
	row_num(r, FIELD_WAITED, (uint64_t)h->waited_ms);
	row_num(r, FIELD_HELD, age(h->ended_ms, h->granted_ms));
	row_str(r, FIELD_END, h->end);
	if (h->by != NULL)
		row_str(r, FIELD_BY, h->by);
	row_num(r, FIELD_AGO, age(g->now_ms, h->ended_ms));
	row_finish(r, "hold", NULL, 0);
}

/* They are few, and one call lists them all: none goes away meanwhile. */
static void
history_past(struct core *core, struct listing *g)
{
	struct measure_hold h;
	const void *place = NULL;

	for (; g->left > 0 &&
	       measure_past_of(core->measure, g->name, g->name_len, &place, &h);
	     g->left--)
		history_ended(g, &g->row, &h);
	g->stage = NULL;
}

/* The present holders come first, as the latest. */
static void
history_holder(struct core *core, struct listing *g)
{
	const struct hold *h = g->hold;
	struct row *r = &g->row;

	if (h == NULL || g->left == 0) {
		g->stage = history_past;
		return;
	}
	g->left--;
	g->hold = TAILQ_NEXT(h, in_lock);
	row_session(core, g, h->session, h->lock->shared_hold);
	if (h->session->user != NULL)
		row_str(r, FIELD_USER, h->session->user);
	row_num(r, FIELD_FENCE, h->fence);
	row_num(r, FIELD_WAITED, h->waited_ms);
	row_num(r, FIELD_HELD, age(g->now_ms, h->since_ms));
	row_str(r, FIELD_END, "held");
	row_num(r, FIELD_AGO, 0);
	row_finish(r, "hold", NULL, 0);
}

/* The token hold that is looked after here. */
static void
history_token(struct core *core, struct listing *g)
{
	const struct ward *w = ward_find(core, g->name, g->name_len);
	struct measure_hold h;

	g->stage = history_holder;
	if (w == NULL || g->left == 0)
		return;
	g->left--;
	h = ward_hold(w, g->now_ms);
	history_ended(g, &g->row, &h);
}

struct listing *
core_history_begin(
    struct core *core, const char *name, size_t name_len, size_t limit)
{
	struct listing *g = listing_new(core, history_token);

	g->left = limit;
	g->name = xstrndup(name, name_len);
	g->name_len = name_len;
	g->lock = lock_find(core, name, name_len);
	if (g->lock != NULL)
		g->hold = TAILQ_FIRST(&g->lock->holders);
	return g;
}

/* NAMES. */

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
	    one->nwaiting == 0 ? 0 : age(g->now_ms, one->since_ms));
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

/* All lists. */

bool
core_listing_part(struct core *core, struct listing *g, int64_t now_ms,
    core_row_fn fn, void *arg)
{
	unsigned i;

	g->row.fn = fn;
	g->row.arg = arg;
	g->now_ms = now_ms;
	if (g->spoilt)
		list_anew(g);
	for (i = 0; (i < PART || g->anew >= ANEW_MAX) && g->stage != NULL; i++)
		g->stage(core, g);
	return g->stage != NULL;
}

/* Things that go away. */

static const struct hold *
after(const struct listing *g, const struct hold *h)
{
	if (g->lock == NULL)
		return TAILQ_NEXT(h, in_session);
	if (g->stage == history_holder ||
	    (g->stage == queue_first && TAILQ_NEXT(h, in_lock) != NULL))
		return TAILQ_NEXT(h, in_lock);
	return hold_later(h);
}

/* Few lists are unfinished: the driver makes one after the other
 * (daemon/lists.c). */
void
listing_leave_hold(struct core *core, const struct hold *h)
{
	struct listing *g;

	LIST_FOREACH (g, &core->listings->list, link) {
		if (g->session == h->session)
			g->spoilt = true;
		if (g->hold == h)
			g->hold = after(g, h);
	}
}

void
listing_leave_waiter(struct core *core, const struct waiter *w)
{
	struct listing *g;

	LIST_FOREACH (g, &core->listings->list, link)
		if (g->waiter == w)
			g->waiter = TAILQ_NEXT(w, in_lock);
}

void
listing_leave_permits(struct core *core, const struct permits *p)
{
	struct listing *g;

	LIST_FOREACH (g, &core->listings->list, link) {
		if (g->session == p->session)
			g->spoilt = true;
		if (g->permits == p)
			g->permits = TAILQ_NEXT(p, in_session);
	}
}

void
listing_leave_claim(struct core *core, const struct claim *c)
{
	struct listing *g;

	LIST_FOREACH (g, &core->listings->list, link)
		if (g->claim == c)
			g->claim = TAILQ_NEXT(c, in_session);
}

void
listing_leave_session(struct core *core, const struct session *s)
{
	struct listing *g;

	LIST_FOREACH (g, &core->listings->list, link)
		if (g->session == s)
			g->session = NULL;
}

void
listing_leave_lock(struct core *core, const struct lock *l)
{
	struct listing *g;

	LIST_FOREACH (g, &core->listings->list, link)
		if (g->lock == l)
			g->lock = NULL;
}

/* Makes the whole list at once, for callers that can wait. */
size_t
core_list(struct core *core, int64_t now_ms, uint64_t session, core_row_fn fn,
    void *arg)
{
	struct listing *g = core_list_begin(core, session);
	size_t n;

	while (core_listing_part(core, g, now_ms, fn, arg))
		;
	n = g->row.count;
	core_listing_end(g);
	return n;
}
