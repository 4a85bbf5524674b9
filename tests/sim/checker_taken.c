/*
 * The checker: is a name called taken that nobody has?
 */
#include "config.h"

#include "checker_state.h"
#include "world.h"

#define TRY_SLACK_US 80000 /* a name that was let go may be on its way */

/* Did anybody else want the name while this request was under way, or lately? */
static bool
is_wanted_beside(
    const struct world *w, int name, int64_t since_us, const struct ask *ask)
{
	const struct checker *k = &w->checker;
	const struct ask *other;
	size_t i;
	unsigned j;

	for (i = 0; i < k->nasks; i++) {
		other = &k->asks[i];
		if (other == ask ||
		    (other->ended_us != 0 && other->ended_us < since_us))
			continue;
		for (j = 0; j < other->nnames; j++)
			if (other->names[j] == name)
				return true;
	}
	return false;
}

/* Has anybody the name, or may a broker think so?  By its clock, a keep= is over
 * later. */
static bool
is_known_taken(struct world *w, int name, int64_t since_us)
{
	const struct checker *k = &w->checker;
	int i;

	for (i = 0; i < k->ngrants; i++)
		if (k->grants[i].name == name)
			return true;
	return checker_taken(w, name, since_us);
}

/* Has nobody the name, or wants it but for the request, or has let go of it a
 * moment before that was sent? */
static bool
is_idle(struct world *w, int name, int64_t sent_us, const struct ask *ask)
{
	int64_t since_us = sent_us - TRY_SLACK_US - faults_left_us(w);

	return w->checker.grounds[name].changed_us <= since_us &&
	       !is_known_taken(w, name, since_us) &&
	       !is_wanted_beside(w, name, since_us, ask);
}

/*
 * P5: a name counts as taken to who does not wait, who asks for its state, and who
 * forces it, only if somebody has or wants it, or has let go of it a moment ago.
 * This is judged where nothing fails, so that nothing that nobody knows of has the
 * name.
 */
void
checker_tried(struct world *w, const struct ask *ask)
{
	if (faults_none(w) && ask->wait_ms == 0 && ask->nnames == 1 &&
	    is_idle(w, ask->name, ask->sent_us, ask))
		world_fail(w, "P5",
		    "request %llu is told that n%d is taken, but nobody has it",
		    (unsigned long long)ask->ref, ask->name);
}

/* The same of a poller.  Until its hold would be over the checker is silent about
 * the name because it may have it, so hush_us is until when it was before. */
void
checker_claimed(struct world *w, const struct poller *p, int64_t hush_us)
{
	struct ground *ground = &w->checker.grounds[p->name];
	const struct pollers *all = &w->pollers;
	int64_t own_us = p->sent_us + p->px_ms * 1010;
	const struct poller *q;
	bool idle;

	for (q = all->v; q < all->v + all->n; q++)
		if (q != p && q->ref != 0 && q->name == p->name)
			return;
	if (!faults_none(w) || ground->hush_us != own_us)
		return;
	ground->hush_us = hush_us;
	idle = is_idle(w, p->name, p->sent_us, NULL);
	ground->hush_us = own_us;
	if (idle)
		world_fail(w, "P5",
		    "n%d is refused to poller %d, but nobody has it", p->name,
		    p->index);
}
