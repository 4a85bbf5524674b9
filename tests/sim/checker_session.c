/*
 * Promises about sessions that outlive their connections: what they had is
 * there when their clients come back in time, as deep and with the same fence,
 * and nothing else; what was lost meanwhile is told then, before anything else;
 * a key that is wrong, or of a session that has ended, finds nothing.
 */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "core/dump.h"

#include "checker_state.h"
#include "resumes.h"
#include "world.h"

#define EARLY_US 2000	  /* clocks count milliseconds */
#define SILENCE_US 100000 /* timers, turns, lines that wait to be read */

static struct sitting *
sitting_of(const struct world *w, uint64_t id)
{
	assert(id > 0 && id <= w->checker.nsittings);
	return &w->checker.sittings[id - 1];
}

uint64_t
checker_session(const struct world *w, uint64_t sitting)
{
	return sitting_of(w, sitting)->session;
}

int
checker_broker(const struct world *w, uint64_t sitting)
{
	return sitting_of(w, sitting)->broker;
}

void
checker_handed(struct world *w, uint64_t sitting, uint64_t ref, int broker)
{
	struct ask *ask = &w->checker.asks[ref - 1];
	int64_t awake_us = w->brokers[ask->broker].awake_us;

	if (ask->awake_us < awake_us)
		ask->awake_us = awake_us;
	sitting_of(w, sitting)->broker = ask->broker = broker;
}

bool
checker_is_proxied(const struct world *w, uint64_t sitting)
{
	return sitting_of(w, sitting)->proxied;
}

bool
checker_is_by_quit_only(const struct world *w, uint64_t sitting)
{
	return sitting_of(w, checker_session(w, sitting))->by_quit_only;
}

bool
checker_is_away(const struct world *w, uint64_t session)
{
	const struct sitting *s = sitting_of(w, session);

	return !s->ended && s->sitting == 0;
}

const struct grant *
checker_grant_of(struct world *w, uint64_t session, int name)
{
	return checker_grant(w, session, name);
}

void
checker_tenure(struct world *w, uint64_t session, const struct input *in)
{
	struct sitting *s = sitting_of(w, session);

	if (in->grace_ms >= 0)
		s->grace_ms = in->grace_ms;
	if (in->heartbeat_ms >= 0)
		s->heartbeat_ms = in->heartbeat_ms;
	if (in->has_end)
		s->by_quit_only = in->by_quit_only;
}

/* The broker rounds down what it tells. */
void
checker_pinged(
    struct world *w, const struct broker *b, uint64_t session, int64_t left_ms)
{
	if (left_ms >= 0)
		sitting_of(w, session)->valid_ms =
		    broker_clock_ms(b) + left_ms + 1;
}

bool
checker_survives(
    const struct world *w, const struct broker *b, uint64_t sitting, bool quit)
{
	const struct sitting *s = sitting_of(w, checker_session(w, sitting));

	return !quit && !b->stopping && s->grace_ms > 0;
}

static void
set_away(struct world *w, uint64_t session, bool away, int64_t until_us)
{
	struct checker *k = &w->checker;
	struct grant *g;
	int i;

	for (i = 0; i < k->ngrants; i++) {
		g = &k->grants[i];
		if (g->session != session || g->detached || g->orphaned)
			continue;
		g->away = away;
		g->until_us = until_us;
	}
	checker_permits_away(w, session, away, until_us);
}

/* Nobody is there for a while. */
void
checker_goes_away(
    struct world *w, const struct broker *b, uint64_t session, bool orderly)
{
	struct sitting *s = sitting_of(w, session);

	s->sitting = 0;
	s->waived = orderly;
	s->until_ms = broker_clock_ms(b) + s->grace_ms;
	s->until_us = broker_world_us(b, s->until_ms) - EARLY_US;
	s->kept_ms = s->until_ms;
	if (!orderly && s->valid_us > s->until_us)
		s->until_us = s->valid_us;
	if (!orderly && s->valid_ms > s->kept_ms)
		s->kept_ms = s->valid_ms;
	set_away(w, session, true, s->until_us);
}

