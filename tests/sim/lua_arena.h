/*
 * Memory for a Lua state that never collects its garbage: blocks are cut from
 * one region and not given back.  Between scripts, once enough has piled up,
 * the region is put back to what it was when the state had just been made.
 * That is half the work of collecting it, and leaves nothing of one run to the
 * next.
 */
#ifndef LOCKBROKER_SIM_LUA_ARENA_H
#define LOCKBROKER_SIM_LUA_ARENA_H

#include <stddef.h>

/* Made and freed by the host whose state lives in it. */
struct lua_arena {
	char *base;  /* owned */
	char *image; /* owned: of what is kept; NULL until that is said */
	size_t image_bytes;
	size_t used, last; /* bytes; offset of the newest block */
};

void lua_arena_init(struct lua_arena *arena);
void lua_arena_fini(struct lua_arena *arena);

/* A lua_Alloc. */
void *lua_arena_alloc(void *arena, void *p, size_t old, size_t wanted);

/* What is there now is what every script begins with. */
void lua_arena_keep(struct lua_arena *arena);

/* Between scripts: back to that, if it is time. */
void lua_arena_tidy(struct lua_arena *arena);

#endif
