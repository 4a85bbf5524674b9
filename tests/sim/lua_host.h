/*
 * Runs the real scripts as Redis would: liblua5.1, the global `redis`, KEYS
 * and ARGV, results turned into replies.  A script is compiled once, when the
 * host is made.
 */
#ifndef LOCKBROKER_SIM_LUA_HOST_H
#define LOCKBROKER_SIM_LUA_HOST_H

#include <hiredis/hiredis.h>
#include <stdbool.h>

#include "lua_arena.h"
#include "redis_db.h"

#define LUA_HOST_SCRIPTS_MAX 8

struct lua_State;

/* lua_host_free() frees it. */
struct lua_host {
	struct lua_arena arena; /* first: the host is found by its address */
	struct lua_State *lua;	/* in the arena */
	int nscripts;
	int functions[LUA_HOST_SCRIPTS_MAX]; /* references in the registry */
	bool allow_oom[LUA_HOST_SCRIPTS_MAX];
	struct redis_db *db; /* that the running script works on */
	long commands;	     /* that scripts have called, in all */
};

struct lua_host *lua_host_new(void);
void lua_host_free(struct lua_host *host);

/* Compiles a script, a first line "#!" included; returns its number. */
int lua_host_add(struct lua_host *host, const char *name, const char *source);

/*
 * Runs a script.  `oom`: the server has used up its memory.  The caller frees
 * the reply.
 */
redisReply *lua_host_run(struct lua_host *host, int script, bool oom,
    struct redis_db *db, int nkeys, const struct text *keys, int nargs,
    const struct text *args);

#endif
