/*
 * What semaphores, latches and barriers have in common: names, entries, one
 * operation at a time.
 *
 *	request --> entry, in a line of its object --+
 *	outcome, message, timer ---------------------+--> the object is touched
 *	                                                       |
 *	an operation, answers <-- next() of its kind <-- sync_settle()
 *
 * Each of these only notes a fact and touches the object.  So a step in which
 * several things happen looks at all of them together, and sends one operation
 * for them.
 *
 * An entry is answered once, which frees it.  Only an entry for permits lives
 * longer than its decision: its claim waits for the FLUSH, which looks once
 * more whether the permits are still vouched for.
 */
#include "config.h"

#include <string.h>

#include "base/xmalloc.h"
#include "core/kernel/guard/sweep.h"
#include "core/kernel/session/quota.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/part.h"
#include "core/kernel/turn/work.h"
#include "core/parts/sync/line.h"

#define LOOK_SLACK_MS 2 /* after the end of another's hold */
#define SETTLE_MAX 50	/* impatient entries of one object, at once */

static const struct claim_class entry_class;

static const char *
name_of(const struct table_link *link, size_t *len)
{
	const struct sync *y = container_of_const(link, struct sync, by_name);

	*len = y->name_len;
	return y->name;
}

void
sync_init(struct core *core, const struct sync_class *const *classes)
{
	struct syncs *syncs = xcalloc(1, sizeof(*syncs));
	unsigned i;

	core->part[PART_SYNC] = syncs;
	syncs->classes = classes;
	for (i = KIND_SYNC; i < KIND_MAX; i++) {
		table_init(&syncs->by_name[i], name_of);
	}
	TAILQ_INIT(&syncs->touched);
	LIST_INIT(&syncs->latch_counts);
}

/* Objects. */

struct sync *
sync_find(const struct core *core, enum kind kind, const char *name, size_t len)
{
	struct table_link *link =
	    table_find(&syncs_of(core)->by_name[kind], name, len);

	return link == NULL ? NULL : sync_of(link);
}

/* The caller touches an object that it has made: only sync_settle() frees
 * objects. */
static struct sync *
sync_get(struct core *core, enum kind kind, const char *name, size_t len)
{
	struct sync *y = sync_find(core, kind, name, len);

	if (y != NULL)
		return y;
	assert(kind >= KIND_SYNC && kind < KIND_MAX && len > 0);
	y = xcalloc(1, syncs_of(core)->classes[kind]->size);
	y->class = syncs_of(core)->classes[kind];
	y->kind = kind;
	y->timer.kind = TIMER_SYNC;
	y->shard = guard_shard(core, name, len);
	y->name = xstrndup(name, len);
	y->name_len = len;
	line_init(&y->queue);
	line_init(&y->counts);
	TAILQ_INIT(&y->impatient);
	y->class->init(core, y);
	table_add(&syncs_of(core)->by_name[kind], &y->by_name);
	return y;
}

/* Requires that no entry is left. */
static void
sync_free(struct core *core, struct sync *y)
{
	assert(TAILQ_EMPTY(&y->impatient) && y->nimpatient == 0);
	assert(y->nentries == 0 && y->ngranted == 0);
	if (y->class->fini != NULL)
		y->class->fini(core, y);
	if (y->touched)
		TAILQ_REMOVE(&syncs_of(core)->touched, y, in_touched);
	sweep_block(core, y->shard, y->blocked, false);
	core_disarm(core, &y->timer);
	table_remove(&syncs_of(core)->by_name[y->kind], &y->by_name);
	free(y->why);
	free(y->name);
	free(y);
}

/* For core_free(): frees everything without notice to anyone. */
void
sync_fini(struct core *core)
{
	struct table_walk walk;
	struct table_link *link;
	struct table *t;

	for (t = syncs_of(core)->by_name + KIND_SYNC;
	     t < syncs_of(core)->by_name + KIND_MAX; t++) {
		for (link = table_first(t, &walk); link != NULL;
		     link = table_next(&walk))
			sync_free(core, sync_of(link));
		table_fini(t);
	}
	assert(syncs_of(core)->npermits == 0 && syncs_of(core)->nentries == 0);
	table_fini(&syncs_of(core)->permits);
	free(syncs_of(core));
}

