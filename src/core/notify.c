/*
 * Who lost what, when and why: the answers for those who read the log later.
 */
#include "config.h"

#include <string.h>

#include "core/emit.h"
#include "core/notify.h"
#include "core/semaphore.h"
#include "core/sync.h"

/* How many more there are than are named is told so often. */
#define MORE_MS 1000

/* Of many at once so many are named. */
static const struct {
	enum notice_id more; /* how many there are beside these */
	uint32_t named_max;
} tally_rules[TALLY_MAX] = {
	[TALLY_AT_RISK] = { NOTICE_MORE_AT_RISK, 20 },
	[TALLY_SAFE] = { NOTICE_MORE_SAFE, 20 },
	[TALLY_LOST] = { NOTICE_MORE_LOST, 100 },
	[TALLY_BOUND] = { NOTICE_MORE_BOUND, 100 },
};

static bool
is_debugged(const struct core *core)
{
	return core->fx != NULL && core->config.debug;
}

static void
emit_text(struct core *core, enum field_id id, const char *text)
{
	emit_str(core, id, text, strlen(text));
}

static void
emit_since(struct core *core, enum field_id id, int64_t since_ms)
{
	int64_t ms = core->now_ms - since_ms;

	emit_num(core, id, ms > 0 ? (uint64_t)ms : 0);
}

static void
emit_who(struct core *core, const struct session *s)
{
	emit_num(core, FIELD_SESSION, s->id);
	if (s->label != NULL)
		emit_text(core, FIELD_LABEL, s->label);
	emit_text(core, FIELD_PEER, s->peer);
}

static void
emit_lock(struct core *core, enum notice_id id, const struct lock *l)
{
	emit_notice(core, id);
	emit_str(core, FIELD_NAME, l->name, l->name_len);
}

void
notify_session(struct core *core, enum notice_id id, const struct session *s)
{
	if (!is_debugged(core))
		return;
	emit_notice(core, id);
	emit_who(core, s);
	if (s->uid >= 0)
		emit_num(core, FIELD_UID, (uint64_t)s->uid);
}

void
notify_granted(struct core *core, const struct waiter *w)
{
	if (!is_debugged(core) || w->depth > 1)
		return;
	emit_lock(core, NOTICE_LOCK_GRANTED, w->lock);
	emit_num(core, FIELD_FENCE, w->fence);
	emit_who(core, w->session);
	emit_since(core, FIELD_WAITED, w->since_ms);
}

void
notify_released(struct core *core, const struct hold *h)
{
	if (!is_debugged(core))
		return;
	emit_lock(core, NOTICE_LOCK_RELEASED, h->lock);
	emit_num(core, FIELD_FENCE, h->fence);
	emit_who(core, h->session);
	emit_since(core, FIELD_HELD, h->since_ms);
}

static void
emit_permits(
    struct core *core, enum notice_id id, const struct permits *p, uint64_t n)
{
	emit_notice(core, id);
	emit_str(core, FIELD_NAME, p->sync->name, p->sync->name_len);
	emit_num(core, FIELD_PERMITS, n);
	emit_who(core, p->session);
	emit_since(core, FIELD_HELD, p->since_ms);
}

void
notify_permits(
    struct core *core, enum notice_id id, const struct permits *p, uint64_t n)
{
	if (is_debugged(core))
		emit_permits(core, id, p, n);
}

static bool
is_bound(const char *reason)
{
	return strcmp(reason, "hold") == 0;
}

/*
 * Is this one to be named, or only counted?  A spell of risk is over when a
 * lease has passed without any.  Losses come one by one on other days, so
 * their spell is over after a second, and a hold that many set themselves to
 * may run out every second: of these as many are named in each.
 */
static bool
is_named(struct core *core, enum tally_kind kind)
{
	struct tally *t = &core->tallies[kind];
	int64_t over_ms = MORE_MS;

	if (kind == TALLY_AT_RISK || kind == TALLY_SAFE)
		over_ms = core->config.lease_ms;
	if (core->now_ms - t->last_ms > over_ms)
		t->named = 0;
	if (kind != TALLY_BOUND || t->named == 0)
		t->last_ms = core->now_ms;
	if (t->named >= tally_rules[kind].named_max) {
		t->more++;
		return false;
	}
	t->named++;
	return true;
}

void
notify_lost(struct core *core, const struct hold *h, const char *reason)
{
	const bool bound = is_bound(reason);

	if (!is_named(core, bound ? TALLY_BOUND : TALLY_LOST))
		return;
	emit_lock(core, bound ? NOTICE_LOCK_BOUND : NOTICE_LOCK_LOST, h->lock);
	emit_text(core, FIELD_REASON, reason);
	emit_num(core, FIELD_FENCE, h->fence);
	emit_who(core, h->session);
	emit_since(core, FIELD_HELD, h->since_ms);
}

void
notify_permits_lost(
    struct core *core, const struct permits *p, const char *reason)
{
	const bool bound = is_bound(reason);

	if (!is_named(core, bound ? TALLY_BOUND : TALLY_LOST))
		return;
	emit_permits(
	    core, bound ? NOTICE_PERMITS_BOUND : NOTICE_PERMITS_LOST, p, p->n);
	emit_text(core, FIELD_REASON, reason);
}

void
notify_permits_risk(
    struct core *core, const struct permits *p, bool safe, int64_t left_ms)
{
	if (!is_named(core, safe ? TALLY_SAFE : TALLY_AT_RISK))
		return;
	emit_permits(
	    core, safe ? NOTICE_PERMITS_SAFE : NOTICE_PERMITS_AT_RISK, p, p->n);
	if (!safe)
		emit_num(core, FIELD_LEFT, (uint64_t)left_ms);
}

void
notify_risk(struct core *core, const struct hold *h, bool safe, int64_t left_ms)
{
	if (!is_named(core, safe ? TALLY_SAFE : TALLY_AT_RISK))
		return;
	emit_lock(core, safe ? NOTICE_LOCK_SAFE : NOTICE_LOCK_AT_RISK, h->lock);
	emit_num(core, FIELD_FENCE, h->fence);
	emit_who(core, h->session);
	emit_since(core, FIELD_HELD, h->since_ms);
	if (!safe)
		emit_num(core, FIELD_LEFT, (uint64_t)left_ms);
}

void
notify_run(struct core *core)
{
	struct tally *t;
	unsigned i;

	for (i = 0; i < TALLY_MAX; i++) {
		t = &core->tallies[i];
		if (t->more == 0 || core->now_ms - t->told_ms < MORE_MS)
			continue;
		emit_notice(core, tally_rules[i].more);
		emit_num(core, FIELD_COUNT, t->more);
		t->more = 0;
		t->told_ms = core->now_ms;
	}
}

void
notify_force(struct core *core, const struct session *by, const struct hold *h,
    const char *name, size_t len)
{
	emit_notice(core, NOTICE_UNLOCK_FORCE);
	emit_str(core, FIELD_NAME, name, len);
	emit_who(core, by);
	if (by->uid >= 0)
		emit_num(core, FIELD_UID, (uint64_t)by->uid);
	if (h == NULL)
		return;
	emit_num(core, FIELD_HOLDER, h->session->id);
	if (h->session->label != NULL)
		emit_text(core, FIELD_HOLDER_LABEL, h->session->label);
	emit_text(core, FIELD_HOLDER_PEER, h->session->peer);
	emit_num(core, FIELD_FENCE, h->fence);
	emit_since(core, FIELD_HELD, h->since_ms);
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
	emit_who(core, h->session);
	emit_since(core, FIELD_HELD, h->since_ms);
}
