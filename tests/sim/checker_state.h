/*
 * What the files of the checker share with each other and with nobody else.
 */
#ifndef LOCKBROKER_SIM_CHECKER_STATE_H
#define LOCKBROKER_SIM_CHECKER_STATE_H

#include "checker.h"
#include "world.h"

#define CLOCK_SLACK_US 3000 /* rounding of clocks to milliseconds */

static inline const char *
checker_name(int name)
{
	static const char *const names[] = { "n0", "n1", "n2", "n3" };

	return name < 0 ? NULL : names[name];
}

/* The grant of a session that is there; NULL: none. */
struct grant *checker_grant(struct world *w, uint64_t session, int name);
void checker_drop(struct world *w, struct grant *g);

/* The same where it ended otherwise than by UNLOCK or QUIT: `delay` counts. */
void checker_drop_badly(struct world *w, struct grant *g);

/* Until when its broker vouches for a hold, in us of the world. */
int64_t checker_vouched_until_us(const struct world *w, const struct grant *g);

/*
 * How long nobody else may be granted a name (checker_quiet.c): by the delay= of
 * a grant that ends then, and by its keep=; both are over then; or they go on
 * with the next grant of the session, and it is told until when.
 */
void checker_set_quiet(struct world *w, const struct grant *g, int64_t end_us);
void checker_set_kept(struct world *w, const struct grant *g);
void checker_quiet_ends(
    struct world *w, const struct grant *g, int64_t until_us);

/*
 * The broker stops, and the session may give back what it holds for a moment,
 * also if its valid= ends meanwhile: then without its delay=.
 */
void checker_quiet_leaves(struct world *w, const struct grant *g);
void checker_quiets_back(struct world *w, uint64_t session);

int64_t checker_take_quiet(struct world *w, int name, uint64_t session);

/* Until when somebody is kept away; it is forced now; a grant is told. */
int64_t checker_quiet_us(const struct ground *ground);
void checker_hush_all(struct ground *ground);
void checker_check_quiet(struct world *w, const struct ask *ask);

/* Is anybody else kept away from the name by it, now? */
bool checker_vouched(struct world *w, const struct grant *g);

/* Has a broker been unable to say anything until just now?  Its first turn
 * after a freeze comes within 60 us (broker_wake()). */
static inline bool
checker_is_mute(const struct world *w, const struct broker *b)
{
	return broker_stalled(b) || world_now(w) <= b->awake_us + 100;
}

/* Does a request ask for the name? */
static inline bool
checker_asks_for(const struct ask *ask, int name)
{
	unsigned i;

	for (i = 0; i < ask->nnames; i++)
		if (ask->names[i] == name)
			return true;
	return false;
}

/* Has anybody the name for sure, or had it until after that moment? */
bool checker_had_since(const struct world *w, int name, int64_t since_us);

/* Does a request wait in a queue? */
static inline bool
checker_waits(const struct ask *ask)
{
	return ask->kind == ASK_LOCK && !ask->cancelled && ask->wait_ms != 0;
}

bool checker_ask_is(const struct ask *ask, enum ask_form form);

/* It was answered, and waits no more (checker_asks.c). */
void checker_close_ask(struct world *w, struct ask *ask);

/* Said to rest on clocks, which may be wrong. */
static inline bool
checker_fences_rise(const struct world *w)
{
	return !(w->clocks_apart && w->checker.by_clocks);
}

/* A session is granted a name (checker_group.c). */
void checker_passes(struct world *w, const struct ask *ask);

/* A session shares a name that others share (checker_share.c). */
void checker_joins(struct world *w, const struct ask *ask);

/* A broker has, or had just now, a grant of the name. */
void checker_had(struct world *w, int broker, int name);

/* ERR deadlock was answered. */
void checker_refused_circle(struct world *w, const struct ask *ask);

/* Who waits behind sharers, and in circles. */
void checker_look_share(struct world *w);

/* Permits (checker_permits.c). */
void checker_permits_received(struct world *w, const struct ask *ask);
void checker_permits_answered(struct world *w, const struct broker *b,
    const struct answer *a, const struct ask *ask);
void checker_permits_lost(
    struct world *w, const struct broker *b, const struct answer *a);
void checker_permits_valid(struct world *w, uint64_t session, int64_t valid_us);
void checker_permits_end(struct world *w, uint64_t session, int64_t valid_us);
void checker_permits_back(struct world *w, uint64_t session);
void checker_permits_look(struct world *w);

