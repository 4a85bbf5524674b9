/*
 * Turns the words of SET, DEL, GET, PEXPIRE and the like into requests to the
 * core.  An option that has no meaning for a lock is refused, never taken for
 * something else.
 */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "base/parse.h"
#include "base/text.h"
#include "resp/ask.h"

#define QUOTE_BYTES_MAX 64
#define SIGNAL_KEY "lock-signal:"
#define FENCE_KEY "redisson_lock_token:"
#define QUEUE_KEY "redisson_lock_queue:"
#define NOT_A_NUMBER "value is not an integer or out of range"

bool
ask_refuse(struct buf *why, const char *what)
{
	buf_adds(why, "ERR ");
	buf_adds(why, what);
	return false;
}

/* Returns NAME of PREFIX{NAME}; or of PREFIXNAME, if the name has a brace.  0
 * bytes: the key has neither form. */
static struct span
name_behind(struct span key, const char *prefix)
{
	size_t n = strlen(prefix);
	struct span name = { key.p + n, key.n - n };

	if (!span_begins(key, prefix))
		return (struct span){ key.p, 0 };
	if (name.n > 2 && name.p[0] == '{' && name.p[name.n - 1] == '}')
		return (struct span){ name.p + 1, name.n - 2 };
	return name;
}

struct span
ask_queue_of(struct span key)
{
	return name_behind(key, QUEUE_KEY);
}

/* Redisson asks for a fence by a GET of the key of a token. */
struct span
ask_lock_of(enum resp_id id, struct span key)
{
	struct span name = name_behind(key, FENCE_KEY);

	return id == RESP_GET && name.n > 0 ? name : key;
}

bool
ask_name(struct ask *a, struct span name, struct buf *why)
{
	const char *text = text_name_why(name, NAME_MAX_BYTES);
	unsigned i;

	assert(a->rq.nnames <= CORE_NAMES_MAX);
	if (text != NULL) {
		buf_adds(why, "ERR bad-name the name \"");
		text_add(why, name, QUOTE_BYTES_MAX);
		buf_adds(why, "\" ");
		buf_adds(why, text);
		return false;
	}
	for (i = 0; i < a->rq.nnames; i++)
		if (span_same(
			(struct span){ a->names[i].p, a->names[i].n }, name))
			return true;
	if (a->rq.nnames == CORE_NAMES_MAX)
		return ask_refuse(why, "too many names in one request");
	a->names[a->rq.nnames++] = (struct core_name){ name.p, name.n };
	return true;
}

bool
ask_token(struct span token, struct buf *why)
{
	if (token.n >= 1 && token.n <= TOKEN_MAX_BYTES)
		return true;
	return ask_refuse(why, "bad-token a token has 1 to 512 bytes");
}

/* As strict as Redis: no sign but one '-', no leading zero, 64 bits. */
bool
ask_number(struct span word, int64_t *n)
{
	bool negative = word.n > 0 && word.p[0] == '-';
	uint64_t v;

	if (!parse_number(word.p + negative, word.n - negative,
		(uint64_t)INT64_MAX + negative, &v) ||
	    (negative && v == 0))
		return false;
	*n = negative ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}

/* Limits a time.  A longer one is as good as endless. */
int64_t
ask_bounded(int64_t ms)
{
	return ms > TOKEN_MS_MAX ? TOKEN_MS_MAX : ms;
}

/* The time of an extension that sets a new end: an end in the past ends the
 * hold. */
int64_t
ask_until(int64_t ms)
{
	return ms > 0 ? ask_bounded(ms) : -1;
}

/* SET. */

enum set_when { SET_ALWAYS, SET_NX, SET_XX, SET_IFEQ };

/* The options of a SET. */
struct set {
	enum set_when when;
	struct span old; /* IFEQ */
	bool get;
	struct span bound; /* EX, PX, EXAT or PXAT; of 0 bytes: none ... */
	struct span time;  /* ... and its number */
	int64_t ttl_ms;
};

static bool
set_when(struct set *s, enum set_when when, struct buf *why)
{
	if (s->when != SET_ALWAYS && s->when != when)
		return ask_refuse(why, "syntax error");
	s->when = when;
	return true;
}

/* Takes one of these options, perhaps twice: the last one counts. */
static bool
set_bound(struct set *s, struct span word, struct span number, struct buf *why)
{
	if (s->bound.n > 0 &&
	    (s->bound.n != word.n ||
		parse_upper(s->bound.p[0]) != parse_upper(word.p[0])))
		return ask_refuse(why, "syntax error");
	s->bound = word;
	s->time = number;
	return true;
}

