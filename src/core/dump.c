/*
 * Looking at the core without changing it.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/xmalloc.h"
#include "core/guard.h"
#include "core/hold.h"
#include "core/kept.h"
#include "core/lease.h"
#include "core/lock.h"
#include "core/semaphore.h"
#include "core/session.h"

#define ROW_FIELDS 8

/* One row being built; strings go to its arena. */
struct row {
	struct field fields[ROW_FIELDS];
	size_t n;
	struct buf text;
	core_row_fn fn;
	void *arg;
};

static void
row_init(struct row *r, core_row_fn fn, void *arg)
{
	r->n = 0;
	buf_init(&r->text);
	r->fn = fn;
	r->arg = arg;
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

/* Permits, and places at barriers. */
static size_t
list_syncs(struct row *r, int64_t now_ms, const struct session *s)
{
	const struct permits *p;
	const struct claim *c;
	size_t n = 0;

	TAILQ_FOREACH (p, &s->permits, in_session) {
		row_num(r, FIELD_PERMITS, p->n);
		row_num(r, FIELD_AGE, age(now_ms, p->since_ms));
		row_finish(r, "semaphore", p->sync->name, p->sync->name_len);
		n++;
	}
	TAILQ_FOREACH (c, &s->claims, in_session) {
		if (c->verb != CORE_BARRIER || c->state != CLAIM_PARKED)
			continue;
		row_num(r, FIELD_AGE, age(now_ms, c->since_ms));
		row_finish(r, "barrier", c->sync->name, c->sync->name_len);
		n++;
	}
	return n;
}

size_t
core_list(struct core *core, int64_t now_ms, uint64_t session, core_row_fn fn,
    void *arg)
{
	const struct session *s = session_find(core, session);
	const struct hold *h;
	struct row r;
	size_t n = 0;

	assert(s != NULL);
	row_init(&r, fn, arg);
	TAILQ_FOREACH (h, &s->holds, in_session) {
		row_str(&r, FIELD_MODE, mode_name(h->lock->shared_hold));
		row_num(&r, FIELD_DEPTH, hold_depth(h));
		row_num(&r, FIELD_FENCE, h->fence);
		row_num(&r, FIELD_AGE, age(now_ms, h->since_ms));
		row_end(&r, "lock", h->lock);
		n++;
	}
	n += list_syncs(&r, now_ms, s);
	buf_fini(&r.text);
	return n;
}

static void
row_session(struct row *r, const struct core *core, int64_t now_ms,
    const struct session *s, bool shared)
{
	row_num(r, FIELD_SESSION, s->id);
	if (s->label != NULL)
		row_str(r, FIELD_LABEL, s->label);
	if (s->detached)
		row_num(
		    r, FIELD_AWAY, age(core_armed_ms(core, &s->end), now_ms));
	else
		row_str(r, FIELD_PEER, s->peer);
	row_str(r, FIELD_MODE, mode_name(shared));
}

/* As they came; in the list the latest is first. */
static size_t
list_holders(struct row *r, const struct core *core, int64_t now_ms,
    const struct lock *l)
{
	const struct hold **v, *h;
	size_t i, n = 0;

	v = xmalloc((l->nholders + 1) * sizeof(*v));
	LIST_FOREACH (h, &l->holders, in_lock)
		v[n++] = h;
	assert(n == l->nholders);
	for (i = n; i > 0; i--) {
		h = v[i - 1];
		row_session(r, core, now_ms, h->session, l->shared_hold);
		row_num(r, FIELD_FENCE, h->fence);
		row_num(r, FIELD_AGE, age(now_ms, h->since_ms));
		row_end(r, "holder", NULL);
	}
	free(v);
	return n;
}

/* Nobody's, and kept from everybody for a while. */
static void
list_lingering(struct row *r, const struct core *core, int64_t now_ms,
    const struct lock *l)
{
	row_str(r, FIELD_BROKER, core->broker);
	if (core->address[0] != '\0')
		row_str(r, FIELD_ADDRESS, core->address);
	row_num(r, FIELD_UNTIL, age(more_of(l)->linger_ms, now_ms));
	row_end(r, "holder", NULL);
}

size_t
core_waiting(const struct core *core, const char *name, size_t name_len)
{
	const struct lock *l = lock_find(core, name, name_len);

	return l == NULL ? 0 : l->nwaiting;
}

size_t
core_queue(struct core *core, int64_t now_ms, const char *name, size_t name_len,
    core_row_fn fn, void *arg)
{
	const struct lock *l = lock_find(core, name, name_len);
	const struct waiter *w;
	struct row r;
	size_t n = 0;

	if (l == NULL)
		return 0;
	row_init(&r, fn, arg);
	n = list_holders(&r, core, now_ms, l);
	if (n == 0 && l->state == LEASE_LINGERING) {
		list_lingering(&r, core, now_ms, l);
		n++;
	}
	TAILQ_FOREACH (w, &l->queue, in_lock) {
		row_session(&r, core, now_ms, w->session, w->shared);
		row_num(&r, FIELD_AGE, age(now_ms, w->since_ms));
		row_end(&r, "waiter", NULL);
		n++;
	}
	buf_fini(&r.text);
	return n;
}

/* Busiest first: who waits, then how much it changed hands, then by name. */
static int
busier(const void *a, const void *b)
{
	const struct lock *x = *(const struct lock *const *)a;
	const struct lock *y = *(const struct lock *const *)b;
	size_t n = x->name_len < y->name_len ? x->name_len : y->name_len;
	int order;

	if (x->nwaiting != y->nwaiting)
		return x->nwaiting < y->nwaiting ? 1 : -1;
	if (more_of(x)->handovers != more_of(y)->handovers)
		return more_of(x)->handovers < more_of(y)->handovers ? 1 : -1;
	order = memcmp(x->name, y->name, n);
	return order != 0 ? order : (int)x->name_len - (int)y->name_len;
}

/* As far as it is known here: QUEUED is behind somebody elsewhere. */
static const char *
name_state(const struct lock *l)
{
	bool held = !LIST_EMPTY(&l->holders) || l->state == LEASE_LINGERING ||
		    l->state == LEASE_QUEUED;

	if (l->nholders > 0 && l->shared_hold)
		return "shared";
	return held ? "held" : "free";
}

size_t
core_names(
    struct core *core, int64_t now_ms, size_t limit, core_row_fn fn, void *arg)
{
	size_t i, n = core->nlocks;
	struct lock_walk walk;
	struct lock **v, *l;
	struct row r;

	if (n == 0)
		return 0;
	v = xmalloc(n * sizeof(struct lock *));
	i = 0;
	for (l = lock_first(core, &walk); l != NULL; l = lock_next(&walk))
		v[i++] = l;
	qsort(v, n, sizeof(struct lock *), busier);
	n = n < limit ? n : limit;
	row_init(&r, fn, arg);
	for (i = 0; i < n; i++) {
		l = v[i];
		row_str(&r, FIELD_STATE, name_state(l));
		row_num(&r, FIELD_WAITERS, l->nwaiting);
		row_num(&r, FIELD_HANDOVERS, more_of(l)->handovers);
		row_num(&r, FIELD_OLDEST,
		    l->nwaiting == 0
			? 0
			: age(now_ms, TAILQ_FIRST(&l->queue)->since_ms));
		row_end(&r, NULL, l);
	}
	buf_fini(&r.text);
	free(v);
	return n;
}

int64_t
core_ping(struct core *core, int64_t now_ms, uint64_t session)
{
	struct session *s = session_find(core, session);
	const struct permits *p;
	const struct hold *h;
	int64_t least_ms = INT64_MAX, at_ms;

	assert(s != NULL);
	kept_forget(s);
	TAILQ_FOREACH (h, &s->holds, in_session) {
		at_ms = hold_valid_ms(core, h);
		if (at_ms < least_ms)
			least_ms = at_ms;
	}
	TAILQ_FOREACH (p, &s->permits, in_session) {
		at_ms = permits_valid_ms(core, p);
		if (at_ms < least_ms)
			least_ms = at_ms;
	}
	if (least_ms == INT64_MAX)
		return -1;
	/* A broker that stops promises nothing more than it has. */
	if (core->stopping && least_ms > s->valid_ms)
		least_ms = s->valid_ms;
	if (least_ms < now_ms)
		least_ms = now_ms;
	s->valid_ms = least_ms;
	if (least_ms > core->promised_ms)
		core->promised_ms = least_ms;
	/* Of the present millisecond a part is over. */
	return least_ms > now_ms ? least_ms - now_ms - 1 : 0;
}

const struct core_stats *
core_stats(const struct core *core)
{
	return &core->stats;
}

/* What keeps the first of them keeps them all, mostly. */
static void
gauge_guards(const struct core *core, struct core_gauges *gauges)
{
	uint32_t i, n = 0, all = core->config.shards;
	char why[sizeof(gauges->why) - 64], none[sizeof(why)];
	int64_t left_ms;

	for (i = 0; i < all; i++) {
		if (guard_ready(core, i))
			continue;
		left_ms = guard_why(core, i, n == 0 ? why : none, sizeof(why));
		if (left_ms < GUARD_FOR_GOOD && left_ms > gauges->grace_ms)
			gauges->grace_ms = left_ms;
		n++;
	}
	gauges->ready = n == 0;
	if (n == 0)
		return;
	if (n < all && !core->config.quorum)
		(void)snprintf(gauges->why, sizeof(gauges->why),
		    "%" PRIu32 " in %" PRIu32 " of all names can't be"
		    " locked: %s",
		    n, all, why);
	else
		(void)snprintf(gauges->why, sizeof(gauges->why), "%s", why);
}

void
core_gauges(struct core *core, int64_t now_ms, struct core_gauges *gauges)
{
	const struct session *s;
	const struct permits *p;

	memset(gauges, 0, sizeof(*gauges));
	gauges->sessions = HASH_COUNT(core->sessions);
	gauges->names = core->nlocks;
	gauges->waiters = core->nwaiting;
	for (s = core->sessions; s != NULL; s = s->hh.next) {
		gauges->locks_held += s->nholds;
		gauges->waiters += s->nclaims;
		TAILQ_FOREACH (p, &s->permits, in_session)
			gauges->permits_held += p->n;
	}
	gauges->semaphores = HASH_COUNT(core->syncs[SYNC_SEMAPHORE]);
	gauges->latches = HASH_COUNT(core->syncs[SYNC_LATCH]);
	gauges->barriers = HASH_COUNT(core->syncs[SYNC_BARRIER]);
	gauges->ready = !core->stopping;
	if (core->stopping)
		(void)snprintf(gauges->why, sizeof(gauges->why),
		    "the broker is stopping; try another one");
	(void)now_ms;
	if (gauges->ready)
		gauge_guards(core, gauges);
}
