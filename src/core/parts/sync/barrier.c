/*
 * Barriers.  The store counts the parties of a generation; this broker keeps
 * those that came through it.  A batch of parties arrives with one operation,
 * under a number that makes it count once; if its outcome is unknown, the
 * broker asks for it under the same number.
 *
 *	NEW --ARRIVE--> ASKED --waiting--> PARKED --PARTY--> tripped or broken
 *	                  |                   |
 *	                  +----> LEAVING <----+   a timeout, a CANCEL: LEAVE
 *
 * The broker answers a party that leaves once the store has broken the
 * generation; if the generation was complete before, the party was part of it.
 * So a generation is complete for all its parties, or broken for all.
 *
 * If the time of a party is up while the store cannot be reached, the broker
 * answers that the party has left.  If all places of the generation turn out to
 * be this broker's, no other broker has told any client, and the generation is
 * broken for our other parties.  Otherwise it may be complete for the parties
 * of other brokers, and then it is complete for ours, too.
 *
 * The broker tells its parties, some in each step, what became of a generation,
 * and does nothing else about the barrier meanwhile.  A party whose time runs
 * out then, or whose client cancels, is told the same; so all of them hear one
 * thing.
 */
#include "config.h"

#include "core/kernel/guard/guard.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/work.h"
#include "core/parts/sync/line.h"
#include "core/parts/sync/sync.h"

/* The verdict that all parked entries are told. */
enum verdict { VERDICT_NONE, VERDICT_TRIPPED, VERDICT_BROKEN };

/* A barrier as this broker knows it. */
struct barrier {
	struct sync y;
	enum verdict verdict;
	uint64_t tripped; /* TRIPPED: the generation */
	uint64_t parties; /* parties=, as the waiting entries have it */
	uint64_t gen;	  /* the generation with places of ours; 0: none */
	uint64_t seq;	  /* of the batch */
	uint64_t placed;  /* of the latest batch in which some have places */
	uint64_t asked;	  /* parties in the batch */
	uint64_t dropped; /* lowest place in the batch whose party has left */
	uint64_t places;  /* places that we ever had in the generation */
	uint64_t epoch;	  /* the guard's, when the batch was first sent */
	int64_t sent_ms;  /* the same moment */
	int64_t end_ms;	  /* the store has nothing of ours after it */
	bool unsure;	  /* the batch may have arrived */
	bool doubt;	  /* and if so, the store may have forgotten it */
	bool left;	  /* a party with a place has left */
	bool denied;	  /* a party was told so before the store was */
	bool note;	  /* the store keeps an end for us that we have heard */
};

static struct barrier *
of(struct sync *y)
{
	return container_of(y, struct barrier, y);
}

static void
barrier_init(struct core *core, struct sync *y)
{
	(void)core;
	of(y)->dropped = UINT64_MAX;
}

/* Operations. */

static struct op *
submit_barrier(struct core *core, struct barrier *b, enum op_kind kind)
{
	struct op *op = sync_submit(core, &b->y, kind);

	b->end_ms = core->now_ms + core->config.lease_ms + core->pad_ms;
	/* If the data of the store went back, it may know only some of our
	 * places, or older ones: so the operation says which came last. */
	op->seq = kind == OP_ARRIVE ? b->seq : b->placed;
	op->generation = b->gen;
	op->parties = b->parties;
	return op;
}

/*
 * May the store have forgotten a batch that arrived?  Then other parties may
 * have heard that its generation is complete; if the batch arrived in the next
 * one, it would wait for them in vain.
 */
static bool
may_be_forgotten(const struct core *core, const struct barrier *b)
{
	return b->epoch != guard_epoch(core, b->y.shard) ||
	       core->now_ms - b->sent_ms >=
		   core->config.lease_ms + core->pad_ms;
}

/*
 * Sends the batch, perhaps for another time.  If one of its parties has left,
 * or one that has a place already, or if the store may have forgotten the
 * batch, then it must no longer arrive: the operation only asks what became of
 * it.
 */
static void
send_batch(struct core *core, struct barrier *b)
{
	struct op *op = submit_barrier(core, b, OP_ARRIVE);
	bool left;

	b->doubt = b->unsure && may_be_forgotten(core, b);
	left = b->left || b->dropped != UINT64_MAX;
	op->arriving = left || b->doubt ? 0 : b->asked;
}

