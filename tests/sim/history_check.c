/*
 * Finds what is wrong in a history.
 *
 * A *definite hold* begins when a client reads OK.  It ends when the client
 * sends UNLOCK for the last level, reads !LOST or ends its connection, or when
 * a limit or a doubt ends it.  Definite holds of one lock never overlap,
 * whatever the network did: the check needs no slack.  Fences follow the order
 * of grants: if one client read its OK before another sent its LOCK, the first
 * one's fence is smaller.
 */
#include "config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"

#include "history.h"

/* One definite hold, or one request that waits for its answer. */
struct span {
	const char *lock; /* interned: equal pointers are equal names */
	uint64_t session;
	uint64_t fence;
	uint64_t id;
	uint64_t depth;
	int64_t invoke_us;
	int64_t from_us;
	int64_t to_us;
	int64_t wait_us;
	size_t line;
	enum history_kind kind;
	bool shared;
};

struct spans {
	struct span *v;
	size_t n, size;
};

/* The state of one check; on the stack of history_check(). */
struct check {
	const struct history_limits *limits;
	history_fault_fn *fault;
	void *arg;
	size_t faults;
	struct spans asked; /* not yet answered */
	struct spans held;  /* not yet ended */
	struct spans done;  /* all definite holds that have ended */
	int64_t last_us;
	struct history_event answer; /* the last one that joined a question */
};

