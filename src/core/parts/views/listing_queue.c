/*
 * QUEUE: the holders of a name, and its waiters.
 *
 *	holders -> waiters -> tokens that wait
 *
 * A token that came before a waiter is listed before it.  Waiters and tokens
 * are numbered as they come (core.last_come), so the list remembers the number
 * up to which it has listed tokens.
 */
#include "config.h"

#include "base/xmalloc.h"
#include "core/kernel/lock/lock.h"
#include "core/kernel/session/record.h"
#include "core/parts/sync/line.h"
#include "core/parts/sync/permit_slots.h"
#include "core/parts/sync/semaphore.h"
#include "core/parts/token/state.h"
#include "core/parts/views/listing_state.h"

/* A session that waits to be resumed has no peer: the row shows how long it
 * will still wait instead. */
static void
list_owner(
    const struct core *core, struct listing *g, const struct owner *owner)
{
	const struct session *s = session_seen(owner);
	struct row *r = &g->row;

	row_num(r, FIELD_SESSION, owner->id);
	if (owner->label != NULL)
		row_str(r, FIELD_LABEL, owner->label);
	if (s->detached)
		row_num(r, FIELD_AWAY,
		    listing_age(core_armed_ms(core, &s->end), g->now_ms));
	else
		row_str(r, FIELD_PEER, owner->peer);
}

void
listing_session(const struct core *core, struct listing *g,
    const struct owner *owner, bool shared)
{
	list_owner(core, g, owner);
	row_str(&g->row, FIELD_MODE, listing_mode(shared));
}

/* Rows of tokens that wait and came before that. */
struct parking {
	struct core *core;
	struct listing *g;
	uint64_t before;
};

static void
queue_token(void *arg, uint64_t session, struct arrival came)
{
	const struct parking *p = arg;
	const struct owner *owner = owner_find(p->core, session);

	if (owner == NULL || p->g->left == 0 || came.number <= p->g->came ||
	    came.number >= p->before)
		return;
	p->g->left--;
	p->g->came = came.number;
	listing_session(p->core, p->g, owner, false);
	row_num(&p->g->row, FIELD_AGE, listing_age(p->g->now_ms, came.ms));
	row_finish(&p->g->row, "waiter", NULL, 0);
}

/* They are few, and listed in one part. */
static void
queue_tokens_before(struct core *core, struct listing *g, uint64_t before)
{
	struct parking p = { core, g, before };

	g->nparked = poll_each(core, g->name, g->name_len, queue_token, &p);
}

static void
queue_tokens(struct core *core, struct listing *g)
{
	queue_tokens_before(core, g, UINT64_MAX);
	g->stage = NULL;
}

static void
queue_waiter(struct core *core, struct listing *g)
{
	const struct waiter *w = g->next.at;

	/* A waiter that has jumped the queue stands before those that came
	 * earlier. */
	if (w != NULL && !w->jumped)
		queue_tokens_before(core, g, w->came);
	if (w == NULL || g->left == 0) {
		g->stage = queue_tokens;
		return;
	}
	g->left--;
	cursor_take(&g->next);
	listing_session(core, g, w->claim.owner, w->shared);
	row_num(&g->row, FIELD_AGE, listing_age(g->now_ms, w->claim.since_ms));
	row_note(core, &g->row, FIELD_TRACE, w, NOTE_TRACE);
	row_finish(&g->row, "waiter", NULL, 0);
}

static void
queue_begin(struct core *core, struct listing *g)
{
	struct lock *l = lock_find(core, g->name, g->name_len);

	g->stage = queue_waiter;
	cursor_end(&g->next);
	if (l != NULL)
		cursor_begin(&lock_need_rare(l)->cursors, &g->next,
		    waiter_first(l), offsetof(struct waiter, in_lock));
}

static void
queue_holder(struct core *core, struct listing *g)
{
	const struct hold *h =
	    g->left > 0 ? hold_of(cursor_take(&g->next)) : NULL;

	if (h == NULL) {
		queue_begin(core, g);
		return;
	}
	g->left--;
	listing_session(core, g, h->holding.owner, h->lock->shared_hold);
	row_num(&g->row, FIELD_FENCE, h->fence);
	row_num(
	    &g->row, FIELD_AGE, listing_age(g->now_ms, h->holding.since_ms));
	row_note(core, &g->row, FIELD_VALUE, h, NOTE_VALUE);
	row_note(core, &g->row, FIELD_TRACE, h, NOTE_TRACE);
	row_finish(&g->row, "holder", NULL, 0);
}

