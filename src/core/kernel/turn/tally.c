/*
 * Tallies: which names have a line of their own in the log.
 *
 * A spell begins with a name after a pause, and its first names are named.  The
 * others are only counted, and tally_run() logs how many they were, so that
 * 100,000 losses at once neither fill the log nor go unsaid.
 */
#include "config.h"

#include <stdlib.h>

#include "base/xmalloc.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/tally.h"

/* One line in this time says how many more there were. */
#define MORE_MS 1000

/* How many are named in one spell. */
static const struct {
	enum notice_id more; /* says how many more there were */
	uint32_t named_max;
} tally_rules[TALLY_MAX] = {
	[TALLY_AT_RISK] = { NOTICE_MORE_AT_RISK, 20 },
	[TALLY_SAFE] = { NOTICE_MORE_SAFE, 20 },
	[TALLY_LOST] = { NOTICE_MORE_LOST, 100 },
	[TALLY_BOUND] = { NOTICE_MORE_BOUND, 100 },
	[TALLY_STOPPED] = { NOTICE_MORE_STOPPED, 100 },
	[TALLY_GIVEN_UP] = { NOTICE_MORE_GIVEN_UP, 100 },
};

/*
 * A spell of risk is over when a lease has passed without any.  Losses usually
 * come one by one, so their spell is over after a second without any.  Holds
 * may run out by their own hold= every second, so for these a spell is one
 * second, however many run out.
 */
bool
tally_names(struct core *core, enum tally_kind kind)
{
	struct tally *t = &core->tallies->v[kind];
	int64_t over_ms = MORE_MS;

	if (kind == TALLY_AT_RISK || kind == TALLY_SAFE)
		over_ms = core->config.lease_ms;
	if (core->now_ms - t->last_ms > over_ms)
		t->named = 0;
	/* The pause counts from the latest name; of bounds, from the first one
	 * of the spell. */
	if (kind != TALLY_BOUND || t->named == 0)
		t->last_ms = core->now_ms;
	if (t->named >= tally_rules[kind].named_max) {
		t->more++;
		core->tallies->more = true;
		return false;
	}
	t->named++;
	return true;
}

/* No timer wakes it: the last ones counted are logged by the first step that
 * comes a second after the latest such line. */
void
tally_tell(struct core *core)
{
	struct tally *t;
	unsigned i;

	core->tallies->more = false;
	for (i = 0; i < TALLY_MAX; i++) {
		t = &core->tallies->v[i];
		if (t->more == 0)
			continue;
		if (core->now_ms - t->told_ms < MORE_MS) {
			core->tallies->more = true;
			continue;
		}
		emit_notice(core, tally_rules[i].more);
		emit_num(core, FIELD_COUNT, t->more);
		t->more = 0;
		t->told_ms = core->now_ms;
	}
}