/*
 * An object that is idle is freed, unless grants wait for the FLUSH: they need
 * it.  A moment that has passed already is put off by a millisecond.  Otherwise
 * an object that cannot do what is due (its guard is pending) would make the
 * driver step over and over while no time passes.
 */
bool
sync_settle(struct core *core)
{
	struct sync *y;

	while (work_left(core) && !TAILQ_EMPTY(&syncs_of(core)->touched)) {
		core_visit(core, 1);
		y = TAILQ_FIRST(&syncs_of(core)->touched);
		TAILQ_REMOVE(&syncs_of(core)->touched, y, in_touched);
		y->touched = false;
		y->at_ms = INT64_MAX;
		if (!y->class->next(core, y) && y->ngranted == 0) {
			assert(y->op == 0);
			sync_free(core, y);
		} else if (y->at_ms == INT64_MAX) {
			core_disarm(core, &y->timer);
		} else {
			core_arm(core, &y->timer,
			    y->at_ms > core->now_ms ? y->at_ms
						    : core->now_ms + 1);
		}
	}
	return !TAILQ_EMPTY(&syncs_of(core)->touched);
}

void
sync_want(struct sync *y, int64_t at_ms)
{
	if (at_ms < y->at_ms)
		y->at_ms = at_ms;
}

void
sync_timer(struct core *core, struct timer *t)
{
	struct sync *y = container_of(t, struct sync, timer);

	if (y->class->timer != NULL)
		y->class->timer(core, y);
	sync_touch(core, y);
}

int64_t
sync_look_ms(const struct core *core, int64_t ttl_ms)
{
	int64_t pause_ms = core->config.lease_ms;

	if (ttl_ms >= 0 && ttl_ms + LOOK_SLACK_MS < pause_ms)
		pause_ms = ttl_ms + LOOK_SLACK_MS;
	return core->now_ms + pause_ms;
}

/* Operations. */

/* An object that is blocked needs no timer: a walk visits it when its guard has
 * changed. */
bool
sync_may_ask(struct core *core, struct sync *y, bool ready)
{
	if (!ready) {
		y->blocked = sweep_block(core, y->shard, y->blocked, true);
		return false;
	}
	if (y->pause_ms > core->now_ms) {
		sync_want(y, y->pause_ms);
		return false;
	}
	return true;
}

/*
 * The operation will see for itself what messages have said so far: they were
 * sent before it runs.  A message that comes from now on may say more, and
 * counts again.
 */
struct op *
sync_submit(struct core *core, struct sync *y, enum op_kind kind)
{
	struct slot *slot;
	struct op *op = slot_submit(
	    core, &slot, kind, SLOT_SYNC, y->shard, y->name, y->name_len);

	assert(y->op == 0);
	slot->of = y;
	y->op = op->id;
	y->hint = false;
	y->asked_epoch = core->guards[y->shard].epoch;
	return op;
}

/* The object is looked at in any case: entries may have come while the operation
 * was in flight. */
void
sync_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o)
{
	struct sync *y = slot->of;

	assert(y->op != 0);
	y->op = 0;
	y->class->outcome(core, y, slot->op, slot->sent_ms, o);
	sync_touch(core, y);
}

bool
sync_says_nothing(const struct outcome *o)
{
	return o->status == OUTCOME_UNKNOWN || o->status == OUTCOME_UNSENT ||
	       o->status == OUTCOME_PENDING || o->status == OUTCOME_REFUSED;
}

/* A refusal is kept in words, for the entries whose time is up before the next
 * answer. */
void
sync_retry(struct core *core, struct sync *y, const struct outcome *o)
{
	if (o->status == OUTCOME_REFUSED) {
		free(y->why);
		y->why = xstrndup(o->text, o->text_len);
	}
	y->pause_ms = core->now_ms + core_pause_ms(core, o);
}

void
sync_answered(struct sync *y)
{
	free(y->why);
	y->why = NULL;
	y->pause_ms = 0;
}

bool
sync_all_over(const struct core *core)
{
	unsigned kind;

	for (kind = KIND_SYNC; kind < KIND_MAX; kind++)
		if (syncs_of(core)->by_name[kind].n > 0)
			return false;
	return true;
}

/* Entries. */

/* A granted entry counts for its session as a holding, and no longer for the
 * object. */
