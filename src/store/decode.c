/*
 * Decodes the replies of the scripts.  A server's reply is input like any
 * other: if any of it does not fit, the outcomes are unknown, and the sender
 * gives the connection up.
 *
 *	[ [state, text, fresh, fence, server's ms, history, node, set, open,
 *	   quiet, spoilt, found, notes],
 *	  [status, fence, ttl, waiting, text, first, second, also], ... ]
 *
 * Elements at the end of an inner array may be missing.  In place of an inner
 * array, a number stands for that many renewals that drew no fences and for
 * which nobody waits, or for that many leases that were ended; and
 * [ "grants", first, n, fences ] stands for n grants of so many fences each,
 * the first of which is `first`.
 */
#include "config.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "store/op_rows.h"
#include "store/script_call.h"

static const struct word {
	const char *text;
	size_t len;
} statuses[] = {
#define OUTCOME(id, word, ...) [OUTCOME_##id] = { word, sizeof(word) - 1 },
	OUTCOMES(OUTCOME)
#undef OUTCOME
}, guards[] = {
#define GUARD(id, word) [GUARD_##id] = { word, sizeof(word) - 1 },
	GUARDS(GUARD)
#undef GUARD
};

#define LASTING true
#define PASSING false
static const bool lasting[OUTCOME_MAX] = {
#define OUTCOME(id, word, lasts) [OUTCOME_##id] = lasts,
	OUTCOMES(OUTCOME)
#undef OUTCOME
};

static_assert(OP_MAX <= 64, "kinds of operations are bits");

static const struct outcome no_outcome = { .text = "" };

/* Returns which of n words a reply is; n if it is none of them. */
static unsigned
find_word(const redisReply *r, const struct word *words, unsigned n)
{
	unsigned i;

	if (r->type != REDIS_REPLY_STRING && r->type != REDIS_REPLY_STATUS)
		return n;
	for (i = 0; i < n; i++)
		if ((size_t)r->len == words[i].len &&
		    memcmp(r->str, words[i].text, words[i].len) == 0)
			break;
	return i;
}

/* Returns element i, or NULL if it is missing or nil. */
static const redisReply *
element(const redisReply *array, size_t i)
{
	if (i >= array->elements || array->element[i]->type == REDIS_REPLY_NIL)
		return NULL;
	return array->element[i];
}

/* Reads an integer, as such or as decimal text; 0 if it is missing. */
static bool
get_number(const redisReply *array, size_t i, int64_t min, int64_t *out)
{
	const redisReply *r = element(array, i);
	uint64_t n;

	*out = 0;
	if (r == NULL)
		return true;
	if (r->type == REDIS_REPLY_INTEGER)
		*out = r->integer;
	else if (r->type == REDIS_REPLY_STRING &&
		 parse_number(r->str, (size_t)r->len, FENCE_MAX, &n))
		*out = (int64_t)n;
	else
		return false;
	return *out >= min && *out <= (int64_t)FENCE_MAX;
}

/* A number that is used as a fence; 0 if it is missing. */
static bool
get_fence(
    const struct call *call, const redisReply *array, size_t i, int64_t *out)
{
	return get_number(array, i, 0, out) &&
	       (*out == 0 || fence_believed((uint64_t)*out, call->seen));
}

/* The remaining time of a key: any time, because the key may be a plain
 * client's. */
static bool
get_left(const redisReply *array, size_t i, int64_t *out)
{
	const redisReply *r = element(array, i);

	if (r != NULL && r->type == REDIS_REPLY_INTEGER &&
	    r->integer > (int64_t)FENCE_MAX) {
		*out = (int64_t)FENCE_MAX;
		return true;
	}
	return get_number(array, i, -2, out);
}

/* Copies bytes into the call; none if they are missing. */
static bool
get_text(struct call *call, const redisReply *array, size_t i,
    const char **text, size_t *len)
{
	const redisReply *r = element(array, i);
	char *copy;

	*text = "";
	*len = 0;
	if (r == NULL)
		return true;
	if (r->type != REDIS_REPLY_STRING && r->type != REDIS_REPLY_STATUS)
		return false;
	*len = (size_t)r->len;
	copy = call_room(call, *len + 1);
	memcpy(copy, r->str, *len);
	copy[*len] = '\0';
	*text = copy;
	return true;
}

