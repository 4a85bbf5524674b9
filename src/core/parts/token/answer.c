/*
 * The answers to calls: what Redis says of each name, what that means for the
 * call, how much of it the client may see, and which broker looks after the
 * hold from now on.
 *
 *	extended            this broker looks after it, even if the client is
 *	                    gone: it had the hold before
 *	granted, told       this broker looks after it
 *	granted, not told   an orphan: the broker ends it (token_record.c)
 *	ended, not there    a record of it is dropped
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/times.h"
#include "base/xmalloc.h"
#include "core/kernel/guard/guard.h"
#include "core/kernel/lock/names.h"
#include "core/kernel/turn/emit.h"
#include "core/parts/token/measured.h"
#include "core/parts/token/notify.h"
#include "core/parts/token/parts.h"
#include "core/parts/token/poll.h"
#include "core/parts/token/token_record.h"

#define LEASE_TEXT (BROKER_MAX_BYTES + 48)

/* A script's kinds of keys are the kinds that a protocol is told. */
_Static_assert((int)TOKEN_FREE == (int)KEY_NONE &&
		   (int)TOKEN_HELD == (int)KEY_TOKEN_HOLD &&
		   (int)TOKEN_NATIVE == (int)KEY_LEASE &&
		   (int)TOKEN_PLAIN == (int)KEY_PLAIN,
    "kinds of keys");

/* A name that was only kept for a moment has no holder. */
static bool
ended(const struct token_name *n)
{
	return n->status == OUTCOME_ENDED && !holder_is_kept(n->text);
}

/*
 * For an ACQUIRE, everything in the way is BUSY; for a request that means a
 * hold, it matters whether the name is free or held by another.  LATE is what
 * the script answers if a bound is not to be moved this way.
 */
enum token_answer
result_of(const struct token_call *c, const struct token_name *n)
{
	switch (n->status) {
	case OUTCOME_BUSY:
		return c->op == TOKEN_ACQUIRE ? TOKEN_BUSY : TOKEN_OTHERS;
	case OUTCOME_LOST:
		return c->op == TOKEN_ACQUIRE ? TOKEN_BUSY : TOKEN_OTHERS;
	case OUTCOME_GONE:
		return c->op == TOKEN_ACQUIRE ? TOKEN_BUSY : TOKEN_ABSENT;
	case OUTCOME_LATE:
		return TOKEN_UNBOUND;
	case OUTCOME_VALUE:
		if (c->how.act == HOW_ASK ||
		    (n->kind == TOKEN_HELD &&
			(n->key_bits & KEY_IS_MEANT) != 0))
			return TOKEN_DONE;
		if (c->op == TOKEN_ACQUIRE)
			return TOKEN_BUSY;
		return n->kind == TOKEN_FREE ? TOKEN_ABSENT : TOKEN_OTHERS;
	case OUTCOME_ENDED:
		return ended(n) ? TOKEN_DONE : TOKEN_ABSENT;
	default:
		return TOKEN_DONE;
	}
}

/* Returns the name that decided the answer; else the first one of the request,
 * which need not be the first of the call: those are in byte order. */
static const struct token_name *
telling(const struct token_call *c, enum token_answer how)
{
	const struct token_name *n, *first = c->names;

	for (n = c->names; n < c->names + c->n; n++) {
		if (how != TOKEN_DONE && n->settled && result_of(c, n) == how)
			return n;
		if (n->first)
			first = n;
	}
	return first;
}

static bool
holds_now(const struct token_name *n)
{
	return n->status == OUTCOME_GRANTED || n->status == OUTCOME_RENEWED;
}

/*
 * Returns the token if the client may see it, because it is of the same user;
 * otherwise NULL.  The caller frees it.  `len` is its length, or that of the
 * text which n->text may show instead: the token of a lease, or the value of a
 * plain client.  `depth` is that of a hold that is counted, now or before it
 * ended.
 */
