/*
 * How a semaphore uses the term of its permits.
 *
 * One call renews all permits that the broker has of a semaphore, so they have
 * one term, and run out in one moment.  A semaphore has a term that is not over
 * exactly while it owns permits; semaphore_own() alone changes either.
 *
 * All holders lose their permits in that moment: from then on no permit counts
 * as used, and a session that does something with its permits loses them first.
 * Only the telling takes several steps (lease/tell.h), so it is as if all had
 * been told at once.
 */
#include "config.h"

#include "core/kernel/lease/tell.h"
#include "core/parts/sync/semaphore_state.h"

static struct semaphore *
semaphore_with(struct term *t)
{
	return container_of(t, struct semaphore, term);
}

static const struct semaphore *
semaphore_seen(const struct term *t)
{
	return container_of_const(t, struct semaphore, term);
}

/*
 * If this is the first permit, the broker vouches for it from the moment at
 * which the latest confirmed call was sent: the caller confirms the term
 * first.
 */
void
semaphore_own(struct core *core, struct semaphore *m, uint64_t n)
{
	m->owned = n;
	if (n == 0)
		term_end(core, &m->term);
	else if (m->term.state == TERM_OVER)
		term_vouch(core, &m->term);
}

/*
 * The holders lose theirs first: never are more in use than are owned.  Then
 * the store is told how many are in use from now on, since it may have more for
 * us.
 */
void
semaphore_lose(
    struct core *core, struct semaphore *m, const char *reason, bool gone)
{
	m->gone = gone;
	if (gone)
		semaphore_unleave(m);
	slots_lose(m);
	semaphore_use(core, m, -(int64_t)m->used);
	m->losses++;
	m->why_lost = reason;
	/* After the holders that an earlier loss has left to tell. */
	TAILQ_CONCAT(&m->losers, &m->holders, in_holders);
	tell_loss(core, &m->term,
	    &(struct loss){ .reason = reason, .since_ms = INT64_MAX });
	semaphore_own(core, m, 0);
	m->fresh = 0;
	m->unsure = true;
}

static const char *
name_of(const struct term *t, size_t *len)
{
	*len = semaphore_seen(t)->y.name_len;
	return semaphore_seen(t)->y.name;
}

static bool
in_use(const struct term *t)
{
	return semaphore_seen(t)->used > 0;
}

static uint64_t
users(const struct term *t)
{
	return semaphore_seen(t)->used;
}

static void
touch(struct core *core, struct term *t)
{
	sync_touch(core, &semaphore_with(t)->y);
}

static void
lost(struct core *core, struct term *t)
{
	semaphore_lose(core, semaphore_with(t), "unreachable", false);
	touch(core, t);
}

static struct holding *
loser(struct term *t, const struct loss *loss)
{
	(void)loss; /* all lose theirs, whenever these were granted */
	return TAILQ_FIRST(&semaphore_with(t)->losers);
}

static struct holding *
first(const struct term *t)
{
	return TAILQ_FIRST(&semaphore_seen(t)->holders);
}

static struct cursors *
cursors_of(struct term *t)
{
	return &semaphore_with(t)->y.cursors;
}

static struct telling **
telling(struct term *t)
{
	return &semaphore_with(t)->telling;
}

const struct term_lessee semaphore_of_term = {
	.kind = TERM_PERMITS,
	.name = name_of,
	.in_use = in_use,
	.users = users,
	.lost = lost,
	.risk_changed = tell_risk,
	.loser = loser,
	.touch = touch,
	.first = first,
	.cursors = cursors_of,
	.telling = telling,
};
