/*
 * Requests that are withdrawn.
 *
 * A hold ends cleanly here, without a delay, even if its client was cut off: it
 * has never heard of the grant, so it cannot be at work under it.
 */
#include "config.h"

#include "core/kernel/lock/group.h"
#include "core/kernel/lock/hold.h"
#include "core/kernel/lock/names.h"
#include "core/kernel/lock/queue.h"
#include "core/kernel/session/quota.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/work.h"

/* Frees the waiter first, so that its name has one untold grant less. */
static void
withdraw_one(struct core *core, struct waiter *w)
{
	struct hold *h = w->hold;

	core_visit(core, 1);
	if (h != NULL)
		lock_touch(core, h->lock);
	waiter_free(core, w);
	if (h != NULL)
		hold_drop_upgrade(h, NULL);
	if (h == NULL || hold_step_out(h))
		return;
	hold_promise_told(h);
	hold_end(core, h, true);
}

/* Withdraws a group as a whole. */
void
withdraw_request(struct core *core, struct claim *c)
{
	struct waiter *w = waiter_of(c);

	if (w->group != NULL)
		group_free(core, w->group, withdraw_one);
	else
		withdraw_one(core, w);
}

void
withdraw_refuse(struct core *core, struct claim *c)
{
	emit_error(core, c->owner->id, c->ref, ERR_SHUTDOWN, QUOTA_STOPPING);
	waiter_ends(waiter_of(c), RESULT_REFUSED);
	withdraw_request(core, c);
}