static bool
entry_allowed(struct core *core, struct owner *owner, const struct sync *y,
    const struct core_request *rq)
{
	if (!quota_admits(core, owner, rq, 1) ||
	    (rq->verb != VERB_COUNTDOWN && !quota_grants(core, owner, rq->ref)))
		return false;
	if (y != NULL && y->nentries >= core->config.limits.waiters) {
		emit_error(core, owner->id, rq->ref, ERR_LIMIT,
		    "%u requests are already waiting for this name "
		    "(limits.waiters)",
		    y->nentries);
		return false;
	}
	return true;
}

/*
 * An entry with wait=0 does not wait for other clients, but it does for Redis:
 * its deadline is the reply timeout.  LATCH and COUNTDOWN do not wait for
 * clients either, so the object may answer them early, like entries with
 * wait=0.
 */
struct entry *
entry_new(struct core *core, struct owner *owner, enum kind kind,
    const struct core_request *rq, int64_t wait_ms)
{
	struct sync *y = sync_find(core, kind, rq->names[0].p, rq->names[0].n);
	struct entry *e;

	assert(rq->nnames == 1);
	if (!entry_allowed(core, owner, y, rq))
		return NULL;
	e = xcalloc(1, sizeof(*e));
	claim_begin(core, &e->claim, &entry_class, owner, rq);
	e->sync = sync_get(core, kind, rq->names[0].p, rq->names[0].n);
	e->verb = rq->verb;
	e->slot = rq->slot;
	e->has_hold = rq->has_hold;
	e->hold_ms = rq->hold_ms;
	e->n = rq->number;
	e->ttl_ms = rq->ttl_ms;
	e->claim.try_only = wait_ms == 0;
	if (e->claim.try_only)
		wait_ms = core->config.reply_timeout_ms;
	if (wait_ms != CORE_WAIT_FOREVER)
		core_arm(core, &e->claim.deadline, core->now_ms + wait_ms);
	core->owners->nmaking += e->verb == VERB_LATCH;
	e->sync->nmaking += e->verb == VERB_LATCH;
	syncs_of(core)->nentries++;
	e->line = &e->sync->queue;
	if (e->sync->class->counts != NULL && e->sync->class->counts(e->verb))
		e->line = &e->sync->counts;
	line_join(e);
	claim_list(core, &e->claim);
	e->sync->nentries++;
	if (entry_impatient(e) || e->line == &e->sync->counts)
		entry_hasten(core, e);
	sync_touch(core, e->sync);
	return e;
}

void
entry_hasten(struct core *core, struct entry *e)
{
	if (e->claim.granted || e->leaving)
		return;
	sync_touch(core, e->sync);
	if (e->impatient)
		return;
	e->impatient = true;
	e->sync->nimpatient++;
	TAILQ_INSERT_TAIL(&e->sync->impatient, e, in_impatient);
}

static void
set_patient(struct entry *e)
{
	if (!e->impatient)
		return;
	assert(e->sync->nimpatient > 0);
	e->impatient = false;
	e->sync->nimpatient--;
	TAILQ_REMOVE(&e->sync->impatient, e, in_impatient);
}

static void
leave_line(struct entry *e)
{
	assert(!e->claim.granted && e->sync->nentries > 0);
	set_patient(e);
	line_leave(e);
	e->sync->nentries--;
}

void
entry_grant(struct core *core, struct entry *e)
{
	leave_line(e);
	claim_grant(core, &e->claim);
	e->sync->ngranted++;
}

void
sync_settle_impatient(struct core *core, struct sync *y,
    bool (*settle)(struct core *core, struct entry *e))
{
	struct entry *e, *next;
	unsigned looked = 0, answered = 0;

	TAILQ_FOREACH_SAFE (e, &y->impatient, in_impatient, next) {
		if (looked++ == SETTLE_MAX)
			break;
		core_visit(core, 1);
		answered += settle(core, e);
	}
	if (answered > 0)
		sync_touch(core, y);
}

void
entry_free(struct core *core, struct entry *e)
{
	assert(syncs_of(core)->nentries > 0);
	assert(!e->claim.granted || e->sync->ngranted > 0);
	if (e->claim.granted) {
		/*
		 * Told or not, it no longer keeps the object.  If the owner has
		 * the permits, they keep it; otherwise the object may be idle.
		 */
		e->sync->ngranted--;
		if (e->permits == NULL || !e->sync->class->untold(e))
			sync_touch(core, e->sync);
	} else {
		leave_line(e);
		sync_touch(core, e->sync);
	}
	core->owners->nmaking -= e->verb == VERB_LATCH;
	e->sync->nmaking -= e->verb == VERB_LATCH;
	e->claim.owner->nuncounted -= e->permits != NULL;
	syncs_of(core)->nentries--;
	claim_end(core, &e->claim);
	free(e);
}