/* A connection has another session; its own, which held nothing, is over. */
void
checker_attached(struct world *w, uint64_t sitting, uint64_t session)
{
	struct sitting *at = sitting_of(w, sitting);
	struct sitting *s = sitting_of(w, session);

	if (at->session == session)
		return;
	sitting_of(w, at->session)->ended = true;
	at->session = session;
	s->sitting = sitting;
	s->waived = false;
	s->owed = s->missed;
	set_away(w, session, false, 0);
}

/* Another connection has its session now. */
void
checker_taken_over(struct world *w, const struct broker *b, uint64_t sitting)
{
	struct sitting *s = sitting_of(w, sitting);

	TRACE(w, "%s: session %llu is taken over", b->name,
	    (unsigned long long)s->session);
	s->gone = s->resumed = true;
	checker_abandon(w, sitting, true);
}

/* RESUME. */

void
checker_resuming(
    struct world *w, const struct broker *b, uint64_t ref, uint64_t session)
{
	struct ask *ask = &w->checker.asks[ref - 1];
	const struct sitting *s;

	ask->resumes = session;
	if (session == 0)
		return;
	s = sitting_of(w, session);
	if ((s->ended && !s->leaving) || s->broker != b->index)
		return;
	/* After its grace it may go on for a valid= that was told; and a broker
	 * that stops ends it a few steps after it has told so. */
	ask->safe =
	    !s->ended && (s->sitting != 0 || broker_clock_ms(b) < s->until_ms);
	ask->open = ask->safe || s->valid_us > 0 || s->ended;
}

void
checker_resume_answered(
    struct world *w, const struct answer *a, const struct ask *ask)
{
	struct sitting *s = sitting_of(w, a->session);

	if (a->status == STATUS_OK)
		checker_watch_resumed(w, a->session);
	memcpy(s->echoes, s->lately, sizeof(s->echoes));
	s->echo_us = world_now(w);
	if (a->status == STATUS_OK && a->session != ask->resumes)
		world_fail(w, "session",
		    "request %llu resumes session %llu by the key of %llu",
		    (unsigned long long)ask->ref,
		    (unsigned long long)a->session,
		    (unsigned long long)ask->resumes);
	if (a->status == STATUS_OK && !ask->open)
		world_fail(w, "session",
		    "request %llu resumes session %llu, which has ended",
		    (unsigned long long)ask->ref,
		    (unsigned long long)a->session);
	if (a->status != STATUS_OK &&
	    (ask->safe ||
		(a->code == ERR_NOT_FOUND && resumes_should_find(w, ask))))
		world_fail(w, "session",
		    "request %llu does not find session %llu, which is there",
		    (unsigned long long)ask->ref,
		    (unsigned long long)ask->resumes);
}

/* LIST, of a session that was resumed just now. */
struct listed {
	struct world *w;
	uint64_t session;
	int locks;
	uint64_t permits[CHECKER_SEMAPHORES_MAX];
};

static uint64_t
number(const struct core_row *row, enum field_id id)
{
	size_t i;

	for (i = 0; i < row->nfields; i++)
		if (row->fields[i].id == id)
			return row->fields[i].num;
	return 0;
}

static void
check_row(void *arg, const struct core_row *row)
{
	struct listed *l = arg;
	const struct grant *g;

	if (strcmp(row->word, "semaphore") == 0)
		l->permits[row->name[1] - '0'] = number(row, FIELD_PERMITS);
	if (strcmp(row->word, "lock") != 0)
		return;
	l->locks++;
	g = checker_grant(l->w, l->session, row->name[1] - '0');
	if (g == NULL || g->fence != number(row, FIELD_FENCE) ||
	    (uint64_t)g->depth != number(row, FIELD_DEPTH))
		world_fail(l->w, "session",
		    "session %llu is back and has %.*s with depth %llu and "
		    "fence %llu, not %lld and %llu",
		    (unsigned long long)l->session, (int)row->name_len,
		    row->name, (unsigned long long)number(row, FIELD_DEPTH),
		    (unsigned long long)number(row, FIELD_FENCE),
		    g == NULL ? -1LL : (long long)g->depth,
		    g == NULL ? 0ULL : (unsigned long long)g->fence);
}

