/*
 * The holders of a name, and what was agreed on for each hold.
 *
 * The list has the latest hold first.  A name with very many sharers also has a
 * table of them (rare.crowd), in which each hold is found by its owner; its
 * link is in hold.rare, so that the many holds of names with few holders need
 * none.
 */
#include "config.h"

#include <stdlib.h>

#include "base/xmalloc.h"
#include "core/kernel/lock/hold.h"
#include "core/kernel/lock/names.h"
#include "core/kernel/turn/work.h"

#define FEW 8 /* of more holders of one name there is a table */

static const char *
owner_id(const struct table_link *link, size_t *len)
{
	const struct hold_rare *t =
	    container_of_const(link, struct hold_rare, by_owner);

	*len = sizeof(t->hold->holding.owner->id);
	return (const char *)&t->hold->holding.owner->id;
}

/* Is called for nearly each request, so it must not look at all sharers of a
 * name. */
struct hold *
hold_find(
    const struct core *core, const struct lock *l, const struct owner *owner)
{
	struct table_link *link;
	struct holding *h;

	if (lock_rare(l)->crowd != NULL) {
		core_visit(core, 1);
		link = table_find(l->rare->crowd, (const char *)&owner->id,
		    sizeof(owner->id));
		return link ? container_of(link, struct hold_rare, by_owner)
				  ->hold
			    : NULL;
	}
	/* Whoever looks at a name has counted its first holder. */
	TAILQ_FOREACH (h, &l->holders, in_holders) {
		if (h->owner == owner)
			return hold_of(h);
		core_visit(core, TAILQ_NEXT(h, in_holders) != NULL);
	}
	return NULL;
}

const struct hold_rare *
hold_rare(const struct hold *h)
{
	static const struct hold_rare none;

	return h->rare != NULL ? h->rare : &none;
}

struct hold_rare *
hold_need_rare(struct hold *h)
{
	if (h->rare != NULL)
		return h->rare;
	h->rare = xcalloc(1, sizeof(*h->rare));
	h->rare->hold = h;
	h->rare->bound.kind = TIMER_HOLD;
	return h->rare;
}

/* Beyond FEW holders: puts all present holders into a new table. */
void
holders_join(struct lock *l, struct hold *h)
{
	struct holding *any;

	assert(h->lock == l);
	TAILQ_INSERT_HEAD(&l->holders, &h->holding, in_holders);
	l->nholders++;
	if (lock_rare(l)->crowd != NULL) {
		table_add(l->rare->crowd, &hold_need_rare(h)->by_owner);
		return;
	}
	if (l->nholders <= FEW)
		return;
	lock_need_rare(l)->crowd = xmalloc(sizeof(*l->rare->crowd));
	table_init(l->rare->crowd, owner_id);
	TAILQ_FOREACH (any, &l->holders, in_holders)
		table_add(
		    l->rare->crowd, &hold_need_rare(hold_of(any))->by_owner);
}

/* The table stays until far fewer are left, so that one holder that comes and
 * goes does not make and free it.  The hold still has its rare part. */
void
holders_leave(struct lock *l, struct hold *h)
{
	assert(l->nholders > 0 && h->lock == l);
	CURSOR_REMOVE(
	    &lock_rare(l)->cursors, &l->holders, &h->holding, in_holders);
	l->nholders--;
	if (lock_rare(l)->crowd == NULL)
		return;
	table_remove(l->rare->crowd, &h->rare->by_owner);
	if (l->nholders > FEW / 2)
		return;
	table_fini(l->rare->crowd);
	free(l->rare->crowd);
	l->rare->crowd = NULL;
}

bool
hold_set_gone(struct hold *h, bool gone)
{
	if (hold_rare(h)->gone == gone)
		return false;
	assert(gone || lock_rare(h->lock)->ngone > 0);
	hold_need_rare(h)->gone = gone;
	lock_need_rare(h->lock)->ngone += gone ? 1u : UINT32_MAX;
	return true;
}

/* A holding has 21 bits for it, which is more than half an hour. */
void
hold_set_waited(struct hold *h, int64_t waited_ms)
{
	h->holding.waited_ms = (uint64_t)waited_ms;
	if ((int64_t)h->holding.waited_ms == waited_ms)
		return;
	h->holding.waited_ms = 0;
	hold_need_rare(h)->waited_ms = waited_ms;
}

int64_t
hold_waited_ms(const struct hold *h)
{
	int64_t long_ms = hold_rare(h)->waited_ms;

	return long_ms > 0 ? long_ms : (int64_t)h->holding.waited_ms;
}

uint32_t
hold_depth(const struct hold *h)
{
	return 1 + hold_rare(h)->reentries;
}

bool
hold_step_out(struct hold *h)
{
	if (hold_depth(h) == 1)
		return false;
	h->rare->reentries--;
	return true;
}

/*
 * The name remembers the latest keep of all, for names that have very many
 * holders (lessee.c).  That is never lowered while any holder has a keep, so
 * the key may live longer than need be.
 */
void
hold_keep_until(struct hold *h, int64_t at_ms)
{
	if (at_ms > hold_rare(h)->keep_until_ms)
		hold_need_rare(h)->keep_until_ms = at_ms;
	if (at_ms > lock_rare(h->lock)->most_keep_until_ms)
		lock_need_rare(h->lock)->most_keep_until_ms = at_ms;
}

void
hold_promise_until(struct hold *h, int64_t at_ms)
{
	hold_keep_until(h, at_ms);
	if (at_ms > hold_rare(h)->told_keep_until_ms)
		hold_need_rare(h)->told_keep_until_ms = at_ms;
}
