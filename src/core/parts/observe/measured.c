/*
 * Measurements of names.  The first one of a name finds its class, which is
 * kept with the name.
 */
#include "config.h"

#include "core/kernel/lock/hold.h"
#include "core/kernel/lock/hooks.h"
#include "core/kernel/lock/lock.h"
#include "core/kernel/lock/names.h"
#include "core/kernel/turn/emit.h"
#include "core/parts/ids.h"
#include "core/parts/notes/notes.h"
#include "core/parts/observe/classes.h"
#include "core/parts/observe/count.h"
#include "core/parts/observe/measured.h"
#include "core/parts/observe/notify.h"

/* The class of the name; after a reload it is looked up once more. */
static struct measure_mark
mark_of(struct core *core, struct lock *l)
{
	measure_classify(
	    measure_of(core), &l->mark, l->name, l->name_len, l->nholders);
	return l->mark;
}

/* Waits. */

static void
measured_waits(
    struct core *core, struct waiter *w, const struct core_request *rq)
{
	(void)rq;
	measure_waits(
	    measure_of(core), &w->wait, mark_of(core, w->lock), core->now_ms);
}

/* A re-entry had nothing to wait for, so it does not count as a wait. */
static void
measured_waited(struct core *core, struct waiter *w)
{
	measure_waited(measure_of(core), &w->wait,
	    w->reentry ? RESULT_NONE : (enum measure_result)w->result,
	    core->now_ms);
}

static void
measured_busy(struct core *core, struct lock *const *locks, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		measure_busy(
		    measure_of(core), mark_of(core, locks[i]), core->now_ms);
}

/* Holds. */

static void
measured_begins(struct core *core, struct hold *h, const struct waiter *w)
{
	(void)w;
	measure_holds(measure_of(core), mark_of(core, h->lock));
}

void
measured_audit(struct core *core, const struct measure_hold *h)
{
	emit_notice(core, NOTICE_LOCK_ENDED);
	emit_str(core, FIELD_NAME, h->name, h->name_len);
	emit_num(core, FIELD_SESSION, h->session);
	if (h->label != NULL)
		emit_text(core, FIELD_LABEL, h->label);
	emit_text(core, FIELD_PEER, h->peer);
	if (h->user != NULL)
		emit_text(core, FIELD_USER, h->user);
	emit_text(core, FIELD_MODE, h->shared ? "shared" : "exclusive");
	emit_num(core, FIELD_FENCE, h->fence);
	emit_num(core, FIELD_WAITED, (uint64_t)h->waited_ms);
	emit_num(core, FIELD_HELD, (uint64_t)(h->ended_ms - h->granted_ms));
	emit_text(core, FIELD_END, h->end);
	if (h->by != NULL)
		emit_text(core, FIELD_BY, h->by);
	if (h->trace != NULL)
		emit_text(core, FIELD_TRACE, h->trace);
}

static void
hold_over(struct core *core, const struct hold *h, const char *end, bool lost,
    const char *by)
{
	const struct owner *owner = h->holding.owner;
	struct lock *l = h->lock;
	struct measure_hold hold = { .name = l->name,
		.name_len = l->name_len,
		.session = owner->id,
		.label = owner->label,
		.peer = owner->peer,
		.user = owner->user,
		.shared = l->shared_hold,
		.fence = h->fence,
		.granted_ms = h->holding.since_ms,
		.ended_ms = core->now_ms,
		.waited_ms = hold_waited_ms(h),
		.end = end,
		.by = by,
		.trace = notes_of(core, h, NOTE_TRACE).p };

	measure_held(measure_of(core), mark_of(core, l), &hold, lost);
	if (core->config.audit && core->fx != NULL)
		measured_audit(core, &hold);
}

static void
measured_given_back(struct core *core, const struct hold *h, const char *how)
{
	hold_over(core, h, how, false, NULL);
}

static void
measured_lost(
    struct core *core, const struct hold *h, const char *reason, const char *by)
{
	notify_lost(core, h, reason);
	hold_over(core, h, reason, true, by);
}

/* The part's data on a name that changes hands; freed with it. */
struct passing {
	int64_t since_ms;
	bool on; /* it was not granted since */
};

/* A handover lasts from the moment at which the last holder releases the name,
 * if a request waits then, to the next grant. */
static void
measured_freed(struct core *core, const struct hold *h)
{
	struct lock *l = h->lock;
	struct passing *passing;

	measure_holds_not(measure_of(core), l->mark);
	if (l->nholders > 1 || l->queue == NULL)
		return;
	passing = lock_need_part(l, PART_OBSERVE, sizeof(*passing));
	passing->since_ms = core->now_ms;
	passing->on = true;
}

/* Names that pass on. */

/* If the lease has gone to another broker in between, that broker's grants are
 * no handover of ours (measured_arrived()). */
static void
measured_handed(struct core *core, struct lock *l)
{
	struct passing *passing = lock_part(l, PART_OBSERVE);

	if (passing == NULL || !passing->on)
		return;
	measure_handover(measure_of(core), mark_of(core, l), FROM_HERE,
	    core->now_ms - passing->since_ms);
	passing->on = false;
}

/* The message of another broker says when it released the name. */
static void
measured_arrived(struct core *core, struct lock *l)
{
	struct passing *passing = lock_part(l, PART_OBSERVE);

	if (passing != NULL)
		passing->on = false;
	if (l->lease.term.provisional)
		measure_handover(measure_of(core), mark_of(core, l),
		    FROM_ELSEWHERE, core->now_ms - l->lease.term.confirmed_ms);
}

static void
measured_renewed(struct core *core, struct lock *l, int64_t left_ms)
{
	measure_add(
	    &measure_class_at(measure_of(core), mark_of(core, l).class)->margin,
	    left_ms);
}

/* As a part. */

static const struct lock_hooks hooks = {
	.arrived = measured_arrived,
	.renewed = measured_renewed,
	.waits = measured_waits,
	.waited = measured_waited,
	.busy = measured_busy,
	.passes = measured_handed,
	.told = notify_granted,
	.begins = measured_begins,
	.given_back = measured_given_back,
	.lost = measured_lost,
	.ends = measured_freed,
	.ended = notify_released,
	.risk = notify_risk,
	.forced = notify_forced,
	.stopped = notify_stopped,
};

static void
init(struct core *core)
{
	core->part[PART_OBSERVE] = measure_new();
}

static void
fini(struct core *core)
{
	measure_free(measure_of(core));
}

static void
configure_classes(struct core *core, const struct metrics_settings *metrics)
{
	if (metrics != NULL)
		measure_configure(measure_of(core), metrics);
}

static size_t
check_measured(const struct core *core)
{
	measure_check(measure_of(core),
	    core->locks->nwaiting + locks_untold(core) + core->owners->nparked,
	    core->locks->nholds + core->owners->ntokens);
	return 0;
}

const struct core_part observe_part = {
	.id = PART_OBSERVE,
	.lock = &hooks,
	.init = init,
	.fini = fini,
	.configure = configure_classes,
	.check = check_measured,
};
