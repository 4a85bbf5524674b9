/*
 * Permits: which session has how many of a semaphore, for how long, and how it
 * loses them.  semaphore.c knows the broker's share in the store; every change
 * here touches the semaphore, so that semaphore.c decides what comes next.
 *
 * An owner has one struct permits for each semaphore, however many ACQUIREs
 * have added to it, and one bound for all of them.  Granted permits are in use
 * from the grant on; until the FLUSH has told them they are `untold`, too, and
 * if they are lost meanwhile, the ACQUIRE fails and no !LOST is told.
 *
 * All permits of a semaphore may be lost in one moment (lessee.c).  A number
 * marks the structs of that moment (permits_are_lost()), so that code which
 * meets one of them knows at once that its permits are lost, though its client
 * has yet to be told.
 */
#include "config.h"

#include <string.h>

#include "base/times.h"
#include "base/xmalloc.h"
#include "core/kernel/lease/tell.h"
#include "core/kernel/session/notify.h"
#include "core/kernel/session/valid.h"
#include "core/kernel/turn/emit.h"
#include "core/parts/observe/count.h"
#include "core/parts/sync/notify.h"
#include "core/parts/sync/semaphore_state.h"

static const char *
key_of(const struct table_link *link, size_t *len)
{
	const struct permits *p =
	    container_of_const(link, struct permits, by_key);

	*len = sizeof(p->key);
	return (const char *)&p->key;
}

void
permits_init(struct core *core)
{
	table_init(&syncs_of(core)->permits, key_of);
}

struct permits *
permits_find(
    const struct core *core, const struct sync *y, const struct owner *owner)
{
	struct permits_key key = { owner, y };
	struct table_link *link = table_find(
	    &syncs_of(core)->permits, (const char *)&key, sizeof(key));

	return link == NULL ? NULL : container_of(link, struct permits, by_key);
}

bool
permits_have_slot(
    const struct core *core, const struct sync *y, const struct owner *owner)
{
	const struct permits *p = permits_find(core, y, owner);

	return p != NULL && !permits_are_lost(p) && p->slot != NO_SLOT;
}

bool
permits_are_lost(const struct permits *p)
{
	return p->losses != semaphore_of(p->sync)->losses;
}

static int64_t
valid_ms(const struct core *core, const struct holding *h)
{
	const struct permits *p = permits_seen(h);

	/* Until now, whatever the term says: it may be that of permits taken
	 * since. */
	if (permits_are_lost(p))
		return core->now_ms;
	return holding_bounded_ms(core, &p->bound,
	    term_deadline_ms(core, &semaphore_of(p->sync)->term));
}

/* Sets the bound to that long from now; hold_ms 0: none. */
static void
bind(struct core *core, struct permits *p, int64_t hold_ms)
{
	hold_ms = holding_bound_ms(core, hold_ms);
	if (hold_ms == 0)
		core_disarm(core, &p->bound);
	else
		core_arm(core, &p->bound, core->now_ms + hold_ms);
}

static struct permits *
permits_new(struct core *core, struct sync *y, struct owner *owner)
{
	struct permits *p = xcalloc(1, sizeof(*p));

	holding_begin(core, &p->holding, HOLDING_PERMITS, owner);
	p->sync = y;
	p->key = (struct permits_key){ owner, y };
	table_add(&syncs_of(core)->permits, &p->by_key);
	p->bound.kind = TIMER_PERMITS;
	p->losses = semaphore_of(y)->losses;
	p->slot = NO_SLOT;
	TAILQ_INSERT_TAIL(&semaphore_of(y)->holders, &p->holding, in_holders);
	return p;
}

/*
 * If the session has permits that are lost, it is told of that first: its new
 * ones are not among them.  Later ACQUIREs without a hold= leave the bound of
 * the first one as it is.
 */
void
permits_grant(struct core *core, struct entry *e)
{
	struct permits *p = permits_find(core, e->sync, e->claim.owner);
	struct semaphore *m = semaphore_of(e->sync);
	bool first;

	assert(!e->claim.granted && e->permits == NULL);
	assert(m->used <= m->owned && e->n <= m->owned - m->used);
	if (p != NULL && permits_are_lost(p)) {
		permits_lose(core, p, NULL);
		p = NULL;
	}
	first = p == NULL;
	entry_grant(core, e);
	if (first)
		p = permits_new(core, e->sync, e->claim.owner);
	if (e->has_hold)
		bind(core, p, e->hold_ms);
	else if (first)
		bind(core, p, core->config.locks.default_hold_ms);
	if (e->slot) {
		assert(p->slot == NO_SLOT);
		p->slot = e->given = slots_use(m);
		p->slot_told = false;
	}
	p->n += e->n;
	p->untold += e->n;
	p->nuntold++;
	term_prove(core, &m->term);
	semaphore_use(core, m, (int64_t)e->n);
	valid_note(core, p->holding.owner, valid_ms(core, &p->holding));
	e->permits = p;
	e->claim.owner->nuncounted++;
	notify_permits(core, NOTICE_PERMITS_GRANTED, p, e->n);
	e->held = p->n;
	e->free = m->free + m->owned - m->used;
	core->stats.grants++;
}

