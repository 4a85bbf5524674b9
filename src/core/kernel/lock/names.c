/*
 * All names of this broker, by guard; and the ring of those to be looked at.
 *
 * A lock is made when a request or a message first speaks of its name, and goes
 * when lock_next() finds nothing left to know of it.  Locks of one guard share
 * a table, because a change of its history concerns all of them; over a quorum
 * there is one table for all.
 *
 * Whatever changes a name and does not call lock_next() itself touches it, and
 * a later part of the step, or of a step after it, calls lock_next() for each
 * name in the ring: so a name that was changed ten times is looked at once, and
 * with all that was changed.
 */
#include "config.h"

#include <string.h>

#include "base/xmalloc.h"
#include "core/kernel/lock/hooks.h"
#include "core/kernel/lock/names.h"
#include "core/kernel/turn/job.h"

static const char *
name_of(const struct table_link *link, size_t *len)
{
	const struct lock *l = container_of_const(link, struct lock, by_name);

	*len = l->name_len;
	return l->name;
}

void
names_init(struct core *core, const struct claim_class *claims)
{
	struct locks *locks = xcalloc(1, sizeof(*locks));
	uint32_t i;

	core->locks = locks;
	locks->claims = claims;
	freelist_init(&locks->holds, sizeof(struct hold));
	freelist_init(&locks->waiters, sizeof(struct waiter));
	freelist_init(&locks->queues, sizeof(struct queue));
	locks->names = xcalloc(core->config.shards, sizeof(*locks->names));
	for (i = 0; i < core->config.shards; i++)
		table_init(&locks->names[i], name_of);
	hooks_init(core);
}

void
names_fini(struct core *core)
{
	struct locks *locks = core->locks;
	uint32_t i;

	assert(locks->nholds == 0 && locks->nwaiting == 0);
	for (i = 0; i < core->config.shards; i++)
		table_fini(&locks->names[i]);
	freelist_fini(&locks->holds);
	freelist_fini(&locks->waiters);
	freelist_fini(&locks->queues);
	free(locks->names);
	free(locks->touched);
	free(locks->all_hooks);
	free(locks);
}

struct lock *
lock_of(struct table_link *link)
{
	return link == NULL ? NULL : container_of(link, struct lock, by_name);
}

/* Over a quorum guard_shard() gives any server that can be reached, now one and
 * now another: all of them stand for the same names. */
static struct table *
table_of(const struct core *core, uint32_t shard)
{
	assert(shard < core->config.shards);
	return &core->locks->names[guard_first(core, shard)];
}

struct lock *
lock_find(const struct core *core, const char *name, size_t len)
{
	uint32_t shard = guard_shard(core, name, len);

	return lock_of(table_find(table_of(core, shard), name, len));
}

struct lock_rare *
lock_need_rare(struct lock *l)
{
	if (l->rare != NULL)
		return l->rare;
	l->rare = xcalloc(1, sizeof(*l->rare));
	return l->rare;
}

void *
lock_need_part(struct lock *l, unsigned id, size_t size)
{
	struct lock_rare *m = lock_need_rare(l);

	assert(id < PART_MAX);
	if (m->part == NULL)
		m->part = xcalloc(PART_MAX, sizeof(*m->part));
	if (m->part[id] == NULL)
		m->part[id] = xcalloc(1, size);
	return m->part[id];
}

static void
rare_free(struct lock_rare *m)
{
	unsigned id;

	for (id = 0; m != NULL && m->part != NULL && id < PART_MAX; id++)
		free(m->part[id]);
	if (m != NULL)
		free(m->part);
	free(m);
}

/* Even its last holder waits while the keep of another, who shared the name,
 * goes on (others_ms). */
bool
lock_lingers_for(
    const struct core *core, const struct lock *l, const struct owner *owner)
{
	return lease_lingers(core, &l->lease) &&
	       lease_rare(&l->lease)->others_ms <= core->now_ms &&
	       lock_rare(l)->linger_owner == owner->id;
}

/*
 * If several sessions shared the name, the keep of each holds against all
 * others.  linger_ms is when the last keep ends, and its session is the owner
 * of the linger.  others_ms is when the last keep of any other session ends:
 * until then not even the owner may have the name.  A keep that is shorter than
 * what is known changes at most that.
 */
