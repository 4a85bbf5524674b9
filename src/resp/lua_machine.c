/*
 * Functions for both parts of an abstract run: to give up certainty, and to
 * find out which of the arguments is the token.
 */
#include "config.h"

#include "resp/lua_machine.h"

struct lua_value
lua_unsure(struct lua_machine *m)
{
	m->sure = false;
	m->at = m->w->n;
	return (struct lua_value){ .kind = LUA_NIL };
}

bool
lua_is_token(struct lua_machine *m, const struct lua_value *v)
{
	if (v->kind != LUA_ARGUMENT || (v->key && v->n == 1))
		return false;
	if (!m->has_token) {
		m->has_token = true;
		m->token = *v;
	}
	return v->key == m->token.key && v->n == m->token.n;
}

void
lua_write_argument(struct buf *out, const struct lua_value *v)
{
	buf_adds(out, v->key ? "KEYS[" : "ARGV[");
	buf_add_u64(out, (uint64_t)v->n);
	buf_addc(out, ']');
}