/* A counter of a size that can be doubted says what it was before the call
 * (`found`): the fences of the call go on from there. */
static bool
decode_guard(struct call *call, const redisReply *r)
{
	struct guard_report *out = &call->guard;
	int64_t found, fresh, fence, server_ms, quiet, notes;
	unsigned state;

	if (r->type != REDIS_REPLY_ARRAY || r->elements == 0 ||
	    !get_fence(call, r, 11, &found))
		return false;
	if ((uint64_t)found > call->seen)
		call->seen = (uint64_t)found;
	state = find_word(r->element[0], guards, GUARD_MAX);
	if (state == GUARD_MAX || state == GUARD_UNKNOWN ||
	    state == GUARD_REFUSED ||
	    !get_text(call, r, 1, &out->text, &out->text_len) ||
	    !get_number(r, 2, 0, &fresh) || !get_fence(call, r, 3, &fence) ||
	    !get_number(r, 4, 0, &server_ms) ||
	    !get_text(call, r, 5, &out->history, &out->history_len) ||
	    !get_text(call, r, 6, &out->node, &out->node_len) ||
	    !get_text(call, r, 7, &out->set, &out->set_len) ||
	    !get_text(call, r, 8, &out->open, &out->open_len) ||
	    !get_number(r, 9, 0, &quiet) ||
	    !get_text(call, r, 10, &out->spoilt, &out->spoilt_len) ||
	    !get_number(r, 12, 0, &notes))
		return false;
	if (server_ms > (int64_t)(FENCE_MAX / 1000) ||
	    (state == GUARD_PENDING &&
		(out->text_len == 0 || out->text_len >= PEND_MAX_BYTES ||
		    strlen(out->text) < out->text_len)))
		return false;
	out->state = (enum guard_state)state;
	out->takes = call->script == SCRIPT_ACQUIRE;
	out->fresh = fresh != 0;
	out->fence = (uint64_t)fence;
	out->server_ms = server_ms;
	out->quiet = quiet != 0;
	out->notes = (uint64_t)notes;
	return true;
}

/* Is nothing missing on which the core relies? */
static bool
is_complete(enum op_kind kind, const struct outcome *o)
{
	static const unsigned fenced = 1u << OUTCOME_GRANTED |
				       1u << OUTCOME_WAITING |
				       1u << OUTCOME_TRIPPED;
	bool key = kind == OP_CLAIM || kind == OP_TOKEN || kind == OP_PASS;
	bool hold = key || kind == OP_RETAIN || kind == OP_DISOWN;

	if (o->fence == 0 && ((fenced & 1u << o->status) != 0 ||
				 (hold && o->status == OUTCOME_RENEWED)))
		return false;
	return !key || o->status == OUTCOME_GRANTED || o->key_kind <= KEY_PLAIN;
}

/* Returns what the refusal says, for display. */
static const char *
refused_text(struct call *call, const struct refused *r)
{
	char *text = call_room(call, REFUSAL_TEXT);

	refusal_text(r, text);
	return text;
}

/* Nothing can be taken or kept, for a reason that concerns several names. */
static void
report_refused(struct call *call, enum guard_state state, const char *text)
{
	call->guard = (struct guard_report){ .state = state,
		.takes = call->script == SCRIPT_ACQUIRE,
		.text = text,
		.text_len = strlen(text),
		.node = "",
		.set = "",
		.open = "",
		.spoilt = "" };
	call->has_guard = true;
}

/*
 * A script could not carry out an operation.  If it lacks a right that the same
 * operation on any other name needs, no name can be taken.
 */
static void
decode_refused(struct call *call, unsigned i)
{
	struct outcome *out = &call->outcomes[i];
	struct refused r;

	refusal_read(&r, out->text, out->text_len);
	out->text = refused_text(call, &r);
	out->text_len = strlen(out->text);
	if (r.refusal != NULL && refusal_lacks(r.refusal)) {
		if (call->lacks == 0)
			call->refused = r;
		call->lacks |= UINT64_C(1) << call->kinds[i];
	}
	if (call->kinds[i] == OP_ACQUIRE && r.refusal != NULL &&
	    r.refusal->action == REFUSAL_LACKS)
		report_refused(call, GUARD_REFUSED, out->text);
}

