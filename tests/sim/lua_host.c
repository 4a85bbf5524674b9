/*
 * The bridge between Lua and the model of Redis.  It follows src/script_lua.c
 * of Redis 7 as far as a script can tell: nil is false, a status is {ok=}, an
 * error {err=}; numbers lose their fraction; a global that was never declared
 * is an error; redis.call raises a table, redis.pcall returns it.
 */
#include "config.h"

#include <assert.h>
#include <inttypes.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"

#include "answer.h"
#include "lua_arena.h"
#include "lua_host.h"

#define DEPTH_MAX 8 /* of tables in a result */

/* The host of a Lua state.  The arena is its first field, because the allocator
 * is called with a pointer to the arena. */
static struct lua_host *
host_of(lua_State *L)
{
	void *arena;

	lua_getallocf(L, &arena);
	return arena;
}

static void
push_field(lua_State *L, const char *field, const char *text)
{
	lua_newtable(L);
	lua_pushstring(L, text);
	lua_setfield(L, -2, field);
}

/* Replies nest one level here. */
static void
push_reply(lua_State *L, const redisReply *reply)
{
	size_t i;

	switch (reply->type) {
	case REDIS_REPLY_INTEGER:
		lua_pushnumber(L, (lua_Number)reply->integer);
		break;
	case REDIS_REPLY_STRING:
		lua_pushlstring(L, reply->str, (size_t)reply->len);
		break;
	case REDIS_REPLY_STATUS:
		push_field(L, "ok", reply->str);
		break;
	case REDIS_REPLY_ERROR:
		push_field(L, "err", reply->str);
		break;
	case REDIS_REPLY_ARRAY:
		lua_createtable(L, (int)reply->elements, 0);
		for (i = 0; i < reply->elements; i++) {
			push_reply(L, reply->element[i]);
			lua_rawseti(L, -2, (int)i + 1);
		}
		break;
	default:
		lua_pushboolean(L, 0);
	}
}

/* Writes a number as Redis does, and returns where it begins; whole numbers, as
 * nearly all are, are cheap. */
static const char *
write_number(char *out, size_t size, double d, size_t *len)
{
	char *end = out + size, *p = end;
	uint64_t n;

	if (d > -1e15 && d < 1e15 && (double)(int64_t)d == d) {
		n = (uint64_t)(d < 0 ? -d : d);
		do {
			*--p = (char)('0' + n % 10);
			n /= 10;
		} while (n > 0);
		if (d < 0)
			*--p = '-';
		*len = (size_t)(end - p);
		return p;
	}
	*len = (size_t)snprintf(out, size, "%.17g", d);
	return out;
}

/* Reads the arguments of redis.call; false if one is neither a string nor a
 * number. */
static bool
take_args(lua_State *L, struct text *args, int n)
{
	char number[64];
	const char *text;
	size_t len;
	int i;

	for (i = 0; i < n; i++) {
		if (lua_type(L, i + 1) == LUA_TNUMBER) {
			text = write_number(number, sizeof(number),
			    (double)lua_tonumber(L, i + 1), &len);
			lua_pushlstring(L, text, len);
			lua_replace(L, i + 1);
		}
		if (lua_type(L, i + 1) != LUA_TSTRING)
			return false;
		args[i].p = lua_tolstring(L, i + 1, &args[i].len);
	}
	return true;
}

static redisReply *
call_checked(struct lua_host *host, int argc, const struct text *argv)
{
	const struct redis_command *c = redis_command_find(argv[0]);

	if (c == NULL)
		return answer_error(
		    "ERR Unknown Redis command called from script");
	if (c->arity > 0 ? argc != c->arity : argc < -c->arity)
		return answer_error("ERR Wrong number of args calling Redis "
				    "command from script");
	if (c->flags & REDIS_NO_SCRIPT)
		return answer_error("ERR This Redis command is not allowed "
				    "from script");
	host->commands++;
	return redis_db_execute(host->db, c, argc, argv);
}

static int
call(lua_State *L, bool raise)
{
	struct lua_host *host = host_of(L);
	struct text argv[REDIS_WORDS_MAX];
	int argc = lua_gettop(L);
	redisReply *reply;
	bool failed;

	assert(argc <= REDIS_WORDS_MAX);
	if (argc == 0)
		reply = answer_error("ERR Please specify at least one "
				     "argument for this redis.call() call");
	else if (!take_args(L, argv, argc))
		reply = answer_error("ERR Lua redis lib command arguments "
				     "must be strings or integers");
	else
		reply = call_checked(host, argc, argv);
	failed = reply->type == REDIS_REPLY_ERROR;
	push_reply(L, reply);
	answer_free(reply);
	if (failed && raise)
		return lua_error(L);
	return 1;
}

