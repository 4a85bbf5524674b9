/*
 * Promises about DRILL: a holder is told that it has lost a name, and nobody else
 * is granted that before it has let go; the answer says for how long it went on,
 * and is no guess.  Until then the hold counts as any does (P1), and it is lost in
 * earnest only as any is: of that its session hears no more, but the log does.
 */
#include "config.h"

#include "base/xmalloc.h"

#include "checker_state.h"
#include "world.h"

static struct drill *
drill_of(const struct world *w, const struct grant *g)
{
	return g->drill > 0 ? &w->checker.drills[g->drill - 1] : NULL;
}

bool
checker_let_go(const struct world *w, const struct grant *g)
{
	const struct drill *d = drill_of(w, g);

	return d != NULL && d->over_us >= 0;
}

void
checker_drill_over(struct world *w, const struct grant *g, int64_t at_us)
{
	struct drill *d = drill_of(w, g);

	if (d != NULL && d->over_us < 0)
		d->over_us = at_us;
}

/* The hold of that name, also of a session that has ended. */
static struct grant *
any_grant(struct world *w, uint64_t session, int name)
{
	struct checker *k = &w->checker;
	struct grant *g;

	for (g = k->grants; g < k->grants + k->ngrants; g++)
		if (g->session == session && g->name == name)
			return g;
	return NULL;
}

/* Has anybody asked for it since the hold was granted?  Its fence is named, so
 * a message that is late means no later one; but the grant may be told late. */
static bool
was_asked(const struct world *w, int name, const struct grant *g)
{
	const struct checker *k = &w->checker;
	int64_t since_us = g == NULL ? 0 : g->since_us - w->lease_ms * 1000;
	const struct ask *ask;

	for (ask = k->asks; ask < k->asks + k->nasks; ask++)
		if (ask->kind == ASK_DRILL && ask->name == name &&
		    ask->received &&
		    (ask->ended_us == 0 || ask->ended_us >= since_us))
			return true;
	return false;
}

/* An UNLOCK of several names that came in the turn of the loss, before that was
 * told: nobody can say which of them it meant. */
static bool
unlocks_several(
    const struct world *w, const struct broker *b, const struct grant *g)
{
	const struct checker *k = &w->checker;
	const struct ask *ask;
	size_t i;

	for (i = 0; i < k->nopen; i++) {
		ask = &k->asks[k->open[i] - 1];
		if (ask->kind == ASK_UNLOCK && ask->session == g->session &&
		    ask->nnames > 1 && checker_asks_for(ask, g->name) &&
		    ask->received_us >= b->turn_us)
			return true;
	}
	return false;
}

void
checker_drill_told(
    struct world *w, const struct broker *b, const struct answer *a)
{
	struct checker *k = &w->checker;
	int name = a->name[1] - '0';
	struct grant *g = any_grant(w, a->session, name);
	struct drill *d;

	if (!was_asked(w, name, g))
		world_fail(w, "drill",
		    "%s tells session %llu that it has lost n%d in a drill, "
		    "which nobody has asked for",
		    b->name, (unsigned long long)a->session, name);
	if (k->ndrills == k->drills_size) {
		k->drills_size = k->drills_size * 2 + 16;
		k->drills =
		    xrealloc(k->drills, k->drills_size * sizeof(*k->drills));
	}
	d = &k->drills[k->ndrills++];
	*d = (struct drill){ .name = name,
		.session = a->session,
		.told_us = world_now(w),
		.over_us = g == NULL ? world_now(w) : -1 };
	if (g == NULL)
		return;
	g->drill = k->ndrills;
	g->bound_us = INT64_MAX;
	if (g->depth - g->parting > 1)
		world_fail(w, "drill",
		    "%s tells session %llu that it has lost n%d in a drill; it "
		    "holds that with depth %lld",
		    b->name, (unsigned long long)a->session, name,
		    (long long)(g->depth - g->parting));
	g->depth = g->parting + 1;
	if (unlocks_several(w, b, g)) {
		g->depth = g->parting;
		d->over_us = world_now(w);
	}
}

/* If it is for several names, it lets go of the first that its session does not
 * have: of this one, perhaps. */
void
checker_drill_unlocks(struct world *w, struct grant *g, const struct ask *ask)
{
	struct drill *d = drill_of(w, g);

	if (d == NULL)
		return;
	d->unlocked = d->over_us < 0 && ask->nnames == 1;
	checker_drill_over(w, g, world_now(w));
	g->depth = g->parting;
}

struct grant *
checker_drill_regrant(struct world *w, struct grant *g)
{
	if (g == NULL || g->drill == 0)
		return g;
	if (!checker_let_go(w, g))
		world_fail(w, "drill",
		    "n%d is granted to session %llu, which was told that it "
		    "has lost it, and has not let go",
		    g->name, (unsigned long long)g->session);
	checker_drop(w, g);
	return NULL;
}

void
checker_drill_lost(struct world *w, const struct broker *b, uint64_t session,
    int name, bool forced)
{
	struct grant *g = checker_grant(w, session, name);
	struct drill *d = g != NULL ? drill_of(w, g) : NULL;

	if (d == NULL)
		return;
	if (faults_none(w) && !forced)
		world_fail(w, "drill",
		    "%s loses n%d of session %llu in its drill, and nothing is "
		    "wrong",
		    b->name, name, (unsigned long long)session);
	if (forced)
		g->keep_us = g->delay_ms = 0;
	d->lost = true;
	checker_drop_lost(w, b, g);
}

