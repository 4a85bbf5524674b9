/*
 * Commands of Redis on the key of a lock: what each does and returns in a state
 * of the key.  A command that only reads a number, with an error if it is not
 * one, is written with a question mark.
 */
#include "config.h"

#include "resp/commands.h"
#include "resp/lua_machine.h"

struct call {
	const struct lua_value *v; /* the words after the key */
	unsigned n;
	bool careful;
};

static const struct lua_value no = { .kind = LUA_FALSE };
static const struct lua_value ok = { .kind = LUA_OK };

static struct lua_value
integer(int64_t n)
{
	return (struct lua_value){ .kind = LUA_INTEGER, .n = n };
}

static bool
is_word(const struct lua_value *v, const char *word)
{
	return v->kind == LUA_TEXT && resp_says(v->text, word);
}

static bool
is_held(const struct lua_machine *m)
{
	return m->state != LUA_FREE;
}

static bool
has_end(const struct lua_machine *m)
{
	return m->state == LUA_HELD || m->state == LUA_OTHERS;
}

/* Writes a number that a command uses or (`mark`) only reads.  Numbers read by
 * Lua and by Redis differ: a script has one kind only.  An error after which
 * Lua could continue would be another meaning. */
static void
write_number(struct lua_machine *m, const struct call *call, const char *what,
    bool mark, const struct lua_value *n)
{
	if (n->kind != LUA_ARGUMENT && n->kind != LUA_COMPUTED &&
	    n->kind != LUA_SUM)
		(void)lua_unsure(m);
	if (call->careful && !m->direct)
		(void)lua_unsure(m);
	m->plain |= n->kind == LUA_ARGUMENT;
	m->computes |= n->kind != LUA_ARGUMENT;
	if (m->plain && m->computes)
		(void)lua_unsure(m);
	buf_adds(m->out, what);
	buf_adds(m->out, mark ? "? " : " ");
	if (n->kind == LUA_SUM)
		buf_addc(m->out, '+');
	lua_write_argument(m->out, n);
	buf_addc(m->out, ' ');
}

static struct lua_value
get(struct lua_machine *m, const struct call *call)
{
	(void)call;
	return is_held(m) ? (struct lua_value){ .kind = LUA_VALUE } : no;
}

static struct lua_value
exists(struct lua_machine *m, const struct call *call)
{
	(void)call;
	return integer(is_held(m));
}

static struct lua_value
pttl(struct lua_machine *m, const struct call *call)
{
	(void)call;
	if (has_end(m))
		return (struct lua_value){ .kind = LUA_LEFT };
	return integer(is_held(m) ? -1 : -2);
}

static struct lua_value
ttl(struct lua_machine *m, const struct call *call)
{
	struct lua_value v = pttl(m, call);

	if (v.kind == LUA_LEFT)
		v.kind = LUA_LEFT_S;
	return v;
}

static struct lua_value
del(struct lua_machine *m, const struct call *call)
{
	(void)call;
	if (!is_held(m))
		return integer(0);
	buf_adds(m->out, "DEL ");
	m->state = LUA_FREE;
	return integer(1);
}

static struct lua_value
expires(struct lua_machine *m, const struct call *call, const char *what)
{
	bool held = is_held(m);

	write_number(m, call, what, !held, &call->v[0]);
	if (held)
		m->state = LUA_OVER;
	return integer(held);
}

static struct lua_value
pexpire(struct lua_machine *m, const struct call *call)
{
	return expires(m, call, "PEXPIRE");
}

static struct lua_value
expire(struct lua_machine *m, const struct call *call)
{
	return expires(m, call, "EXPIRE");
}

/* Every SET has the token. */
static void
set_to(struct lua_machine *m, const struct lua_value *value)
{
	if (!lua_is_token(m, value))
		(void)lua_unsure(m);
}

static struct lua_value
setnx(struct lua_machine *m, const struct call *call)
{
	set_to(m, &call->v[0]);
	if (is_held(m))
		return integer(0);
	buf_adds(m->out, "SET ");
	m->state = LUA_HELD_FOR_EVER;
	return integer(1);
}

/* `unit` is NULL without a number; how: 'N' for NX, 'X' for XX. */
static struct lua_value
sets(struct lua_machine *m, const struct call *call, char how, const char *unit,
    const struct lua_value *number)
{
	bool does = how == 'N' ? !is_held(m) : how != 'X' || is_held(m);

	if (does)
		buf_adds(m->out, "SET ");
	if (unit != NULL)
		write_number(m, call, unit, !does, number);
	if (!does)
		return no;
	m->state = unit != NULL ? LUA_HELD : LUA_HELD_FOR_EVER;
	return ok;
}

static struct lua_value
set(struct lua_machine *m, const struct call *call)
{
	const struct lua_value *number = NULL;
	const char *unit = NULL;
	char how = 0;
	unsigned i;

	set_to(m, &call->v[0]);
	for (i = 1; i < call->n; i++) {
		const struct lua_value *v = &call->v[i];
		bool ms = is_word(v, "PX");

		if (how == 0 && is_word(v, "NX"))
			how = 'N';
		else if (how == 0 && is_word(v, "XX"))
			how = 'X';
		else if (unit == NULL && i + 1 < call->n &&
			 (ms || is_word(v, "EX"))) {
			unit = ms ? "PX" : "EX";
			number = &call->v[++i];
		} else {
			return lua_unsure(m);
		}
	}
	return sets(m, call, how, unit, number);
}

static struct lua_value
psetex(struct lua_machine *m, const struct call *call)
{
	set_to(m, &call->v[1]);
	return sets(m, call, 0, "PX", &call->v[0]);
}

static struct lua_value
setex(struct lua_machine *m, const struct call *call)
{
	set_to(m, &call->v[1]);
	return sets(m, call, 0, "EX", &call->v[0]);
}

static const struct command {
	const char *word;
	unsigned least, most; /* number of words after the key */
	struct lua_value (*run)(struct lua_machine *m, const struct call *call);
} commands[] = {
	{ "GET", 0, 0, get },
	{ "EXISTS", 0, 0, exists },
	{ "PTTL", 0, 0, pttl },
	{ "TTL", 0, 0, ttl },
	{ "DEL", 0, 0, del },
	{ "UNLINK", 0, 0, del },
	{ "PEXPIRE", 1, 1, pexpire },
	{ "EXPIRE", 1, 1, expire },
	{ "SETNX", 1, 1, setnx },
	{ "SET", 1, LUA_ARGS_MAX - 2, set },
	{ "PSETEX", 2, 2, psetex },
	{ "SETEX", 2, 2, setex },
};

struct lua_value
lua_command(struct lua_machine *m, const struct lua_value *words, unsigned n,
    bool careful)
{
	const struct call call = { words + 2, n - 2, careful };
	unsigned i;

	if (n < 2 || words[1].kind != LUA_ARGUMENT || !words[1].key ||
	    words[1].n != 1 || m->state == LUA_OVER)
		return lua_unsure(m);
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (is_word(&words[0], commands[i].word) &&
		    call.n >= commands[i].least && call.n <= commands[i].most)
			return commands[i].run(m, &call);
	return lua_unsure(m);
}
