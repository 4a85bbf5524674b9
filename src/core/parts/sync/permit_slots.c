/*
 * Slots of permits: see permit_slots.h.  Each operation on a semaphore states
 * which slots are in use here, so it may be repeated, like its statement of
 * permits; its answer has all that are ours (lua/semaphore.lua).
 *
 * A slot that is spare goes to the next session here that wants one, or back to
 * the store with the next operation, which does not state it.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "core/kernel/turn/emit.h"
#include "core/parts/sync/semaphore_state.h"

#define TEXT_MAX (5 * SLOTS_MAX + 24) /* digits and a comma for each */

static bool
has(const struct slot_set *set, uint32_t slot)
{
	return (set->bits[slot / 64] >> slot % 64 & 1) != 0;
}

static void
add(struct slot_set *set, uint32_t slot)
{
	set->bits[slot / 64] |= UINT64_C(1) << slot % 64;
}

static void
take(struct slot_set *set, uint32_t slot)
{
	set->bits[slot / 64] &= ~(UINT64_C(1) << slot % 64);
}

static void
clear(struct slot_set *set)
{
	memset(set, 0, sizeof(*set));
}

/* Returns the lowest from `slot` on; NO_SLOT: there is none. */
static uint32_t
next(const struct slot_set *set, uint32_t slot)
{
	while (slot < SLOTS_MAX && !has(set, slot))
		slot += set->bits[slot / 64] == 0 ? 64 - slot % 64 : 1;
	return slot;
}

bool
slots_any(const struct semaphore *m)
{
	return m->slots != NULL && next(&m->slots->spare, 0) != NO_SLOT;
}

bool
slots_in_use(const struct semaphore *m, uint32_t slot)
{
	return has(&m->slots->used, slot);
}

uint32_t
slots_use(struct semaphore *m)
{
	uint32_t slot = next(&m->slots->spare, 0);

	assert(slot < SLOTS_MAX);
	take(&m->slots->spare, slot);
	add(&m->slots->used, slot);
	return slot;
}

/* A slot that is no longer used was lost, or is left. */
void
slots_free(struct semaphore *m, uint32_t slot)
{
	if (slot == NO_SLOT || !has(&m->slots->used, slot))
		return;
	take(&m->slots->used, slot);
	if (!has(&m->slots->left, slot))
		add(&m->slots->spare, slot);
}

void
slots_leave(struct semaphore *m, uint32_t slot)
{
	if (slot != NO_SLOT)
		add(&m->slots->left, slot);
}

void
slots_unleave(struct semaphore *m)
{
	if (m->slots != NULL)
		clear(&m->slots->left);
}

void
slots_lose(struct semaphore *m)
{
	if (m->slots == NULL)
		return;
	clear(&m->slots->used);
	clear(&m->slots->spare);
}

void
slots_state(struct core *core, struct semaphore *m, struct op *op, bool head,
    uint64_t more)
{
	struct permit_slots *s = m->slots;
	char text[TEXT_MAX];
	uint32_t slot;
	int n;

	if (s == NULL)
		return;
	clear(&s->spare);
	s->asked = s->used;
	for (slot = 0; slot < SLOTS_MAX / 64; slot++)
		s->asked.bits[slot] |= s->left.bits[slot];
	s->asked_new = head;
	n = snprintf(text, sizeof(text), "%llu:", (unsigned long long)more);
	for (slot = next(&s->asked, 0); slot != NO_SLOT;
	     slot = next(&s->asked, slot + 1))
		n += snprintf(
		    text + n, sizeof(text) - (size_t)n, "%u,", (unsigned)slot);
	emit_op_holder(core, op, "", text);
}

/* What is no number of a slot of this semaphore is passed over. */
static void
read_ours(
    const struct semaphore *m, const struct outcome *o, struct slot_set *ours)
{
	const char *at = o->text, *end = o->text + o->text_len, *comma;
	uint64_t slot;

	clear(ours);
	for (; at < end; at = comma + 1) {
		comma = memchr(at, ',', (size_t)(end - at));
		if (comma == NULL)
			comma = end;
		if (parse_number(
			at, (size_t)(comma - at), SLOTS_MAX - 1, &slot) &&
		    slot < m->asked_limit)
			add(ours, (uint32_t)slot);
	}
}

bool
slots_missing(const struct semaphore *m, const struct outcome *o)
{
	struct slot_set ours;
	uint32_t slot;

	if (m->slots == NULL || !m->slots->asked_new)
		return false;
	read_ours(m, o, &ours);
	for (slot = next(&ours, 0); slot != NO_SLOT;
	     slot = next(&ours, slot + 1))
		if (!has(&m->slots->asked, slot))
			return false;
	return true;
}

bool
slots_heard(struct semaphore *m, const struct outcome *o)
{
	struct permit_slots *s = m->slots;
	struct slot_set ours;
	bool lost = false;
	uint32_t slot;

	if (s == NULL)
		return false;
	read_ours(m, o, &ours);
	for (slot = 0; slot < SLOTS_MAX / 64; slot++) {
		s->spare.bits[slot] |= ours.bits[slot] & ~s->asked.bits[slot];
		ours.bits[slot] |= ~s->asked.bits[slot];
		lost |= ~ours.bits[slot] != 0;
		s->used.bits[slot] &= ours.bits[slot];
		s->left.bits[slot] &= ours.bits[slot];
		s->spare.bits[slot] &= ours.bits[slot];
	}
	return lost;
}
