/*
 * Token records: how the broker looks after holds.
 *
 *	granted, extended --> record ---- once a lease, new history --> RETAIN
 *	                      |  | ^------------- renewed ---------------+ |
 *	             its bound|  +--> over: released, taken <--------------+
 *	granted, not told --> orphan --> TOKEN `u` until Redis has answered
 *
 * The key in Redis is the hold; a record is what this broker knows of it.  A
 * record that is wrong does no harm.  RETAIN writes a hold only on a server
 * that may not grant yet: where the key is missing, over an older value, such
 * as an older state of the hold, or over another broker's value for it if that
 * ends sooner.  If it finds anything else, the hold is no longer this broker's.
 * If its client has given it back, or moved its bound, and Redis has not
 * answered that, others may have had the name since.  So from the moment on at
 * which it may have ended, the hold is not written again; the broker asks
 * whether it is still there.
 *
 * The broker ends a hold at its bound, by its own clock: the key lives for a
 * pad longer, so no step of the server's clock that the guard does not notice
 * ends it before.  RETAIN gives the key back the time that such a step has
 * taken.
 *
 * An orphan is a hold whose bound is over, or one that may have been made and
 * of which no client was told.  It is ended by the token of this broker, which
 * no other hold has, and never by the client's token, which may have been
 * granted the name again since.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/times.h"
#include "base/xmalloc.h"
#include "core/kernel/guard/guard.h"
#include "core/kernel/session/share.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/job.h"
#include "core/kernel/turn/work.h"
#include "core/parts/token/measured.h"
#include "core/parts/token/parts.h"
#include "core/parts/token/token_record.h"
#include "core/parts/watch/watch.h"

#define RETRY_MS 500 /* after an answer that says nothing; as much jitter */

static const char *
name_of(const struct table_link *link, size_t *len)
{
	const struct token_record *r =
	    container_of_const(link, struct token_record, by_name);

	*len = r->name_len;
	return r->name;
}

/* Orphans are in no table: a name may have several, beside its record. */
void
token_records_init(struct core *core)
{
	struct tokens *all = tokens_of(core);

	table_init(&all->by_name, name_of);
	TAILQ_INIT(&all->records);
	TAILQ_INIT(&all->orphans);
}

struct token_record *
token_record_find(const struct core *core, const char *name, size_t len)
{
	struct table_link *link =
	    table_find(&tokens_of(core)->by_name, name, len);

	return link == NULL ? NULL
			    : container_of(link, struct token_record, by_name);
}

/* Is anything left for token_records_run()?  An orphan that asks is answered
 * first. */
static bool
has_more(const struct core *core)
{
	const struct tokens *all = tokens_of(core);
	const struct token_record *orphan = TAILQ_FIRST(&all->orphans);

	return core->stopping &&
	       (all->nrecords > 0 || (orphan != NULL && !orphan->asked));
}

static void
note_more(struct core *core)
{
	job_set(core, JOB_TOKEN_RECORDS, has_more(core));
}

static void
free_one(struct core *core, struct token_record *r)
{
	struct tokens *all = tokens_of(core);

	assert(r->orphan ? all->norphans > 0 : all->nrecords > 0);
	sweep_block(core, r->shard, r->blocked, false);
	if (r->orphan) {
		TAILQ_REMOVE(&all->orphans, r, link);
		all->norphans--;
	} else {
		TAILQ_REMOVE(&all->records, r, link);
		table_remove(&all->by_name, &r->by_name);
		all->nrecords--;
		core->owners->ntokens--;
		share_give(&core->owners->token_shares, &r->share);
		measure_holds_not(measure_of(core), r->mark);
	}
	core_disarm(core, &r->timer);
	free(r->holder);
	free(r->peer);
	free(r->label);
	free(r->user);
	free(r);
	note_more(core);
}

void
token_records_fini(struct core *core)
{
	while (!TAILQ_EMPTY(&tokens_of(core)->records))
		free_one(core, TAILQ_FIRST(&tokens_of(core)->records));
	while (!TAILQ_EMPTY(&tokens_of(core)->orphans))
		free_one(core, TAILQ_FIRST(&tokens_of(core)->orphans));
	table_fini(&tokens_of(core)->by_name);
}

