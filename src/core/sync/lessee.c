/*
 * What a semaphore makes of the term of its permits.
 *
 * One call renews all permits that the broker has of a semaphore, so they have
 * one term, and run out in one moment.  A semaphore has a term that is not
 * over exactly while it owns permits; semaphore_own() alone changes either.
 */
#include "config.h"

#include "core/sync/semaphore_state.h"

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

/* The holders lose theirs first: never is more in use than is owned.  Then the
 * store is told what is in use from now on, since it may have more for us. */
void
semaphore_lose(
    struct core *core, struct semaphore *m, const char *reason, bool gone)
{
	m->gone = gone;
	if (gone)
		m->left = 0;
	holders_lose(core, m, reason);
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
lost(struct core *core, struct term *t)
{
	semaphore_lose(core, semaphore_with(t), "unreachable", false);
	sync_touch(core, &semaphore_with(t)->y);
}

static void
risk_changed(struct core *core, struct term *t)
{
	bool at_risk = t->state == TERM_ATRISK;

	holders_tell(
	    core, semaphore_with(t), at_risk ? EVENT_ATRISK : EVENT_SAFE);
}

const struct term_lessee semaphore_of_term = {
	.name = name_of,
	.in_use = in_use,
	.users = users,
	.lost = lost,
	.risk_changed = risk_changed,
};
