/*
 * Semaphores.  The broker leases permits from the store on behalf of its
 * sessions.  The store knows one number for each broker, `owned`.  Only the
 * broker knows which session has how many of them, `used` in all.
 *
 *	ACQUIRE --> queue --serve--> permits --RELEASE--> surplus = owned - used
 *	              ^                                      |
 *	              +---- the next here, without Redis ----+
 *
 * Permits that no session here can use go back at once.  If another broker
 * waits, permits stay here for at most locks.handovers grants and one lease.
 * Every operation states totals: TAKE "I use M, and need N more", HOLD "I use
 * M, and need no more".  So each renews, and may be repeated.
 */
#include "config.h"

#include <string.h>

#include "base/times.h"
#include "base/xmalloc.h"
#include "core/kernel/guard/clock.h"
#include "core/kernel/guard/guard.h"
#include "core/kernel/lease/pace.h"
#include "core/kernel/lease/tell.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/work.h"
#include "core/parts/sync/line.h"
#include "core/parts/sync/semaphore.h"
#include "core/parts/sync/semaphore_state.h"

#define WANT_MAX 200 /* entries whose needs one TAKE adds up */

static void
semaphore_init(struct core *core, struct sync *y)
{
	struct semaphore *m = semaphore_of(y);

	term_init(core, &m->term, TERM_PERMITS, y->shard);
	TAILQ_INIT(&m->holders);
	TAILQ_INIT(&m->losers);
	TAILQ_INIT(&m->givings);
	TAILQ_INIT(&m->flying);
	TAILQ_INIT(&m->known);
	TAILQ_INIT(&m->deferred);
}

static void
semaphore_fini(struct core *core, struct sync *y)
{
	struct semaphore *m = semaphore_of(y);
	struct giving *g;

	while (!TAILQ_EMPTY(&m->holders))
		permits_end(core, permits_of(TAILQ_FIRST(&m->holders)));
	tell_no_more(core, &m->term);
	term_fini(core, &m->term);
	assert(TAILQ_EMPTY(&m->losers));
	TAILQ_CONCAT(&m->givings, &m->flying, link);
	TAILQ_CONCAT(&m->givings, &m->known, link);
	TAILQ_CONCAT(&m->givings, &m->deferred, link);
	while ((g = TAILQ_FIRST(&m->givings)) != NULL) {
		TAILQ_REMOVE(&m->givings, g, link);
		free(g);
	}
	free(m->slots);
}

static void
semaphore_timer(struct core *core, struct sync *y)
{
	(void)term_look(core, &semaphore_of(y)->term);
}

/* Granting. */

/* Has another broker waited long enough ("Queue" in lockbroker-protocol(7))? */
static bool
must_yield(const struct core *core, const struct semaphore *m)
{
	return m->fresh == 0 && contention_must_yield(core, &m->contention);
}

/* A grant of permits that the store has just given for our own line is part of
 * no turn; a grant of permits that another client here has released is. */
static void
grant(struct core *core, struct semaphore *m, struct entry *e)
{
	uint64_t n = e->n;

	permits_grant(core, e);
	if (m->fresh >= n) {
		m->fresh -= n;
		return;
	}
	m->fresh = 0;
	m->contention.handovers++;
	core->stats.handovers++;
}

/* Is there enough for the first entry?  A slot for a permit that had none must
 * come from the store. */
static bool
can_grant(
    const struct core *core, const struct semaphore *m, const struct entry *e)
{
	return term_vouched(core, &m->term) && e->n <= m->owned - m->used &&
	       (!e->slot || slots_any(m)) && !must_yield(core, m);
}

/*
 * Grants in the order of arrival: small requests do not pass a large one.  If
 * there is more to grant than the step has work for, the semaphore does nothing
 * else before the rest is granted.
 */
