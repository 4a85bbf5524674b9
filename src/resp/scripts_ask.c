/* The request of a script: its row in the table, and its arguments. */
#include "config.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/times.h"
#include "resp/scripts.h"
#include "resp/sha1.h"

#define NUMBER_BYTES_MAX 64

#define NOT_A_NUMBER "value is not an integer or out of range"
#define ASK_ANYWHERE (ASK_FREE | ASK_MINE | ASK_OTHERS)
#define NO_TIME "invalid expire time in 'set' command"

enum script_flag {
	SCRIPT_FLAG_EITHER = 1,
	SCRIPT_FLAG_WHOLE = 2,
	SCRIPT_FLAG_UNBOUNDED = 4,
	SCRIPT_FLAG_ADDS = 8,
	SCRIPT_FLAG_IF_YES = 16,
	SCRIPT_FLAG_PREFIX = 32,
	SCRIPT_FLAG_SET = 64,
	SCRIPT_FLAG_LATCH = 128,
	SCRIPT_FLAG_TELLS = 256,
	SCRIPT_FLAG_REPEATS = 512,
	SCRIPT_FLAG_EACH = 1024,
	SCRIPT_FLAG_WHEN = 2048,
	SCRIPT_FLAG_ONE = 4096,
	SCRIPT_FLAG_FAIR = 8192,
	SCRIPT_FLAG_LEAVES = 16384,
	SCRIPT_FLAG_EXPIRES = 32768,
	SCRIPT_FLAG_TRIES = 65536,
	SCRIPT_FLAG_LUA = 131072,
	SCRIPT_FLAG_OPTIONAL = 262144,
	SCRIPT_FLAG_SELECTS = 524288,
	SCRIPT_FLAG_LOOKS = 1048576,
	SCRIPT_FLAG_HEARS = 2097152
};

enum script_keys {
	SCRIPT_KEYS_FIRST,
	SCRIPT_KEYS_REST,
	SCRIPT_KEYS_ALL,
	SCRIPT_KEYS_QUEUE
};

/* A row of scripts.def. */
struct script {
	enum script_keys keys;
	enum token_op op;
	enum token_match match;
	unsigned token, number; /* of its arguments, from 1; 0: none */
	int64_t unit;
	enum token_bound bound;
	unsigned flags;
	enum ask_form form;
};