/* EX, PX: a duration; EXAT, PXAT: a time of day. */
static bool
set_ttl(struct set *s, int64_t clock_ms, struct buf *why)
{
	int64_t unit, n;

	if (s->bound.n == 0)
		return true;
	unit = parse_upper(s->bound.p[0]) == 'E' ? 1000 : 1;
	if (!ask_number(s->time, &n))
		return ask_refuse(why, NOT_A_NUMBER);
	if (n <= 0 || n > INT64_MAX / unit)
		return ask_refuse(why, "invalid expire time in 'set' command");
	n *= unit;
	if (s->bound.n == 2 && n > INT64_MAX - clock_ms)
		return ask_refuse(why, "invalid expire time in 'set' command");
	/*
	 * If the time has passed already, Redis answers OK and the key expires
	 * at once.
	 */
	if (s->bound.n == 4)
		n = n - clock_ms > 0 ? n - clock_ms : 1;
	s->ttl_ms = ask_bounded(n);
	return true;
}

static bool
is_bound(struct span word)
{
	return resp_says(word, "EX") || resp_says(word, "PX") ||
	       resp_says(word, "EXAT") || resp_says(word, "PXAT");
}

/* Takes an option, and perhaps its argument. */
static bool
set_option(struct set *s, const struct span *words, unsigned left,
    unsigned *taken, struct buf *why)
{
	*taken = 1;
	if (resp_says(words[0], "NX"))
		return set_when(s, SET_NX, why);
	if (resp_says(words[0], "XX"))
		return set_when(s, SET_XX, why);
	if (resp_says(words[0], "GET")) {
		s->get = true;
		return true;
	}
	if (resp_says(words[0], "KEEPTTL"))
		return ask_refuse(why, "lockbroker does not support KEEPTTL");
	if (left < 2)
		return ask_refuse(why, "syntax error");
	*taken = 2;
	if (is_bound(words[0]))
		return set_bound(s, words[0], words[1], why);
	if (!resp_says(words[0], "IFEQ"))
		return ask_refuse(why, "syntax error");
	s->old = words[1];
	return set_when(s, SET_IFEQ, why) && ask_token(s->old, why);
}

static bool
parse_set(struct ask *a, const struct span *words, unsigned nwords,
    int64_t clock_ms, struct buf *why)
{
	struct set s = { .when = SET_ALWAYS };
	unsigned i, taken;

	for (i = 3; i < nwords; i += taken)
		if (!set_option(&s, words + i, nwords - i, &taken, why))
			return false;
	if (s.when == SET_ALWAYS)
		return ask_refuse(
		    why, "lockbroker supports SET only with NX, XX or IFEQ");
	if (s.get && s.when != SET_NX)
		return ask_refuse(why, "lockbroker supports GET only with NX");
	if (!set_ttl(&s, clock_ms, why))
		return false;
	a->rq.op = s.when == SET_NX ? TOKEN_ACQUIRE : TOKEN_EXTEND;
	a->rq.match = s.when == SET_XX ? TOKEN_ANY : TOKEN_EXACT;
	a->rq.token = s.when == SET_IFEQ ? s.old.p : words[2].p;
	a->rq.token_len = s.when == SET_IFEQ ? s.old.n : words[2].n;
	if (s.when != SET_NX) {
		a->rq.new_token = words[2].p;
		a->rq.new_token_len = words[2].n;
	}
	a->rq.ttl_ms = s.ttl_ms;
	a->form = s.get ? ASK_OLD_OR_NIL : ASK_OK_OR_NIL;
	return ask_token(words[2], why);
}

static bool
parse_setnx(struct ask *a, const struct span *words, struct buf *why)
{
	a->rq.op = TOKEN_ACQUIRE;
	a->rq.token = words[2].p;
	a->rq.token_len = words[2].n;
	a->form = ASK_ONE_OR_ZERO;
	return ask_token(words[2], why);
}

/* PEXPIRE, EXPIRE, PERSIST. */

struct expire {
	bool nx, xx, gt, lt;
};

static bool
expire_options(struct expire *e, const struct span *words, unsigned nwords,
    struct buf *why)
{
	unsigned i;