static void fault(struct check *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
fault(struct check *c, const char *fmt, ...)
{
	char text[240];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	c->faults++;
	c->fault(c->arg, text);
}

static struct span *
spans_add(struct spans *s, const struct span *span)
{
	if (s->n == s->size) {
		s->size = s->size > 0 ? s->size * 2 : 64;
		s->v = xrealloc(s->v, s->size * sizeof(*s->v));
	}
	s->v[s->n] = *span;
	return &s->v[s->n++];
}

static void
spans_remove(struct spans *s, size_t at)
{
	s->v[at] = s->v[--s->n];
}

/* The request that an answer belongs to: the one with its id, or else the
 * oldest of the session for that lock. */
static size_t
asked_find(const struct check *c, const struct history_event *e)
{
	const struct span *s;
	size_t i, best = c->asked.n;

	for (i = 0; i < c->asked.n; i++) {
		s = &c->asked.v[i];
		if (s->session != e->session || s->kind != e->kind)
			continue;
		if (s->lock != e->lock || (e->id != 0 && s->id != e->id))
			continue;
		if (best == c->asked.n || s->line < c->asked.v[best].line)
			best = i;
	}
	return best;
}

static size_t
held_find(const struct check *c, uint64_t session, const char *lock)
{
	size_t i;

	for (i = 0; i < c->held.n; i++)
		if (c->held.v[i].session == session &&
		    c->held.v[i].lock == lock)
			return i;
	return c->held.n;
}

static void
hold_over(struct check *c, size_t at, int64_t at_us)
{
	struct span s = c->held.v[at];

	if (s.to_us == 0 || at_us < s.to_us)
		s.to_us = at_us;
	spans_remove(&c->held, at);
	spans_add(&c->done, &s);
}

static void
on_invoke(struct check *c, const struct history_event *e)
{
	struct span s = { .lock = e->lock,
		.session = e->session,
		.id = e->id,
		.invoke_us = e->at_us,
		.wait_us = e->wait_us,
		.line = e->line,
		.kind = e->kind,
		.shared = e->shared };
	size_t at;

	spans_add(&c->asked, &s);
	if (e->kind != HISTORY_UNLOCK)
		return;
	at = held_find(c, e->session, e->lock);
	if (at == c->held.n)
		return;
	if (--c->held.v[at].depth == 0)
		hold_over(c, at, e->at_us);
}

static void
on_lock_ok(
    struct check *c, const struct history_event *e, const struct span *asked)
{
	size_t at = held_find(c, e->session, e->lock);
	struct span s = *asked;

	if (e->fence == 0)
		fault(c, "line %zu: a grant without a fence", e->line);
	uint64_t depth = 0;

	if (at < c->held.n) {
		if (c->held.v[at].fence == e->fence) {
			c->held.v[at].depth++;
			return;
		}
		/* A session that shares the lock and then wants it alone gets a
		 * fence of its own. */
		if (c->held.v[at].shared && !s.shared && e->depth > 1)
			depth = c->held.v[at].depth;
		/* Otherwise it is a new grant: the earlier hold ended
		 * unnoticed. */
		hold_over(c, at, e->at_us);
	}
	/* A re-entry into a hold that was released meanwhile. */
	if (e->depth > 1 && depth == 0)
		return;
	s.fence = e->fence;
	s.depth = depth + 1;
	s.from_us = e->at_us;
	s.to_us = e->limit_us;
	s.line = e->line;
	spans_add(&c->held, &s);
}

/*
 * A hold ends when its UNLOCK is sent.  But if the UNLOCK was sent before the
 * session was granted the lock, for a hold that it lost meanwhile, then it
 * ends that grant, some time before it is answered.
 */
static void
on_unlock_ok(
    struct check *c, const struct history_event *e, const struct span *asked)
{
	size_t at = held_find(c, e->session, e->lock);

	if (at == c->held.n || c->held.v[at].from_us <= asked->invoke_us)
		return;
	if (--c->held.v[at].depth == 0)
		hold_over(c, at, e->at_us);
}

static void
check_duration(
    struct check *c, const struct history_event *e, const struct span *asked)
{
	int64_t took_us = e->at_us - asked->invoke_us;

	if (asked->kind != HISTORY_LOCK)
		return;
	if (c->limits->late_us >= 0 && asked->wait_us >= 0 &&
	    took_us > asked->wait_us + c->limits->late_us)
		fault(c,
		    "line %zu: session %" PRIu64 " is answered after %" PRId64
		    " us; it would wait %" PRId64,
		    e->line, e->session, took_us, asked->wait_us);
	if (c->limits->longest_us >= 0 && took_us > c->limits->longest_us)
		fault(c,
		    "line %zu: session %" PRIu64 " waits %" PRId64 " us for %s",
		    e->line, e->session, took_us, asked->lock);
}

/* All lines of one answer, for several names, say the same. */
static void
check_together(struct check *c, const struct history_event *e)
{
	const struct history_event *last = &c->answer;

	if (e->id != 0 && last->id == e->id && last->session == e->session &&
	    last->kind == e->kind && last->phase != e->phase)
		fault(c,
		    "line %zu: session %" PRIu64
		    " is granted some of the names that it asked for at once",
		    e->line, e->session);
	c->answer = *e;
}

static void
on_answer(struct check *c, const struct history_event *e)
{
	size_t at = asked_find(c, e);
	struct span asked;

	if (at == c->asked.n) {
		fault(c,
		    "line %zu: session %" PRIu64 " is answered what it did "
		    "not ask",
		    e->line, e->session);
		return;
	}
	asked = c->asked.v[at];
	spans_remove(&c->asked, at);
	check_together(c, e);
	check_duration(c, e, &asked);
	if (e->kind == HISTORY_LOCK && e->phase == HISTORY_OK)
		on_lock_ok(c, e, &asked);
	if (e->kind == HISTORY_UNLOCK && e->phase == HISTORY_OK)
		on_unlock_ok(c, e, &asked);
}

static void
on_closed(struct check *c, const struct history_event *e)
{
	size_t i;

	for (i = c->held.n; i-- > 0;)
		if (c->held.v[i].session == e->session)
			hold_over(c, i, e->at_us);
	for (i = c->asked.n; i-- > 0;)
		if (c->asked.v[i].session == e->session)
			spans_remove(&c->asked, i);
}

static void
on_info(struct check *c, const struct history_event *e)
{
	size_t at;

	if (e->kind == HISTORY_CLOSED) {
		on_closed(c, e);
		return;
	}
	if (e->kind != HISTORY_LOST && e->kind != HISTORY_DOUBT)
		return;
	at = held_find(c, e->session, e->lock);
	if (at < c->held.n)
		hold_over(c, at, e->at_us);
}

/* By lock, then by beginning. */
static int
by_lock(const void *va, const void *vb)
{
	const struct span *a = va, *b = vb;
	int order = strcmp(a->lock, b->lock);

	if (order != 0)
		return order;
	if (a->from_us != b->from_us)
		return a->from_us < b->from_us ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static int
by_fence(const void *va, const void *vb)
{
	const struct span *a = va, *b = vb;
	int order = strcmp(a->lock, b->lock);

	if (order != 0)
		return order;
	if (a->fence != b->fence)
		return a->fence < b->fence ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

/* The later hold begins while the earlier one goes on, and they don't share. */
static void
check_two(struct check *c, const struct span *last, const struct span *s)
{
	if (last == NULL || last->lock != s->lock || s->from_us >= last->to_us)
		return;
	fault(c,
	    "line %zu: session %" PRIu64 " is granted %s %" PRId64
	    " us before session %" PRIu64 " has let it go (line %zu)",
	    s->line, s->session, s->lock, last->to_us - s->from_us,
	    last->session, last->line);
}

/* Compares each hold with the one that ends last, among those that have the
 * lock alone and among those that share it. */
static void
check_overlap(struct check *c)
{
	struct span *v = c->done.v, *last[2] = { NULL, NULL }, **mine;
	size_t i;

	if (c->done.n > 0)
		qsort(v, c->done.n, sizeof(*v), by_lock);
	for (i = 0; i < c->done.n; i++) {
		if (v[i].to_us <= v[i].from_us)
			continue;
		check_two(c, last[false], &v[i]);
		if (!v[i].shared ||
		    (last[true] != NULL && last[true]->fence != v[i].fence))
			check_two(c, last[true], &v[i]);
		mine = &last[v[i].shared];
		if (*mine == NULL || (*mine)->lock != v[i].lock ||
		    v[i].to_us > (*mine)->to_us)
			*mine = &v[i];
	}
}

/*
 * Fences are distinct, except among those that share.  A grant that was
 * requested after another was told has no smaller fence: going down the
 * fences, the earliest OK of all greater ones must not be before the present
 * LOCK.
 */
static void
check_fences(struct check *c)
{
	struct span *v = c->done.v;
	const struct span *least = NULL, *same = NULL;
	size_t i;

	if (c->done.n > 0)
		qsort(v, c->done.n, sizeof(*v), by_fence);
	for (i = c->done.n; i-- > 0;) {
		if (same != NULL && same->lock != v[i].lock)
			least = same = NULL;
		if (same != NULL && same->fence != v[i].fence) {
			if (least == NULL || same->from_us < least->from_us)
				least = same;
			same = NULL;
		}
		if (same != NULL && !(v[i + 1].shared && v[i].shared))
			fault(c,
			    "line %zu: fence %" PRIu64 " of %s is given "
			    "twice (line %zu)",
			    v[i + 1].line, v[i].fence, v[i].lock, v[i].line);
		if (least != NULL && least->from_us < v[i].invoke_us)
			fault(c,
			    "line %zu: fence %" PRIu64 " of %s, but %" PRIu64
			    " was told before that was asked for (line %zu)",
			    v[i].line, v[i].fence, v[i].lock, least->fence,
			    least->line);
		if (same == NULL || v[i].from_us < same->from_us)
			same = &v[i];
	}
}

static void
finish(struct check *c)
{
	size_t i;

	for (i = 0; i < c->asked.n; i++)
		fault(c, "line %zu: session %" PRIu64 " is never answered",
		    c->asked.v[i].line, c->asked.v[i].session);
	while (c->held.n > 0)
		hold_over(c, 0, c->last_us);
	check_overlap(c);
	check_fences(c);
	free(c->asked.v);
	free(c->held.v);
	free(c->done.v);
}

size_t
history_check(const struct history *h, const struct history_limits *limits,
    history_fault_fn *fault_fn, void *arg)
{
	struct check c = { .limits = limits, .fault = fault_fn, .arg = arg };
	const struct history_event *e;
	size_t i;

	for (i = 0; i < h->n; i++) {
		e = &h->v[i];
		if (e->at_us < c.last_us)
			fault(&c, "line %zu: time runs backwards", e->line);
		c.last_us = e->at_us;
		if (e->phase == HISTORY_INVOKE)
			on_invoke(&c, e);
		else if (e->phase == HISTORY_INFO)
			on_info(&c, e);
		else
			on_answer(&c, e);
	}
	finish(&c);
	return c.faults;
}
