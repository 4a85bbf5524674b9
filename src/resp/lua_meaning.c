/*
 * Runs through a script as Lua would, once for each state of the key.  Text
 * that is not executed in a state is read all the same, so that the whole
 * script is checked.
 *
 * In doubt, nothing is certain: a value with alternatives is never compared,
 * and an unexpected word ends everything.
 */
#include "config.h"

#include "base/parse.h"
#include "resp/lua_machine.h"
#include "resp/lua_meaning.h"

#define DEPTH_MAX 24
#define NUMBER_DIGITS_MAX 9

static const struct lua_value nil = { .kind = LUA_NIL };
static const struct lua_value yes = { .kind = LUA_TRUE };
static const struct lua_value no = { .kind = LUA_FALSE };

/* Words that are not names of locals. */
static const char *const reserved[] = { "and", "break", "do", "else", "elseif",
	"end", "false", "for", "function", "if", "in", "local", "nil", "not",
	"or", "repeat", "return", "then", "true", "until", "while", NULL };

static struct lua_value expression(struct lua_machine *m);
static void block(struct lua_machine *m);

static bool
idles(const struct lua_machine *m)
{
	return m->skips || m->returned || !m->sure;
}

/* Words. */

static bool
is(const struct lua_machine *m, const char *text)
{
	return words_is(m->w, m->at, text);
}

static bool
take(struct lua_machine *m, const char *text)
{
	if (!is(m, text))
		return false;
	m->at++;
	return true;
}

static void
expect(struct lua_machine *m, const char *text)
{
	if (!take(m, text))
		(void)lua_unsure(m);
}

static struct span
take_name(struct lua_machine *m)
{
	const struct lua_word *word = &m->w->v[m->at];

	if (!words_is_name(m->w, m->at) || word_is_one_of(word, reserved)) {
		(void)lua_unsure(m);
		return (struct span){ "", 0 };
	}
	m->at++;
	return word->text;
}

static bool
block_ends(const struct lua_machine *m, unsigned at)
{
	return at >= m->w->n || word_is_one_of(&m->w->v[at], words_block_ends);
}

/* Values. */

static bool
is_true(struct lua_machine *m, const struct lua_value *v)
{
	if (!idles(m) && v->kind == LUA_COMPUTED)
		(void)lua_unsure(m);
	return v->kind != LUA_NIL && v->kind != LUA_FALSE;
}

static bool
is_string(const struct lua_value *v)
{
	return v->kind == LUA_TEXT || v->kind == LUA_ARGUMENT ||
	       v->kind == LUA_VALUE;
}

static bool
is_left(const struct lua_value *v)
{
	return v->kind == LUA_LEFT || v->kind == LUA_LEFT_S;
}

/* A number of unknown value. */
static bool
is_number(const struct lua_value *v)
{
	return v->kind == LUA_COMPUTED || v->kind == LUA_SUM || is_left(v);
}

/* Only a comparison of the key's value with the token has a known result. */
static bool
same_strings(
    struct lua_machine *m, const struct lua_value *a, const struct lua_value *b)
{
	bool one = a->kind == LUA_VALUE;

	if (one == (b->kind == LUA_VALUE) || !lua_is_token(m, one ? b : a)) {
		(void)lua_unsure(m);
		return false;
	}
	return m->state == LUA_HELD || m->state == LUA_HELD_FOR_EVER;
}

static bool
equal(
    struct lua_machine *m, const struct lua_value *a, const struct lua_value *b)
{
	if (is_string(a) && is_string(b))
		return same_strings(m, a, b);
	if (is_string(a) || is_string(b))
		return false;
	if (a->kind == LUA_INTEGER && b->kind == LUA_INTEGER)
		return a->n == b->n;
	if (is_left(a) && b->kind == LUA_INTEGER && b->n < 0)
		return false;
	if (is_number(a) || is_number(b) ||
	    (a->kind == LUA_OK && b->kind == LUA_OK))
		(void)lua_unsure(m);
	return a->kind == b->kind;
}

/* -1: less; 0: equal; 1: more.  The time left is 0 or more. */
static int
order(
    struct lua_machine *m, const struct lua_value *a, const struct lua_value *b)
{
	if (a->kind == LUA_INTEGER && b->kind == LUA_INTEGER)
		return (a->n > b->n) - (a->n < b->n);
	if (is_left(a) && b->kind == LUA_INTEGER && b->n < 0)
		return 1;
	if (is_left(b) && a->kind == LUA_INTEGER && a->n < 0)
		return -1;
	(void)lua_unsure(m);
	return 0;
}

