/*
 * Memory for a Lua state that never collects its garbage: blocks are cut from
 * one region and are not given back.  Between scripts, once there is enough
 * garbage, the region is restored to its content from when the state had just
 * been made.  That takes half the work of collecting, and leaves nothing of
 * one run to the next.
 */
#ifndef LOCKBROKER_SIM_LUA_ARENA_H
#define LOCKBROKER_SIM_LUA_ARENA_H

#include <stddef.h>

/* Made and freed by the host whose state lives in it. */
struct lua_arena {
	char *base;  /* owned */
	char *image; /* owned: a copy of what is kept; NULL until that is
		      * known */
	size_t image_bytes;
	size_t used, last; /* bytes; offset of the newest block */
};

void lua_arena_init(struct lua_arena *arena);
void lua_arena_fini(struct lua_arena *arena);

/* A lua_Alloc. */
void *lua_arena_alloc(void *arena, void *p, size_t old, size_t wanted);

/* Every script begins with the present content. */
void lua_arena_keep(struct lua_arena *arena);

/* Between scripts: restores that content, if it is time. */
void lua_arena_tidy(struct lua_arena *arena);

#endif
