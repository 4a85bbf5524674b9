/*
 * The memory of poll queues and pollers, and questions about them.
 *
 * A poll queue has a place for each token that wants the name, in the order in
 * which the tokens first came, whether they are here or away.  Places are
 * bounded, since tokens cost their clients nothing.
 *
 * Code that makes a poll queue, or frees a place of one, calls pollers_next()
 * in the end: that frees a poll queue which is no longer needed.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/times.h"
#include "base/xmalloc.h"
#include "core/kernel/guard/guard.h"
#include "core/kernel/turn/work.h"
#include "core/parts/token/measured.h"
#include "core/parts/token/parts.h"
#include "core/parts/token/pollers.h"

#define SWEEP_MS 250 /* interval of looking through a whole poll queue */

/* How long a name is kept for a program: four times what it took to come the
 * last time, within these limits. */
#define KEPT_LEAST_MS 20
#define KEPT_MOST_MS 250

static const char *
name_of(const struct table_link *link, size_t *len)
{
	const struct pollers *ps =
	    container_of_const(link, struct pollers, by_name);

	*len = ps->name_len;
	return ps->name;
}

static const char *
holder_of(const struct table_link *link, size_t *len)
{
	const struct poller *p =
	    container_of_const(link, struct poller, by_holder);

	*len = strlen(p->holder);
	return p->holder;
}

void
poll_init(struct core *core)
{
	table_init(&tokens_of(core)->pollers, name_of);
}

struct pollers *
pollers_find(const struct core *core, const char *name, size_t len)
{
	struct table_link *link =
	    table_find(&tokens_of(core)->pollers, name, len);

	return link == NULL ? NULL
			    : container_of(link, struct pollers, by_name);
}

struct pollers *
pollers_of(const struct core *core, const struct token_call *c)
{
	return pollers_find(core, c->names[0].name, c->names[0].len);
}

struct pollers *
pollers_get(struct core *core, const struct token_call *c)
{
	const struct token_name *n = &c->names[0];
	struct pollers *ps = pollers_of(core, c);

	if (ps != NULL)
		return ps;
	ps = xcalloc(1, sizeof(*ps) + n->len);
	ps->timer.kind = TIMER_POLLERS;
	TAILQ_INIT(&ps->list);
	table_init(&ps->by_holder, holder_of);
	ps->shard = guard_shard(core, n->name, n->len);
	ps->wake_ms = INT64_MAX;
	ps->name_len = n->len;
	memcpy(ps->name, n->name, n->len);
	table_add(&tokens_of(core)->pollers, &ps->by_name);
	return ps;
}

/* A call that awaits the name has no token, or does so for one: its place is
 * that of the call itself. */
struct poller *
poller_of(const struct core *core, const struct pollers *ps,
    const struct token_call *c)
{
	struct poller *p;

	if (ps == NULL)
		return NULL;
	if (!c->awaits)
		return poller_find(core, ps, c->holder);
	TAILQ_FOREACH (p, &ps->list, link) {
		core_visit(core, 1);
		if (p->call == c->id)
			return p;
	}
	return NULL;
}

struct poller *
poller_find(
    const struct core *core, const struct pollers *ps, const char *holder)
{
	struct table_link *link =
	    table_find(&ps->by_holder, holder, strlen(holder));

	core_visit(core, 1);
	return link == NULL ? NULL
			    : container_of(link, struct poller, by_holder);
}

bool
pollers_is_full(
    const struct core *core, const struct pollers *ps, uint64_t session)
{
	const struct owner *owner = owner_find(core, session);

	return ps->n >= core->config.limits.waiters ||
	       (owner != NULL &&
		   (owner->nplaces >= core->config.limits.requests ||
		       tenant_is_full(owner->tenant)));
}

/* A session may end before its places do. */
static void
count_place(struct core *core, uint64_t session, int by)
{
	struct owner *owner = owner_find(core, session);

	if (owner == NULL)
		return;
	owner->nplaces += (unsigned)by;
	owner_counts(owner, 0, 0, by);
}

void
poller_move(struct core *core, struct poller *p, uint64_t session)
{
	count_place(core, p->session, -1);
	count_place(core, session, 1);
	p->session = session;
}