/*
 * Is this the comparison of the time left with 0?  It is the only one that
 * LUA_LEFT can answer.
 */
static bool
is_left_and_zero(const struct lua_value *a, const struct lua_value *b)
{
	return is_left(a) && b->kind == LUA_INTEGER && b->n == 0;
}

static bool
is_less(
    struct lua_machine *m, const struct lua_value *a, const struct lua_value *b)
{
	return !is_left_and_zero(a, b) && order(m, a, b) < 0;
}

/* Expressions. */

static bool
is_server(const struct lua_machine *m)
{
	return (is(m, "redis") || is(m, "server")) &&
	       words_is(m->w, m->at + 1, ".") &&
	       (words_is(m->w, m->at + 2, "call") ||
		   words_is(m->w, m->at + 2, "pcall")) &&
	       words_is(m->w, m->at + 3, "(");
}

static struct lua_value
server_call(struct lua_machine *m)
{
	bool careful = words_is(m->w, m->at + 2, "pcall");
	bool direct = m->direct;
	struct lua_value v[LUA_ARGS_MAX];
	unsigned n = 0;

	m->at += 4;
	m->direct = false;
	do {
		if (n == LUA_ARGS_MAX)
			return lua_unsure(m);
		v[n++] = expression(m);
	} while (take(m, ","));
	expect(m, ")");
	m->direct = direct;
	return idles(m) ? nil : lua_command(m, v, n, careful);
}

static const struct lua_value *
find_local(const struct lua_machine *m, struct span name)
{
	unsigned i;

	for (i = m->nlocals; i > 0; i--)
		if (span_same(m->locals[i - 1].name, name))
			return &m->locals[i - 1].value;
	return NULL;
}

static struct lua_value
number(struct lua_machine *m)
{
	struct span text = m->w->v[m->at++].text;
	uint64_t n;

	if (text.n > NUMBER_DIGITS_MAX ||
	    !parse_number(text.p, text.n, UINT32_MAX, &n))
		return lua_unsure(m);
	return (struct lua_value){ .kind = LUA_INTEGER, .n = (int64_t)n };
}

/* KEYS[n], ARGV[n]. */
static struct lua_value
argument(struct lua_machine *m)
{
	struct lua_value v = { .kind = LUA_ARGUMENT, .key = is(m, "KEYS") };

	m->at++;
	expect(m, "[");
	if (m->at >= m->w->n || m->w->v[m->at].kind != LUA_NUMBER)
		return lua_unsure(m);
	v.n = number(m).n;
	expect(m, "]");
	return v.n > 0 ? v : lua_unsure(m);
}

static struct lua_value
to_number(struct lua_machine *m)
{
	struct lua_value v;

	m->at++;
	expect(m, "(");
	v = expression(m);
	expect(m, ")");
	if (v.kind == LUA_ARGUMENT)
		v.kind = LUA_COMPUTED;
	else if (!idles(m) && v.kind != LUA_INTEGER && !is_left(&v))
		return lua_unsure(m);
	return v;
}

static struct lua_value
in_parentheses(struct lua_machine *m)
{
	struct lua_value v;

	m->at++;
	v = expression(m);
	expect(m, ")");
	return v;
}

static struct lua_value
word_of_lua(struct lua_machine *m)
{
	if (take(m, "nil"))
		return nil;
	if (take(m, "true"))
		return yes;
	if (take(m, "false"))
		return no;
	if (is_server(m))
		return server_call(m);
	if (is(m, "KEYS") || is(m, "ARGV"))
		return argument(m);
	if (is(m, "tonumber"))
		return to_number(m);
	return lua_unsure(m);
}

static struct lua_value
primary(struct lua_machine *m)
{
	const struct lua_word *word = &m->w->v[m->at];
	const struct lua_value *local;

	if (m->at >= m->w->n)
		return lua_unsure(m);
	if (word->kind == LUA_NUMBER)
		return number(m);
	if (word->kind == LUA_STRING) {
		m->at++;
		return (
		    struct lua_value){ .kind = LUA_TEXT, .text = word->text };
	}
	if (is(m, "("))
		return in_parentheses(m);
	local = word->kind == LUA_NAME ? find_local(m, word->text) : NULL;
	if (local == NULL)
		return word_of_lua(m);
	m->at++;
	return *local;
}