/* Takes n permits off the session's and the semaphore's counts. */
static void
count_out(struct core *core, struct permits *p, uint64_t n)
{
	assert(n <= p->n);
	p->n -= n;
	if (permits_are_lost(p))
		return; /* semaphore_lose() has subtracted them */
	semaphore_use(core, semaphore_of(p->sync), -(int64_t)n);
}

void
permits_reduce(struct core *core, struct permits *p, uint64_t n)
{
	assert(n < p->n);
	notify_permits(core, NOTICE_PERMITS_RELEASED, p, n);
	count_out(core, p, n);
	core->stats.releases++;
	sync_touch(core, p->sync);
}

/*
 * The session no longer has them.  Granted entries that are not told yet point
 * to the struct and keep it: the last of them frees it.
 */
static void
permits_free(struct core *core, struct permits *p, bool withdrawn)
{
	struct semaphore *m = semaphore_of(p->sync);
	struct holding_list *list =
	    permits_are_lost(p) ? &m->losers : &m->holders;

	assert(!p->over);
	holding_end(core, &p->holding);
	if (!permits_are_lost(p))
		slots_free(m, p->slot);
	count_out(core, p, p->n);
	table_remove(&syncs_of(core)->permits, &p->by_key);
	CURSOR_REMOVE(&p->sync->cursors, list, &p->holding, in_holders);
	core_disarm(core, &p->bound);
	sync_touch(core, &m->y);
	p->over = true;
	p->withdrawn = withdrawn;
	if (p->nuntold == 0)
		free(p);
}

/* For the log and the measurements.  The class of the name is found each time:
 * losses are rare. */
static void
note_lost(
    struct core *core, const struct permits *p, uint64_t n, const char *reason)
{
	const struct owner *owner = p->holding.owner;
	const struct sync *y = p->sync;
	struct measure_mark mark = { .class = 0 };
	const struct measure_hold hold = { .name = y->name,
		.name_len = y->name_len,
		.session = owner->id,
		.label = owner->label,
		.peer = owner->peer,
		.user = owner->user,
		.permits = n,
		.granted_ms = p->holding.since_ms,
		.ended_ms = core->now_ms,
		.end = reason };

	notify_permits_lost(core, p, n, reason);
	measure_classify(measure_of(core), &mark, y->name, y->name_len, 0);
	measure_lost(measure_of(core), mark, &hold);
	core->stats.lost++;
}

void
permits_give_back(struct core *core, struct permits *p)
{
	if (!permits_are_lost(p) && p->n > p->untold &&
	    semaphore_of(p->sync)->term.state == TERM_ATRISK)
		note_lost(core, p, p->n - p->untold, NOTIFY_GIVEN_UP);
	permits_end(core, p);
}

void
permits_end(struct core *core, struct permits *p)
{
	assert(!p->over && p->n > 0);
	core->stats.releases++;
	notify_permits(core, NOTICE_PERMITS_RELEASED, p, p->n);
	permits_free(core, p, false);
}

/*
 * No session uses the permits, but the store keeps them from others until then,
 * and for a pad after it: if the clock of Redis jumps, no broker is left to
 * write them again.
 */
static void
outlive(struct core *core, struct holding *h, int64_t valid_ms)
{
	struct permits *p = permits_of(h);
	struct semaphore *m = semaphore_of(p->sync);

	if (permits_are_lost(p) && m->gone)
		return;
	m->left += p->n - p->untold;
	if (p->slot_told)
		slots_leave(m, p->slot);
	m->left_ms = max_ms(m->left_ms, valid_ms + core->pad_ms);
}

void
permits_take_back(struct core *core, struct entry *e)
{
	struct permits *p = e->permits;

	/* They were lost or given back since: the entry only keeps the
	 * struct. */
	if (p->over)
		return;
	assert(p->untold >= e->n && p->nuntold > 0);
	e->permits = NULL;
	e->claim.owner->nuncounted--;
	p->untold -= e->n;
	p->nuntold--;
	if (e->slot && p->slot == e->given) {
		if (!permits_are_lost(p))
			slots_free(semaphore_of(p->sync), p->slot);
		p->slot = NO_SLOT;
	}
	if (p->n > e->n)
		permits_reduce(core, p, e->n);
	else
		permits_end(core, p);
}

