/*
 * The end of a broker.
 *
 *	stop --> refuse what waits --> release what nobody counts on
 *	              --> a second, in which the others may give back
 *	                    --> release the rest: it lingers for its valid=
 *
 * A client that was told a `valid=` counts on that by its own clock, and may
 * not even be there to be told otherwise: the network may be cut without the
 * broker knowing.  So what such a session does not give back itself passes to
 * nobody before that `valid=` is over (protocol, section 7, !SHUTDOWN).
 */
#include "config.h"

#include "core/emit.h"
#include "core/hold.h"
#include "core/leave.h"
#include "core/queue.h"
#include "core/session.h"
#include "core/stop.h"
#include "core/sync.h"

#define STOP_GIVE_BACK_MS 1000
#define STOPPING "the broker is stopping; try another one"

/* Does its client count on what it holds, and is it there to give it back? */
static bool
may_give_back(const struct core *core, const struct session *s)
{
	return !s->detached && s->valid_ms > core->now_ms &&
	       s->nholds + s->npermits > 0;
}

/*
 * Its names linger until the valid= has run out, and then for their delay, as
 * if they had been held so long.  Nobody is left to write them again where the
 * clock of Redis jumps: hence the pad, as behind a lease.
 */
void
stop_outlive(struct core *core, struct session *s)
{
	if (s->valid_ms <= core->now_ms)
		return;
	if (s->nholds + s->npermits > 0 && s->valid_ms > core->left_ms)
		core->left_ms = s->valid_ms;
	s->outlived = true;
}

void
stop_keep(struct core *core, struct hold *h)
{
	hold_keep_until(
	    h, h->session->valid_ms + core->pad_ms + hold_terms(h)->delay_ms);
}

static void
refuse(struct core *core, struct waiter *w)
{
	emit_error(core, w->session->id, w->ref, ERR_SHUTDOWN, STOPPING);
	leave_request(core, w);
}

/* No request is left to which a name could go when all is let go. */
static void
refuse_waiting(struct core *core, struct session *s)
{
	if (s->over)
		return;
	emit_event(core, s->id, EVENT_SHUTDOWN, "", 0);
	while (!TAILQ_EMPTY(&s->granted))
		refuse(core, TAILQ_FIRST(&s->granted));
	while (!TAILQ_EMPTY(&s->waiting))
		refuse(core, TAILQ_FIRST(&s->waiting));
	sync_shutdown(core, s);
}

static void
release(struct core *core, struct session *s)
{
	stop_outlive(core, s);
	if (s->detached)
		leave_end(core, s, false);
	else if (!s->over)
		leave_let_go(core, s, false);
}

void
stop_begin(struct core *core)
{
	struct session *s, *next;
	bool waits = false;

	HASH_ITER (hh, core->sessions, s, next)
		refuse_waiting(core, s);
	HASH_ITER (hh, core->sessions, s, next) {
		if (may_give_back(core, s))
			waits = true;
		else
			release(core, s);
	}
	if (waits)
		core_arm(core, &core->stop, core->now_ms + STOP_GIVE_BACK_MS);
}

void
stop_timer(struct core *core)
{
	struct session *s, *next;

	HASH_ITER (hh, core->sessions, s, next)
		release(core, s);
}