void
lock_linger(struct core *core, const struct hold *h, int64_t until_ms)
{
	struct lock_rare *m = lock_need_rare(h->lock);
	struct lease_rare *rare = lease_need_rare(&h->lock->lease);
	int64_t least_ms =
	    until_ms < rare->linger_ms ? until_ms : rare->linger_ms;

	if (rare->linger_ms > core->now_ms &&
	    m->linger_owner != h->holding.owner->id &&
	    least_ms > rare->others_ms)
		rare->others_ms = least_ms;
	if (until_ms <= rare->linger_ms)
		return;
	rare->linger_ms = until_ms;
	m->linger_owner = h->holding.owner->id;
	m->linger_since_ms = h->holding.since_ms;
}

struct lock *
names_first(const struct core *core, struct lock_walk *walk)
{
	struct lock *l;

	walk->core = core;
	walk->shard = guard_first(core, 0);
	l = lock_of(table_first(table_of(core, 0), &walk->in));
	return l != NULL ? l : names_next(walk);
}

/* When the names of one guard are done, it goes on with those of the next. */
struct lock *
names_next(struct lock_walk *walk)
{
	const struct core *core = walk->core;
	uint32_t last = guard_first(core, core->config.shards - 1);
	struct table_link *link = table_next(&walk->in);

	while (link == NULL && walk->shard < last)
		link = table_first(table_of(core, ++walk->shard), &walk->in);
	return lock_of(link);
}

/* A caller that makes a lock touches it or calls lock_next(): otherwise a lock
 * of which nothing is known would stay. */
struct lock *
lock_make(struct core *core, const char *name, size_t len)
{
	struct lock *l;

	assert(len > 0 && len <= UINT8_MAX);
	l = xcalloc(1, offsetof(struct lock, name) + len);
	TAILQ_INIT(&l->holders);
	l->name_len = (uint8_t)len;
	lease_init(core, &l->lease, guard_shard(core, name, len));
	memcpy(l->name, name, len);
	table_add(table_of(core, l->lease.term.shard), &l->by_name);
	return l;
}

struct lock *
lock_get(struct core *core, const char *name, size_t len)
{
	struct lock *l = lock_find(core, name, len);

	return l != NULL ? l : lock_make(core, name, len);
}

void
names_remove(struct core *core, struct lock *l)
{
	assert(l->parting == NULL && lock_rare(l)->telling == NULL);
	assert(!l->touched && l->queue == NULL);
	table_remove(table_of(core, l->lease.term.shard), &l->by_name);
	lease_fini(core, &l->lease);
	rare_free(l->rare);
	free(l);
}

/* Names that were touched: a ring, in the order of touching.  Its size is a
 * power of two, so that places run on when the numbers overflow. */

static struct lock **
touched_at(const struct core *core, uint32_t i)
{
	return &core->locks->touched[i & (core->locks->touched_size - 1)];
}

/* The numbers stay as they are, so lock.touched_at stays true; only the places
 * that they mean change. */
static void
grow_touched(struct core *core)
{
	uint32_t i, size = core->locks->touched_size > 0
			       ? 2 * core->locks->touched_size
			       : 16;
	struct lock **v = xmalloc(size * sizeof(struct lock *));

	for (i = core->locks->touched_first; i != core->locks->touched_end; i++)
		v[i & (size - 1)] = *touched_at(core, i);
	free(core->locks->touched);
	core->locks->touched = v;
	core->locks->touched_size = size;
}

void
lock_touch(struct core *core, struct lock *l)
{
	if (l->touched)
		return;
	if (core->locks->touched_end - core->locks->touched_first ==
	    core->locks->touched_size)
		grow_touched(core);
	l->touched = true;
	l->touched_at = core->locks->touched_end;
	*touched_at(core, core->locks->touched_end++) = l;
	job_set(core, JOB_TOUCHED_LOCKS, true);
}

/* Leaves a hole, which lock_next_touched() skips. */
void
lock_untouch(struct core *core, struct lock *l)
{
	if (!l->touched)
		return;
	l->touched = false;
	assert(*touched_at(core, l->touched_at) == l);
	*touched_at(core, l->touched_at) = NULL;
}

bool
names_touched(const struct core *core)
{
	return core->locks->touched_first != core->locks->touched_end;
}

/* The lock may be touched again at once, and then stands at the end: so one
 * name cannot keep the others waiting. */
struct lock *
lock_next_touched(struct core *core)
{
	struct lock *l = *touched_at(core, core->locks->touched_first++);

	assert(l == NULL || l->touched);
	if (l != NULL)
		l->touched = false;
	return l;
}
