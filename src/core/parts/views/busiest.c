/*
 * The heap of busiest.h.
 *
 * Names are offered in any order, and only as many are kept as are wanted.  The
 * least busy of these is on top (v[0]); once there are so many, an offer that
 * is not busier costs one comparison.  In the end busiest_order() takes the
 * heap apart from the top: the least busy one goes to the end of the array, and
 * so on until all are in order, the busiest first.
 *
 *	v[0 .. nheap)   a heap; the rest is in order behind it
 *	v[0 .. ntaken)  were taken; only the last one is still there
 *
 * No two are equally busy: the last things compared are name and kind.
 * So the order does not depend on the order of the offers.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/xmalloc.h"
#include "core/parts/views/busiest.h"

#define KEY_MAX 512 /* a name has no more bytes than half of that */

/* In mem are its key, a letter for its kind and its name, and then its holder.
 * Owned by the heap. */
struct busy_entry {
	struct table_link by_name;
	struct busy one;
	char mem[];
};

static const char *
name_of(const struct table_link *link, size_t *len)
{
	const struct busy_entry *e =
	    container_of_const(link, struct busy_entry, by_name);

	*len = e->one.name_len + 1;
	return e->mem;
}

static void
write_key(char *to, const struct busy *one)
{
	to[0] = (char)('a' + one->kind);
	memcpy(to + 1, one->name, one->name_len);
}

static bool
is_among(const struct busiest *b, const struct busy *one)
{
	char key[KEY_MAX];

	assert(one->name_len < sizeof(key));
	write_key(key, one);
	return table_find(&b->by_name, key, one->name_len + 1) != NULL;
}

void
busiest_init(struct busiest *b, size_t most)
{
	memset(b, 0, sizeof(*b));
	table_init(&b->by_name, name_of);
	b->most = most;
}

/* Entries that were taken are freed already, except the last one, which the
 * caller may still look at. */
void
busiest_fini(struct busiest *b)
{
	size_t i;

	table_fini(&b->by_name);
	for (i = b->ntaken; i < b->n; i++)
		free(b->v[i]);
	if (b->ntaken > 0)
		free(b->v[b->ntaken - 1]);
	free(b->v);
}

/* In byte order; a name comes before all that begin with it. */
static bool
comes_first(const struct busy *x, const struct busy *y)
{
	size_t n = x->name_len < y->name_len ? x->name_len : y->name_len;
	int order = memcmp(x->name, y->name, n);

	if (order == 0 && x->name_len == y->name_len)
		return x->kind < y->kind;
	return order < 0 || (order == 0 && x->name_len < y->name_len);
}

/* A name without a holder, or held for an unknown time, comes last. */
static bool
is_busier(const struct busiest *b, const struct busy *x, const struct busy *y)
{
	if (b->by_age && x->held_ms != y->held_ms)
		return y->held_ms == 0 ||
		       (x->held_ms != 0 && x->held_ms < y->held_ms);
	if (x->nwaiting != y->nwaiting)
		return x->nwaiting > y->nwaiting;
	if (x->handovers != y->handovers)
		return x->handovers > y->handovers;
	return comes_first(x, y);
}

static bool
busier(const struct busiest *b, size_t i, size_t j)
{
	return is_busier(b, &b->v[i]->one, &b->v[j]->one);
}

/* Returns a copy, whose texts are its own: names go away while the list is
 * made. */
static struct busy_entry *
keep(struct busiest *b, const struct busy *one)
{
	size_t key_len = one->name_len + 1;
	size_t holder_size = one->holder != NULL ? strlen(one->holder) + 1 : 0;
	struct busy_entry *e =
	    xmalloc(sizeof(*e) + key_len + holder_size + one->broker_len);

	e->one = *one;
	write_key(e->mem, one);
	e->one.name = e->mem + 1;
	if (one->holder != NULL)
		e->one.holder =
		    memcpy(e->mem + key_len, one->holder, holder_size);
	if (one->broker != NULL)
		e->one.broker = memcpy(e->mem + key_len + holder_size,
		    one->broker, one->broker_len);
	table_add(&b->by_name, &e->by_name);
	return e;
}

static void
swap(struct busiest *b, size_t i, size_t j)
{
	struct busy_entry *one = b->v[i];

	b->v[i] = b->v[j];
	b->v[j] = one;
}

/* As in every heap; the least busy entry is at its top. */
static void
sift_up(struct busiest *b, size_t i)
{
	while (i > 0 && busier(b, (i - 1) / 2, i)) {
		swap(b, i, (i - 1) / 2);
		i = (i - 1) / 2;
	}
}

static void
sift_down(struct busiest *b, size_t i)
{
	size_t least;

	while (2 * i + 1 < b->nheap) {
		least = 2 * i + 1;
		if (least + 1 < b->nheap && busier(b, least, least + 1))
			least++;
		if (!busier(b, i, least))
			return;
		swap(b, i, least);
		i = least;
	}
}

void
busiest_offer(struct busiest *b, const struct busy *one)
{
	bool full = b->n == b->most;

	if (full && (b->n == 0 || !is_busier(b, one, &b->v[0]->one)))
		return;
	/* A name may be offered twice while tables grow; only names that are
	 * busy enough are looked up. */
	if (is_among(b, one))
		return;
	if (full) {
		table_remove(&b->by_name, &b->v[0]->by_name);
		free(b->v[0]);
		b->v[0] = keep(b, one);
		sift_down(b, 0);
		return;
	}
	if (b->n == b->size) {
		b->size = b->size == 0 ? 64 : 2 * b->size;
		b->v = xrealloc(b->v, b->size * sizeof(struct busy_entry *));
	}
	b->v[b->n++] = keep(b, one);
	/* Nothing is in order before busiest_order() begins. */
	b->nheap = b->n;
	sift_up(b, b->n - 1);
}

/* One entry a call, so that its caller bounds the work of a step. */
bool
busiest_order(struct busiest *b)
{
	if (b->nheap == 0)
		return false;
	swap(b, 0, --b->nheap);
	sift_down(b, 0);
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
	return b->ntaken < b->n ? &b->v[b->ntaken++]->one : NULL;
}
