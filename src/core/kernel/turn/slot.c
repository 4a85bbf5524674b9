/*
 * Operations in flight.
 *
 * An operation carries an id and nothing else across the asynchronous boundary:
 * the number of a slot and the generation of that slot.  The slot says what the
 * answer is for.
 *
 * Slots are used again at once, the one freed last first.  So the generation
 * distinguishes an operation from earlier ones of its slot: an answer that came
 * twice would find no slot, rather than that of another operation, and core.c
 * aborts.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/slot.h"

void
slot_init(struct core *core)
{
	core->slots = xcalloc(1, sizeof(*core->slots));
	core->slots->free = UINT32_MAX;
}

void
slot_fini(struct core *core)
{
	uint32_t i;

	for (i = 0; i < core->slots->n; i++)
		free(core->slots->v[i].name);
	free(core->slots->v);
	free(core->slots);
}

/* The new slots go into the chain, which is empty then, in the order of their
 * numbers.  Slots move: pointers to them do not outlive a slot_submit(). */
static void
grow(struct slots *slots)
{
	uint32_t i, n = slots->n == 0 ? 64 : 2 * slots->n;

	assert(slots->free == UINT32_MAX);
	slots->v = xrealloc(slots->v, n * sizeof(*slots->v));
	memset(slots->v + slots->n, 0, (n - slots->n) * sizeof(*slots->v));
	for (i = n; i > slots->n; i--) {
		slots->v[i - 1].next_free = slots->free;
		slots->free = i - 1;
	}
	slots->n = n;
}

static uint32_t
take_slot(struct slots *slots)
{
	uint32_t i;

	if (slots->free == UINT32_MAX)
		grow(slots);
	i = slots->free;
	slots->free = slots->v[i].next_free;
	return i;
}

struct op *
slot_submit(struct core *core, struct slot **out, enum op_kind kind,
    unsigned what, uint32_t shard, const char *name, size_t name_len)
{
	uint32_t i = take_slot(core->slots);
	struct slot *slot = &core->slots->v[i];
	struct op *op = emit_op(core, name, name_len);

	assert(shard < core->config.shards);
	assert(slot->kind == SLOT_FREE && what != SLOT_FREE);
	slot->kind = what;
	slot->op = kind;
	slot->shard = shard;
	slot->again = core->slots->again;
	slot->waited_ms = 0;
	slot->generation++;
	core->slots->inflight++;
	op->id = (uint64_t)slot->generation << 32 | i;
	op->kind = kind;
	op->shard = shard;
	op->timeout_ms = core->config.reply_timeout_ms;
	*out = slot;
	return op;
}

/*
 * A renewal is sent when a third of the lease is over.  If it is given up a
 * sixth later, there is half of the lease left in which to try again, and the
 * lease is only about to be at risk.
 */
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

	if (i >= core->slots->n || core->slots->v[i].kind == SLOT_FREE ||
	    core->slots->v[i].generation != id >> 32)
		return NULL;
	return &core->slots->v[i];
}

void
slot_free(struct core *core, struct slot *slot)
{
	assert(slot->kind != SLOT_FREE && core->slots->inflight > 0);
	free(slot->name);
	slot->name = NULL;
	slot->of = NULL;
	slot->kind = SLOT_FREE;
	slot->next_free = core->slots->free;
	core->slots->free = (uint32_t)(slot - core->slots->v);
	core->slots->inflight--;
}

void
slot_check(const struct core *core)
{
	const struct slots *slots = core->slots;
	uint32_t i, n = 0;

	for (i = 0; i < slots->n; i++)
		n += slots->v[i].kind != SLOT_FREE;
	assert(n == slots->inflight);
	for (i = slots->free; i != UINT32_MAX; i = slots->v[i].next_free) {
		assert(i < slots->n && slots->v[i].kind == SLOT_FREE);
		assert(slots->v[i].name == NULL && n < slots->n);
		n++;
	}
	assert(n == slots->n);
}

void
put_off(struct put_off *p, const struct slot *slot, const struct outcome *o)
{
	*p = (struct put_off){ .slot = *slot, .then = *o };
	p->then.text = p->text = xstrndup(o->text, o->text_len);
	if (o->also != NULL)
		p->then.also = p->also = xstrndup(o->also, o->also_len);
}

struct put_off
put_off_take(struct put_off *p)
{
	struct put_off taken = *p;

	p->slot.name = p->text = p->also = NULL;
	return taken;
}

void
put_off_fini(struct put_off *p)
{
	free(p->slot.name);
	free(p->text);
	free(p->also);
}