/*
 * A hold that Redis ended at its bound is over here a round trip later.  A hold
 * that ended before was ended, or extended, by another broker.
 */
static const char *
why_gone(const struct core *core, const struct token_record *r)
{
	if (r->until_ms == TOKEN_HOLD_ALWAYS)
		return "taken";
	return r->until_ms <= core->now_ms + core->config.reply_timeout_ms
		   ? "hold"
		   : "taken";
}

/* A WATCH of the name looks again; the end goes into the history. */
void
token_record_drop(struct core *core, struct token_record *r, const char *end)
{
	watch_stir(core, r->name, r->name_len);
	if (!r->orphan)
		token_ended(core, r, end, NULL);
	free_one(core, r);
}

void
token_record_gone(struct core *core, struct token_record *r)
{
	token_record_drop(core, r, why_gone(core, r));
}

/* A hold that was granted since is not meant. */
void
token_record_forced(struct core *core, const struct slot *slot,
    const struct outcome *o, const char *by)
{
	struct token_record *r =
	    token_record_find(core, slot->name, slot->name_len);

	if (r == NULL || r->since_ms > slot->sent_ms)
		return;
	if (o->status == OUTCOME_UNKNOWN)
		token_record_doubt(core, r, slot->sent_ms);
	if (o->status != OUTCOME_ENDED)
		return;
	watch_stir(core, r->name, r->name_len);
	token_ended(core, r, "forced", by);
	free_one(core, r);
}

static struct token_record *
make(struct core *core, const struct token_name *n, bool orphan)
{
	struct tokens *all = tokens_of(core);
	struct token_record *r = xcalloc(1, sizeof(*r) + n->len);

	assert(orphan || token_record_find(core, n->name, n->len) == NULL);
	r->timer.kind = TIMER_TOKEN_RECORD;
	r->shard = guard_shard(core, n->name, n->len);
	r->orphan = orphan;
	r->since_ms = core->now_ms;
	r->sure_ms = INT64_MAX;
	r->name_len = n->len;
	memcpy(r->name, n->name, n->len);
	if (orphan) {
		TAILQ_INSERT_TAIL(&all->orphans, r, link);
		all->norphans++;
		note_more(core);
		return r;
	}
	TAILQ_INSERT_TAIL(&all->records, r, link);
	table_add(&all->by_name, &r->by_name);
	all->nrecords++;
	core->owners->ntokens++;
	token_holds(core, r);
	note_more(core);
	return r;
}

/* The first moment that is surely past the bound: the one from which it counts
 * was cut to a millisecond. */
static int64_t
over_ms(const struct token_record *r)
{
	return r->until_ms == TOKEN_HOLD_ALWAYS ? TOKEN_HOLD_ALWAYS
						: r->until_ms + 1;
}

static bool
is_sure(const struct core *core, const struct token_record *r)
{
	return r->sure_ms > core->now_ms;
}

/* Arms the timer for the end of the hold, or for the next look. */
static void
arm(struct core *core, struct token_record *r, int64_t pause_ms)
{
	int64_t at_ms = min_ms(over_ms(r), core->now_ms + pause_ms);

	core_arm(core, &r->timer,
	    is_sure(core, r) ? min_ms(at_ms, r->sure_ms) : at_ms);
}

static void
set_text(char **to, const char *text)
{
	free(*to);
	*to = text != NULL ? xstrdup(text) : NULL;
}

/* The answer says what was left when the script ran, which was before now: a
 * record does not end before its hold. */
static void
set_until(struct core *core, struct token_record *r, int64_t left_ms)
{
	r->until_ms = left_ms < 0 ? TOKEN_HOLD_ALWAYS : core->now_ms + left_ms;
}

/* The outcome of its operations is known. */
static void
be_sure(struct token_record *r)
{
	r->sure_ms = INT64_MAX;
	r->returned = 0;
}