static void
ask_arrive(struct core *core, struct barrier *b)
{
	struct entry *e;

	b->seq = ++core->last_seq;
	b->epoch = guard_epoch(core, b->y.shard);
	b->sent_ms = core->now_ms;
	b->asked = 0;
	b->dropped = UINT64_MAX;
	/* The store replaces by this arrival what it keeps for us of an older
	 * generation. */
	b->note = false;
	/* It begins a generation for us; else it goes on with one. */
	if (b->gen == 0) {
		b->places = 0;
		b->denied = false;
	}
	while ((e = b->y.queue.fresh) != NULL && b->asked < b->parties &&
	       b->asked < SYNC_BATCH_MAX) {
		e->place = b->asked++;
		line_ask_one(&b->y.queue);
	}
	core_visit(core, b->asked);
	send_batch(core, b);
}

static void
ask_leave(struct core *core, struct barrier *b, bool note)
{
	struct op *op = submit_barrier(core, b, OP_LEAVE);

	op->flags = note ? OP_NOTED : 0;
}

/* Decisions. */

/* Answers an impatient entry if its answer is known. */
static bool
settle_party(struct core *core, struct entry *e)
{
	enum entry_state state = line_state(e);

	if (state == ENTRY_PARKED)
		entry_end(core, e,
		    e->claim.try_only ? STATUS_TIMEOUT : STATUS_CANCELLED, 0);
	return state == ENTRY_PARKED ||
	       (state == ENTRY_NEW && entry_settle_unasked(core, e));
}

/*
 * First what became of a batch that may have arrived: the rest depends on which
 * places are ours.  Then a party that has left, since the others wait in vain.
 * New parties come after a look at the generation that they would join.
 */
static void
decide(struct core *core, struct barrier *b)
{
	struct sync *y = &b->y;
	bool up = guard_up(core, y->shard);
	bool ready = guard_ready(core, y->shard);

	if (b->unsure) {
		if (sync_may_ask(core, y, ready))
			send_batch(core, b);
	} else if (b->left) {
		if (sync_may_ask(core, y, up))
			ask_leave(core, b, false);
	} else if (b->gen != 0 && (y->hint || b->y.look_ms <= core->now_ms)) {
		if (sync_may_ask(core, y, up))
			submit_barrier(core, b, OP_PARTY);
	} else if (y->queue.fresh != NULL) {
		if (sync_may_ask(core, y, ready))
			ask_arrive(core, b);
	} else if (b->note && sync_may_ask(core, y, up)) {
		ask_leave(core, b, true);
	}
}

/* Without entries, the broker drops what it need not tell the store: a note
 * while the store cannot be reached, and all the rest once the store has
 * forgotten. */
static void
forget(struct core *core, struct barrier *b)
{
	if (b->y.op != 0 || !line_empty(&b->y.queue))
		return;
	if (!guard_up(core, b->y.shard))
		b->note = false;
	if (b->end_ms > core->now_ms)
		return;
	b->unsure = b->left = b->note = false;
	b->gen = 0;
}

static void
answer_leaving(struct core *core, struct entry *e)
{
	uint64_t session = e->claim.owner->id, by = e->by;

	entry_answer(core, e, e->ending);
	if (by != 0)
		emit_reply(core, session, by, STATUS_OK);
}

/* Answers a parked entry whose generation is complete or broken. */
static void
conclude(struct core *core, struct barrier *b, struct entry *e)
{
	if (b->verdict == VERDICT_BROKEN && e->leaving) {
		answer_leaving(core, e);
		return;
	}
	if (b->verdict == VERDICT_BROKEN) {
		entry_error(core, e, ERR_BROKEN,
		    "another party has left the barrier, or Redis"
		    " has lost it");
		return;
	}
	assert(e->place < b->parties);
	if (e->by != 0)
		emit_error(core, e->claim.owner->id, e->by, ERR_NOT_FOUND,
		    "the barrier had tripped before");
	emit_reply(core, e->claim.owner->id, e->claim.ref, STATUS_OK);
	emit_num(core, FIELD_INDEX, b->parties - 1 - e->place);
	emit_num(core, FIELD_GENERATION, b->tripped);
	entry_free(core, e);
}

/* Tells the verdict to a part of the parked entries.  Returns true if all have
 * been told. */