/* Latches (checker_latch.c). */
void checker_latch_init(struct world *w);
void checker_latch_received(struct world *w, struct ask *ask);
void checker_latch_answered(struct world *w, const struct broker *b,
    const struct answer *a, const struct ask *ask);
void checker_latch_gone(struct world *w, const struct ask *ask);
void checker_latch_amnesia(struct world *w);
void checker_latch_look(struct world *w);

/* Barriers (checker_barrier.c). */
void checker_barrier_received(struct world *w, struct ask *ask);
void checker_barrier_answered(struct world *w, const struct broker *b,
    const struct answer *a, struct ask *ask);
void checker_barrier_gone(struct world *w, struct ask *ask);
void checker_barrier_amnesia(struct world *w);
void checker_barrier_look(struct world *w);
void checker_barrier_end(struct world *w);

/* The requests of a connection that nobody will read the answers to; `settle`:
 * its session goes on.  And what a session has, at its end (checker_ends.c). */
void checker_abandon(struct world *w, uint64_t sitting, bool settle);
void checker_end_grants(struct world *w, uint64_t session, bool quit,
    int64_t valid_us, bool orphaned);

/* Sessions (checker_session.c). */
void checker_goes_away(
    struct world *w, const struct broker *b, uint64_t session, bool orderly);
void checker_session_line(
    struct world *w, const struct broker *b, const struct answer *a);
void checker_hears(struct world *w, const struct broker *b, uint64_t session);
void checker_told_lost(struct world *w, const struct answer *a);

/* It was told before; `fence` is of what the session has now, 0: nothing. */
bool checker_told_again(
    struct world *w, const struct answer *a, uint64_t fence);
void checker_resume_answered(
    struct world *w, const struct answer *a, const struct ask *ask);
void checker_ends_away(struct world *w, uint64_t session);

/* Its broker stops: what it has lives on for its valid=, unless it gives it
 * back; false: it is not leaving. */
void checker_leaves(struct world *w, uint64_t session);
bool checker_gives_back(struct world *w, uint64_t session, bool clean);
void checker_session_look(struct world *w);
void checker_permits_settle(struct world *w, const struct ask *ask);
void checker_permits_away(
    struct world *w, uint64_t session, bool away, int64_t until_us);

/*
 * DRILL (checker_drill.c).  An UNLOCK has come; the session has let go at that
 * time, unless it had before; has it; and it is granted the name again: returns
 * NULL instead of a grant that was in a drill.
 */
void checker_drill_unlocks(
    struct world *w, struct grant *g, const struct ask *ask);
void checker_drill_over(struct world *w, const struct grant *g, int64_t at_us);
bool checker_let_go(const struct world *w, const struct grant *g);
struct grant *checker_drill_regrant(struct world *w, struct grant *g);
void checker_drill_answered(struct world *w, const struct broker *b,
    const struct answer *a, const struct ask *ask);

/* The broker has lost it by now (checker_events.c). */
void checker_drop_lost(
    struct world *w, const struct broker *b, struct grant *g);

/* A broker tells an event (checker_events.c). */
void checker_event(
    struct world *w, const struct broker *b, const struct answer *a);

/* Watchers and force (checker_watch.c). */
void checker_watch_answered(
    struct world *w, const struct answer *a, const struct ask *ask);
void checker_watch_line(
    struct world *w, const struct broker *b, const struct answer *a);
void checker_watch_event(
    struct world *w, const struct broker *b, const struct answer *a);
void checker_watch_sure(
    struct world *w, const struct broker *b, uint64_t session);
void checker_watch_resumed(struct world *w, uint64_t session);
void checker_watch_look(struct world *w);
void checker_force_received(struct world *w, const struct ask *ask);
void checker_force_answered(struct world *w, const struct broker *b,
    const struct answer *a, const struct ask *ask);
bool checker_forced(const struct world *w, const struct grant *g);

/* May the name have been forced at that time, or since? */
bool checker_forced_since(const struct world *w, int name, int64_t us);

/* Notes which names are free and wanted, after each change. */
void checker_hunger(struct world *w);

/* Has anybody the name, or had it until after that moment, or may have? */
bool checker_taken(struct world *w, int name, int64_t since_us);

/* checker_taken.c: a request was told that a name is taken; so was a poller. */
void checker_tried(struct world *w, const struct ask *ask);
void checker_claimed(struct world *w, const struct poller *p, int64_t hush_us);

#endif