static void
serve(struct core *core, struct semaphore *m)
{
	unsigned granted = 0;
	struct entry *e;

	m->serving = false;
	if (m->taken_limit != m->limit)
		return;
	while ((e = line_first(&m->y.queue)) != NULL && can_grant(core, m, e)) {
		m->serving = granted++ > 0 && !work_left(core);
		if (m->serving)
			return;
		core_visit(core, 1);
		if (e->slot && permits_have_slot(core, &m->y, e->claim.owner))
			entry_error(core, e, ERR_EXISTS, SLOT_EXISTS);
		else
			grant(core, m, e);
	}
}

/*
 * The answer is known if the store knows that the entry waits, or that the head
 * of the line does, which no entry passes; or if the permits in use here leave
 * no room.
 */
static bool
settle_permits_entry(struct core *core, struct entry *e)
{
	const struct semaphore *m = semaphore_of(e->sync);
	const struct entry *head = line_first(&m->y.queue);

	if (line_state(e) != ENTRY_PARKED &&
	    in_use_or_owed(m) + e->n <= m->limit &&
	    (e == head || line_state(head) != ENTRY_PARKED))
		return entry_settle_unasked(core, e);
	entry_answer(
	    core, e, e->claim.try_only ? STATUS_BUSY : STATUS_CANCELLED);
	return true;
}

/* Answers the impatient entries whose answer is known by now. */
static void
settle(struct core *core, struct semaphore *m)
{
	sync_settle_impatient(core, &m->y, settle_permits_entry);
}

/* Answers the RELEASEs of the list, some of them in each step. */
static void
answer_givings(struct core *core, struct semaphore *m, struct giving_list *list)
{
	unsigned answered = 0;
	struct giving *g;

	while ((g = TAILQ_FIRST(list)) != NULL &&
	       (answered++ == 0 || work_left(core))) {
		core_visit(core, 1);
		TAILQ_REMOVE(list, g, link);
		emit_reply(core, g->session, g->ref, STATUS_OK);
		emit_num(core, FIELD_PERMITS, g->held);
		if (list == &m->deferred)
			emit_num(core, FIELD_DEFERRED, 1);
		free(g);
	}
	if (!TAILQ_EMPTY(list))
		sync_touch(core, &m->y);
}

/* Operations. */

/* Sends an operation.  From now on the store may have no more for us than the
 * permits in use. */
static struct op *
submit_semaphore(struct core *core, struct semaphore *m, enum op_kind kind)
{
	struct op *op = sync_submit(core, &m->y, kind);

	assert(m->used <= m->owned);
	TAILQ_CONCAT(&m->flying, &m->givings, link);
	m->wanted = false;
	/* This counts again if the operation was certainly not carried out. */
	m->was_owned = m->owned;
	m->was_unsure = m->unsure;
	m->asked_have = m->used;
	m->asked_left = m->left;
	semaphore_own(core, m, m->used);
	m->fresh = 0;
	m->unsure = true;
	m->end_ms = core->now_ms + core->config.lease_ms + core->pad_ms;
	op->seq = ++core->last_seq;
	op->have = in_use_or_owed(m);
	op->limit = m->asked_limit = m->limit;
	return op;
}

/*
 * One answer settles the whole line: either the head gets its permits, and
 * perhaps some behind it, or all of them wait behind the head.  So the
 * operation says what the head needs, and what the line could use.
 */