void
token_record_take(struct core *core, const struct token_name *n,
    const char *holder, const struct owner *asker)
{
	struct token_record *r = token_record_find(core, n->name, n->len);

	assert(n->fence > 0 && holder != NULL);
	/* An answer may be overtaken by one to a later request. */
	if (r != NULL &&
	    (r->fence > n->fence || (r->fence == n->fence && r->seq > n->seq)))
		return;
	/* A new hold of the name: the one before it is over, whatever became of
	 * it. */
	if (r != NULL && r->fence < n->fence) {
		token_record_gone(core, r);
		r = NULL;
	}
	if (r == NULL) {
		r = make(core, n, false);
		r->waited_ms = n->waited_ms;
	}
	r->asked = false; /* an answer about the old hold no longer counts */
	be_sure(r);
	r->seq = n->seq;
	r->fence = n->fence;
	r->padded = n->padded;
	r->epoch = guard_epoch(core, r->shard);
	set_until(core, r, n->left_ms);
	set_text(&r->holder, holder);
	if (asker != NULL) {
		set_text(&r->peer, asker->peer);
		set_text(&r->label, asker->label);
		set_text(&r->user, asker->user);
		share_pass(&core->owners->token_shares, &r->share, asker->user);
		r->session = asker->id;
	}
	arm(core, r, core->config.lease_ms);
	watch_stir(core, r->name, r->name_len);
}

/* Operations. */

static void
ask_about(struct core *core, struct token_record *r, enum op_kind kind)
{
	struct slot *slot;
	struct op *op;

	assert(!r->asked);
	r->asked = true;
	r->asked_epoch = guard_epoch(core, r->shard);
	note_more(core);
	op = slot_submit(core, &slot, kind, SLOT_TOKEN_RECORD, r->shard,
	    r->name, r->name_len);
	slot->ref = r->seq;
	slot->limit = r->orphan;
	slot->name = xstrndup(r->name, r->name_len);
	slot->name_len = r->name_len;
	op->seq = r->seq;
	if (r->orphan) {
		op->how.act = HOW_UNDO;
		return;
	}
	emit_op_holder(core, op, r->holder, "");
	if (kind == OP_TOKEN) {
		op->how.act = HOW_ASK;
		op->how.match = HOW_ANY;
		return;
	}
	op->fence = r->fence;
	if (r->until_ms != TOKEN_HOLD_ALWAYS)
		op->ttl_ms = r->until_ms - core->now_ms;
	if (r->padded && r->until_ms != TOKEN_HOLD_ALWAYS)
		op->ttl_ms = max_ms(1, op->ttl_ms - core->pad_ms);
	if (r->sure_ms < r->until_ms)
		op->ttl_ms = r->sure_ms - core->now_ms;
}

/* The key of an orphan has ended by itself then. */
static void
end_at_bound(struct core *core, struct token_record *r)
{
	const struct token_name n = {
		.name = r->name, .len = r->name_len, .seq = r->seq
	};

	if (!r->orphan)
		token_record_orphan(core, &n);
	token_record_drop(
	    core, r, guard_up(core, r->shard) ? "hold" : "unreachable");
}

/* Sends the record's next operation, if the server can be reached.  If not, the
 * record is blocked: a walk visits it when the server can be reached, and the
 * timer runs all the same. */
static void
go_on_record(struct core *core, struct token_record *r)
{
	if (over_ms(r) <= core->now_ms) {
		end_at_bound(core, r);
		return;
	}
	arm(core, r, core->config.lease_ms);
	if (r->asked || r->until_ms <= core->now_ms)
		return;
	r->blocked =
	    sweep_block(core, r->shard, r->blocked, !guard_up(core, r->shard));
	if (!r->blocked)
		ask_about(core, r,
		    r->orphan || !is_sure(core, r) ? OP_TOKEN : OP_RETAIN);
}

/* Requires the number of an operation of this broker, which is the hold's
 * token. */
void
token_record_orphan(struct core *core, const struct token_name *n)
{
	struct token_record *r = make(core, n, true);

	assert(n->seq != 0);
	r->seq = n->seq;
	set_until(core, r, n->left_ms < 0 ? -1 : n->left_ms + core->pad_ms);
	go_on_record(core, r);
}

void
token_record_doubt(struct core *core, struct token_record *r, int64_t sure_ms)
{
	r->sure_ms = min_ms(r->sure_ms, sure_ms);
	arm(core, r, 0);
}

void
token_record_timer(struct core *core, struct timer *t)
{
	go_on_record(core, container_of(t, struct token_record, timer));
}

