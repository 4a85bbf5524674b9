/*
 * Log lines about permits.  Grants and releases are for debugging.  A loss or a
 * risk is worth a warning; as it meets all holders of a semaphore, or of all
 * semaphores, at once, only the first have lines of their own (turn/tally.h).
 */
#include "config.h"

#include "core/kernel/session/notify.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/tally.h"
#include "core/parts/sync/notify.h"
#include "core/parts/sync/permit_slots.h"
#include "core/parts/sync/semaphore.h"
#include "core/parts/sync/sync.h"

static void
emit_permits(
    struct core *core, enum notice_id id, const struct permits *p, uint64_t n)
{
	emit_notice(core, id);
	emit_str(core, FIELD_NAME, p->sync->name, p->sync->name_len);
	emit_num(core, FIELD_PERMITS, n);
	if (p->slot != NO_SLOT)
		emit_num(core, FIELD_SLOT, p->slot);
	notify_who(core, p->holding.owner);
	emit_since(core, FIELD_HELD, p->holding.since_ms);
}

void
notify_permits(
    struct core *core, enum notice_id id, const struct permits *p, uint64_t n)
{
	if (emit_debugs(core))
		emit_permits(core, id, p, n);
}

void
notify_permits_lost(
    struct core *core, const struct permits *p, uint64_t n, const char *reason)
{
	static const enum notice_id notices[TALLY_MAX] = {
		[TALLY_LOST] = NOTICE_PERMITS_LOST,
		[TALLY_BOUND] = NOTICE_PERMITS_BOUND,
		[TALLY_GIVEN_UP] = NOTICE_PERMITS_GIVEN_UP,
	};
	enum tally_kind kind = notify_loss(reason);

	if (!tally_names(core, kind))
		return;
	emit_permits(core, notices[kind], p, n);
	emit_text(core, FIELD_REASON, reason);
}

void
notify_permits_risk(
    struct core *core, const struct permits *p, bool safe, int64_t left_ms)
{
	if (!tally_names(core, safe ? TALLY_SAFE : TALLY_AT_RISK))
		return;
	emit_permits(
	    core, safe ? NOTICE_PERMITS_SAFE : NOTICE_PERMITS_AT_RISK, p, p->n);
	if (!safe)
		emit_num(core, FIELD_LEFT, (uint64_t)left_ms);
}