static bool
decode_outcome(struct call *call, unsigned i, const redisReply *r)
{
	struct outcome *out = &call->outcomes[i];
	int64_t fence, waiting, first, second;
	unsigned status;

	assert(i < call->nops);
	if (r->type != REDIS_REPLY_ARRAY || r->elements == 0)
		return false;
	status = find_word(r->element[0], statuses, OUTCOME_MAX);
	if (status == OUTCOME_MAX ||
	    !(op_rows[call->kinds[i]].answers & 1u << status))
		return false;
	if (!get_fence(call, r, 1, &fence) || !get_left(r, 2, &out->ttl_ms) ||
	    !get_number(r, 3, 0, &waiting) ||
	    !get_text(call, r, 4, &out->text, &out->text_len) ||
	    !get_number(r, 5, 0, &first) || !get_number(r, 6, 0, &second) ||
	    !get_text(call, r, 7, &out->also, &out->also_len))
		return false;
	out->status = (enum outcome_status)status;
	out->fence = (uint64_t)fence;
	out->waiting = waiting != 0;
	out->first = (uint64_t)first;
	out->second = (uint64_t)second;
	if (status == OUTCOME_REFUSED)
		decode_refused(call, i);
	return is_complete(call->kinds[i], out);
}

const char *
call_op_word(enum op_kind kind)
{
	assert(kind < OP_MAX);
	return op_rows[kind].word;
}

/* Sets the same outcome for all operations. */
static void
set_all(struct call *call, enum outcome_status status, const char *text)
{
	struct outcome o = no_outcome;
	unsigned i;

	o.status = status;
	o.text = text;
	o.text_len = strlen(text);
	for (i = 0; i < call->nops; i++)
		call->outcomes[i] = o;
}

static enum call_verdict
malformed(struct call *call, const char *what)
{
	call->has_guard = false;
	call->malformed = what;
	set_all(call, OUTCOME_UNKNOWN, "");
	return CALL_MALFORMED;
}

/* Returns why the guard let nothing run, for the client. */
static const char *
guard_text(struct call *call)
{
	const struct guard_report *g = &call->guard;
	char *text;
	size_t size;

	if (g->state == GUARD_READONLY)
		return "Redis is a read-only replica";
	if (g->state == GUARD_CLOCK)
		return "the clock of Redis is too far ahead for fences";
	size = g->text_len + strlen(call->cfg) + 64;
	text = call_room(call, size);
	snprintf(text, size, "other brokers on this Redis use %s, this one %s",
	    g->text, call->cfg);
	return text;
}

static enum call_verdict
decode_error(struct call *call, const redisReply *r)
{
	struct refused *refused = &call->refused;
	enum guard_state state = GUARD_REFUSED;
	const char *text;

	refusal_read(refused, r->str, (size_t)r->len);
	text = refused_text(call, refused);
	/* Redis 7 refuses by itself, before our guard can report it. */
	if (refused->refusal != NULL &&
	    strcmp(refused->refusal->prefix, "READONLY") == 0)
		state = GUARD_READONLY;
	report_refused(call, state, state == GUARD_REFUSED ? text : "");
	if (refused->refusal == NULL || refused->inside) {
		set_all(call, OUTCOME_UNKNOWN, "");
		return CALL_FAILED;
	}
	set_all(call, OUTCOME_REFUSED, text);
	return CALL_REFUSED;
}

/* From i on, n operations of one kind went as nearly all do.  Returns n, or 0
 * if that cannot be. */
static unsigned
decode_row(struct call *call, unsigned i, int64_t n)
{
	enum op_kind kind = call->kinds[i];
	unsigned end;

	if ((kind != OP_RENEW && kind != OP_END) || n <= 0 ||
	    n > call->nops - i)
		return 0;
	for (end = i + (unsigned)n; i < end; i++) {
		if (call->kinds[i] != kind)
			return 0;
		call->outcomes[i] = no_outcome;
		call->outcomes[i].status =
		    kind == OP_RENEW ? OUTCOME_RENEWED : OUTCOME_ENDED;
	}
	return (unsigned)n;
}

static bool
is_grants(const redisReply *r)
{
	static const struct word grants = { "grants", 6 };

	return r->type == REDIS_REPLY_ARRAY && r->elements == 4 &&
	       find_word(r->element[0], &grants, 1) == 0;
}