void
pollers_swap(struct pollers *ps, struct poller *a, struct poller *b)
{
	char *holder = a->holder;

	assert(a->holder[0] != '\0' && b->holder[0] != '\0');
	table_remove(&ps->by_holder, &a->by_holder);
	table_remove(&ps->by_holder, &b->by_holder);
	a->holder = b->holder;
	b->holder = holder;
	table_add(&ps->by_holder, &a->by_holder);
	table_add(&ps->by_holder, &b->by_holder);
}

/* The order of all that wait for names here, tokens and sessions, is that of
 * core.last_come (poll_comes_before()). */
struct poller *
poller_new(
    struct core *core, struct pollers *ps, const char *holder, uint64_t session)
{
	struct poller *p;

	if (pollers_is_full(core, ps, session))
		return NULL;
	p = xcalloc(1, sizeof(*p));
	p->holder = xstrdup(holder);
	p->came = (struct arrival){ ++core->last_come, core->now_ms };
	p->session = session;
	count_place(core, session, 1);
	TAILQ_INSERT_TAIL(&ps->list, p, link);
	if (holder[0] != '\0')
		table_add(&ps->by_holder, &p->by_holder);
	ps->n++;
	tokens_of(core)->npollers++;
	return p;
}

/* Requires that no call is parked in it, or that the caller ends that call. */
void
poller_free(struct core *core, struct pollers *ps, struct poller *p)
{
	assert(ps->n > 0 && tokens_of(core)->npollers > 0);
	TAILQ_REMOVE(&ps->list, p, link);
	if (p->holder[0] != '\0')
		table_remove(&ps->by_holder, &p->by_holder);
	count_place(core, p->session, -1);
	ps->n--;
	tokens_of(core)->npollers--;
	if (p->waits)
		token_waited(core, p);
	free(p->holder);
	free(p);
}

/* Requires that no operation of the poll queue is in flight: its answer must
 * find it. */
void
pollers_free(struct core *core, struct pollers *ps)
{
	assert(ps->asked_for == 0 || core->fx == NULL);
	while (!TAILQ_EMPTY(&ps->list))
		poller_free(core, ps, TAILQ_FIRST(&ps->list));
	core_disarm(core, &ps->timer);
	table_fini(&ps->by_holder);
	table_remove(&tokens_of(core)->pollers, &ps->by_name);
	free(ps->kept_for);
	free(ps->kept_of);
	free(ps);
}

void
poll_fini(struct core *core)
{
	struct table_walk walk;
	struct table_link *link = table_first(&tokens_of(core)->pollers, &walk);

	for (; link != NULL; link = table_next(&walk))
		pollers_free(core, container_of(link, struct pollers, by_name));
	table_fini(&tokens_of(core)->pollers);
}

/* Places are in the order of the first coming, so the first token that is here
 * has waited longest, however often it was away.  Places after it are looked at
 * now and then. */
struct poller *
pollers_first_here(struct core *core, struct pollers *ps)
{
	struct poller *p, *next, *first = NULL;
	bool sweeps = core->now_ms - ps->swept_ms >= SWEEP_MS;

	if (sweeps)
		ps->swept_ms = core->now_ms;
	TAILQ_FOREACH_SAFE (p, &ps->list, link, next) {
		core_visit(core, 1);
		if (first != NULL && !sweeps)
			break;
		if (p->call != 0 && first == NULL)
			first = p;
		else if (p->call == 0 &&
			 p->heard_ms + COMES_BACK_MS <= core->now_ms)
			poller_free(core, ps, p);
	}
	return first;
}

void
pollers_pass_over(
    struct core *core, struct pollers *ps, const struct poller *heir)
{
	struct poller *p;

	TAILQ_FOREACH (p, &ps->list, link) {
		core_visit(core, 1);
		if (p == heir)
			return;
		if (p->call == 0 && p->polls) {
			p->missed = true;
			return;
		}
	}
}

struct token_call *
poller_listening(const struct core *core, const struct poller *p)
{
	struct token_call *a = p->call == 0 ? NULL : call_find(core, p->call);

	return a != NULL && a->session == 0 ? a : NULL;
}

/* Of two programs with one place here, the broker forgets the one that it has
 * not heard of for longest. */
static struct answered *
answered_of(const struct core *core, uint32_t hash)
{
	return &tokens_of(core)->answered[hash % ANSWERED_MAX];
}

