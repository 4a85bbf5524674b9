/*
 * Lines that say who lost what, when and why, for later readers of the log.
 *
 * Each line names the fence, by which it can be compared with what the resource
 * behind the lock has seen, and the session.  Of many losses or risks at once,
 * only the first have lines of their own (tally.h).
 */
#include "config.h"

#include "core/kernel/session/notify.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/tally.h"
#include "core/parts/notes/notes.h"
#include "core/parts/observe/notify.h"

static void
emit_lock(struct core *core, enum notice_id id, const struct lock *l)
{
	emit_notice(core, id);
	emit_str(core, FIELD_NAME, l->name, l->name_len);
}

/* Who holds it, or waits for it (`of`), and its trace. */
static void
emit_who(struct core *core, const struct owner *owner, const void *of)
{
	struct span trace = notes_of(core, of, NOTE_TRACE);

	notify_who(core, owner);
	if (trace.n > 0)
		emit_str(core, FIELD_TRACE, trace.p, trace.n);
}

/* A re-entry does not change who holds the name. */
void
notify_granted(struct core *core, const struct waiter *w)
{
	if (!emit_debugs(core) || w->depth > 1)
		return;
	emit_lock(core, NOTICE_LOCK_GRANTED, w->lock);
	emit_num(core, FIELD_FENCE, w->fence);
	emit_who(core, w->claim.owner, w);
	emit_since(core, FIELD_WAITED, w->claim.since_ms);
}

void
notify_released(struct core *core, const struct hold *h)
{
	if (!emit_debugs(core))
		return;
	emit_lock(core, NOTICE_LOCK_RELEASED, h->lock);
	emit_num(core, FIELD_FENCE, h->fence);
	emit_who(core, h->holding.owner, h);
	emit_since(core, FIELD_HELD, h->holding.since_ms);
}

void
notify_lost(struct core *core, const struct hold *h, const char *reason)
{
	static const enum notice_id notices[TALLY_MAX] = {
		[TALLY_LOST] = NOTICE_LOCK_LOST,
		[TALLY_BOUND] = NOTICE_LOCK_BOUND,
		[TALLY_GIVEN_UP] = NOTICE_LOCK_GIVEN_UP,
	};
	enum tally_kind kind = notify_loss(reason);

	if (!tally_names(core, kind))
		return;
	emit_lock(core, notices[kind], h->lock);
	emit_text(core, FIELD_REASON, reason);
	emit_num(core, FIELD_FENCE, h->fence);
	emit_who(core, h->holding.owner, h);
	emit_since(core, FIELD_HELD, h->holding.since_ms);
}

void
notify_stopped(struct core *core, const struct hold *h)
{
	if (!tally_names(core, TALLY_STOPPED))
		return;
	emit_lock(core, NOTICE_LOCK_STOPPED, h->lock);
	emit_num(core, FIELD_FENCE, h->fence);
	emit_who(core, h->holding.owner, h);
	emit_since(core, FIELD_HELD, h->holding.since_ms);
}

void
notify_risk(struct core *core, const struct hold *h, bool safe, int64_t left_ms)
{
	if (!tally_names(core, safe ? TALLY_SAFE : TALLY_AT_RISK))
		return;
	emit_lock(core, safe ? NOTICE_LOCK_SAFE : NOTICE_LOCK_AT_RISK, h->lock);
	emit_num(core, FIELD_FENCE, h->fence);
	emit_who(core, h->holding.owner, h);
	emit_since(core, FIELD_HELD, h->holding.since_ms);
	if (!safe)
		emit_num(core, FIELD_LEFT, (uint64_t)left_ms);
}

/* Forced releases are never counted together: an administrator has asked for
 * each. */
void
notify_force(struct core *core, const struct owner *by, const struct hold *h,
    const char *name, size_t len)
{
	emit_notice(core, NOTICE_UNLOCK_FORCE);
	emit_str(core, FIELD_NAME, name, len);
	notify_who(core, by);
	if (by->uid >= 0)
		emit_num(core, FIELD_UID, (uint64_t)by->uid);
	if (h == NULL)
		return;
	emit_num(core, FIELD_HOLDER, h->holding.owner->id);
	if (h->holding.owner->label != NULL)
		emit_text(core, FIELD_HOLDER_LABEL, h->holding.owner->label);
	emit_text(core, FIELD_HOLDER_PEER, h->holding.owner->peer);
	emit_num(core, FIELD_FENCE, h->fence);
	emit_since(core, FIELD_HELD, h->holding.since_ms);
}

void
notify_forced(struct core *core, const struct lock *l, const struct hold *h,
    const char *by)
{
	emit_lock(core, NOTICE_FORCED, l);
	emit_text(core, FIELD_BY, by[0] != '\0' ? by : "another broker");
	if (h == NULL)
		return;
	emit_num(core, FIELD_FENCE, h->fence);
	emit_who(core, h->holding.owner, h);
	emit_since(core, FIELD_HELD, h->holding.since_ms);
}
