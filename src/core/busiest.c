/*
 * The heap of busiest.h.  In the end busiest_order() takes it apart from the
 * top: the least busy one goes to the end of the array, and so on until all are
 * in order.
 */
#include "config.h"

#include <string.h>

#include "base/xmalloc.h"
#include "core/busiest.h"

void
busiest_init(struct busiest *b, size_t most)
{
	memset(b, 0, sizeof(*b));
	b->most = most;
}

void
busiest_fini(struct busiest *b)
{
	size_t i;

	for (i = b->ntaken; i < b->n; i++)
		free(b->v[i]);
	if (b->ntaken > 0)
		free(b->v[b->ntaken - 1]);
	free(b->v);
}

/* Returns the state as far as this broker knows it.  If its lease is QUEUED,
 * somebody elsewhere has the name. */
static const char *
state_of(const struct lock *l)
{
	bool held = !TAILQ_EMPTY(&l->holders) ||
		    l->lease.state == LEASE_LINGERING ||
		    l->lease.state == LEASE_QUEUED;

	if (l->nholders > 0 && l->shared_hold)
		return "shared";
	return held ? "held" : "free";
}

static bool
comes_first(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int order = memcmp(a, b, a_len < b_len ? a_len : b_len);

	return order < 0 || (order == 0 && a_len < b_len);
}

static bool
busier(const struct busy *x, const struct busy *y)
{
	if (x->nwaiting != y->nwaiting)
		return x->nwaiting > y->nwaiting;
	if (x->handovers != y->handovers)
		return x->handovers > y->handovers;
	return comes_first(x->name, x->name_len, y->name, y->name_len);
}

static bool
is_busier(const struct lock *l, const struct busy *y)
{
	if (l->nwaiting != y->nwaiting)
		return l->nwaiting > y->nwaiting;
	if (more_of(l)->handovers != y->handovers)
		return more_of(l)->handovers > y->handovers;
	return comes_first(l->name, l->name_len, y->name, y->name_len);
}

static struct busy *
look_at(const struct lock *l)
{
	struct busy *one = xmalloc(offsetof(struct busy, name) + l->name_len);

	one->handovers = more_of(l)->handovers;
	one->since_ms = l->nwaiting == 0 ? 0 : TAILQ_FIRST(&l->queue)->since_ms;
	one->state = state_of(l);
	one->nwaiting = l->nwaiting;
	one->name_len = l->name_len;
	memcpy(one->name, l->name, l->name_len);
	return one;
}

static void
swap(struct busiest *b, size_t i, size_t j)
{
	struct busy *one = b->v[i];

	b->v[i] = b->v[j];
	b->v[j] = one;
}

static void
rise(struct busiest *b, size_t i)
{
	while (i > 0 && busier(b->v[(i - 1) / 2], b->v[i])) {
		swap(b, i, (i - 1) / 2);
		i = (i - 1) / 2;
	}
}

static void
sink(struct busiest *b, size_t i)
{
	size_t least;

	while (2 * i + 1 < b->nheap) {
		least = 2 * i + 1;
		if (least + 1 < b->nheap &&
		    busier(b->v[least], b->v[least + 1]))
			least++;
		if (!busier(b->v[i], b->v[least]))
			return;
		swap(b, i, least);
		i = least;
	}
}

void
busiest_offer(struct busiest *b, const struct lock *l)
{
	if (b->n == b->most) {
		if (b->n == 0 || !is_busier(l, b->v[0]))
			return;
		free(b->v[0]);
		b->v[0] = look_at(l);
		sink(b, 0);
		return;
	}
	if (b->n == b->size) {
		b->size = b->size == 0 ? 64 : 2 * b->size;
		b->v = xrealloc(b->v, b->size * sizeof(struct busy *));
	}
	b->v[b->n++] = look_at(l);
	b->nheap = b->n;
	rise(b, b->n - 1);
}

bool
busiest_order(struct busiest *b)
{
	if (b->nheap == 0)
		return false;
	swap(b, 0, --b->nheap);
	sink(b, 0);
	return true;
}

const struct busy *
busiest_take(struct busiest *b)
{
	assert(b->nheap == 0);
	if (b->ntaken > 0) {
		free(b->v[b->ntaken - 1]);
		b->v[b->ntaken - 1] = NULL;
	}
	return b->ntaken < b->n ? b->v[b->ntaken++] : NULL;
}