static int
host_call(lua_State *L)
{
	return call(L, true);
}

static int
host_pcall(lua_State *L)
{
	return call(L, false);
}

static int
host_status_reply(lua_State *L)
{
	push_field(L, "ok", luaL_checkstring(L, 1));
	return 1;
}

static int
host_error_reply(lua_State *L)
{
	push_field(L, "err", luaL_checkstring(L, 1));
	return 1;
}

static int
host_log(lua_State *L)
{
	(void)L;
	return 0;
}

static int
host_no_global(lua_State *L)
{
	return luaL_error(L,
	    "Script attempted to access nonexistent or "
	    "create a global variable '%s'",
	    lua_tostring(L, 2));
}

static const luaL_Reg host_functions[] = {
	{ "call", host_call },
	{ "pcall", host_pcall },
	{ "status_reply", host_status_reply },
	{ "error_reply", host_error_reply },
	{ "log", host_log },
	{ NULL, NULL },
};

static const luaL_Reg host_libs[] = {
	{ "", luaopen_base },
	{ LUA_TABLIBNAME, luaopen_table },
	{ LUA_STRLIBNAME, luaopen_string },
	{ LUA_MATHLIBNAME, luaopen_math },
	{ NULL, NULL },
};

/* Removes what Redis removes from the base library. */
static const char *const host_forbidden[] = { "dofile", "loadfile", "print",
	"newproxy", NULL };

static void
make_globals(lua_State *L)
{
	int i;

	luaL_register(L, "redis", host_functions);
	lua_pushstring(L, "7.0.15");
	lua_setfield(L, -2, "REDIS_VERSION");
	lua_pushnumber(L, 0x0007000f);
	lua_setfield(L, -2, "REDIS_VERSION_NUM");
	lua_pop(L, 1);
	for (i = 0; host_forbidden[i] != NULL; i++) {
		lua_pushnil(L);
		lua_setglobal(L, host_forbidden[i]);
	}
	lua_newtable(L);
	lua_pushcfunction(L, host_no_global);
	lua_setfield(L, -2, "__newindex");
	lua_pushcfunction(L, host_no_global);
	lua_setfield(L, -2, "__index");
	lua_setmetatable(L, LUA_GLOBALSINDEX);
}

struct lua_host *
lua_host_new(void)
{
	struct lua_host *host = xcalloc(1, sizeof(*host));
	const luaL_Reg *lib;

	lua_arena_init(&host->arena);
	host->lua = lua_newstate(lua_arena_alloc, &host->arena);
	assert(host->lua != NULL);
	lua_gc(host->lua, LUA_GCSTOP, 0);
	for (lib = host_libs; lib->func != NULL; lib++) {
		lua_pushcfunction(host->lua, lib->func);
		lua_pushstring(host->lua, lib->name);
		lua_call(host->lua, 1, 0);
	}
	make_globals(host->lua);
	return host;
}

void
lua_host_free(struct lua_host *host)
{
	if (host == NULL)
		return;
	lua_arena_fini(&host->arena);
	free(host);
}

/* The parts of a compiled script. */
struct chunk {
	char *bytes; /* owned */
	size_t n;
};

static int
chunk_add(lua_State *L, const void *bytes, size_t n, void *arg)
{
	struct chunk *chunk = arg;

	(void)L;
	chunk->bytes = xrealloc(chunk->bytes, chunk->n + n);
	memcpy(chunk->bytes + chunk->n, bytes, n);
	chunk->n += n;
	return 0;
}

/*
 * Compiles in a state of its own: the compiler's garbage would stay in the
 * arena, which is copied again and again.
 */
static struct chunk
compile(const char *name, const char *body)
{
	struct chunk chunk = { NULL, 0 };
	lua_State *L = luaL_newstate();

	assert(L != NULL);
	if (luaL_loadbuffer(L, body, strlen(body), name) != 0) {
		fprintf(stderr, "sim: %s\n", lua_tostring(L, -1));
		exit(1);
	}
	lua_dump(L, chunk_add, &chunk);
	lua_close(L);
	return chunk;
}