static bool
tell_verdict(struct core *core, struct barrier *b)
{
	unsigned n = 0;

	while (b->verdict != VERDICT_NONE && b->y.queue.nparked > 0) {
		if (n++ > 0 && !work_left(core)) {
			sync_touch(core, &b->y);
			return false;
		}
		core_visit(core, 1);
		conclude(core, b, line_first(&b->y.queue));
	}
	b->verdict = VERDICT_NONE;
	return true;
}

static bool
barrier_next(struct core *core, struct sync *y)
{
	struct barrier *b = of(y);

	if (!tell_verdict(core, b))
		return true;
	sync_settle_impatient(core, y, settle_party);
	forget(core, b);
	if (y->op == 0)
		decide(core, b);
	if (b->gen != 0 && b->y.look_ms > core->now_ms)
		sync_want(y, b->y.look_ms);
	if (line_empty(&y->queue) && b->end_ms > core->now_ms)
		sync_want(y, b->end_ms);
	return y->op != 0 || b->unsure || b->left || b->note ||
	       !line_empty(&y->queue);
}

/* Outcomes. */

/* The entry has no place: it did not arrive, or the store has forgotten that it
 * did. */
static void
unseat(struct core *core, struct barrier *b, struct entry *e)
{
	if (e->leaving)
		answer_leaving(core, e);
	else if (b->doubt)
		entry_error(core, e, ERR_BROKEN,
		    "Redis has lost the barrier while this party arrived");
}

/* The first `took` entries of the batch have places, from `first` on. */
static void
seat(struct core *core, struct barrier *b, uint64_t first, uint64_t took)
{
	struct line *line = &b->y.queue;
	struct entry *e, *end, *next;

	b->places += took;
	if (took > 0)
		b->placed = b->seq;
	/* A party that was dropped while it arrived has left, if it got a
	 * place. */
	b->left = b->left || b->dropped < took;
	b->dropped = UINT64_MAX;
	b->unsure = false;
	core_visit(core, line->nasked);
	while (line->nasked > 0 && line->asked->place < took) {
		e = line->asked;
		e->place += first;
		b->left = b->left || e->leaving;
		line_park_one(line);
	}
	/* The rest of the batch has none. */
	end = line->fresh;
	line_unask(line);
	for (e = line->fresh; e != end; e = next) {
		next = TAILQ_NEXT(e, in_sync);
		unseat(core, b, e);
	}
	b->doubt = false;
}

/*
 * Are all parties of a generation that tripped ours, and was one of them told
 * that it had left?
 */
static bool
is_denied(const struct barrier *b)
{
	return b->denied && b->places == b->parties &&
	       b->y.queue.nparked < b->parties;
}

/* The store says what became of the generation in which we have places.  If it
 * has tripped, that may be under another number. */
static void
on_verdict(struct core *core, struct barrier *b, const struct outcome *o)
{
	if (o->status == OUTCOME_WAITING) {
		b->gen = o->fence;
		/* A look also keeps our places: they last for a lease and a
		 * pad. */
		b->y.look_ms = core->now_ms + core->config.lease_ms / 3;
		if (sync_look_ms(core, o->ttl_ms) < b->y.look_ms)
			b->y.look_ms = sync_look_ms(core, o->ttl_ms);
		return;
	}
	b->gen = 0;
	b->left = false;
	b->note = true;
	b->tripped = o->fence;
	b->verdict = o->status == OUTCOME_TRIPPED && !is_denied(b)
			 ? VERDICT_TRIPPED
			 : VERDICT_BROKEN;
}

static void
on_mismatch(struct core *core, struct barrier *b)
{
	struct entry *e, *next;

	core_visit(core, b->y.queue.nasked);
	for (e = b->y.queue.asked; e != b->y.queue.fresh; e = next) {
		next = TAILQ_NEXT(e, in_sync);
		/* A party that leaves has its own answer (unseat()). */
		if (!e->leaving)
			entry_error(core, e, ERR_MISMATCH,
			    "others wait at this barrier with another"
			    " parties=");
	}
	seat(core, b, 0, 0);
}

static void
on_nothing(struct core *core, struct barrier *b, enum op_kind op,
    const struct outcome *o)
{
	sync_retry(core, &b->y, o);
	if (op == OP_ARRIVE && o->status == OUTCOME_UNKNOWN)
		b->unsure = true;
	else if (op == OP_ARRIVE && !b->unsure)
		seat(core, b, 0, 0);
}

/* Does a barrier have those places, and did we ask for that many? */
static bool
are_places(const struct barrier *b, enum op_kind op, const struct outcome *o)
{
	return op != OP_ARRIVE || o->status == OUTCOME_MISMATCH ||
	       (o->new_places <= b->asked &&
		   o->place + o->new_places <= b->parties);
}

