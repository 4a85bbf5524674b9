/*
 * The memory of a Lua state (lua_arena.h).  It knows nothing of what Lua
 * stores there.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/xmalloc.h"

#include "lua_arena.h"

#define ARENA_BYTES ((size_t)256 << 20) /* most of it is never touched */
#define TIDY_BYTES ((size_t)512 << 10)	/* fits into the cache of a CPU */
#define ALIGN_BYTES ((size_t)16)

void
lua_arena_init(struct lua_arena *arena)
{
	memset(arena, 0, sizeof(*arena));
	arena->base = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert(arena->base != MAP_FAILED);
}

void
lua_arena_fini(struct lua_arena *arena)
{
	munmap(arena->base, ARENA_BYTES);
	free(arena->image);
}

void *
lua_arena_alloc(void *ud, void *p, size_t old, size_t wanted)
{
	struct lua_arena *arena = ud;
	size_t room = (wanted + ALIGN_BYTES - 1) & ~(ALIGN_BYTES - 1);
	char *block;

	/* Without this, an empty block would have the address of the next
	 * one. */
	if (wanted == 0)
		return NULL;
	if (p != NULL && wanted <= old)
		return p;
	assert(room < ARENA_BYTES - arena->used);
	if (p != NULL && p == arena->base + arena->last) {
		arena->used = arena->last + room;
		return p;
	}
	block = arena->base + arena->used;
	arena->last = arena->used;
	arena->used += room;
	if (old > 0)
		memcpy(block, p, old);
	return block;
}

void
lua_arena_keep(struct lua_arena *arena)
{
	assert(arena->image == NULL);
	arena->image_bytes = arena->used;
	arena->image = xmalloc(arena->used);
	memcpy(arena->image, arena->base, arena->used);
}

void
lua_arena_tidy(struct lua_arena *arena)
{
	if (arena->used - arena->image_bytes < TIDY_BYTES)
		return;
	memcpy(arena->base, arena->image, arena->image_bytes);
	arena->used = arena->last = arena->image_bytes;
}