#define F(x) SCRIPT_FLAG_##x
#define TEXT(sha1, id, from)
#define FORM(id, text)
static const struct script table[SCRIPT_MAX] = {
#define SCRIPT(                                                           \
    id, normal, keys, op, match, token, number, unit, bound, flags, form) \
	[SCRIPT_##id] = { SCRIPT_KEYS_##keys, TOKEN_##op, TOKEN_##match,  \
		token, number, unit, TOKEN_##bound, flags, ASK_##form },  \
	[SCRIPT_##id##_COMPUTES] = { SCRIPT_KEYS_##keys, TOKEN_##op,      \
		TOKEN_##match, token, number, unit, TOKEN_##bound,        \
		(flags) | F(LUA), ASK_##form },
#include "resp/scripts.def"
#undef SCRIPT
};
#undef FORM
#undef TEXT
#undef F

/* The arguments of a call: ARGV, or the keys after the first one. */
struct args {
	const struct span *v;
	unsigned n;
};

/* A fair lock of Redisson has three keys: its own, and two of its queue. */
static bool
is_fair(const struct span *keys, int64_t n)
{
	return n == 3 && ask_queue_of(keys[1]).n > 0;
}

static bool
take_keys(struct ask *a, const struct script *s, const struct span *words,
    unsigned nwords, struct args *args, struct buf *why)
{
	struct span name;
	int64_t n, i;

	if (!ask_number(words[0], &n))
		return ask_refuse(why, NOT_A_NUMBER);
	if (n < 0)
		return ask_refuse(why, "Number of keys can't be negative");
	if (n > (int64_t)nwords - 1)
		return ask_refuse(why,
		    "Number of keys can't be greater than number"
		    " of args");
	if (n == 0)
		return ask_refuse(why, "this script takes the name of a lock");
	if (n > 1 && (s->flags & SCRIPT_FLAG_ONE) != 0 &&
	    !is_fair(words + 1, n))
		return ask_refuse(
		    why, "lockbroker supports this script with one key only");
	args->v = words + 1 + n;
	args->n = nwords - 1 - (unsigned)n;
	if (s->keys == SCRIPT_KEYS_REST) {
		args->v = words + 2;
		args->n = (unsigned)n - 1;
	}
	if (s->keys == SCRIPT_KEYS_QUEUE) {
		name = ask_queue_of(words[1]);
		return name.n > 0
			   ? ask_name(a, name, why)
			   : ask_refuse(why, "this script takes the key of a"
					     " queue");
	}
	for (i = 0; i < (s->keys == SCRIPT_KEYS_ALL ? n : 1); i++)
		if (!ask_name(a, words[1 + i], why))
			return false;
	return true;
}

static bool
is_third(const struct args *args, const char *word)
{
	return args->n > 2 && span_is(args->v[2], word);
}

/* There, the script comes to a number that is none. */
static void
goes_wrong(struct ask *a, unsigned where, const char *error)
{
	if (a->wrong.error == NULL)
		a->wrong.error = error;
	a->wrong.nnames = a->rq.nnames;
	a->wrong.where |= where;
}

/* A number that Lua computes with: perhaps with blanks around it, hexadecimal,
 * or with an exponent. */
static bool
lua_number(struct span word, double *d)
{
	char text[NUMBER_BYTES_MAX + 1], *end;

	if (word.n > NUMBER_BYTES_MAX)
		return false;
	memcpy(text, word.p, word.n);
	text[word.n] = '\0';
	*d = strtod(text, &end);
	return end > text && !isnan(*d) &&
	       end + strspn(end, " \t\n\v\f\r") == text + word.n;
}

/*
 * Redis must read an integer from the text that Lua writes: above these limits
 * it has an exponent.
 */
static bool
lua_integer(struct span word, int64_t *n)
{
	double d;

	if (!lua_number(word, &d) || d <= -1e17 || d >= 1e17)
		return false;
	*n = (int64_t)d;
	return (double)*n == d;
}

/* A thread that is refused stays in the queue until a time that Lua computes
 * from two numbers, which follow its token. */
static void
take_place(struct ask *a, const struct script *s, const struct args *args)
{
	unsigned i;
	double d;

	for (i = s->token; i < s->token + 2; i++)
		if (i >= args->n || !lua_number(args->v[i], &d))
			goes_wrong(a, ASK_OTHERS, NOT_A_NUMBER);
}

/*
 * The length of the token that counts.  A script that finds a name taken
 * compares string.sub(token, 1, n) with GETRANGE from 0 to n - 1: for a length
 * beyond the end of the token, only the same token matches, and for 0 none
 * does.  Below 0 the two count from different ends, so for tokens of equal
 * length none matches either.
 */
static void
take_prefix(struct ask *a, struct span word)
{
	int64_t n;
	bool is_number = lua_integer(word, &n);

	if (!is_number)
		goes_wrong(a, ASK_MINE | ASK_OTHERS, NOT_A_NUMBER);
	a->rq.match = TOKEN_EXACT;
	if (!is_number || n < 1) {
		a->rq.either = false;
	} else if ((uint64_t)n <= a->token.n) {
		a->rq.match = TOKEN_PREFIX;
		a->rq.prefix = (size_t)n;
	}
}

static bool
take_token(struct ask *a, const struct script *s, const struct args *args,
    struct buf *why)
{
	if (s->token == 0)
		return true;
	a->token = args->v[s->token - 1];
	if (!ask_token(a->token, why))
		return false;
	a->rq.token = a->token.p;
	a->rq.token_len = a->token.n;
	if (s->flags & SCRIPT_FLAG_PREFIX)
		take_prefix(a, args->v[s->token]);
	if ((s->flags & SCRIPT_FLAG_FAIR) != 0 && s->form == ASK_NIL_OR_LEFT)
		take_place(a, s, args);
	return true;
}

/* Where does the script use the number? */
static unsigned
used(const struct ask *a, const struct script *s)
{
	unsigned where = 0;

	if (a->rq.op == TOKEN_ACQUIRE || a->rq.either)
		where |= ASK_FREE;
	if (a->rq.op == TOKEN_EXTEND || a->rq.either)
		where |= ASK_MINE;
	if (s->flags & SCRIPT_FLAG_TRIES)
		where |=
		    ASK_OTHERS | (a->rq.op == TOKEN_ACQUIRE ? ASK_MINE : 0);
	return where;
}

static void
ask_first(struct ask *a)
{
	a->wrong.asks = true;
	a->wrong.if_bound =
	    a->rq.bound == TOKEN_IF_BOUND || a->rq.bound == TOKEN_ADD;
	a->rq.op = TOKEN_QUERY;
	a->rq.either = false;
	a->rq.bound = TOKEN_REPLACE;
}

/* The number is not valid.  An unlock uses it only if some depth is left: it
 * then gets an end that changes nothing. */
static bool
wrong_number(
    struct ask *a, const struct script *s, struct buf *why, const char *error)
{
	if (s->match == TOKEN_ANY || used(a, s) == ASK_ANYWHERE)
		return ask_refuse(why, error);
	if (a->rq.op != TOKEN_RELEASE) {
		goes_wrong(a, used(a, s), error);
		ask_first(a);
		return true;
	}
	goes_wrong(a, ASK_MINE, error);
	a->rq.bound = TOKEN_IF_LONGER;
	a->rq.ttl_ms = 1;
	return true;
}

/* A time in the past: PEXPIRE ends a hold by it, and SET refuses it. */
static bool
take_over(struct ask *a, const struct script *s, struct buf *why)
{
	unsigned where = used(a, s);

	if ((s->flags & SCRIPT_FLAG_SET) != 0 && where == ASK_ANYWHERE)
		return ask_refuse(why, NO_TIME);
	if (s->flags & SCRIPT_FLAG_EXPIRES)
		a->wrong.over = where & ASK_FREE;
	goes_wrong(a, where & ~a->wrong.over, NO_TIME);
	if ((s->flags & SCRIPT_FLAG_SET) != 0 || (where & ASK_MINE) == 0) {
		ask_first(a);
		return true;
	}
	a->wrong.where &= ~(unsigned)ASK_MINE;
	a->rq.op = TOKEN_EXTEND;
	a->rq.either = false;
	a->rq.ttl_ms = -1;
	return true;
}

static bool
take_number(struct ask *a, const struct script *s, const struct args *args,
    int64_t clock_ms, struct buf *why)
{
	bool adds = a->rq.bound == TOKEN_ADD, is_number;
	struct span word;
	int64_t n;

	if (s->number == 0)
		return true;
	word = args->v[s->number - 1];
	if ((s->flags & SCRIPT_FLAG_OPTIONAL) != 0 && word.n == 0)
		return true;
	is_number = adds || (s->flags & SCRIPT_FLAG_LUA) != 0
			? lua_integer(word, &n)
			: ask_number(word, &n);
	if (!is_number || n > INT64_MAX / s->unit || n < INT64_MIN / s->unit)
		return wrong_number(a, s, why, NOT_A_NUMBER);
	n *= s->unit;
	/* Redis stores the time of the end, which must be a number, too. */
	if (n > INT64_MAX - clock_ms)
		return wrong_number(
		    a, s, why, "invalid expire time in this script");
	if (n <= 0 && (a->rq.op == TOKEN_ACQUIRE || a->rq.either ||
			  (s->flags & SCRIPT_FLAG_SET) != 0))
		return take_over(a, s, why);
	if (adds)
		a->rq.ttl_ms = max_ms(ask_bounded(n), -TOKEN_MS_MAX);
	else if (n > 0 || !(s->flags & SCRIPT_FLAG_UNBOUNDED))
		a->rq.ttl_ms = ask_until(n);
	return true;
}

/* The index in ARGV, from 1. */
static unsigned
place_of_command(const struct script *s)
{
	return (s->token > 1 ? s->token + 1 : 2) +
	       ((s->flags & SCRIPT_FLAG_FAIR) != 0);
}

/* As the option of a PEXPIRE. */
static bool
take_when(struct ask *a, const struct args *args, struct buf *why)
{
	static const struct {
		const char *word;
		enum token_bound bound;
	} options[] = {
		{ "", TOKEN_REPLACE },
		{ "NX", TOKEN_IF_UNBOUND },
		{ "XX", TOKEN_IF_BOUND },
		{ "GT", TOKEN_IF_LONGER },
		{ "LT", TOKEN_IF_SHORTER },
	};
	size_t i;

	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (!span_is(args->v[1], options[i].word))
			continue;
		a->rq.bound = options[i].bound;
		return true;
	}
	return ask_refuse(why, "lockbroker does not know this option");
}