static void
ask_take(struct core *core, struct semaphore *m)
{
	struct op *op = submit_semaphore(core, m, OP_TAKE);
	uint64_t most =
	    m->limit > in_use_or_owed(m) ? m->limit - in_use_or_owed(m) : 0;
	const struct entry *e = line_first(&m->y.queue);
	bool head = e != NULL && e->slot;
	uint64_t slots = 0;
	unsigned looked;

	assert(e != NULL && m->limit > 0);
	op->need = e->n;
	m->asked_need = op->need;
	m->asked_queue = m->y.nimpatient < m->y.nentries;
	line_forget(&m->y.queue);
	line_ask_all(&m->y.queue);
	for (looked = 0; e != NULL && op->want < most && looked < WANT_MAX;
	     looked++) {
		op->want += e->n < most ? e->n : most;
		slots += e->slot;
		e = TAILQ_NEXT(e, in_sync);
	}
	core_visit(core, looked);
	if (op->want > most)
		op->want = most;
	if (op->want < op->need)
		op->want = op->need;
	op->flags = m->asked_queue ? OP_QUEUE : 0;
	slots_state(core, m, op, head, slots);
	if (m->used > 0)
		slot_hurry(core, op);
}

/* Keeps the place in the queue if an entry here still needs it. */
static void
ask_hold(struct core *core, struct semaphore *m)
{
	struct op *op = submit_semaphore(core, m, OP_HOLD);

	if (m->used > 0)
		op->by_ms = guard_server_ms(
		    core, m->y.shard, term_deadline_ms(core, &m->term));
	else if (m->left > 0)
		op->by_ms = guard_server_ms(core, m->y.shard, m->left_ms);
	m->asked_queue = m->told_need != 0 && !line_empty(&m->y.queue);
	op->flags = m->asked_queue ? OP_QUEUE : 0;
	slots_state(core, m, op, false, 0);
	slot_hurry(core, op);
}

static bool
renewal_due(const struct core *core, const struct semaphore *m)
{
	return m->used > 0 && m->term.wake_ms <= core->now_ms;
}

/*
 * Can the head of the line wait without another call of the store?  It can if
 * the broker is in the queue for the same number already, or if our own
 * sessions use what it needs.
 */
static bool
need_not_ask(const struct semaphore *m, const struct entry *head)
{
	if (m->y.hint || m->unsure || m->owned > m->used)
		return false;
	return in_use_or_owed(m) + head->n > m->limit ||
	       (m->told_need == head->n && !entry_impatient(head));
}

/*
 * Must the broker call the store though no entry waits here?  While permits are
 * in use, it keeps a place in the queue that no entry here needs until the next
 * renewal, or until another broker waits.
 */
static bool
must_tell(const struct semaphore *m)
{
	return m->owned > m->used || m->unsure ||
	       (m->told_need != 0 &&
		   (m->used == 0 || m->contention.since_ms != 0 || m->y.hint));
}

/* Parks the first entry: the store need not be told of it again. */
static void
park_head(struct line *line)
{
	if (line->nparked > 0)
		return;
	line_ask_one(line);
	line_park_one(line);
}

/*
 * A renewal comes first.  Like all operations that only keep or give back, it
 * needs only a server that can be reached: on one that may not grant yet, it
 * writes the permits again.  A TAKE waits until the server may grant.
 */
static void
decide(struct core *core, struct semaphore *m)
{
	struct sync *y = &m->y;
	const struct entry *head = line_first(&y->queue);
	bool up = guard_up(core, y->shard);

	if (renewal_due(core, m)) {
		if (sync_may_ask(core, y, up) && pace_room(core, &m->term))
			ask_hold(core, m);
	} else if (head == NULL) {
		if (must_tell(m) && sync_may_ask(core, y, up))
			ask_hold(core, m);
	} else if (need_not_ask(m, head) &&
		   (m->told_need == 0 || m->y.look_ms > core->now_ms)) {
		park_head(&y->queue);
	} else if (sync_may_ask(core, y, guard_ready(core, y->shard))) {
		ask_take(core, m);
	}
}

/* Wants attention at a later time.  Whatever was due before has been sent, or
 * waits for the guard or for the end of a pause. */
static void
want_later(const struct core *core, struct sync *y, int64_t at_ms)
{
	if (at_ms > core->now_ms)
		sync_want(y, at_ms);
}