/* When its session let go, or will have at the latest; INT64_MAX: it has not. */
static int64_t
let_go_us(const struct world *w, const struct drill *d)
{
	const struct checker *k = &w->checker;
	const struct grant *g;

	if (d->over_us >= 0)
		return d->over_us;
	for (g = k->grants; g < k->grants + k->ngrants; g++)
		if (drill_of(w, g) == d &&
		    (g->detached || g->orphaned || g->away))
			return g->until_us;
	return INT64_MAX;
}

/* The latest drill of the name before that one, or of all, since it was asked
 * for; NULL: there is none. */
static const struct drill *
drill_before(
    const struct world *w, const struct ask *ask, const struct drill *d)
{
	const struct checker *k = &w->checker;
	size_t i = d == NULL ? k->ndrills : (size_t)(d - k->drills);

	for (; i > 0 && k->drills[i - 1].told_us >= ask->sent_us; i--)
		if (k->drills[i - 1].name == ask->name)
			return &k->drills[i - 1];
	return NULL;
}

/* OK took=D.  By its broker's clock it began before it was told. */
static bool
took_so_long(const struct world *w, const struct drill *d, int64_t took_ms)
{
	int64_t end_us = let_go_us(w, d), now_us = world_now(w);

	return !d->lost && end_us <= now_us + CLOCK_SLACK_US &&
	       took_ms * 1005 + CLOCK_SLACK_US >= end_us - d->told_us;
}

static void
check_took(struct world *w, const struct broker *b, const struct ask *ask,
    int64_t took_ms)
{
	const struct drill *last = drill_before(w, ask, NULL), *d = last;

	while (d != NULL && !took_so_long(w, d, took_ms))
		d = drill_before(w, ask, d);
	if (last == NULL && broker_has_drilled(b, checker_name(ask->name)))
		return; /* to one that closes, it is told before the loss */
	if (last == NULL)
		world_fail(w, "drill",
		    "%s says that n%d was let go in %lld ms, and nobody was "
		    "told to",
		    b->name, ask->name, (long long)took_ms);
	else if (d == NULL)
		world_fail(w, "drill",
		    "%s says that n%d was let go in %lld ms, and session %llu, "
		    "told %lld ms ago, %s",
		    b->name, ask->name, (long long)took_ms,
		    (unsigned long long)last->session,
		    (long long)(world_now(w) - last->told_us) / 1000,
		    last->lost		 ? "lost it in earnest"
		    : last->over_us >= 0 ? "went on for longer"
					 : "has not");
	else if (took_ms * 995 - CLOCK_SLACK_US > world_now(w) - ask->sent_us)
		world_fail(w, "drill",
		    "%s says that n%d was let go in %lld ms, and was asked "
		    "%lld ms ago",
		    b->name, ask->name, (long long)took_ms,
		    (long long)(world_now(w) - ask->sent_us) / 1000);
}

/* OK took=max. */
static void
check_max(struct world *w, const struct broker *b, const struct ask *ask)
{
	const struct drill *d = drill_before(w, ask, NULL);
	int64_t for_us = world_now(w) - ask->received_us;

	if (d == NULL)
		world_fail(w, "drill",
		    "%s says that n%d is in a drill, and nobody was told so",
		    b->name, ask->name);
	else if (for_us < ask->max_ms * 995 - CLOCK_SLACK_US)
		world_fail(w, "drill",
		    "%s says after %lld ms that the drill of n%d has lasted "
		    "for %lld",
		    b->name, (long long)for_us / 1000, ask->name,
		    (long long)ask->max_ms);
	else if (faults_none(w) && drill_before(w, ask, d) == NULL &&
		 d->unlocked && !d->lost &&
		 world_now(w) - d->over_us > faults_patience_us(w))
		world_fail(w, "drill",
		    "%s does not say that session %llu let n%d go, %lld ms ago",
		    b->name, (unsigned long long)d->session, ask->name,
		    (long long)(world_now(w) - d->over_us) / 1000);
}

/* Somebody who can be drilled for sure has it all the time. */
static const struct grant *
steady(struct world *w, const struct ask *ask)
{
	const struct checker *k = &w->checker;
	const struct grant *g;
	int i;

	for (i = 0; i < k->ngrants; i++) {
		g = &k->grants[i];
		if (g->name == ask->name && g->drill == 0 && !g->shared &&
		    !g->either && !g->detached && !g->orphaned && !g->away &&
		    g->since_us < ask->received_us &&
		    checker_vouched(w, &k->grants[i]))
			return g;
	}
	return NULL;
}

/* This is judged where nothing fails.  A session may have been away for a
 * moment. */
static void
check_refusal(struct world *w, const struct broker *b, const struct answer *a,
    const struct ask *ask)
{
	const struct grant *g = steady(w, ask);

	if (!faults_none(w))
		return;
	if (a->code == ERR_LOST && w->checker.grounds[ask->name].force_us == 0)
		world_fail(w, "drill",
		    "%s says that n%d was lost in its drill, and nothing is "
		    "wrong",
		    b->name, ask->name);
	if (g == NULL || !(a->code == ERR_NOT_FOUND || a->code == ERR_EXISTS ||
			     (a->code == ERR_UNSUPPORTED && !g->reentered &&
				 !uses_has(w, USE_SESSION))))
		return;
	world_fail(w, "drill",
	    "%s can't drill n%d, nothing is wrong, and session %llu holds it",
	    b->name, ask->name, (unsigned long long)g->session);
}

void
checker_drill_answered(struct world *w, const struct broker *b,
    const struct answer *a, const struct ask *ask)
{
	if (ask->kind != ASK_DRILL)
		return;
	if (a->status == STATUS_ERR)
		check_refusal(w, b, a, ask);
	else if (a->status == STATUS_OK && a->took_max)
		check_max(w, b, ask);
	else if (a->status == STATUS_OK)
		check_took(w, b, ask, a->took_ms);
}