static char *
shown(const struct token_call *c, const struct token_name *n, size_t *len,
    uint64_t *depth)
{
	const char *text = NULL;

	if (n->status == OUTCOME_GRANTED)
		text = c->op == TOKEN_EXTEND && c->other[0] != '\0' ? c->other
								    : c->holder;
	else if (n->status == OUTCOME_RENEWED ||
		 (n->kind == TOKEN_HELD &&
		     (n->key_bits & KEY_OF_SAME_USER) != 0))
		text = n->text;
	*depth = text == NULL ? 0 : holder_depth(text);
	if (text != NULL)
		return holder_token(text, len);
	*len = 0;
	if (n->text != NULL && n->kind != TOKEN_HELD)
		*len = strlen(n->text);
	return NULL;
}

static unsigned
count(const struct token_call *c)
{
	const struct token_name *n;
	unsigned done = 0;

	for (n = c->names; n < c->names + c->n; n++)
		done +=
		    n->settled &&
		    (holds_now(n) || ended(n) ||
			(n->status == OUTCOME_VALUE && n->kind != TOKEN_FREE));
	return done;
}

static unsigned
count_meant(const struct token_call *c)
{
	const struct token_name *n;
	unsigned meant = 0;

	for (n = c->names; n < c->names + c->n; n++)
		meant += n->settled && (n->key_bits & KEY_IS_MEANT) != 0;
	return meant;
}

static bool
all_absent(const struct token_call *c)
{
	const struct token_name *n;

	for (n = c->names; n < c->names + c->n; n++)
		if (!n->settled || result_of(c, n) != TOKEN_ABSENT)
			return false;
	return true;
}

/* Returns the least that is left of the bounds; -1 if there is none. */
static int64_t
least_ms(const struct token_call *c)
{
	const struct token_name *n;
	int64_t ms = -1;

	for (n = c->names; n < c->names + c->n; n++)
		if (n->settled && n->left_ms >= 0 &&
		    (ms < 0 || n->left_ms < ms))
			ms = n->left_ms;
	return ms;
}

static void
result_emit(
    struct core *core, const struct token_call *c, enum token_answer how)
{
	const struct token_name *n = telling(c, how);
	struct token_result *r;
	uint64_t depth;
	char *token;
	size_t len;

	token = shown(c, n, &len, &depth);
	r = emit_token(
	    core, c->session, c->ref, token != NULL ? token : n->text, len);
	free(token);
	r->answer = how;
	if (how == TOKEN_DONE)
		r->done = count(c);
	/* A hold that was made or extended is the client's; the outcome
	 * describes only others. */
	r->kind = holds_now(n) ? TOKEN_HELD : n->kind;
	r->own = holds_now(n) || (n->key_bits & KEY_OF_SAME_USER) != 0;
	r->matches = holds_now(n) || (n->key_bits & KEY_IS_MEANT) != 0;
	if (c->op == TOKEN_QUERY)
		r->meant = count_meant(c);
	r->all_free = how == TOKEN_ABSENT && all_absent(c);
	r->extended = how == TOKEN_DONE && !c->inherits &&
		      (n->extends || c->op == TOKEN_EXTEND);
	r->listed = c->listed;
	r->depth = depth - (depth > 0 && n->status == OUTCOME_ENDED);
	r->fence = n->fence;
	r->left_ms = how == TOKEN_DONE ? least_ms(c) : n->left_ms;
	if (r->left_ms < 0)
		r->left_ms = -1;
}

/* Describes a lease of this broker as the script would describe one that it
 * finds in Redis. */
void
result_emit_busy(struct core *core, const struct owner *asker,
    const struct token_request *rq)
{
	const struct hold *h = NULL;
	const struct lock *l;
	struct token_result *r;
	char text[LEASE_TEXT] = "";
	unsigned i;

	for (i = 0; i < rq->nnames && h == NULL; i++) {
		l = lock_find(core, rq->names[i].p, rq->names[i].n);
		h = l == NULL ? NULL : hold_first(l);
	}
	if (h != NULL)
		snprintf(text, sizeof(text), "%s.%016" PRIx64 ".%" PRIu64,
		    core->broker, core->config.instance, h->lock->lease.seq);
	r = emit_token(core, asker->id, rq->ref, text, strlen(text));
	r->answer = TOKEN_BUSY;
	r->kind = TOKEN_NATIVE;
	r->fence = h == NULL ? 0 : h->fence;
}

/* The end of a call. */

void
call_drop(struct core *core, struct token_call *c)
{
	if (c->parked)
		poll_leave(core, c);
	else if (c->park_ms > 0)
		poll_heard(core, c);
	call_remove(core, c);
}