/* An answer about an earlier hold of the name is no longer of use: the number
 * decides.  Orphans are few, so they are looked through. */
static struct token_record *
find_asked(struct core *core, const struct slot *slot)
{
	struct token_record *r;

	if (slot->limit == 0) {
		r = token_record_find(core, slot->name, slot->name_len);
		return r != NULL && r->asked && r->seq == slot->ref &&
			       (slot->op == OP_RETAIN || !is_sure(core, r))
			   ? r
			   : NULL;
	}
	TAILQ_FOREACH (r, &tokens_of(core)->orphans, link)
		if (r->seq == slot->ref)
			return r;
	return NULL;
}

bool
token_record_orphaned(const struct core *core, const char *name, size_t len)
{
	const struct token_record *r;

	TAILQ_FOREACH (r, &tokens_of(core)->orphans, link) {
		core_visit(core, 1);
		if (r->name_len == len && memcmp(r->name, name, len) == 0)
			return true;
	}
	return false;
}

uint64_t
token_record_first_orphan(const struct core *core)
{
	const struct token_record *r;
	uint64_t first = 0;

	TAILQ_FOREACH (r, &tokens_of(core)->orphans, link)
		if (first == 0 || r->seq < first)
			first = r->seq;
	return first;
}

/* Is the answer about this hold?  Any client can write a key. */
static bool
is_of(const struct core *core, const struct token_record *r,
    const struct outcome *o)
{
	return o->fence == r->fence && o->seq >= r->seq &&
	       o->seq <= core->last_seq;
}

/*
 * The key is later than the record if the answer to an extension was lost.
 * Otherwise the record knows its bound best: the key's bound is that of the
 * server's clock.
 */
static void
follow(struct core *core, struct token_record *r, const struct outcome *o)
{
	bool extended = o->seq > r->seq;
	char *holder;

	if (!extended)
		return;
	set_until(core, r, o->ttl_ms);
	be_sure(r);
	r->padded = false;
	r->seq = o->seq;
	holder = xstrndup(o->text, o->text_len);
	set_text(&r->holder, holder);
	free(holder);
}

/* Asks again in a moment. */
static void
ask_again(struct core *core, struct token_record *r)
{
	arm(core, r, RETRY_MS + core_jitter(core, RETRY_MS));
}

/* If in doubt, it may be on the server that has taken over; asked again, that
 * one says so. */
static void
not_there(struct core *core, struct token_record *r, bool doubt)
{
	if (doubt)
		ask_again(core, r);
	else if (r->returned > 0)
		token_record_drop(core, r, "released");
	else if (!is_sure(core, r))
		token_record_drop(core, r, "hold");
	else
		token_record_gone(core, r);
}

void
token_record_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o)
{
	struct token_record *r = find_asked(core, slot);

	if (r == NULL)
		return;
	r->asked = false;
	note_more(core);
	switch (o->status) {
	case OUTCOME_RENEWED:
		if (!is_of(core, r, o)) {
			ask_again(core, r);
			return;
		}
		/* The history may have changed once more since the operation
		 * was sent; then it is asked again at once. */
		r->epoch = r->asked_epoch;
		follow(core, r, o);
		arm(core, r,
		    r->epoch == guard_epoch(core, r->shard) && is_sure(core, r)
			? core->config.lease_ms
			: 0);
		return;
	case OUTCOME_VALUE:
		assert(!is_sure(core, r));
		if (o->key_kind != KEY_TOKEN_HOLD || o->fence != r->fence)
			not_there(core, r, o->alone);
		else
			arm(core, r, core->config.lease_ms);
		return;
	case OUTCOME_LOST:
	case OUTCOME_ENDED:
	case OUTCOME_GONE:
		not_there(core, r, call_outdated(o));
		return;
	default:
		ask_again(core, r);
	}
}

/* Walks over all records (guard/sweep.h).  Orphans are no part of them: their
 * timers look at them soon. */

static const struct table *
table_of(const struct core *core, uint32_t i)
{
	return i == 0 ? &tokens_of(core)->by_name : NULL;
}