static unsigned
args_needed(const struct script *s)
{
	unsigned n = s->token > s->number ? s->token : s->number;

	if (s->flags & SCRIPT_FLAG_TELLS)
		n = place_of_command(s);
	if (s->flags & (SCRIPT_FLAG_LATCH | SCRIPT_FLAG_WHEN))
		n++;
	return s->flags & (SCRIPT_FLAG_ADDS | SCRIPT_FLAG_IF_YES) ? 3 : n;
}

/*
 * The broker remembers the answer to such a request under its last key for the
 * time in its last argument: a client that has not got the answer sends the
 * request again, which must not be carried out twice.  If that time is not in
 * the future, the script fails after it has done everything else.  Other
 * brokers see from the hold itself which request released a level last.
 */
static bool
take_latch(struct ask *a, const struct script *s, const struct span *keys,
    const struct args *args, int64_t clock_ms, struct buf *why)
{
	struct span last = args->v[-1], time = args->v[args_needed(s) - 1];
	char hex[SHA1_HEX_SIZE];
	struct sha1 sum;
	int64_t ms;

	if (&args->v[-1] == keys)
		return ask_refuse(why, "this script takes more keys");
	if (last.n == 0 || last.n > ASK_LATCH_MAX)
		return ask_refuse(
		    why, "the name of this latch has the wrong length");
	a->latch = last;
	sha1_of(&sum, last);
	sha1_hex(&sum, hex);
	memcpy(a->rq.latch, hex, TOKEN_LATCH_BYTES);
	if (!ask_number(time, &ms))
		a->wrong.behind = NOT_A_NUMBER;
	else if (ms <= 0 || ms > INT64_MAX - clock_ms)
		a->wrong.behind = NO_TIME;
	else
		a->latch_ms = ask_bounded(ms);
	/* The answer that a name is free is remembered like any other. */
	if (a->latch_ms == 0 && s->form == ASK_DEPTH_OR_GONE)
		goes_wrong(a, ASK_FREE, a->wrong.behind);
	return true;
}

