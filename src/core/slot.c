/*
 * Operations in flight.
 *
 * An operation carries an id and nothing else across the asynchronous
 * boundary: the number of a slot and the generation of that slot.  What the
 * answer is for stands in the slot.
 */
#include "config.h"

#include <string.h>

#include "base/xmalloc.h"
#include "core/emit.h"
#include "core/state.h"

static uint32_t
take(struct core *core)
{
	uint32_t i, n;

	if (core->free_slot == UINT32_MAX) {
		n = core->nslots == 0 ? 64 : 2 * core->nslots;
		core->slots = xrealloc(core->slots, n * sizeof(*core->slots));
		memset(core->slots + core->nslots, 0,
		    (n - core->nslots) * sizeof(*core->slots));
		for (i = n; i > core->nslots; i--) {
			core->slots[i - 1].next_free = core->free_slot;
			core->free_slot = i - 1;
		}
		core->nslots = n;
	}
	i = core->free_slot;
	core->free_slot = core->slots[i].next_free;
	return i;
}

struct op *
slot_submit(struct core *core, struct slot **out, enum op_kind kind,
    enum slot_kind what, uint32_t shard, const char *name, size_t name_len)
{
	uint32_t i = take(core);
	struct slot *slot = &core->slots[i];
	struct op *op = emit_op(core, name, name_len);

	assert(slot->kind == SLOT_FREE && what != SLOT_FREE);
	slot->kind = what;
	slot->op = kind;
	slot->shard = shard;
	slot->generation++;
	core->inflight++;
	op->id = (uint64_t)slot->generation << 32 | i;
	op->kind = kind;
	op->shard = shard;
	op->timeout_ms = core->config.reply_timeout_ms;
	*out = slot;
	return op;
}

void
slot_hurry(const struct core *core, struct op *op)
{
	if (op->timeout_ms > core->config.lease_ms / 6)
		op->timeout_ms = core->config.lease_ms / 6;
}

struct slot *
slot_find(struct core *core, uint64_t id)
{
	uint32_t i = (uint32_t)id;

	if (i >= core->nslots || core->slots[i].kind == SLOT_FREE ||
	    core->slots[i].generation != id >> 32)
		return NULL;
	return &core->slots[i];
}

void
slot_free(struct core *core, struct slot *slot)
{
	assert(slot->kind != SLOT_FREE && core->inflight > 0);
	free(slot->name);
	slot->name = NULL;
	slot->lock = NULL;
	slot->kind = SLOT_FREE;
	slot->next_free = core->free_slot;
	core->free_slot = (uint32_t)(slot - core->slots);
	core->inflight--;
}