/* The record may be freed, so nothing looks at it after that. */
static void
sweep_record(struct core *core, struct table_link *link)
{
	struct token_record *r =
	    container_of(link, struct token_record, by_name);
	unsigned what = sweep_of(core, r->shard);
	bool doubt = r->epoch != guard_epoch(core, r->shard);

	if (((what & SWEEP_UNBLOCK) != 0 && r->blocked) ||
	    ((what & SWEEP_RECLAIM) != 0 && doubt))
		go_on_record(core, r);
}

const struct swept token_records_swept = {
	.table = table_of,
	.one = sweep_record,
};

/* As long as the key of an orphan is there, no other client is granted the
 * name. */
void
token_records_guard_changed(struct core *core, uint32_t shard)
{
	struct token_record *r;

	if (!guard_up(core, shard))
		return;
	TAILQ_FOREACH (r, &tokens_of(core)->orphans, link) {
		core_visit(core, 1);
		if (r->shard == shard && !r->asked)
			arm(core, r, 0);
	}
}

/*
 * Their keys stay in Redis until their bounds, as the clients were told, and
 * another broker adopts them (adopt.h).
 */
static void
leave_all(struct core *core)
{
	struct tokens *all = tokens_of(core);

	while (work_left(core) && !TAILQ_EMPTY(&all->records)) {
		core_visit(core, 1);
		all->nleft++;
		free_one(core, TAILQ_FIRST(&all->records));
	}
	while (work_left(core) && !TAILQ_EMPTY(&all->orphans) &&
	       !TAILQ_FIRST(&all->orphans)->asked) {
		core_visit(core, 1);
		free_one(core, TAILQ_FIRST(&all->orphans));
	}
}

/* A broker that stops no longer looks after any hold. */
bool
token_records_run(struct core *core)
{
	if (core->stopping)
		leave_all(core);
	return has_more(core);
}

void
token_records_stop(struct core *core)
{
	note_more(core);
}

/* Messages. */

/*
 * Another broker has ended the hold, or looks after it from now on.  If the
 * hold is not known, the answer that makes it may be under way: the number of
 * the hold is remembered.
 */
bool
token_record_message(struct core *core, const char *text, size_t len)
{
	static const char word[] = "took ";
	const char *seq = text + sizeof(word) - 1, *space;
	struct token_record *r;
	uint64_t n;

	if (len < sizeof(word) || memcmp(text, word, sizeof(word) - 1) != 0)
		return false;
	space = memchr(seq, ' ', len - (size_t)(seq - text));
	if (space == NULL ||
	    !parse_number(seq, (size_t)(space - seq), UINT64_MAX, &n))
		return true;
	r = token_record_find(
	    core, space + 1, len - (size_t)(space + 1 - text));
	if (r != NULL && r->seq == n)
		token_record_drop(core, r, "taken");
	else
		tokens_of(core)->taken[tokens_of(core)->ntaken++ % TAKEN_MAX] =
		    n;
	return true;
}

bool
token_record_was_taken(const struct core *core, uint64_t seq)
{
	unsigned i;

	for (i = 0; i < TAKEN_MAX; i++)
		if (tokens_of(core)->taken[i] == seq)
			return true;
	return false;
}

/* Each record and each orphan waits for its end, or for the next look. */
size_t
token_records_check(const struct core *core)
{
	const struct tokens *all = tokens_of(core);
	unsigned n = 0, norphans = 0;
	size_t nblocked = 0;
	const struct token_record *r;

	TAILQ_FOREACH (r, &all->records, link) {
		assert(!r->orphan && r->fence > 0 && r->holder != NULL);
		assert(token_record_find(core, r->name, r->name_len) == r);
		assert(timer_armed(&r->timer));
		nblocked += r->blocked;
		n++;
	}
	TAILQ_FOREACH (r, &all->orphans, link) {
		assert(r->orphan && timer_armed(&r->timer));
		nblocked += r->blocked;
		norphans++;
	}
	assert(n == all->nrecords && n == all->by_name.n);
	assert(n == core->owners->ntokens);
	assert(shares_sum(&core->owners->shares) <=
	       core->owners->ncounted + core->owners->nmade);
	assert(shares_sum(&core->owners->token_shares) <= n);
	assert(norphans == all->norphans);
	job_check(core, JOB_TOKEN_RECORDS, has_more(core));
	return nblocked;
}