	for (i = 3; i < nwords; i++) {
		if (resp_says(words[i], "NX")) {
			e->nx = true;
		} else if (resp_says(words[i], "XX")) {
			e->xx = true;
		} else if (resp_says(words[i], "GT")) {
			e->gt = true;
		} else if (resp_says(words[i], "LT")) {
			e->lt = true;
		} else {
			ask_refuse(why, "Unsupported option ");
			text_add(why, words[i], QUOTE_BYTES_MAX);
			return false;
		}
	}
	if (e->nx && (e->xx || e->gt || e->lt))
		return ask_refuse(why, "NX and XX, GT or LT options at the same"
				       " time are not compatible");
	if (e->gt && e->lt)
		return ask_refuse(why,
		    "GT and LT options at the same time are not"
		    " compatible");
	return true;
}

static enum token_bound
expire_bound(const struct expire *e)
{
	if (e->nx)
		return TOKEN_IF_UNBOUND;
	if (e->gt)
		return TOKEN_IF_LONGER;
	if (e->lt)
		return TOKEN_IF_SHORTER;
	return e->xx ? TOKEN_IF_BOUND : TOKEN_REPLACE;
}

static bool
parse_expire(struct ask *a, const struct span *words, unsigned nwords,
    int64_t unit, int64_t clock_ms, struct buf *why)
{
	struct expire e = { false, false, false, false };
	int64_t n;

	if (!expire_options(&e, words, nwords, why))
		return false;
	if (!ask_number(words[2], &n))
		return ask_refuse(why, NOT_A_NUMBER);
	if (n > (INT64_MAX - clock_ms) / unit || n < INT64_MIN / unit)
		return ask_refuse(
		    why, unit == 1 ? "invalid expire time in 'pexpire' command"
				   : "invalid expire time in 'expire' command");
	if (e.xx && (e.gt || e.lt))
		return ask_refuse(
		    why, "lockbroker supports XX only without GT or LT");
	a->form = ASK_ONE_OR_ZERO;
	a->rq.match = TOKEN_ANY;
	a->rq.bound = expire_bound(&e);
	a->rq.op = TOKEN_EXTEND;
	a->rq.ttl_ms = ask_until(n * unit);
	return true;
}

static bool
parse_persist(struct ask *a)
{
	a->rq.op = TOKEN_EXTEND;
	a->rq.match = TOKEN_ANY;
	a->rq.bound = TOKEN_IF_BOUND;
	a->form = ASK_ONE_OR_ZERO;
	return true;
}

/* DEL and the like. */

static bool
parse_release(
    struct ask *a, enum token_match match, struct span token, struct buf *why)
{
	a->rq.op = TOKEN_RELEASE;
	a->rq.match = match;
	a->rq.token = token.p;
	a->rq.token_len = token.n;
	a->form = ASK_COUNT;
	return match == TOKEN_ANY || ask_token(token, why);
}

static bool
parse_delex(
    struct ask *a, const struct span *words, unsigned nwords, struct buf *why)
{
	if (nwords == 2)
		return parse_release(
		    a, TOKEN_ANY, (struct span){ NULL, 0 }, why);
	if (nwords == 4 && resp_says(words[2], "IFEQ"))
		return parse_release(a, TOKEN_EXACT, words[3], why);
	if (nwords == 4 && resp_says(words[2], "IFNE"))
		return parse_release(a, TOKEN_NOT, words[3], why);
	return ask_refuse(
	    why, "lockbroker supports DELEX only with IFEQ or IFNE");
}

static bool
query(struct ask *a, enum ask_form form)
{
	a->rq.op = TOKEN_QUERY;
	a->form = form;
	return true;
}

static bool
parse_fence(struct ask *a, struct span token, struct buf *why)
{
	a->token = token;
	return query(a, ASK_FENCE) && ask_token(token, why);
}

/*
 * BLPOP lock-signal:NAME, by which python-redis-lock waits for lock:NAME. Redis
 * takes fractions of seconds.
 */

static bool
parse_timeout(struct span word, int64_t *ms, struct buf *why)
{
	static const char wrong_number[] =
	    "timeout is not a float or out of range";
	const char *dot = memchr(word.p, '.', word.n);
	size_t whole = dot == NULL ? word.n : (size_t)(dot - word.p), i;
	uint64_t s;

	if (word.n > 0 && word.p[0] == '-')
		return ask_refuse(why, "timeout is negative");
	if (!parse_number(word.p, whole, (uint64_t)DURATION_MS_MAX / 1000, &s))
		return ask_refuse(why, wrong_number);
	*ms = (int64_t)s * 1000;
	for (i = whole + 1; i < word.n; i++) {
		if (word.p[i] < '0' || word.p[i] > '9')
			return ask_refuse(why, wrong_number);
		if (i <= whole + 3)
			*ms += (word.p[i] - '0') * (i == whole + 1	? 100
						       : i == whole + 2 ? 10
									: 1);
	}
	if (*ms == 0)
		*ms = DURATION_MS_MAX;
	return true;
}