/* The name has no holder, but it lingers. */
static void
queue_lingering(struct core *core, struct listing *g)
{
	const struct lock *l = lock_find(core, g->name, g->name_len);
	struct row *r = &g->row;

	g->stage = queue_holder;
	if (l == NULL || l->lease.state != LEASE_LINGERING ||
	    g->next.at != NULL || g->left == 0)
		return;
	g->left--;
	row_str(r, FIELD_BROKER, core->broker);
	if (core->address[0] != '\0')
		row_str(r, FIELD_ADDRESS, core->address);
	row_num(r, FIELD_UNTIL,
	    listing_age(lease_rare(&l->lease)->linger_ms, g->now_ms));
	listing_kept(
	    core, g, l->name, l->name_len, lease_rare(&l->lease)->linger_ms);
	row_finish(r, "holder", NULL, 0);
}

/* The list of holders has the latest first; the oldest is listed first. */
struct listing *
core_queue_begin(
    struct core *core, const char *name, size_t name_len, size_t limit)
{
	struct listing *g = listing_new(queue_holder);
	struct lock *l = lock_find(core, name, name_len);

	g->left = limit;
	g->kind = KIND_LOCK;
	g->name = xstrndup(name, name_len);
	g->name_len = name_len;
	if (l == NULL)
		return g;
	cursor_begin(&lock_need_rare(l)->cursors, &g->next,
	    TAILQ_LAST(&l->holders, holding_list),
	    offsetof(struct holding, in_holders));
	g->next.back = true;
	if (l->lease.state == LEASE_LINGERING)
		g->stage = queue_lingering;
	return g;
}

uint64_t
core_listing_waiters(const struct core *core, const struct listing *g)
{
	const struct lock *l =
	    g->kind == KIND_LOCK ? lock_find(core, g->name, g->name_len) : NULL;

	return g->nparked + (l != NULL ? queue_of(l)->n : 0);
}

/*
 * QUEUE kind=: the holders of permits of a semaphore, and the waiters there, or
 * at a latch or a barrier.
 *
 *	holders of permits, the first one first -> waiters
 */

/* Only permits are counted: each waiter at a latch or a barrier is one. */
static void
tell_line(
    struct listing *g, const char *role, uint64_t permits, int64_t since_ms)
{
	g->left--;
	if (permits > 0)
		row_num(&g->row, FIELD_PERMITS, permits);
	row_num(&g->row, FIELD_AGE, listing_age(g->now_ms, since_ms));
	row_finish(&g->row, role, NULL, 0);
}

static void
line_waiter(struct core *core, struct listing *g)
{
	const struct entry *e = g->left > 0 ? cursor_take(&g->next) : NULL;

	if (e == NULL) {
		g->stage = NULL;
		return;
	}
	if (e->leaving)
		return;
	list_owner(core, g, e->claim.owner);
	tell_line(
	    g, "waiter", e->verb == VERB_ACQUIRE ? e->n : 0, e->claim.since_ms);
}

static void
line_begin(struct core *core, struct listing *g)
{
	struct sync *y = sync_find(core, g->kind, g->name, g->name_len);

	g->stage = line_waiter;
	if (y != NULL)
		cursor_begin(&y->cursors, &g->next, line_first(&y->queue),
		    offsetof(struct entry, in_sync));
}

static void
line_holder(struct core *core, struct listing *g)
{
	const struct permits *p =
	    g->left > 0 ? permits_of(cursor_take(&g->next)) : NULL;

	if (p == NULL) {
		line_begin(core, g);
		return;
	}
	if (permits_are_lost(p))
		return;
	list_owner(core, g, p->holding.owner);
	if (p->slot != NO_SLOT)
		row_num(&g->row, FIELD_SLOT, p->slot);
	tell_line(g, "holder", p->n, p->holding.since_ms);
}

/* The waiters are counted as the list begins. */
struct listing *
core_line_begin(struct core *core, enum kind kind, const char *name,
    size_t name_len, size_t limit)
{
	struct listing *g = listing_new(line_holder);
	struct sync *y = sync_find(core, kind, name, name_len);

	g->left = limit;
	if (y == NULL)
		return g;
	g->kind = kind;
	g->name = xstrndup(name, name_len);
	g->name_len = name_len;
	if (kind == KIND_SEMAPHORE)
		cursor_begin(&y->cursors, &g->next, semaphore_holder(y),
		    offsetof(struct holding, in_holders));
	g->nparked = y->queue.n;
	return g;
}