int
lua_host_add(struct lua_host *host, const char *name, const char *source)
{
	const char *body = source;
	int n = host->nscripts, fault;
	struct chunk chunk;

	assert(n < LUA_HOST_SCRIPTS_MAX && host->arena.image == NULL);
	if (source[0] == '#' && source[1] == '!') {
		body = strchr(source, '\n');
		assert(body != NULL);
		host->allow_oom[n] = memmem(source, (size_t)(body - source),
					 "allow-oom", 9) != NULL;
	}
	chunk = compile(name, body);
	fault = luaL_loadbuffer(host->lua, chunk.bytes, chunk.n, name);
	assert(fault == 0);
	(void)fault;
	free(chunk.bytes);
	host->functions[n] = luaL_ref(host->lua, LUA_REGISTRYINDEX);
	host->nscripts++;
	return n;
}

static redisReply *
pop_field(lua_State *L, const char *field)
{
	redisReply *reply = NULL;
	const char *text;

	lua_pushstring(L, field);
	lua_rawget(L, -2);
	text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
	if (text != NULL)
		reply =
		    field[0] == 'o' ? answer_status(text) : answer_error(text);
	lua_pop(L, 1);
	return reply;
}

static redisReply *result_reply(lua_State *L, int depth);

/* A table ends at its first nil. */
static redisReply *
table_reply(lua_State *L, int depth)
{
	redisReply *reply = pop_field(L, "err");
	size_t i, most = lua_objlen(L, -1);

	if (reply == NULL)
		reply = pop_field(L, "ok");
	if (reply != NULL)
		return reply;
	if (depth == 0)
		return answer_error("ERR reached lua stack limit");
	reply = answer_array(most);
	for (i = 0; i < most; i++) {
		lua_rawgeti(L, -1, (int)i + 1);
		if (lua_isnil(L, -1))
			reply->elements = i;
		else
			reply->element[i] = result_reply(L, depth - 1);
		lua_pop(L, 1);
		if (reply->elements == i)
			break;
	}
	return reply;
}

/* Makes a reply of the value on top of the stack, which stays there.  The depth
 * bounds the recursion. */
static redisReply *
result_reply(lua_State *L, int depth)
{
	const char *text;
	size_t len;

	switch (lua_type(L, -1)) {
	case LUA_TSTRING:
		text = lua_tolstring(L, -1, &len);
		return answer_text(text, len);
	case LUA_TNUMBER:
		return answer_int((long long)lua_tonumber(L, -1));
	case LUA_TBOOLEAN:
		return lua_toboolean(L, -1) ? answer_int(1) : answer_nil();
	case LUA_TTABLE:
		return table_reply(L, depth);
	default:
		return answer_nil();
	}
}

static void
set_list(lua_State *L, const char *name, int n, const struct text *v)
{
	int i;

	lua_pushstring(L, name);
	lua_createtable(L, n, 0);
	for (i = 0; i < n; i++) {
		lua_pushlstring(L, v[i].p, v[i].len);
		lua_rawseti(L, -2, i + 1);
	}
	lua_rawset(L, LUA_GLOBALSINDEX);
}

static redisReply *
failure_reply(lua_State *L)
{
	redisReply *reply = NULL;
	char text[512];

	if (lua_istable(L, -1))
		reply = pop_field(L, "err");
	if (reply != NULL)
		return reply;
	snprintf(text, sizeof(text), "ERR %s",
	    lua_isstring(L, -1) ? lua_tostring(L, -1) : "unknown error");
	return answer_error(text);
}

redisReply *
lua_host_run(struct lua_host *host, int script, bool oom, struct redis_db *db,
    int nkeys, const struct text *keys, int nargs, const struct text *args)
{
	lua_State *L = host->lua;
	redisReply *reply;

	assert(script >= 0 && script < host->nscripts);
	if (oom && !host->allow_oom[script])
		return answer_error("OOM allow-oom flag is not set on the "
				    "script, can not run it when used memory "
				    "> 'maxmemory'");
	if (host->arena.image == NULL)
		lua_arena_keep(&host->arena);
	host->db = db;
	set_list(L, "KEYS", nkeys, keys);
	set_list(L, "ARGV", nargs, args);
	lua_rawgeti(L, LUA_REGISTRYINDEX, host->functions[script]);
	if (lua_pcall(L, 0, 1, 0) != 0)
		reply = failure_reply(L);
	else
		reply = result_reply(L, DEPTH_MAX);
	lua_settop(L, 0);
	lua_arena_tidy(&host->arena);
	host->db = NULL;
	return reply;
}