static struct lua_value
unary(struct lua_machine *m)
{
	struct lua_value v;

	if (take(m, "not")) {
		v = unary(m);
		return is_true(m, &v) ? no : yes;
	}
	if (!take(m, "-"))
		return primary(m);
	v = primary(m);
	if (v.kind != LUA_INTEGER && !idles(m))
		return lua_unsure(m);
	v.n = -v.n;
	return v;
}

static struct lua_value
sum(struct lua_machine *m)
{
	struct lua_value v = unary(m), other;

	while (take(m, "+")) {
		other = unary(m);
		if (idles(m))
			continue;
		if (other.kind == LUA_LEFT) {
			struct lua_value left = other;

			other = v;
			v = left;
		}
		if (v.kind != LUA_LEFT ||
		    (other.kind != LUA_ARGUMENT && other.kind != LUA_COMPUTED))
			return lua_unsure(m);
		v = other;
		v.kind = LUA_SUM;
	}
	return v;
}

static const char *const signs[] = { "==", "~=", "<", ">=", ">", "<=", NULL };

static bool
compare(struct lua_machine *m, unsigned sign, const struct lua_value *a,
    const struct lua_value *b)
{
	bool is_so = sign < 2	? equal(m, a, b)
		     : sign < 4 ? is_less(m, a, b)
				: is_less(m, b, a);

	return sign % 2 == 0 ? is_so : !is_so;
}

static struct lua_value
comparison(struct lua_machine *m)
{
	struct lua_value v = sum(m), other;
	unsigned i;

	for (i = 0; signs[i] != NULL;) {
		if (!take(m, signs[i])) {
			i++;
			continue;
		}
		other = sum(m);
		if (!idles(m))
			v = compare(m, i, &v, &other) ? yes : no;
		i = 0;
	}
	return v;
}

/* `and` (which continues if the value is true), or `or`. */
static struct lua_value
chain(struct lua_machine *m, const char *word, bool goes_on,
    struct lua_value (*part)(struct lua_machine *m))
{
	struct lua_value v = part(m), other;
	bool was = m->skips, goes;

	while (take(m, word)) {
		goes = is_true(m, &v) == goes_on;
		m->skips = was || !goes;
		other = part(m);
		m->skips = was;
		if (goes)
			v = other;
	}
	return v;
}

static struct lua_value
conjunction(struct lua_machine *m)
{
	return chain(m, "and", true, comparison);
}

static struct lua_value
expression(struct lua_machine *m)
{
	struct lua_value v;

	if (++m->depth > DEPTH_MAX)
		return lua_unsure(m);
	v = chain(m, "or", false, conjunction);
	m->depth--;
	return v;
}

/* Statements. */

static void
if_statement(struct lua_machine *m)
{
	bool was = m->skips, done = false, is_so;
	struct lua_value v;

	m->at++;
	do {
		m->skips = was || done;
		v = expression(m);
		is_so = !idles(m) && is_true(m, &v);
		expect(m, "then");
		m->skips = was || !is_so;
		block(m);
		done |= is_so;
	} while (take(m, "elseif"));
	m->skips = was || done;
	if (take(m, "else"))
		block(m);
	m->skips = was;
	expect(m, "end");
}

static void
local_statement(struct lua_machine *m)
{
	struct span names[LUA_LOCALS_MAX];
	struct lua_value values[LUA_LOCALS_MAX] = { { .kind = LUA_NIL } };
	unsigned n = 0, i = 0;

	m->at++;
	do {
		if (m->nlocals + n == LUA_LOCALS_MAX) {
			(void)lua_unsure(m);
			return;
		}
		names[n++] = take_name(m);
	} while (take(m, ","));
	if (take(m, "=")) {
		do {
			values[i++] = expression(m);
		} while (i < n && take(m, ","));
		if (i < n)
			(void)lua_unsure(m);
	}
	for (i = 0; i < n; i++) {
		m->locals[m->nlocals].name = names[i];
		m->locals[m->nlocals++].value = values[i];
	}
}