/* Gives back the names that the call was granted without a client to tell. */
static void
give_back(struct core *core, struct token_call *c)
{
	struct token_name *n;

	for (n = c->names; n < c->names + c->n; n++)
		if (n->settled && n->status == OUTCOME_GRANTED)
			token_record_orphan(core, n);
}

/* `why` is copied.  The names that the call was granted are released: its
 * client would not know of them. */
void
call_refuse(struct core *core, struct token_call *c, enum err_code code,
    const char *why)
{
	c->result = RESULT_REFUSED;
	give_back(core, c);
	if (c->session != 0)
		emit_error(core, c->session, c->ref, code, "%s", why);
	/* Of several names, those taken are given back only now. */
	if (c->session != 0 && !c->broken && c->n == 1)
		emit_undone(core);
	call_drop(core, c);
}

void
call_unavailable(struct core *core, struct token_call *c, uint32_t shard)
{
	char why[GUARD_WHY_SIZE];

	call_refuse(
	    core, c, ERR_UNAVAILABLE, guard_excuse(core, shard, NULL, why));
}

/* From now on this broker looks after the hold. */
static void
note_hold(struct core *core, const struct token_call *c,
    const struct token_name *n, const struct owner *asker)
{
	const char *holder = c->op == TOKEN_ACQUIRE ? c->holder : c->other;

	notify_token(core, c, n, asker);
	if (n->status == OUTCOME_GRANTED) {
		core->stats.grants++;
		token_granted(core, n);
	}
	if (n->status == OUTCOME_RENEWED)
		holder = n->text;
	else if (holder[0] == '\0')
		holder = c->holder;
	token_record_take(core, n, holder, asker);
}

/*
 * The hold is over, or no longer this broker's: drops the record, unless the
 * record is of a later operation.  A poll queue asks under one number until it
 * is granted the name, so the fence counts, too: an answer about an older hold
 * came before the record.
 */
static void
note_gone(struct core *core, const struct token_call *c,
    const struct token_name *n, const struct owner *asker)
{
	struct token_record *r = token_record_find(core, n->name, n->len);

	if (ended(n)) {
		notify_token(core, c, n, asker);
		core->stats.releases++;
	}
	if (r == NULL || r->seq >= n->seq ||
	    (n->fence != 0 && n->fence < r->fence))
		return;
	if (n->status == OUTCOME_ENDED && n->fence == r->fence)
		token_record_drop(core, r, "released");
	else if (n->status == OUTCOME_ENDED || n->fence != r->fence)
		token_record_gone(core, r);
}

/* Short ones are constants, and no fault: many programs lock with such a
 * token. */
#define TOKEN_BYTES 12
#define MOMENT_MS 100
#define TWICE_MS 60000 /* at most one such line in this time */

static bool
is_constant(const char *holder)
{
	size_t len;

	free(holder_token(holder, &len));
	return len < TOKEN_BYTES;
}

/* Has the refused token just got the name, over another connection? */
static void
note_twice(
    struct core *core, const struct token_call *c, const struct owner *asker)
{
	const struct token_name *n = c->names;
	const struct token_record *r = token_record_find(core, n->name, n->len);
	struct tokens *t = tokens_of(core);

	if (c->op != TOKEN_ACQUIRE || c->n > 1 || r == NULL ||
	    r->session == asker->id || strcmp(r->holder, c->holder) != 0 ||
	    is_constant(c->holder) || core->now_ms - r->since_ms > MOMENT_MS ||
	    (t->twice_ms != 0 && core->now_ms - t->twice_ms < TWICE_MS))
		return;
	t->twice_ms = core->now_ms;
	notify_token_twice(core, n, asker);
}