/* A broker that stops does not wait for the end of permits that are left. */
static bool
store_has_some(const struct core *core, const struct semaphore *m)
{
	return m->owned > 0 || m->unsure || m->told_need != 0 ||
	       (m->left > 0 && !core->stopping);
}

static void
plan_wake(const struct core *core, struct semaphore *m)
{
	struct sync *y = &m->y;
	bool renews = m->used > 0 && y->op == 0 && y->pause_ms <= core->now_ms;

	if (m->owned > 0)
		sync_want(y, term_due_ms(core, &m->term, renews));
	if (m->told_need != 0)
		want_later(core, y, m->y.look_ms);
	if (m->left > 0)
		want_later(core, y, m->left_ms);
	if (m->used == 0 && store_has_some(core, m))
		want_later(core, y, m->end_ms);
}

/* Refuses the entries that were asked for, some of them in each step.  Returns
 * false if more are left. */
static bool
refuse_some(struct core *core, struct semaphore *m)
{
	struct line *line = &m->y.queue;
	unsigned refused = 0;

	while (m->refuse != NULL && !line_empty(line) &&
	       line_first(line) != line->fresh) {
		if (refused++ > 0 && !work_left(core))
			return false;
		core_visit(core, 1);
		entry_error(core, line_first(line), ERR_MISMATCH, m->refuse);
	}
	m->refuse = NULL;
	return true;
}

/* Does what comes next for waiting entries and in the store. */
static void
go_on_semaphore(struct core *core, struct semaphore *m)
{
	struct sync *y = &m->y;

	settle(core, m);
	/* The released permits went to the next client here: the store has
	 * nothing to confirm. */
	if (m->owned == m->used)
		TAILQ_CONCAT(&m->known, &m->givings, link);
	answer_givings(core, m, &m->known);
	/* While a loss is told, what it leaves is not all counted. */
	if (y->op == 0 && TAILQ_EMPTY(&m->losers))
		decide(core, m);
	/* Some answers are known only because nothing could be asked. */
	settle(core, m);
	if (y->op == 0 && TAILQ_EMPTY(&m->losers))
		TAILQ_CONCAT(&m->deferred, &m->givings, link);
}

/* The permits that were left are given back; or the store no longer has any of
 * ours. */
static void
pass_time(struct core *core, struct semaphore *m)
{
	if (m->left > 0 && m->left_ms <= core->now_ms) {
		semaphore_unleave(m);
		m->unsure = true;
	}
	if (m->used > 0 || m->y.op != 0 || !line_empty(&m->y.queue) ||
	    m->end_ms > core->now_ms)
		return;
	semaphore_own(core, m, 0);
	semaphore_unleave(m);
	m->unsure = false;
	m->told_need = 0;
}

/* First come the ends that time brings, then answers that are due, refusals and
 * grants; the store comes last, so that its operation includes all that. */
static bool
semaphore_next(struct core *core, struct sync *y)
{
	struct semaphore *m = semaphore_of(y);

	pass_time(core, m);
	answer_givings(core, m, &m->known);
	answer_givings(core, m, &m->deferred);
	if (!refuse_some(core, m)) {
		sync_touch(core, y);
	} else {
		serve(core, m);
		if (m->serving)
			sync_touch(core, y);
		else
			go_on_semaphore(core, m);
	}
	answer_givings(core, m, &m->deferred);
	plan_wake(core, m);
	return y->op != 0 || store_has_some(core, m) ||
	       !line_empty(&y->queue) || !TAILQ_EMPTY(&m->losers) ||
	       !TAILQ_EMPTY(&m->known) || !TAILQ_EMPTY(&m->deferred);
}

/* Outcomes. */

static_assert(SLOTS_MAX < CORE_WORK_MAX, "one step looks at all holders");

/* Another broker has said that some are its own. */
static void
lose_slots(struct core *core, struct semaphore *m)
{
	struct holding *h, *after;
	struct permits *p;

	TAILQ_FOREACH_SAFE (h, &m->holders, in_holders, after) {
		core_visit(core, 1);
		p = permits_of(h);
		if (p->slot != NO_SLOT && !slots_in_use(m, p->slot))
			permits_lose_slot(core, p, "taken");
	}
}