/*
 * How many locks the session has.  A lock that it lost in this turn, before its
 * client came back, is not among them, though nobody was told of the loss yet.
 * The line for the former connection goes nowhere, since that one is closed
 * now; the core tells the loss again behind the answer to RESUME.  Until then
 * the grant counts for all other promises.
 */
static int
count_locks(const struct world *w, const struct broker *b, uint64_t session,
    uint64_t sitting)
{
	const struct checker *k = &w->checker;
	const struct grant *g;
	int i, n = 0;

	for (i = 0; i < k->ngrants; i++) {
		g = &k->grants[i];
		n += g->session == session && g->drill == 0 &&
		     !broker_has_lost(
			 b, session, sitting, checker_name(g->name), g->fence);
	}
	return n;
}

/* The same of the permits of a semaphore. */
static uint64_t
count_permits(struct world *w, const struct broker *b, uint64_t session,
    uint64_t sitting, int semaphore)
{
	const char name[] = { 's', (char)('0' + semaphore), '\0' };

	if (broker_has_lost(b, session, sitting, name, 0))
		return 0;
	return checker_permits_of(w, session, semaphore);
}

void
checker_resumed(struct world *w, struct broker *b, uint64_t sitting)
{
	struct listed l = { .w = w, .session = checker_session(w, sitting) };
	struct listing *g;
	uint64_t permits;
	int i, locks;

	/* While its broker stops, it is only there to give back what it has
	 * (checker_leaves()). */
	if (l.session == sitting || w->failed ||
	    sitting_of(w, l.session)->leaving)
		return;
	g = core_list_begin(b->core, l.session);
	while (core_listing_part(b->core, g, broker_clock_ms(b), check_row, &l))
		;
	core_listing_end(g);
	locks = count_locks(w, b, l.session, sitting);
	if (locks != l.locks)
		world_fail(w, "session",
		    "session %llu is back with %d locks, and had %d",
		    (unsigned long long)l.session, l.locks, locks);
	for (i = 0; i < CHECKER_SEMAPHORES_MAX; i++) {
		permits = count_permits(w, b, l.session, sitting, i);
		if (permits != l.permits[i])
			world_fail(w, "session",
			    "session %llu is back with %llu permits of s%d, "
			    "and had %llu",
			    (unsigned long long)l.session,
			    (unsigned long long)l.permits[i], i,
			    (unsigned long long)permits);
	}
}

/* Events. */

static unsigned
subject(const struct answer *a)
{
	unsigned n = (unsigned)(a->name[1] - '0');

	return a->name[0] == 's' ? CHECKER_NAMES_MAX + n : n;
}

/* What was lost while nobody was there comes before any other reply. */
void
checker_session_line(
    struct world *w, const struct broker *b, const struct answer *a)
{
	struct sitting *s = sitting_of(w, a->session);

	if (!a->is_event && s->owed != 0 &&
	    checker_ask(w, a->ref)->kind != ASK_RESUME)
		world_fail(w, "session",
		    "%s answers session %llu before it tells what was lost "
		    "meanwhile",
		    b->name, (unsigned long long)a->session);
	if (!a->is_event || a->event != EVENT_LOST)
		return;
	if (a->sitting == 0) {
		s->missed |= 1u << subject(a);
		return;
	}
	s->missed &= ~(1u << subject(a));
	s->owed &= ~(1u << subject(a));
}