/* How many stand before it in its line, or a number so high that it does not
 * matter. */
static uint64_t
count_before(const struct entry *e)
{
	uint64_t n;

	for (n = 0; n < SYNC_BATCH_MAX; n++) {
		e = TAILQ_PREV(e, entry_list, in_sync);
		if (e == NULL)
			return n;
	}
	return n;
}

void
entry_answer(struct core *core, struct entry *e, enum status status)
{
	const struct sync *y = e->sync;

	if (status == STATUS_TIMEOUT)
		core->stats.timeouts++;
	emit_reply(core, e->claim.owner->id, e->claim.ref, status);
	if (status == STATUS_BUSY || status == STATUS_TIMEOUT)
		PARTS_CALL(refused, core, e->claim.owner, y->kind, y->name,
		    y->name_len, count_before(e));
	entry_free(core, e);
}

/* A CANCEL that asked for its end, and waits for that, gets the answer that it
 * came too late. */
void
entry_error(
    struct core *core, struct entry *e, enum err_code code, const char *why)
{
	emit_error(core, e->claim.owner->id, e->claim.ref, code, "%s", why);
	if (e->by != 0)
		emit_error(core, e->claim.owner->id, e->by, ERR_NOT_FOUND,
		    "that request has failed before");
	entry_free(core, e);
}

bool
entry_impatient(const struct entry *e)
{
	return e->claim.try_only || e->claim.owner->draining;
}

void
entry_give_up(struct core *core, struct entry *e, enum status status)
{
	const struct sync *y = e->sync;
	char why[GUARD_WHY_SIZE];

	if (guard_ready(core, y->shard) && y->why != NULL)
		entry_error(core, e, ERR_UNAVAILABLE, y->why);
	else if (!guard_ready(core, y->shard) || status == STATUS_ERR)
		entry_error(core, e, ERR_UNAVAILABLE,
		    guard_excuse(core, y->shard, NULL, why));
	else
		entry_answer(core, e, status);
}

bool
entry_settle_unasked(struct core *core, struct entry *e)
{
	struct sync *y = e->sync;
	int64_t wait_ms;
	char why[GUARD_WHY_SIZE];

	/* The answer to an operation in flight may settle it. */
	if (y->op != 0 || (y->why == NULL && guard_ready(core, y->shard)))
		return false;
	if (e->claim.owner->draining && !e->claim.try_only) {
		entry_answer(core, e, STATUS_CANCELLED);
		return true;
	}
	wait_ms = guard_why(core, y->shard, why, sizeof(why));
	/* An impatient entry has a deadline. */
	if (y->why == NULL &&
	    core->now_ms + wait_ms < core_armed_ms(core, &e->claim.deadline))
		return false;
	entry_give_up(core, e, STATUS_ERR);
	return true;
}

/* Sessions. */

void
entry_end(struct core *core, struct entry *e, enum status status, uint64_t by)
{
	const struct sync_class *class = e->sync->class;
	uint64_t session = e->claim.owner->id;

	assert(!e->claim.granted && !e->leaving);
	e->ending = status;
	e->by = by;
	/* The store is told of it first.  If that takes longer than a reply
	 * timeout, the kind's expired() answers the entry. */
	if (class->leave != NULL && class->leave(core, e)) {
		set_patient(e);
		claim_unlist(core, &e->claim);
		e->leaving = true;
		core_arm(core, &e->claim.deadline,
		    core->now_ms + core->config.reply_timeout_ms);
		sync_touch(core, e->sync);
		return;
	}
	if (status == STATUS_TIMEOUT)
		entry_give_up(core, e, status);
	else
		entry_answer(core, e, status);
	if (by != 0)
		emit_reply(core, session, by, STATUS_OK);
}

/* Undoes the grant or the beginnings of an entry that ends before it is
 * told. */
static void
drop(struct core *core, struct entry *e)
{
	const struct sync_class *class = e->sync->class;

	if (e->permits != NULL)
		class->take_back(core, e);
	if (class->dropped != NULL && !e->claim.granted)
		class->dropped(core, e);
}