/* ARGV[2] is the minimum time left.  The library checks both numbers. */
static bool
looks(struct ask *a, const struct args *args, struct buf *why)
{
	a->looks = true;
	if (a->wrong.error == NULL && lua_integer(args->v[1], &a->least_ms))
		return true;
	return ask_refuse(why, NOT_A_NUMBER);
}

/* An argument that is not the number of a database selects none. */
static bool
selects(const struct args *args, struct buf *why)
{
	double d;

	if (!lua_number(args->v[0], &d) || d == 0)
		return true;
	return ask_refuse(why, "lockbroker has database 0 only");
}

/* The command by which a script notifies others follows all other arguments. */
static bool
tells(const struct script *s, const struct args *args, struct buf *why)
{
	struct span word = args->v[place_of_command(s) - 1];

	if (span_is(word, "PUBLISH") || span_is(word, "SPUBLISH"))
		return true;
	return ask_refuse(
	    why, "lockbroker supports this script only with PUBLISH");
}

bool
scripts_ask(struct ask *a, enum script_id id, const struct span *words,
    unsigned nwords, int64_t clock_ms, struct buf *why)
{
	const struct script *s = &table[id];
	struct args args = { NULL, 0 };

	memset(a, 0, sizeof(*a));
	if (!take_keys(a, s, words, nwords, &args, why))
		return false;
	if (args.n < args_needed(s))
		return ask_refuse(why, "this script takes more arguments");
	a->rq.op = s->op;
	a->rq.match = s->match;
	a->rq.bound = s->bound;
	a->rq.either = (s->flags & SCRIPT_FLAG_EITHER) != 0;
	a->rq.all = (s->flags & SCRIPT_FLAG_WHOLE) != 0;
	a->form = s->form;
	a->wrong.all = s->op == TOKEN_QUERY && s->keys == SCRIPT_KEYS_ALL;
	a->wrong.nnames = a->rq.nnames;
	if ((s->flags & SCRIPT_FLAG_ADDS) && is_third(&args, "0"))
		a->rq.bound = TOKEN_ADD;
	if ((s->flags & SCRIPT_FLAG_IF_YES) && !is_third(&args, "yes")) {
		a->rq.op = TOKEN_EXTEND;
		a->rq.either = false;
	}
	a->repeats = (s->flags & SCRIPT_FLAG_REPEATS) != 0;
	a->hears = (s->flags & SCRIPT_FLAG_HEARS) != 0;
	a->fair = (s->flags & SCRIPT_FLAG_FAIR) != 0;
	a->rq.awaits = (s->flags & SCRIPT_FLAG_LEAVES) != 0;
	return ((s->flags & SCRIPT_FLAG_TELLS) == 0 || tells(s, &args, why)) &&
	       ((s->flags & SCRIPT_FLAG_SELECTS) == 0 || selects(&args, why)) &&
	       ((s->flags & SCRIPT_FLAG_LATCH) == 0 ||
		   take_latch(a, s, words + 1, &args, clock_ms, why)) &&
	       ((s->flags & SCRIPT_FLAG_WHEN) == 0 ||
		   take_when(a, &args, why)) &&
	       take_token(a, s, &args, why) &&
	       take_number(a, s, &args, clock_ms, why) &&
	       ((s->flags & SCRIPT_FLAG_LOOKS) == 0 || looks(a, &args, why));
}

unsigned
scripts_each(enum script_id id, const struct span *words, unsigned nwords)
{
	int64_t n;

	if ((table[id].flags & SCRIPT_FLAG_EACH) == 0 ||
	    !ask_number(words[0], &n) || n <= 0 || n > (int64_t)nwords - 1)
		return 0;
	return (unsigned)n;
}

bool
scripts_ask_one(struct ask *a, enum script_id id, const struct span *words,
    unsigned nwords, unsigned i, int64_t clock_ms, struct buf *why)
{
	unsigned n = scripts_each(id, words, nwords);
	struct span one[4] = { { "1", 1 } };

	assert(i < n);
	if (nwords < 2 + 2 * n)
		return ask_refuse(why, "this script takes more arguments");
	one[1] = words[1 + i];
	one[2] = words[1 + n];
	one[3] = words[2 + n + i];
	return scripts_ask(a, id, one, 4, clock_ms, why);
}