void
call_answer(struct core *core, struct token_call *c, enum token_answer how)
{
	const struct owner *asker = call_asker(core, c);
	bool keeps = how == TOKEN_DONE && call_is_heard(core, c);
	const struct token_name *n;

	for (n = c->names; n < c->names + c->n; n++) {
		if (!n->settled || n->status == OUTCOME_LATE)
			continue;
		/* A name that was awaited belongs to its poll queue, which
		 * keeps it for the user. */
		if (n->status == OUTCOME_RENEWED ||
		    (n->status == OUTCOME_GRANTED && keeps && !c->awaits))
			note_hold(core, c, n, asker);
		else if (n->status != OUTCOME_GRANTED)
			note_gone(core, c, n, asker);
	}
	if (!keeps)
		give_back(core, c);
	if (c->session == 0 || (asker != NULL && !asker->draining))
		c->result = keeps ? RESULT_GRANTED : RESULT_TIMEOUT;
	if (how == TOKEN_BUSY && !c->parked)
		token_busy(core, c);
	if (how == TOKEN_BUSY && asker != NULL)
		note_twice(core, c, asker);
	if (how == TOKEN_BUSY && c->audience != 0 && asker != NULL)
		c->listed = poll_listens(core, c);
	else if (c->op == TOKEN_RELEASE && c->how.match == HOW_COUNTED)
		c->listed = poll_is_wanted(core, c);
	if (c->session != 0 || how == TOKEN_DONE)
		result_emit(core, c, how);
	/* A token that waited in vain has its place already. */
	if (c->park_ms > 0 && how == TOKEN_BUSY && !c->parked && !c->listed)
		poll_refused(core, c);
	else if (keeps && (c->park_ms > 0 || c->op == TOKEN_EXTEND))
		poll_granted(core, c); /* elsewhere, if it extends */
	call_drop(core, c);
}

/*
 * Names are settled by what Redis answers to its operation, or by the lack of
 * an answer.
 *
 * No broker vouches for a token hold, so an answer counts only for the moment
 * at which the script ran.  A grant no longer counts if its time is over by
 * now, if another broker has said meanwhile that it has ended the hold, or if
 * the server's history has changed since (call_doubts()).  And if no answer
 * comes, the broker ends by its own token whatever hold the operation may have
 * made.
 */

/*
 * Has the time of the hold that an answer reports run out before the client is
 * told?  It ran from the moment at which the script ran, which was not before
 * the operation was sent.  Others may have been granted the name since, and
 * been told so.
 */
static bool
is_over(const struct core *core, const struct token_name *n, int64_t sent_ms)
{
	return n->left_ms > 0 && core->now_ms >= sent_ms + n->left_ms;
}

/* The hold that was there and was extended has ended by itself meanwhile. */
static void
drop_over(struct core *core, const struct token_name *n)
{
	struct token_record *r = token_record_find(core, n->name, n->len);

	if (r != NULL && r->fence == n->fence)
		token_record_drop(core, r, "hold");
}

static void
note_free(struct token_name *n)
{
	n->kind = TOKEN_FREE;
	n->key_bits = 0;
	n->fence = 0;
	n->left_ms = -1;
	n->text[0] = '\0';
}

static void
note_over(struct core *core, struct token_name *n)
{
	drop_over(core, n);
	n->status = OUTCOME_GONE;
	note_free(n);
}

void
call_keep(struct core *core, const struct token_call *c, struct token_name *n,
    int64_t sent_ms, const struct outcome *o)
{
	n->settled = true;
	/* A hold that was kept for the user is new to the client: a grant. */
	n->status = c->inherits && o->status == OUTCOME_RENEWED
			? OUTCOME_GRANTED
			: o->status;
	n->fence = o->fence;
	/* A lease is renewed, so the end of its key means nothing to a
	 * client. */
	n->left_ms = o->key_kind == KEY_LEASE ? -1 : o->ttl_ms;
	if (n->status == OUTCOME_GRANTED)
		n->left_ms = c->ttl_ms > 0 ? c->ttl_ms : -1;
	n->waited_ms = core->now_ms - c->since_ms;
	n->kind = (enum token_kind)o->key_kind;
	n->key_bits = (unsigned)o->key_bits;
	free(n->text);
	n->text = xstrndup(o->text, o->text_len);
	/* A name that is only kept for a moment has no holder. */
	if (c->op == TOKEN_QUERY && n->kind == TOKEN_HELD &&
	    holder_is_kept(n->text)) {
		note_free(n);
		return;
	}
	/* The message that it is over has overtaken this answer. */
	if (token_record_was_taken(core, n->seq) &&
	    n->status == OUTCOME_GRANTED)
		n->status = OUTCOME_BUSY;
	if (token_record_was_taken(core, n->seq) &&
	    n->status == OUTCOME_RENEWED)
		n->status = OUTCOME_LOST;
	if (!is_over(core, n, sent_ms))
		return;
	if (n->status == OUTCOME_GRANTED ||
	    (n->status == OUTCOME_RENEWED && c->op == TOKEN_ACQUIRE)) {
		drop_over(core, n);
		token_record_orphan(core, n);
		n->status = OUTCOME_BUSY;
	} else if (n->status == OUTCOME_RENEWED) {
		note_over(core, n);
	}
}