/* An answer that cannot be true is as good as none. */
static void
barrier_outcome(struct core *core, struct sync *y, enum op_kind op,
    int64_t sent_ms, const struct outcome *o)
{
	static const struct outcome unknown = { .text = "" };
	struct barrier *b = of(y);

	(void)sent_ms;
	if (!sync_says_nothing(o) && !are_places(b, op, o))
		o = &unknown;
	if (sync_says_nothing(o)) {
		on_nothing(core, b, op, o);
		return;
	}
	sync_answered(y);
	if (o->status == OUTCOME_MISMATCH) {
		on_mismatch(core, b);
		return;
	}
	if (op == OP_ARRIVE)
		seat(core, b, o->place, o->new_places);
	if (o->status != OUTCOME_ENDED && o->status != OUTCOME_GONE) {
		on_verdict(core, b, o);
		return;
	}
	/* A LEAVE: the store has broken the generation, or knows of none. */
	b->note = b->left = false;
	b->gen = 0;
	b->verdict = VERDICT_BROKEN;
}

/* Entries. */

/* Does the broker know what became of the entry, and must only tell it? */
static bool
is_concluded(const struct entry *e)
{
	return of(e->sync)->verdict != VERDICT_NONE &&
	       line_state(e) == ENTRY_PARKED;
}

static void
barrier_dropped(struct core *core, struct entry *e)
{
	struct barrier *b = of(e->sync);

	(void)core;
	if (is_concluded(e))
		return;
	if (line_state(e) == ENTRY_ASKED && e->place < b->dropped)
		b->dropped = e->place;
	else if (line_state(e) == ENTRY_PARKED)
		b->left = true;
}

/* The broker answers that the party has left before it can tell the store. */
static void
deny(struct core *core, struct entry *e)
{
	barrier_dropped(core, e);
	of(e->sync)->denied = true;
}

/*
 * A party for which the store was not asked just goes.  If it is known what
 * became of its generation, it is told that like the others.  If the store
 * cannot be reached, the party is answered now and the store is told later;
 * otherwise it is the other way round.
 */
static bool
barrier_leave(struct core *core, struct entry *e)
{
	if (line_state(e) == ENTRY_NEW)
		return false;
	if (is_concluded(e))
		return true;
	if (!guard_up(core, e->sync->shard)) {
		deny(core, e);
		return false;
	}
	barrier_dropped(core, e);
	return true;
}

/* The time of a party is up, or the time in which the store should have been
 * told that it leaves. */
static void
barrier_expired(struct core *core, struct entry *e)
{
	if (is_concluded(e)) {
		conclude(core, of(e->sync), e);
	} else if (e->leaving) {
		deny(core, e);
		answer_leaving(core, e);
	} else if (line_state(e) == ENTRY_NEW) {
		entry_give_up(
		    core, e, e->claim.try_only ? STATUS_ERR : STATUS_TIMEOUT);
	} else {
		entry_end(core, e, STATUS_TIMEOUT, 0);
	}
}

static const char *const words[] = { "barrier ", NULL };

const struct sync_class barrier_class = {
	.size = sizeof(struct barrier),
	.init = barrier_init,
	.next = barrier_next,
	.outcome = barrier_outcome,
	.told = { FIELD_PARTIES, FIELD_ARRIVED },
	.expired = barrier_expired,
	.leave = barrier_leave,
	.dropped = barrier_dropped,
	.words = words,
	.message = sync_hint,
};

/* All parties that wait here, or that may have arrived, have the same parties=.
 * If those at other brokers go by another number, the store says so. */
void
barrier_request(
    struct core *core, struct owner *owner, const struct core_request *rq)
{
	struct sync *y =
	    sync_find(core, KIND_BARRIER, rq->names[0].p, rq->names[0].n);
	struct entry *e;

	if (y != NULL && of(y)->parties != rq->limit &&
	    (!line_empty(&y->queue) || of(y)->unsure)) {
		emit_error(core, owner->id, rq->ref, ERR_MISMATCH,
		    "others wait at this barrier with parties=%llu",
		    (unsigned long long)of(y)->parties);
		return;
	}
	e = entry_new(core, owner, KIND_BARRIER, rq, rq->wait_ms);
	if (e != NULL)
		of(e->sync)->parties = rq->limit;
}
