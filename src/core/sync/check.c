/*
 * Checks the rules that all synchronizers keep between two steps:
 *
 * - a claim is in one line of its object until it is granted, and then in
 *   syncs.granted; so those of all owners are those of all objects;
 * - along a line, claims are parked, then asked for, then new (line.h);
 * - a granted claim has no deadline: it was granted in time, and waits only to
 *   be told;
 * - whatever else the kind of an object requires.
 */
#include "config.h"

#include "core/sync/line.h"
#include "core/turn/job.h"

static unsigned
check_line(const struct sync *y, const struct claim_line *line)
{
	enum claim_state last = CLAIM_PARKED, state;
	unsigned n = 0, of[3] = { 0, 0, 0 };
	const struct claim *c;

	TAILQ_FOREACH (c, &line->list, in_sync) {
		state = line_state(c);
		assert(c->sync == y && c->line == line && !c->granted);
		assert(c->permits == NULL);
		/* PARKED is the greatest of the states. */
		assert(state <= last);
		last = state;
		of[state]++;
		n++;
	}
	assert(n == line->n && of[CLAIM_PARKED] == line->nparked);
	assert(of[CLAIM_ASKED] == line->nasked);
	return n;
}

static void
check_object(const struct core *core, const struct sync *y)
{
	const struct claim *c;
	unsigned n;

	assert(sync_find(core, y->kind, y->name, y->name_len) == y);
	assert(y->class == core->syncs->classes[y->kind]);
	n = check_line(y, &y->queue) + check_line(y, &y->counts);
	assert(n == y->nclaims);
	n = 0;
	TAILQ_FOREACH (c, &y->impatient, in_impatient) {
		assert(c->sync == y && c->impatient && !c->leaving);
		n++;
	}
	assert(n == y->nimpatient);
	if (y->class->check != NULL)
		y->class->check(core, y);
}

static uint64_t
count_granted(const struct core *core)
{
	const struct claim *c;
	uint64_t n = 0;

	TAILQ_FOREACH (c, &core->syncs->granted, in_sync) {
		assert(c->granted && c->sync->ngranted > 0);
		assert(!timer_armed(&c->deadline));
		n++;
	}
	return n;
}

static uint64_t
count_claims(const struct owner *owner)
{
	const struct claim *c;
	uint64_t n = 0, nuntold = 0;

	TAILQ_FOREACH (c, &owner->claims, in_owner) {
		assert(c->owner == owner);
		n++;
		nuntold += c->permits != NULL;
	}
	assert(n == owner->nclaims && nuntold == owner->nuntold_claims);
	return n;
}

size_t
sync_check(const struct core *core)
{
	const struct syncs *all = core->syncs;
	uint64_t nclaims = 0, nwaiting = 0, ngranted = 0;
	const struct owner *owner;
	struct table_walk walk, objects;
	struct table_link *link;
	size_t nblocked = 0;
	const struct sync *y;
	unsigned kind;

	for (kind = KIND_SYNC; kind < KIND_MAX; kind++)
		for (link = table_first(&all->by_name[kind], &objects);
		     link != NULL; link = table_next(&objects)) {
			y = sync_of(link);
			check_object(core, y);
			nblocked += y->blocked;
			nwaiting += y->nclaims;
			ngranted += y->ngranted;
		}
	for (owner = owners_first(core, &walk); owner != NULL;
	     owner = owners_next(&walk))
		nclaims += count_claims(owner);
	job_check(core, JOB_TOUCHED_SYNCS, !TAILQ_EMPTY(&all->touched));
	assert(ngranted == count_granted(core));
	assert(nclaims == all->nclaims && nclaims == nwaiting + ngranted);
	return nblocked;
}