void
pollers_answered(struct core *core, const char *program, int64_t ms)
{
	uint32_t hash = (uint32_t)hash_of(program, strlen(program));

	*answered_of(core, hash) = (struct answered){ hash, (uint32_t)ms };
}

void
pollers_set_kept(const struct core *core, struct token_call *c)
{
	uint32_t hash = (uint32_t)hash_of(c->holder, strlen(c->holder));
	const struct answered *last = answered_of(core, hash);
	int64_t ms = KEPT_MOST_MS;

	if (c->session != 0)
		return;
	if (last->hash == hash && last->ms > 0 && last->ms < KEPT_MOST_MS / 4)
		ms = max_ms(KEPT_LEAST_MS, 4 * (int64_t)last->ms);
	c->ttl_ms = ms + KEPT_MORE_MS;
}

/* A token that has come once may never come back: it is not waited for. */
int64_t
pollers_lately_ms(const struct pollers *ps)
{
	const struct poller *p;
	int64_t ms = 0;

	TAILQ_FOREACH (p, &ps->list, link)
		if (p->polls)
			ms = max_ms(ms, p->heard_ms + LATELY_MS);
	return ms;
}

unsigned
pollers_count_here(struct core *core, const struct pollers *ps)
{
	const struct poller *p;
	unsigned n = 0;

	TAILQ_FOREACH (p, &ps->list, link) {
		core_visit(core, 1);
		n += p->call != 0;
	}
	return n;
}

unsigned
poll_each(const struct core *core, const char *name, size_t len, parked_fn *fn,
    void *arg)
{
	const struct pollers *ps = pollers_find(core, name, len);
	const struct poller *p;
	unsigned n = 0;

	if (ps == NULL)
		return 0;
	TAILQ_FOREACH (p, &ps->list, link) {
		core_visit(core, 1);
		if (!p->waits)
			continue;
		if (fn != NULL)
			fn(arg, p->session, p->came);
		n++;
	}
	return n;
}

/* Of the tokens that are here, the first one came first. */
bool
poll_comes_before(
    const struct core *core, const char *name, size_t len, uint64_t came)
{
	const struct pollers *ps = pollers_find(core, name, len);
	const struct poller *p;

	if (ps == NULL || ps->seq == 0)
		return false;
	TAILQ_FOREACH (p, &ps->list, link) {
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
poll_count(const struct core *core, const char *name, size_t len)
{
	struct parked all = { 0, 0 };

	if (tokens_of(core)->pollers.n > 0)
		(void)poll_each(core, name, len, count_one, &all);
	return all;
}

/* A poll queue waits for an answer, for one of its pollers, or for its
 * timer. */
void
poll_check(const struct core *core)
{
	struct table_walk walk;
	struct table_link *link = table_first(&tokens_of(core)->pollers, &walk);
	const struct token_call *c;
	const struct pollers *ps;
	const struct poller *p;
	unsigned n, all = 0, nwaiting = 0;

	for (; link != NULL; link = table_next(&walk)) {
		ps = container_of(link, struct pollers, by_name);
		n = 0;
		TAILQ_FOREACH (p, &ps->list, link) {
			c = p->call == 0 ? NULL : call_find(core, p->call);
			assert(p->call == 0 || (c != NULL && c->parked));
			assert(p->call == 0 || p->waits);
			nwaiting += p->waits;
			n++;
		}
		assert(n == ps->n);
		assert(ps->asked_for != 0 || n > 0 || timer_armed(&ps->timer));
		assert(ps->asked_for != 0 || ps->passed == 0);
		all += n;
	}
	assert(all == tokens_of(core)->npollers);
	assert(nwaiting == core->owners->nparked);
}

uint64_t
pollers_first_seq(const struct core *core)
{
	struct table_walk walk;
	struct table_link *link = table_first(&tokens_of(core)->pollers, &walk);
	const struct pollers *ps;
	uint64_t first = 0;

	for (; link != NULL; link = table_next(&walk)) {
		ps = container_of(link, struct pollers, by_name);
		if (ps->seq != 0 && (first == 0 || ps->seq < first))
			first = ps->seq;
		if (ps->passed != 0 && (first == 0 || ps->passed < first))
			first = ps->passed;
	}
	return first;
}