/* Compares texts like the scripts, as far as the broker can. */
static bool
means(const struct token_call *c, const struct token_record *r)
{
	switch (c->how.match) {
	case HOW_EXACT:
		return strcmp(r->holder, c->holder) == 0;
	case HOW_COUNTED:
		return holder_same_counted(r->holder, c->holder);
	default:
		return true;
	}
}

/* Returns until when the hold lasts for sure if the call was carried out, since
 * it was sent at the earliest. */
static int64_t
lasts_till_ms(const struct token_call *c, const struct token_name *n,
    const struct token_record *r)
{
	if (c->op == TOKEN_RELEASE &&
	    (c->how.match != HOW_COUNTED ||
		r->returned >= holder_depth(r->holder)))
		return n->asked_ms;
	if (c->how.bound == HOW_IF_LONGER || c->ttl_ms == 0)
		return INT64_MAX;
	/* A locks.max_hold that is lower now than when the hold was made cuts
	 * that, too. */
	if (c->how.bound == HOW_ADD && c->ttl_ms > 0)
		return c->most_ms > 0 ? n->asked_ms + c->most_ms : INT64_MAX;
	return n->asked_ms + max_ms(0, c->ttl_ms);
}

/* Perhaps the call has extended or ended its hold of the name. */
static void
doubt(struct core *core, const struct token_call *c, const struct token_name *n)
{
	struct token_record *r = token_record_find(core, n->name, n->len);

	if (r == NULL)
		return;
	if (!means(c, r)) {
		token_record_doubt(core, r, INT64_MAX);
		return;
	}
	r->returned += c->op == TOKEN_RELEASE;
	token_record_doubt(core, r, lasts_till_ms(c, n, r));
}

void
call_failed(struct core *core, struct token_call *c, struct token_name *n,
    const struct outcome *o)
{
	uint32_t shard = guard_shard(core, n->name, n->len);
	char why[GUARD_WHY_SIZE];

	/* Perhaps the name was taken for this call without anyone knowing.  If
	 * the call is parked, its poll queue sees to that. */
	if (o->status == OUTCOME_UNKNOWN && call_takes(c) && !c->looks &&
	    (!n->extends || c->inherits) && !c->parked) {
		n->left_ms = c->ttl_ms > 0 ? c->ttl_ms : -1;
		token_record_orphan(core, n);
	}
	if (o->status == OUTCOME_UNKNOWN &&
	    (c->op == TOKEN_EXTEND || c->op == TOKEN_RELEASE || n->extends ||
		c->how.match == HOW_COUNTED))
		doubt(core, c, n);
	c->broken |=
	    o->status == OUTCOME_UNKNOWN || o->status == OUTCOME_REFUSED;
	/* The call ends when the other names are answered. */
	if (call_in_flight(c)) {
		n->settled = true;
		n->status = OUTCOME_UNKNOWN;
		c->broken = true;
		return;
	}
	snprintf(why, sizeof(why), "%.*s", (int)o->text_len, o->text);
	if (o->status == OUTCOME_REFUSED)
		call_refuse(core, c, ERR_UNAVAILABLE, why);
	else
		call_unavailable(core, c, shard);
}

/* Parked calls, whose operations poll.c sends. */

void
call_note(struct core *core, struct token_call *c, const struct outcome *o)
{
	call_keep(core, c, &c->names[0], 0, o);
}

void
call_settle(struct core *core, struct token_call *c, int64_t sent_ms,
    const struct outcome *o)
{
	assert(c->n == 1);
	if (o->status != OUTCOME_GRANTED) {
		call_failed(core, c, &c->names[0], o);
		return;
	}
	call_keep(core, c, &c->names[0], sent_ms, o);
	call_answer(core, c, result_of(c, &c->names[0]));
}