/* The broker supports the command only in the form that the library sends. */
static bool
unknown(const struct span *words, unsigned nwords, struct buf *why)
{
	buf_adds(why, "ERR ");
	resp_unknown(words, nwords, why);
	return false;
}

/*
 * In Redis, a lock of Redisson is a hash, and its token is a field of it:
 * CLIENT:THREAD.  Other hashes are not locks.
 */
static bool
parse_field(struct ask *a, enum ask_form form, const struct span *words,
    unsigned nwords, struct buf *why)
{
	const struct span field = words[2];
	size_t n = field.n;

	while (n > 0 && field.p[n - 1] >= '0' && field.p[n - 1] <= '9')
		n--;
	if (n == field.n || n < 2 || field.p[n - 1] != ':')
		return unknown(words, nwords, why);
	a->token = field;
	return query(a, form);
}

static bool
parse_blpop(
    struct ask *a, const struct span *words, unsigned nwords, struct buf *why)
{
	static const char prefix[] = "lock:";
	struct span rest;

	if (nwords > 3 || !span_begins(words[1], SIGNAL_KEY))
		return unknown(words, nwords, why);
	rest = (struct span){ words[1].p + strlen(SIGNAL_KEY),
		words[1].n - strlen(SIGNAL_KEY) };
	if (rest.n + strlen(prefix) > NAME_MAX_BYTES)
		return ask_name(a, words[1], why);
	memcpy(a->made, prefix, strlen(prefix));
	memcpy(a->made + strlen(prefix), rest.p, rest.n);
	a->rq.op = TOKEN_ACQUIRE;
	a->rq.awaits = true;
	a->token = words[1];
	a->form = ASK_SIGNAL;
	return parse_timeout(words[2], &a->rq.park_ms, why) &&
	       ask_name(
		   a, (struct span){ a->made, strlen(prefix) + rest.n }, why);
}

static bool
parse_command(struct ask *a, enum resp_id id, const struct span *words,
    unsigned nwords, int64_t clock_ms, struct buf *why)
{
	switch (id) {
	case RESP_SET:
		return parse_set(a, words, nwords, clock_ms, why);
	case RESP_SETNX:
		return parse_setnx(a, words, why);
	case RESP_DEL:
	case RESP_UNLINK:
		return parse_release(
		    a, TOKEN_ANY, (struct span){ NULL, 0 }, why);
	case RESP_DELEX:
		return parse_delex(a, words, nwords, why);
	case RESP_DELIFEQ:
		return parse_release(a, TOKEN_EXACT, words[2], why);
	case RESP_GET:
		return query(a, span_begins(words[1], FENCE_KEY)
				    ? ASK_FENCE_NOW
				    : ASK_TOKEN_OR_NIL);
	case RESP_EXISTS:
		return query(a, ASK_COUNT);
	case RESP_TYPE:
		return query(a, ASK_TYPE);
	case RESP_STRLEN:
		return query(a, ASK_LENGTH);
	case RESP_PTTL:
		return query(a, ASK_LEFT_MS);
	case RESP_TTL:
		return query(a, ASK_LEFT_S);
	case RESP_PEXPIRE:
		return parse_expire(a, words, nwords, 1, clock_ms, why);
	case RESP_EXPIRE:
		return parse_expire(a, words, nwords, 1000, clock_ms, why);
	case RESP_PERSIST:
		return parse_persist(a);
	case RESP_BLPOP:
		return parse_blpop(a, words, nwords, why);
	case RESP_HEXISTS:
		return parse_field(a, ASK_HAS_DEPTH, words, nwords, why);
	case RESP_HGET:
		return parse_field(a, ASK_DEPTH, words, nwords, why);
	case RESP_LB_FENCE:
		return parse_fence(a, words[2], why);
	default:
		return ask_refuse(why, "not a command on locks");
	}
}

bool
ask_parse(struct ask *a, enum resp_id id, const struct span *words,
    unsigned nwords, int64_t clock_ms, struct buf *why)
{
	unsigned first, n = resp_names(id, nwords, &first), i;

	memset(a, 0, sizeof(*a));
	if (!parse_command(a, id, words, nwords, clock_ms, why))
		return false;
	for (i = 0; i < n; i++)
		if (!ask_name(a, ask_lock_of(id, words[first + i]), why))
			return false;
	if (id == RESP_EXISTS && a->rq.nnames < n)
		return ask_refuse(why,
		    "lockbroker counts each name once: a name is"
		    " given twice");
	return true;
}