/*
 * The store has confirmed what the operation said.  A master with too few
 * replicas may have been replaced: its answer keeps no permits.
 */
static void
confirmed(struct core *core, struct semaphore *m, int64_t sent_ms,
    const struct outcome *o)
{
	sync_answered(&m->y);
	m->free = o->nobodys;
	/* Some were lost, or no longer left, meanwhile. */
	m->unsure = m->asked_have + m->asked_left > m->owned + m->left;
	if (o->alone) {
		TAILQ_CONCAT(&m->deferred, &m->flying, link);
		return;
	}
	if (slots_heard(m, o))
		lose_slots(core, m);
	/* An earlier epoch had confirmed them: this has written them again. */
	if (m->used > 0 && m->term.epoch != m->y.asked_epoch)
		core->stats.reasserted++;
	term_confirm(core, &m->term, sent_ms, m->y.asked_epoch);
	if (m->used > 0)
		pace_plan(core, &m->term, false);
	TAILQ_CONCAT(&m->known, &m->flying, link);
}

static void
on_take(struct core *core, struct semaphore *m, int64_t sent_ms,
    const struct outcome *o)
{
	confirmed(core, m, sent_ms, o);
	m->told_need = o->status == OUTCOME_QUEUED ? m->asked_need : 0;
	m->y.look_ms = sync_look_ms(core, o->ttl_ms);
	if (o->status == OUTCOME_TAKEN &&
	    o->ours >= m->asked_have + m->asked_left) {
		assert(o->ours >= m->left);
		semaphore_own(core, m, o->ours - m->left);
		m->unsure = false;
		m->taken_limit = m->asked_limit;
		m->fresh = o->ours - m->asked_have - m->asked_left;
		if (m->used == 0)
			pace_plan(core, &m->term, true);
		/* The turn of this broker begins here. */
		contention_told(core, &m->contention, false);
		/* Grant what can be granted before settling the others. */
		contention_told(core, &m->contention, o->waiting || m->wanted);
		serve(core, m);
	} else {
		contention_told(core, &m->contention, o->waiting || m->wanted);
	}
	if (o->status == OUTCOME_MISMATCH)
		m->refuse = "this semaphore is in use with another limit=";
	else
		line_park_all(&m->y.queue);
}

static void
on_hold(struct core *core, struct semaphore *m, int64_t sent_ms,
    const struct outcome *o)
{
	confirmed(core, m, sent_ms, o);
	if (m->asked_have > 0)
		core->stats.renewals++;
	if (!m->asked_queue)
		m->told_need = 0;
	contention_told(core, &m->contention, o->waiting || m->wanted);
}

/*
 * Only an operation that was certainly not carried out leaves things as they
 * were.  After any other outcome that says nothing, the broker counts on the
 * permits in use, and tells the store so next.
 */
static void
semaphore_outcome(struct core *core, struct sync *y, enum op_kind op,
    int64_t sent_ms, const struct outcome *o)
{
	static const struct outcome unknown = { .text = "" };
	struct semaphore *m = semaphore_of(y);
	bool moved = m->term.epoch != guard_epoch(core, y->shard);

	if (o->status == OUTCOME_TAKEN &&
	    (o->ours > m->asked_limit || slots_missing(m, o)))
		o = &unknown; /* that cannot be true */
	switch (o->status) {
	case OUTCOME_TAKEN:
	case OUTCOME_QUEUED:
	case OUTCOME_BUSY:
	case OUTCOME_MISMATCH:
		on_take(core, m, sent_ms, o);
		return;
	case OUTCOME_KEPT:
		on_hold(core, m, sent_ms, o);
		return;
	case OUTCOME_LOST:
		sync_answered(y);
		semaphore_lose(core, m, moved ? "failover" : "taken", true);
		m->told_need = 0;
		TAILQ_CONCAT(&m->known, &m->flying, link);
		break;
	case OUTCOME_UNSENT:
	case OUTCOME_PENDING:
		semaphore_own(core, m, m->was_owned);
		m->unsure = m->was_unsure || m->asked_left > m->left;
		/* fallthrough */
	default:
		sync_retry(core, y, o);
		m->term.wake_ms = max_ms(m->term.wake_ms, y->pause_ms);
		TAILQ_CONCAT(&m->deferred, &m->flying, link);
	}
	(void)op;
	line_unask(&y->queue);
}