static void
assignment(struct lua_machine *m)
{
	struct span name = take_name(m);
	struct lua_value v;
	unsigned i;

	expect(m, "=");
	v = expression(m);
	for (i = m->nlocals; i > 0; i--)
		if (span_same(m->locals[i - 1].name, name))
			break;
	if (i == 0)
		(void)lua_unsure(m);
	else if (!idles(m))
		m->locals[i - 1].value = v;
}

static void
return_statement(struct lua_machine *m)
{
	struct lua_value v = nil;

	m->at++;
	m->direct =
	    is_server(m) && block_ends(m, words_closing(m->w, m->at + 3) + 1);
	if (!block_ends(m, m->at))
		v = expression(m);
	m->direct = false;
	if (!block_ends(m, m->at))
		(void)lua_unsure(m);
	if (idles(m))
		return;
	m->result = v;
	m->returned = true;
}

static void
statement(struct lua_machine *m)
{
	if (is(m, "if"))
		if_statement(m);
	else if (is(m, "local"))
		local_statement(m);
	else if (is(m, "return"))
		return_statement(m);
	else if (is_server(m) && find_local(m, m->w->v[m->at].text) == NULL)
		(void)server_call(m);
	else
		assignment(m);
}

static void
block(struct lua_machine *m)
{
	unsigned nlocals = m->nlocals;

	if (++m->depth > DEPTH_MAX)
		(void)lua_unsure(m);
	while (m->sure && !block_ends(m, m->at))
		statement(m);
	m->nlocals = nlocals;
	m->depth--;
}

/* The whole. */

static void
write_result(struct lua_machine *m)
{
	const struct lua_value *v = &m->result;

	buf_adds(m->out, "= ");
	switch (v->kind) {
	case LUA_NIL:
	case LUA_FALSE:
		buf_adds(m->out, "nil");
		break;
	case LUA_TRUE:
		buf_adds(m->out, "1");
		break;
	case LUA_INTEGER:
		buf_addf(m->out, "%lld", (long long)v->n);
		break;
	case LUA_LEFT:
		buf_adds(m->out, "ms");
		break;
	case LUA_LEFT_S:
		buf_adds(m->out, "s");
		break;
	case LUA_TEXT:
		buf_addc(m->out, '"');
		buf_add(m->out, v->text.p, v->text.n);
		buf_addc(m->out, '"');
		break;
	case LUA_OK:
		buf_adds(m->out, "OK");
		break;
	default:
		(void)lua_unsure(m);
		break;
	}
	buf_adds(m->out, "; ");
}

/* `#!lua` may come first. */
static bool
skip_shebang(struct span *text)
{
	static const char first[] = "#!lua";
	size_t n = sizeof(first) - 1;

	if (!span_begins(*text, "#!"))
		return true;
	if (!span_begins(*text, first))
		return false;
	while (n < text->n && (text->p[n] == ' ' || text->p[n] == '\r'))
		n++;
	if (n == text->n || text->p[n] != '\n')
		return false;
	text->p += n;
	text->n -= n;
	return true;
}

/* The first state shows which argument is the token. */
static void
run(struct lua_machine *m, enum lua_state state)
{
	static const char *const names[LUA_STATES] = {
		[LUA_HELD] = "held ",
		[LUA_HELD_FOR_EVER] = "held for ever ",
		[LUA_OTHERS] = "another's ",
		[LUA_OTHERS_FOR_EVER] = "another's for ever ",
		[LUA_FREE] = "free ",
	};

	m->at = m->depth = m->nlocals = 0;
	m->skips = m->returned = m->direct = false;
	m->state = state;
	m->result = nil;
	buf_adds(m->out, names[state]);
	block(m);
	if (m->at < m->w->n)
		(void)lua_unsure(m);
	write_result(m);
}

bool
lua_meaning(struct buf *out, struct span text, bool *computes)
{
	struct lua_machine m = { .out = out, .sure = true };
	struct words w;
	unsigned state;

	if (!skip_shebang(&text) || !words_read(&w, text))
		return false;
	m.w = &w;
	for (state = 0; state < LUA_STATES && m.sure; state++)
		run(&m, state);
	if (m.has_token)
		lua_write_argument(out, &m.token);
	*computes = m.computes;
	return m.sure && m.has_token;
}
