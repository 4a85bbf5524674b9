/*
 * The memory of stands and places, and what may be asked of them.
 *
 * A stand has a place for each token that wants the name, in the order in which
 * the tokens first came, whether they are here or away.  Places are bounded,
 * for a name and in all, since tokens cost their clients nothing.  So a walk
 * along one stand is a short one.
 *
 * Code that makes a stand, or frees a place of one, calls stand_next() in the
 * end: that frees a stand which nobody needs.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/times.h"
#include "base/xmalloc.h"
#include "core/guard/guard.h"
#include "core/token/measured.h"
#include "core/token/parts.h"
#include "core/token/stand.h"
#include "core/turn/work.h"

#define PLACES_MAX 100 /* of a name */
#define PLACES_ALL_MAX 10000

static const char *
name_of(const struct table_link *link, size_t *len)
{
	const struct stand *st =
	    container_of_const(link, struct stand, by_name);

	*len = st->name_len;
	return st->name;
}

void
park_init(struct core *core)
{
	table_init(&core->tokens->stands, name_of);
}

struct stand *
stand_find(const struct core *core, const char *name, size_t len)
{
	struct table_link *link = table_find(&core->tokens->stands, name, len);

	return link == NULL ? NULL : container_of(link, struct stand, by_name);
}

struct stand *
stand_of(const struct core *core, const struct token_call *c)
{
	return stand_find(core, c->names[0].name, c->names[0].len);
}

struct stand *
stand_get(struct core *core, const struct token_call *c)
{
	const struct token_name *n = &c->names[0];
	struct stand *st = stand_of(core, c);

	if (st != NULL)
		return st;
	st = xcalloc(1, sizeof(*st) + n->len);
	st->timer.kind = TIMER_STAND;
	TAILQ_INIT(&st->places);
	st->shard = guard_shard(core, n->name, n->len);
	st->wake_ms = INT64_MAX;
	st->name_len = n->len;
	memcpy(st->name, n->name, n->len);
	table_add(&core->tokens->stands, &st->by_name);
	return st;
}

/* A call that awaits the name has no token, or does so for one: its place is
 * that of the call itself. */
struct place *
stand_place(
    const struct core *core, const struct stand *st, const struct token_call *c)
{
	struct place *p;

	if (st == NULL)
		return NULL;
	if (!c->awaits)
		return place_find(core, st, c->client);
	TAILQ_FOREACH (p, &st->places, link) {
		core_visit(core, 1);
		if (p->call == c->id)
			return p;
	}
	return NULL;
}

struct place *
place_find(const struct core *core, const struct stand *st, const char *client)
{
	struct place *p;

	TAILQ_FOREACH (p, &st->places, link) {
		core_visit(core, 1);
		if (strcmp(p->client, client) == 0)
			return p;
	}
	return NULL;
}

bool
stand_is_full(const struct core *core, const struct stand *st)
{
	return st->nplaces >= PLACES_MAX ||
	       core->tokens->nplaces >= PLACES_ALL_MAX;
}

/* The order of all that wait for names here, tokens and sessions, is that of
 * core.last_come (park_comes_before()). */
struct place *
place_new(struct core *core, struct stand *st, const char *client)
{
	struct place *p;

	if (stand_is_full(core, st))
		return NULL;
	p = xcalloc(1, sizeof(*p));
	p->client = xstrdup(client);
	p->came = (struct arrival){ ++core->last_come, core->now_ms };
	TAILQ_INSERT_TAIL(&st->places, p, link);
	st->nplaces++;
	core->tokens->nplaces++;
	return p;
}

/* Requires that no call is parked in it, or that the caller ends that call. */
void
place_free(struct core *core, struct stand *st, struct place *p)
{
	assert(st->nplaces > 0 && core->tokens->nplaces > 0);
	TAILQ_REMOVE(&st->places, p, link);
	st->nplaces--;
	core->tokens->nplaces--;
	if (p->waits)
		token_waited(core, p);
	free(p->client);
	free(p);
}

/* Requires that no operation of the stand is in flight: its answer must find
 * it. */
void
stand_free(struct core *core, struct stand *st)
{
	assert(st->asked_for == 0 || core->fx == NULL);
	while (!TAILQ_EMPTY(&st->places))
		place_free(core, st, TAILQ_FIRST(&st->places));
	core_disarm(core, &st->timer);
	table_remove(&core->tokens->stands, &st->by_name);
	free(st->kept_for);
	free(st->kept_of);
	free(st);
}

