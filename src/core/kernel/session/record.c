/*
 * Records of sessions: makes and frees them, and keeps the counters.
 *
 * The fate of a session is decided above: life.c says how it begins and
 * continues, leave.c how it releases everything.  Only then is its record
 * freed.
 */
#include "config.h"

#include "base/xmalloc.h"
#include "core/kernel/session/holding.h"
#include "core/kernel/session/place.h"
#include "core/kernel/session/share.h"
#include "core/kernel/turn/job.h"

void
session_init(struct core *core)
{
	owners_init(core);
	core->sessions = xcalloc(1, sizeof(*core->sessions));
	TAILQ_INIT(&core->sessions->all);
	TAILQ_INIT(&core->sessions->withdrawing);
	TAILQ_INIT(&core->sessions->letting_go);
	TAILQ_INIT(&core->sessions->kept_over);
	TAILQ_INIT(&core->sessions->retelling);
	TAILQ_INIT(&core->sessions->spare);
	shares_init(&core->sessions->shares);
}

void
session_fini(struct core *core)
{
	shares_fini(&core->sessions->shares);
	free(core->sessions);
	owners_fini(core);
}

struct session *
session_new(struct core *core, uint64_t id, const char *peer)
{
	struct session *s = xcalloc(1, sizeof(*s));

	assert(id != 0);
	owner_init(core, &s->owner, id, peer);
	s->conn = id;
	s->end.kind = TIMER_SESSION;
	TAILQ_INIT(&s->kept);
	TAILQ_INSERT_TAIL(&core->sessions->all, s, in_all);
	core->sessions->nplaces[PLACE_NONE]++;
	return s;
}

void
session_delete(struct core *core, struct session *s)
{
	assert(core->sessions->nkeepers >= (s->option[SESSION_GRACE] > 0));
	assert(!s->withdrawing && !s->letting_go && s->nkept == 0);
	core_disarm(core, &s->end);
	core->sessions->nkeepers -= s->option[SESSION_GRACE] > 0;
	place_leave(core, s);
	core->sessions->nplaces[PLACE_NONE]--;
	CURSOR_REMOVE(
	    &core->sessions->cursors, &core->sessions->all, s, in_all);
	owner_fini(core, &s->owner);
	free(s);
}

struct session *
session_find(const struct core *core, uint64_t id)
{
	struct owner *owner = owner_find(core, id);

	return owner == NULL ? NULL : session_of(owner);
}

/* Each effect for a session asks this (turn_listener).  A session that is gone
 * has no connection either, so a late answer reaches no client. */
uint64_t
session_conn(const struct core *core, uint64_t id)
{
	const struct session *s = session_find(core, id);

	return s == NULL ? 0 : s->conn;
}

/* A session without a connection is detached, and may be resumed until its
 * timer runs; or it is over, and only releases its holds. */
static void
check_one(const struct core *core, const struct session *s)
{
	owner_check(core, &s->owner);
	holdings_check(&s->owner);
	assert((s->conn == 0) == (s->detached || s->over));
	assert(!s->over || (s->letting_go && !s->detached));
	assert(!timer_armed(&s->end) || s->detached);
	assert(s->option[SESSION_GRACE] >= 0);
}

void
session_check(const struct core *core)
{
	const struct sessions *all = core->sessions;
	unsigned nkeepers = 0, nleaving = 0;
	const struct session *s;

	TAILQ_FOREACH (s, &all->all, in_all) {
		check_one(core, s);
		nkeepers += s->option[SESSION_GRACE] > 0;
		nleaving += s->withdrawing + s->letting_go;
	}
	assert(nkeepers == all->nkeepers);
	place_check(core);
	job_check(core, JOB_RETELL, !TAILQ_EMPTY(&all->retelling));
	job_check(core, JOB_FORGET, !TAILQ_EMPTY(&all->kept_over));
	job_check(core, JOB_WITHDRAW, !TAILQ_EMPTY(&all->withdrawing));
	job_check(core, JOB_LET_GO, !TAILQ_EMPTY(&all->letting_go));
	owners_check(core);
	TAILQ_FOREACH (s, &all->withdrawing, in_withdrawing)
		nleaving -= s->withdrawing;
	TAILQ_FOREACH (s, &all->letting_go, in_letting_go)
		nleaving -= s->letting_go;
	assert(nleaving == 0);
}
