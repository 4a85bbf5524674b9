/*
 * Sessions: begin with a connection, end with it or a little later.
 *
 * A session whose connection was reset after it had been told a `valid=` goes
 * on, detached, until that has run out: its client may still be working by its
 * own clock (protocol, section 1).
 */
#include "config.h"

#include <string.h>

#include "base/xmalloc.h"
#include "core/emit.h"
#include "core/hold.h"
#include "core/lease.h"
#include "core/lock.h"
#include "core/queue.h"
#include "core/session.h"
#include "core/sync.h"
#include "core/status.h"

void
session_open(struct core *core, uint64_t id, const char *peer, bool tcp)
{
	struct session *s = xcalloc(1, sizeof(*s));

	assert(session_find(core, id) == NULL);
	s->id = id;
	s->peer = xstrdup(peer);
	s->tcp = tcp;
	s->end.kind = TIMER_SESSION;
	TAILQ_INIT(&s->holds);
	TAILQ_INIT(&s->waiting);
	TAILQ_INIT(&s->lost);
	sync_session_init(s);
	HASH_ADD(hh, core->sessions, id, sizeof(s->id), s);
}

struct session *
session_find(const struct core *core, uint64_t id)
{
	struct session *s;

	HASH_FIND(hh, core->sessions, &id, sizeof(id), s);
	return s;
}

unsigned
session_load(const struct session *s)
{
	return s->nholds + s->nwaiting + s->npermits + s->nclaims;
}

static void
session_free(struct core *core, struct session *s)
{
	struct lost *lost, *next;

	assert(TAILQ_EMPTY(&s->holds) && TAILQ_EMPTY(&s->waiting));
	assert(TAILQ_EMPTY(&s->permits) && TAILQ_EMPTY(&s->claims));
	TAILQ_FOREACH_SAFE (lost, &s->lost, link, next)
		free(lost);
	core_disarm(core, &s->end);
	HASH_DELETE(hh, core->sessions, s);
	free(s->label);
	free(s->peer);
	free(s);
}

void
session_drain(struct core *core, struct session *s)
{
	if (s->draining)
		return;
	s->draining = true;
	queue_hasten(core, s);
	sync_drain(core, s);
	status_cancel(core, s, true);
}

/* Everything that waits leaves its queue; nobody is there to be told. */
static void
leave_queues(struct core *core, struct session *s)
{
	sync_leave(core, s);
	while (!TAILQ_EMPTY(&s->waiting))
		waiter_free(core, TAILQ_FIRST(&s->waiting));
	status_cancel(core, s, false);
}

static void
let_go(struct core *core, struct session *s, bool clean)
{
	struct hold *h;
	struct lock *l;

	sync_let_go(core, s);
	while (!TAILQ_EMPTY(&s->holds)) {
		h = TAILQ_FIRST(&s->holds);
		l = h->lock;
		hold_end(core, h, clean);
		lease_next(core, l);
	}
}

void
session_gone(struct core *core, struct session *s, bool orderly, bool quit)
{
	leave_queues(core, s);
	if (!orderly && s->tcp && !core->stopping &&
	    s->valid_ms > core->now_ms && s->nholds + s->npermits > 0) {
		s->detached = true;
		core_arm(core, &s->end, s->valid_ms);
		return;
	}
	let_go(core, s, quit);
	session_free(core, s);
}

void
session_timer(struct core *core, struct session *s)
{
	assert(s->detached);
	let_go(core, s, false);
	session_free(core, s);
}

void
session_stop_all(struct core *core)
{
	struct session *s, *next;

	HASH_ITER (hh, core->sessions, s, next) {
		emit_event(core, s->id, EVENT_SHUTDOWN, "", 0);
		while (!TAILQ_EMPTY(&s->waiting))
			waiter_error(core, TAILQ_FIRST(&s->waiting),
			    ERR_SHUTDOWN,
			    "the broker is stopping; try another one");
		sync_shutdown(core, s);
		let_go(core, s, false);
		if (s->detached)
			session_free(core, s);
	}
}

/* For core_free(): drops everything without a word to anybody. */
void
session_free_all(struct core *core)
{
	struct session *s, *next;
	struct lock *l, *next_lock;
	struct hold *h;

	HASH_ITER (hh, core->sessions, s, next) {
		leave_queues(core, s);
		sync_let_go(core, s);
		while (!TAILQ_EMPTY(&s->holds)) {
			h = TAILQ_FIRST(&s->holds);
			hold_end(core, h, true);
		}
		session_free(core, s);
	}
	HASH_ITER (hh, core->locks, l, next_lock)
		lock_free(core, l);
}

/*
 * The list is searched only when an UNLOCK found no hold, and is as long as
 * what a session may hold: the oldest is forgotten then.
 */
void
session_note_lost(
    struct core *core, struct session *s, const char *name, size_t len)
{
	struct lost *lost;

	if (s->nlost >= core->config.max_holds) {
		lost = TAILQ_FIRST(&s->lost);
		TAILQ_REMOVE(&s->lost, lost, link);
		free(lost);
		s->nlost--;
	}
	lost = xmalloc(sizeof(*lost) + len);
	lost->name_len = len;
	memcpy(lost->name, name, len);
	TAILQ_INSERT_TAIL(&s->lost, lost, link);
	s->nlost++;
}

bool
session_take_lost(struct session *s, const char *name, size_t len)
{
	struct lost *lost;

	TAILQ_FOREACH (lost, &s->lost, link) {
		if (lost->name_len != len || memcmp(lost->name, name, len) != 0)
			continue;
		TAILQ_REMOVE(&s->lost, lost, link);
		s->nlost--;
		free(lost);
		return true;
	}
	return false;
}