/* Does the same for grants. */
static unsigned
decode_grants(struct call *call, unsigned i, const redisReply *r)
{
	int64_t first, n, fences;
	unsigned end;

	if (!get_fence(call, r, 1, &first) || first == 0 ||
	    !get_number(r, 2, 1, &n) || !get_number(r, 3, 1, &fences) ||
	    n > call->nops - i || fences > INT32_MAX ||
	    first + n * fences > (int64_t)FENCE_MAX)
		return 0;
	for (end = i + (unsigned)n; i < end; i++) {
		if (call->kinds[i] != OP_ACQUIRE)
			return 0;
		call->outcomes[i] = no_outcome;
		call->outcomes[i].status = OUTCOME_GRANTED;
		call->outcomes[i].fence = (uint64_t)first;
		call->outcomes[i].drawn = (uint64_t)fences;
		first += fences;
	}
	return (unsigned)n;
}

/* Returns for how many operations an element stands; 0: not understood. */
static unsigned
decode_element(struct call *call, unsigned i, const redisReply *r)
{
	if (r->type == REDIS_REPLY_INTEGER)
		return decode_row(call, i, r->integer);
	if (is_grants(r))
		return decode_grants(call, i, r);
	call->outcomes[i] = no_outcome;
	return decode_outcome(call, i, r) ? 1 : 0;
}

static enum call_verdict
decode_outcomes(struct call *call, const redisReply *r)
{
	unsigned i = 0, n;
	size_t e;

	for (e = 1; e < r->elements && i < call->nops; e++) {
		n = decode_element(call, i, r->element[e]);
		if (n == 0)
			return malformed(call, "result");
		i += n;
	}
	if (i < call->nops || e < r->elements)
		return malformed(call, "number of results");
	return CALL_ANSWERED;
}

static enum call_verdict
decode_array(struct call *call, const redisReply *r)
{
	bool ran;

	if (call->script == SCRIPT_KEEP && call->kinds[0] == OP_END &&
	    element(r, 0) == NULL)
		return decode_outcomes(call, r); /* no report: see keep.lua */
	if (r->elements == 0 || !decode_guard(call, r->element[0]))
		return malformed(call, "header");
	call->has_guard = true;
	ran = call->guard.state == GUARD_BLESSED ||
	      call->guard.state == GUARD_PENDING;
	if (!ran && r->elements == 1) {
		/* In most cases the brokers soon agree on who votes. */
		if (call->guard.state == GUARD_NODES)
			set_all(call, OUTCOME_UNSENT, "");
		else
			set_all(call, OUTCOME_REFUSED, guard_text(call));
		return CALL_ANSWERED;
	}
	return decode_outcomes(call, r);
}

enum call_verdict
call_decode(struct call *call, const redisReply *reply, bool unsent)
{
	assert(reply == NULL || !unsent);
	call->has_guard = false;
	call->refused.refusal = NULL;
	if (reply == NULL) {
		set_all(call, unsent ? OUTCOME_UNSENT : OUTCOME_UNKNOWN, "");
		call->verdict = unsent ? CALL_UNSENT : CALL_LOST;
	} else if (reply->type == REDIS_REPLY_ERROR) {
		call->verdict = decode_error(call, reply);
	} else if (reply->type == REDIS_REPLY_ARRAY) {
		call->verdict = decode_array(call, reply);
	} else {
		call->verdict = malformed(call, "type");
	}
	return call->verdict;
}

/* A replaced master may not know of a latch, nor who has a name by now. */
static bool
may_be_old(enum op_kind kind, enum outcome_status status)
{
	if (kind == OP_AWAIT || kind == OP_COUNTDOWN)
		return status == OUTCOME_GONE;
	return kind == OP_FORCE &&
	       (status == OUTCOME_ENDED || status == OUTCOME_GONE ||
		   status == OUTCOME_LOST);
}

void
call_doubt(struct call *call)
{
	struct outcome *o;
	unsigned i;

	for (i = 0; i < call->nops; i++) {
		o = &call->outcomes[i];
		o->alone = true;
		if (lasting[o->status] || may_be_old(call->kinds[i], o->status))
			o->status = OUTCOME_UNKNOWN;
	}
}
