/*
 * Holdings: their lists, and what is bounded alike for all of them.
 */
#include "config.h"

#include "base/times.h"
#include "core/kernel/session/holding.h"
#include "core/kernel/session/valid.h"

void
holding_begin(struct core *core, struct holding *h, enum holding_kind kind,
    struct owner *owner)
{
	assert(h->owner == NULL && kind < HOLDING_KINDS);
	h->owner = owner;
	h->kind = (uint64_t)kind & 1;
	h->since_ms = core->now_ms;
	TAILQ_INSERT_TAIL(&owner->holdings[kind], h, in_owner);
	owner->nheld[kind]++;
	owner_counts(owner, 1, 0, 0);
}

void
holding_end(struct core *core, struct holding *h)
{
	struct owner *owner = h->owner;

	valid_left(core, owner);
	CURSOR_REMOVE(&owner->cursors, &owner->holdings[h->kind], h, in_owner);
	owner->nheld[h->kind]--;
	owner_counts(owner, -1, 0, 0);
	owner->nended++;
	if (owner_has(owner) == 0)
		core->owners->bare(core, owner);
}

/* locks.max_hold also limits requests without a limit of their own. */
int64_t
holding_bound_ms(const struct core *core, int64_t hold_ms)
{
	int64_t most_ms = core->config.locks.max_hold_ms;

	if (most_ms > 0 && (hold_ms == 0 || hold_ms > most_ms))
		return most_ms;
	return hold_ms;
}

int64_t
holding_bounded_ms(
    const struct core *core, const struct timer *bound, int64_t end_ms)
{
	int64_t bound_ms;

	if (!timer_armed(bound))
		return end_ms;
	bound_ms = core_armed_ms(core, bound);
	return min_ms(bound_ms, end_ms);
}

static void
check_list(const struct owner *owner, enum holding_kind kind)
{
	const struct holding *h;
	unsigned n = 0;

	TAILQ_FOREACH (h, &owner->holdings[kind], in_owner) {
		assert(h->owner == owner && h->kind == kind);
		n++;
	}
	assert(n == owner->nheld[kind]);
}

void
holdings_check(const struct owner *owner)
{
	check_list(owner, HOLDING_NAME);
	check_list(owner, HOLDING_PERMITS);
}
