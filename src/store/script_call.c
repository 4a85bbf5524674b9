/*
 * The memory of calls.  The bytes of a call are in blocks that never move, so
 * that argv can point into them while the call still grows.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "store/script_call.h"

#define BLOCK_BYTES 4096

struct call_block {
	struct call_block *next;
	size_t used;
	size_t size;
	char mem[];
};

static struct call_block *
block_new(size_t size)
{
	struct call_block *b = xmalloc(sizeof(*b) + size);

	b->next = NULL;
	b->used = 0;
	b->size = size;
	return b;
}

struct call *
call_new(void)
{
	struct call *call = xmalloc(sizeof(*call));

	call->blocks = block_new(BLOCK_BYTES);
	call_reset(call);
	return call;
}

void
call_free(struct call *call)
{
	struct call_block *b, *next;

	if (call == NULL)
		return;
	call_free(call->guest);
	for (b = call->blocks; b; b = next) {
		next = b->next;
		free(b);
	}
	free(call);
}

void
call_reset(struct call *call)
{
	memset(call, 0, offsetof(struct call, blocks));
	call->block = call->blocks;
	call->block->used = 0;
	call->timeout_ms = INT64_MAX;
	call->can_wait = call->only_ends = true;
	call->verdict = CALL_VERDICT_MAX;
	call->malformed = call->cfg = "";
}

char *
call_room(struct call *call, size_t n)
{
	struct call_block *b = call->block;

	while (b->size - b->used < n) {
		if (b->next == NULL)
			b->next = block_new(n > BLOCK_BYTES ? n : BLOCK_BYTES);
		b = b->next;
		b->used = 0;
	}
	assert(b->size - b->used >= n);
	call->block = b;
	b->used += n;
	return b->mem + b->used - n;
}

/* Puts n words of argv before the `had` ones that are at `to`.  Their bytes
 * stay where they are. */
static void
words_before(const char **to, size_t *to_len, unsigned had,
    const char *const *from, const size_t *from_len, unsigned n)
{
	memmove(to + n, to, had * sizeof(*to));
	memmove(to_len + n, to_len, had * sizeof(*to_len));
	memcpy(to, from, n * sizeof(*to));
	memcpy(to_len, from_len, n * sizeof(*to_len));
}

void
call_take_along(struct call *call, struct call *guest)
{
	const unsigned at = CALL_HEAD + 2, n = guest->nops;
	unsigned nkeys = guest->nkeys - 2, nargs = guest->nargs - CALL_COMMON;

	assert(call->guest == NULL && guest->guest == NULL);
	assert(call->nkeys + nkeys <= CALL_KEYS_MAX);
	assert(call->nargs + nargs <= CALL_ARGS_MAX);
	assert(call->nops + n <= CALL_OPS_MAX);
	words_before(call->argv + at, call->argvlen + at, call->nkeys - 2,
	    guest->argv + at, guest->argvlen + at, nkeys);
	call->nkeys += nkeys;
	words_before(call->args + CALL_COMMON, call->arglen + CALL_COMMON,
	    call->nargs - CALL_COMMON, guest->args + CALL_COMMON,
	    guest->arglen + CALL_COMMON, nargs);
	call->nargs += nargs;
	memmove(call->ids + n, call->ids, call->nops * sizeof(call->ids[0]));
	memcpy(call->ids, guest->ids, n * sizeof(call->ids[0]));
	memmove(
	    call->kinds + n, call->kinds, call->nops * sizeof(call->kinds[0]));
	memcpy(call->kinds, guest->kinds, n * sizeof(call->kinds[0]));
	call->nops += n;
	if (guest->timeout_ms < call->timeout_ms)
		call->timeout_ms = guest->timeout_ms;
	call->guest = guest;
}