/* Entries. */

static void
semaphore_expired(struct core *core, struct entry *e)
{
	const struct semaphore *m = semaphore_of(e->sync);

	if (e->claim.try_only)
		entry_give_up(core, e, STATUS_ERR);
	else if (in_use_or_owed(m) + e->n > m->limit)
		entry_answer(core, e, STATUS_TIMEOUT);
	else
		entry_give_up(core, e, STATUS_TIMEOUT);
}

static void
semaphore_message(struct core *core, struct sync *y, const char *word)
{
	struct semaphore *m = semaphore_of(y);
	int64_t at_ms;

	/* Messages may have been missed, by other brokers, too: not all look at
	 * once. */
	if (word == NULL) {
		at_ms = core->now_ms + core_jitter(core, core->pad_ms / 2);
	} else if (strcmp(word, "permit ") == 0) {
		/* It may be news even if an operation is in flight. */
		y->hint = true;
		return;
	} else if (strcmp(word, "permit-wanted ") == 0) {
		/* The message may overtake the reply that grants. */
		m->wanted = m->y.op != 0;
		if (m->owned > 0)
			contention_told(core, &m->contention, true);
		return;
	} else {
		/* permit-soon: those before us in the queue have a pad
		 * to come. */
		at_ms = core->now_ms + core->pad_ms;
	}
	if (m->told_need != 0 && at_ms < m->y.look_ms)
		m->y.look_ms = at_ms;
}

static void
semaphore_reclaim(struct core *core, struct sync *y)
{
	struct semaphore *m = semaphore_of(y);

	if (m->used > 0 && term_needs_reclaim(core, &m->term))
		(void)pace_room(core, &m->term);
}

static void
semaphore_check(const struct core *core, const struct sync *y)
{
	const struct semaphore *m = container_of_const(y, struct semaphore, y);
	const struct permits *p;
	const struct holding *h;
	uint64_t n = 0;

	term_check(core, &m->term);
	assert((m->owned > 0) == (m->term.state != TERM_OVER));
	TAILQ_FOREACH (h, &m->holders, in_holders) {
		p = permits_seen(h);
		assert(p->sync == y && p->n > 0 && p->untold <= p->n);
		assert(p->slot == NO_SLOT || slots_in_use(m, p->slot));
		n += p->n;
	}
	assert(n == m->used && m->used <= m->owned);
	assert(TAILQ_EMPTY(&m->losers) || m->term.losing);
	assert(m->fresh <= m->owned - m->used);
}

static const char *const words[] = { "permit ", "permit-soon ",
	"permit-wanted ", NULL };

const struct sync_class semaphore_class = {
	.size = sizeof(struct semaphore),
	.init = semaphore_init,
	.fini = semaphore_fini,
	.next = semaphore_next,
	.outcome = semaphore_outcome,
	.timer = semaphore_timer,
	.told = { FIELD_LIMIT, FIELD_FREE },
	.tells_waiters = true,
	.expired = semaphore_expired,
	.words = words,
	.message = semaphore_message,
	.withdrawn = permits_withdrawn,
	.take_back = permits_take_back,
	.untold = permits_untold,
	.check = semaphore_check,
	.reclaim = semaphore_reclaim,
};