/* What its claim asks of an entry. */

static void
time_up(struct core *core, struct claim *c)
{
	struct entry *e = entry_with(c);

	e->sync->class->expired(core, e);
}

static void
cancel(struct core *core, struct claim *c, uint64_t by)
{
	entry_end(core, entry_with(c), STATUS_CANCELLED, by);
}

static void
hasten(struct core *core, struct claim *c)
{
	entry_hasten(core, entry_with(c));
}

static void
withdraw(struct core *core, struct claim *c)
{
	core_visit(core, 1);
	drop(core, entry_with(c));
	entry_free(core, entry_with(c));
}

static void
refuse(struct core *core, struct claim *c)
{
	core_visit(core, 1);
	drop(core, entry_with(c));
	entry_error(core, entry_with(c), ERR_SHUTDOWN, QUOTA_STOPPING);
}

/*
 * A check whether permits are still vouched for may find that they have run
 * out.  That is a loss, so the other grants wait for another FLUSH (core.h).
 */
static void
tell(struct core *core, struct claim *c)
{
	struct entry *e = entry_with(c);

	if (e->sync->class->withdrawn(core, e)) {
		entry_error(core, e, ERR_UNAVAILABLE,
		    "the lease expired before the grant could be sent; you "
		    "do not hold it, try again");
		return;
	}
	emit_reply(core, c->owner->id, c->ref, STATUS_OK);
	emit_num(core, FIELD_PERMITS, e->held);
	emit_num(core, FIELD_FREE, e->free);
	if (e->slot)
		emit_num(core, FIELD_SLOT, e->given);
	entry_free(core, e);
}

static const struct claim_class entry_class = {
	.kind = CLAIM_ENTRY,
	.time_up = time_up,
	.cancel = cancel,
	.hasten = hasten,
	.withdraw = withdraw,
	.refuse = refuse,
	.tell = tell,
};

/* Messages are hints: each may be lost, late, doubled or wrong. */

/* Requires that `rest` is what follows the word and its space: `0 NAME`. */
static void
take_message(struct core *core, enum kind kind, const char *word,
    const char *rest, size_t len)
{
	struct sync *y;

	if (len < 3 || memcmp(rest, "0 ", 2) != 0)
		return;
	y = sync_find(core, kind, rest + 2, len - 2);
	if (y == NULL)
		return;
	y->class->message(core, y, word);
	sync_touch(core, y);
}

void
sync_hint(struct core *core, struct sync *y, const char *word)
{
	int64_t at_ms = core->now_ms + core_jitter(core, core->pad_ms / 2);

	if (word != NULL)
		y->hint = true;
	else if (at_ms < y->look_ms)
		y->look_ms = at_ms;
}

/* Each word ends in a space, so none is the beginning of another. */
bool
sync_message(struct core *core, const char *text, size_t len)
{
	const char *const *word;
	unsigned kind;
	size_t n;

	for (kind = KIND_SYNC; kind < KIND_MAX; kind++)
		for (word = syncs_of(core)->classes[kind]->words; *word;
		     word++) {
			n = strlen(*word);
			if (len <= n || memcmp(text, *word, n) != 0)
				continue;
			take_message(core, kind, *word, text + n, len - n);
			return true;
		}
	return false;
}

/* Walks over all objects (guard/sweep.h). */

static const struct table *
table_of(const struct core *core, uint32_t i)
{
	return KIND_SYNC + i < KIND_MAX
		   ? &syncs_of(core)->by_name[KIND_SYNC + i]
		   : NULL;
}

static void
sweep_object(struct core *core, struct table_link *link)
{
	struct sync *y = sync_of(link);
	unsigned what = sweep_of(core, y->shard);

	if ((what & SWEEP_LOOK) != 0)
		y->class->message(core, y, NULL);
	if ((what & SWEEP_RECLAIM) != 0 && y->class->reclaim != NULL)
		y->class->reclaim(core, y);
	if ((what & (SWEEP_LOOK | SWEEP_RECLAIM)) != 0)
		sync_touch(core, y);
	if ((what & SWEEP_UNBLOCK) == 0 || !y->blocked)
		return;
	y->blocked = sweep_block(core, y->shard, true, false);
	sync_touch(core, y);
}

const struct swept syncs_swept = {
	.table = table_of,
	.one = sweep_object,
};