/* A request has come: what was told before has arrived. */
void
checker_hears(struct world *w, const struct broker *b, uint64_t session)
{
	struct sitting *s = sitting_of(w, session);

	checker_watch_sure(w, b, session);

	memset(s->lately, 0, sizeof(s->lately));
}

void
checker_told_lost(struct world *w, const struct answer *a)
{
	sitting_of(w, a->session)->lately[subject(a)]++;
}

/* It comes right behind the answer to RESUME then. */
bool
checker_told_again(struct world *w, const struct answer *a, uint64_t fence)
{
	struct sitting *s = sitting_of(w, a->session);
	unsigned *left = &s->echoes[subject(a)];

	if (a->sitting == 0 || world_now(w) != s->echo_us || *left == 0 ||
	    fence == a->fence)
		return false;
	(*left)--;
	return true;
}

/* Its broker stops, and nobody is there to hear of it. */
void
checker_ends_away(struct world *w, uint64_t session)
{
	struct sitting *s = sitting_of(w, session);

	s->ended = s->leaving = true;
	set_away(w, session, false, 0);
	checker_end_grants(w, session, false, s->valid_us, false);
}

/*
 * Its client has not come back in time.  The client counts a valid= from when it
 * sent the PING, and the broker from when it read that: until the broker ends
 * the session, too, the client may come back to what it had.
 */
static void
look_at_away(struct world *w, uint64_t session)
{
	struct checker *k = &w->checker;
	struct sitting *s = sitting_of(w, session);
	const struct broker *b = &w->brokers[s->broker];
	int i;

	if (broker_stalled(b) || world_now(w) < s->until_us + 2 * EARLY_US ||
	    broker_clock_ms(b) < s->kept_ms)
		return;
	for (i = 0; i < k->ngrants; i++) {
		if (k->grants[i].session != session)
			continue;
		checker_set_quiet(w, &k->grants[i], s->until_us);
		checker_drill_over(w, &k->grants[i], s->until_us);
		/* A client that has only stopped sending may not know. */
		history_note(&w->history, world_now(w), HISTORY_INFO, session,
		    HISTORY_DOUBT, checker_name(k->grants[i].name), 0);
	}
	set_away(w, session, false, 0);
	checker_end_grants(w, session, true, 0, false);
	s->ended = true;
	checker_hunger(w);
}

/* Who owes a line, and sends none, is taken for dead. */
static void
look_at_silence(struct world *w, uint64_t session)
{
	const struct sitting *s = sitting_of(w, session);
	const struct sitting *at;
	const struct broker *b = &w->brokers[s->broker];
	int64_t since_us;

	if (s->ended || s->heartbeat_ms == 0 || s->sitting == 0 ||
	    broker_stalled(b))
		return;
	at = sitting_of(w, s->sitting);
	since_us = at->heard_us > b->awake_us ? at->heard_us : b->awake_us;
	if (at->waits == 0 && !at->draining &&
	    world_now(w) > since_us + s->heartbeat_ms * 1010 + SILENCE_US)
		world_fail(w, "heartbeat",
		    "session %llu is there, and its client has been silent for "
		    "%lld ms",
		    (unsigned long long)session,
		    (long long)(world_now(w) - since_us) / 1000);
}

void
checker_session_look(struct world *w)
{
	struct checker *k = &w->checker;
	const struct sitting *s;
	size_t i;

	for (i = 0; i < k->nsittings && uses_has(w, USE_HEARTBEAT); i++)
		look_at_silence(w, i + 1);
	for (i = 0; i < k->nsittings && uses_has(w, USE_SESSION); i++) {
		s = &k->sittings[i];
		if (checker_is_away(w, i + 1))
			look_at_away(w, i + 1);
		else if (!s->ended && s->owed != 0 &&
			 !broker_stalled(&w->brokers[s->broker]))
			world_fail(w, "session",
			    "session %llu is back, and hears nothing of what "
			    "it has lost meanwhile",
			    (unsigned long long)i + 1);
	}
}