void
park_fini(struct core *core)
{
	struct table_walk walk;
	struct table_link *link = table_first(&core->tokens->stands, &walk);

	for (; link != NULL; link = table_next(&walk))
		stand_free(core, container_of(link, struct stand, by_name));
	table_fini(&core->tokens->stands);
}

/* Places are in the order of the first coming, so the first token that is here
 * has waited for longest, however often it was away. */
struct place *
stand_first_here(struct core *core, struct stand *st)
{
	struct place *p, *next, *first = NULL;

	TAILQ_FOREACH_SAFE (p, &st->places, link, next) {
		core_visit(core, 1);
		if (p->call != 0 && first == NULL)
			first = p;
		else if (p->call == 0 &&
			 p->heard_ms + COMES_BACK_MS <= core->now_ms)
			place_free(core, st, p);
	}
	return first;
}

/* A token that has come once may never come back: nobody waits for it. */
int64_t
stand_lately_ms(const struct stand *st)
{
	const struct place *p;
	int64_t ms = 0;

	TAILQ_FOREACH (p, &st->places, link)
		if (p->polls)
			ms = max_ms(ms, p->heard_ms + LATELY_MS);
	return ms;
}

unsigned
stand_count_here(struct core *core, const struct stand *st)
{
	const struct place *p;
	unsigned n = 0;

	TAILQ_FOREACH (p, &st->places, link) {
		core_visit(core, 1);
		n += p->call != 0;
	}
	return n;
}

unsigned
park_each(const struct core *core, const char *name, size_t len, parked_fn *fn,
    void *arg)
{
	const struct stand *st = stand_find(core, name, len);
	const struct place *p;
	unsigned n = 0;

	if (st == NULL)
		return 0;
	TAILQ_FOREACH (p, &st->places, link) {
		core_visit(core, 1);
		if (!p->waits)
			continue;
		if (fn != NULL)
			fn(arg, p->session, p->came);
		n++;
	}
	return n;
}

/* Of those that are here, the first one came first. */
bool
park_comes_before(
    const struct core *core, const char *name, size_t len, uint64_t came)
{
	const struct stand *st = stand_find(core, name, len);
	const struct place *p;

	if (st == NULL || st->seq == 0)
		return false;
	TAILQ_FOREACH (p, &st->places, link) {
		core_visit(core, 1);
		if (p->call != 0)
			return p->came.number < came;
	}
	return false;
}

static void
count_one(void *arg, uint64_t session, struct arrival came)
{
	struct parked *all = arg;

	(void)session;
	if (all->n++ == 0 || came.ms < all->since_ms)
		all->since_ms = came.ms;
}

struct parked
park_count(const struct core *core, const char *name, size_t len)
{
	struct parked all = { 0, 0 };

	if (core->tokens->stands.n > 0)
		(void)park_each(core, name, len, count_one, &all);
	return all;
}

/* A stand waits for an answer, for a token in one of its places, or for its
 * timer. */
void
park_check(const struct core *core)
{
	struct table_walk walk;
	struct table_link *link = table_first(&core->tokens->stands, &walk);
	const struct token_call *c;
	const struct stand *st;
	const struct place *p;
	unsigned n, all = 0, nwaiting = 0;

	for (; link != NULL; link = table_next(&walk)) {
		st = container_of(link, struct stand, by_name);
		n = 0;
		TAILQ_FOREACH (p, &st->places, link) {
			c = p->call == 0 ? NULL : call_find(core, p->call);
			assert(p->call == 0 || (c != NULL && c->parked));
			assert(p->call == 0 || p->waits);
			nwaiting += p->waits;
			n++;
		}
		assert(n == st->nplaces);
		assert(st->asked_for != 0 || n > 0 || timer_armed(&st->timer));
		assert(st->asked_for != 0 || st->passed == 0);
		all += n;
	}
	assert(all == core->tokens->nplaces);
	assert(nwaiting == core->owners->nparked);
}

uint64_t
stand_first_seq(const struct core *core)
{
	struct table_walk walk;
	struct table_link *link = table_first(&core->tokens->stands, &walk);
	const struct stand *st;
	uint64_t first = 0;

	for (; link != NULL; link = table_next(&walk)) {
		st = container_of(link, struct stand, by_name);
		if (st->seq != 0 && (first == 0 || st->seq < first))
			first = st->seq;
		if (st->passed != 0 && (first == 0 || st->passed < first))
			first = st->passed;
	}
	return first;
}
