/*
 * Token holds as a part of the core.
 */
#include "config.h"

#include "core/kernel/lock/hooks.h"
#include "core/parts/ids.h"
#include "core/parts/token/adopt.h"
#include "core/parts/token/call.h"
#include "core/parts/token/poll.h"
#include "core/parts/token/state.h"
#include "core/parts/token/token_record.h"

static bool
event(struct core *core, struct owner *owner, const struct core_event *ev)
{
	if (ev->kind == CORE_TOKEN)
		token_take(core, owner, ev->u.token.request);
	else if (ev->kind == CORE_PRESS)
		poll_press(core, owner);
	else if (ev->kind == CORE_UNHEARD)
		poll_unheard(core, ev->u.unheard.name, ev->u.unheard.len,
		    ev->u.unheard.audience);
	return ev->kind == CORE_TOKEN || ev->kind == CORE_PRESS ||
	       ev->kind == CORE_UNHEARD;
}

/* `given`, `look` and `took` may be for a poll queue: the number in the message
 * decides.  So poll queues come before token records, and both before locks. */
static bool
message(struct core *core, const char *text, size_t len)
{
	return poll_message(core, text, len) ||
	       token_record_message(core, text, len);
}

static size_t
left_behind(const struct core *core)
{
	return tokens_of(core)->nleft;
}

static const struct part_timer timers[] = {
	{ TIMER_TOKEN, { AGENDA_PATIENT, token_timer } },
	{ TIMER_TOKEN_RECORD, { AGENDA_PATIENT, token_record_timer } },
	{ TIMER_ADOPT, { AGENDA_PATIENT, adopt_timer } },
	{ TIMER_POLLERS, { AGENDA_PATIENT, poll_timer } },
	{ 0 },
};

static const struct part_slot slots[] = {
	{ SLOT_TOKEN, { .outcome = token_outcome,
			  .again = token_again,
			  .name = token_slot_name } },
	{ SLOT_TOKEN_RECORD, { .outcome = token_record_outcome } },
	{ SLOT_ADOPT, { .outcome = adopt_outcome } },
	{ SLOT_POLLERS, { .outcome = poll_outcome } },
	{ 0 },
};

static const struct part_job jobs[] = {
	{ JOB_TOKEN_RECORDS, token_records_run },
	{ 0 },
};

static const struct lock_hooks hooks = {
	.comes_before = poll_comes_before,
	.disowned = adopt_disowned,
};

const struct core_part token_part = {
	.id = PART_TOKEN,
	.lock = &hooks,
	.init = token_init,
	.fini = token_fini,
	.timers = timers,
	.slots = slots,
	.jobs = jobs,
	.swept_last = &token_records_swept,
	.message = message,
	.event = event,
	.stopped = token_stop,
	.drains = token_drain,
	.hangs_up = token_gone,
	.user_changes = token_user_changes,
	.guard_changed = token_records_guard_changed,
	.all_over = token_all_over,
	.has_nothing = token_has_nothing,
	.left_behind = left_behind,
	.hands_over = token_hands_over,
	.broker_gone = adopt_begin,
	.forced = token_record_forced,
	.check = token_check,
};