bool
permits_withdrawn(struct core *core, struct entry *e)
{
	struct term *t = &semaphore_of(e->sync)->term;
	struct permits *p = e->permits;

	/* The time of this very step counts, before any timer has run. */
	if (term_overdue(core, t))
		term_run_out(core, t);
	if (p == NULL)
		return false;
	if (!p->over && permits_are_lost(p))
		permits_lose(core, p, NULL);
	if (e->slot && !p->over && p->slot != e->given) {
		permits_take_back(core, e);
		return true;
	}
	return p->over && p->withdrawn;
}

bool
permits_untold(struct entry *e)
{
	struct permits *p = e->permits;
	bool over = p->over;

	assert(p->untold >= e->n && p->nuntold > 0);
	p->untold -= e->n;
	p->nuntold--;
	p->slot_told |= e->slot;
	if (over && p->nuntold == 0)
		free(p);
	return !over;
}

/* The number of its permits that the session knows of. */
static uint64_t
told(const struct permits *p)
{
	return p->n > p->untold ? p->n - p->untold : 0;
}

/* Begins an event about n of them. */
static void
tell(
    struct core *core, const struct permits *p, enum event_id event, uint64_t n)
{
	const struct sync *y = p->sync;

	emit_event(core, p->holding.owner->id, event, y->name, y->name_len);
	emit_str(core, FIELD_KIND, "semaphore", 9);
	emit_num(core, FIELD_PERMITS, n);
	if (p->slot_told)
		emit_num(core, FIELD_SLOT, p->slot);
}

/*
 * If the lease is over sooner than the broker had thought, the server's clock
 * has gained on its own.  A client without a connection does not hear of it,
 * and may count on a valid= that it was told.
 */
void
permits_lose(struct core *core, struct permits *p, const char *reason)
{
	int64_t promised_ms = p->holding.owner->promised_ms;

	assert(!p->over);
	/* A loss of all has a reason of its own; the caller's does not
	 * count. */
	if (permits_are_lost(p)) {
		reason = semaphore_of(p->sync)->why_lost;
		if (promised_ms > core->now_ms)
			outlive(core, &p->holding, promised_ms);
	}
	if (told(p) > 0) {
		tell(core, p, EVENT_LOST, told(p));
		emit_str(core, FIELD_REASON, reason, strlen(reason));
		note_lost(core, p, p->n - p->untold, reason);
	} else {
		core->stats.withdrawn++;
	}
	core->stats.releases++;
	permits_free(core, p, true);
}

/* Permits that were not told yet are taken back by the FLUSH. */
void
permits_lose_slot(struct core *core, struct permits *p, const char *reason)
{
	if (p->slot_told && p->n == 1) {
		permits_lose(core, p, reason);
		return;
	}
	if (p->slot_told) {
		tell(core, p, EVENT_LOST, 1);
		emit_str(core, FIELD_REASON, reason, strlen(reason));
		note_lost(core, p, 1, reason);
		core->stats.releases++;
		count_out(core, p, 1);
		sync_touch(core, p->sync);
	}
	p->slot = NO_SLOT;
	p->slot_told = false;
}

void
permits_timer(struct core *core, struct timer *t)
{
	struct permits *p = container_of(t, struct permits, bound);

	permits_lose(core, p, "hold");
}

/* As a holding. */

static void
let_go(struct core *core, struct holding *h, bool clean)
{
	(void)clean; /* permits have no delay= */
	permits_give_back(core, permits_of(h));
}

static void
drop(struct core *core, struct holding *h)
{
	permits_end(core, permits_of(h));
}

static void
lose(struct core *core, struct holding *h, const struct loss *loss)
{
	permits_lose(core, permits_of(h), loss->reason);
}

static void
warn(struct core *core, const struct holding *h, enum event_id event,
    int64_t left_ms)
{
	const struct permits *p = permits_seen(h);

	tell(core, p, event, told(p));
	if (event == EVENT_ATRISK)
		emit_num(core, FIELD_LEFT, (uint64_t)left_ms);
	notify_permits_risk(core, p, event == EVENT_SAFE, left_ms);
}

static uint64_t
count(const struct holding *h)
{
	return permits_seen(h)->n - permits_seen(h)->untold;
}

const struct holding_class permits_class = {
	.kind = HOLDING_PERMITS,
	.count = count,
	.valid_ms = valid_ms,
	.outlive = outlive,
	.let_go = let_go,
	.drop = drop,
	.lose = lose,
	.warn = warn,
};

/* What a semaphore shows of the holders of its permits. */

struct permits *
semaphore_holder(const struct sync *y)
{
	const struct semaphore *s = container_of_const(y, struct semaphore, y);

	return permits_of(TAILQ_FIRST(&s->holders));
}

const struct term *
semaphore_term(const struct sync *y)
{
	return &container_of_const(y, struct semaphore, y)->term;
}

uint64_t
semaphore_out(const struct sync *y, uint64_t *limit)
{
	const struct semaphore *s = container_of_const(y, struct semaphore, y);

	*limit = s->owned > 0 ? s->taken_limit : s->limit;
	return s->used;
}
