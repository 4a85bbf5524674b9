/*
 * Checks the rules that all synchronizers keep between two steps:
 *
 * - an entry is in one line of its object until it is granted, and then its claim
 *   waits for the FLUSH;
 * - along a line, entries are parked, then asked for, then new (line.h);
 * - a granted entry has no deadline: it was granted in time, and waits only to
 *   be told;
 * - whatever else the kind of an object requires.
 */
#include "config.h"

#include "core/kernel/turn/job.h"
#include "core/parts/sync/line.h"

static unsigned
check_line(const struct sync *y, const struct line *line)
{
	enum entry_state last = ENTRY_PARKED, state;
	unsigned n = 0, of[3] = { 0, 0, 0 };
	const struct entry *e;

	TAILQ_FOREACH (e, &line->list, in_sync) {
		state = line_state(e);
		assert(e->sync == y && e->line == line && !e->claim.granted);
		assert(e->permits == NULL);
		/* PARKED is the greatest of the states. */
		assert(state <= last);
		last = state;
		of[state]++;
		n++;
	}
	assert(n == line->n && of[ENTRY_PARKED] == line->nparked);
	assert(of[ENTRY_ASKED] == line->nasked);
	return n;
}

static void
check_object(const struct core *core, const struct sync *y)
{
	const struct entry *e;
	unsigned n;

	assert(sync_find(core, y->kind, y->name, y->name_len) == y);
	assert(y->class == syncs_of(core)->classes[y->kind]);
	n = check_line(y, &y->queue) + check_line(y, &y->counts);
	assert(n == y->nentries);
	n = 0;
	TAILQ_FOREACH (e, &y->impatient, in_impatient) {
		assert(e->sync == y && e->impatient && !e->leaving);
		n++;
	}
	assert(n == y->nimpatient);
	if (y->class->check != NULL)
		y->class->check(core, y);
}

static uint64_t
count_granted(const struct core *core)
{
	const struct entry *e;
	const struct claim *c;
	uint64_t n = 0;

	TAILQ_FOREACH (c, &core->owners->granted, in_granted) {
		e = entry_seen(c);
		assert(e == NULL || e->sync->ngranted > 0);
		n += e != NULL;
	}
	return n;
}

size_t
sync_check(const struct core *core)
{
	const struct syncs *all = syncs_of(core);
	uint64_t nwaiting = 0, ngranted = 0;
	struct table_walk objects;
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
			nwaiting += y->nentries;
			ngranted += y->ngranted;
		}
	job_check(core, JOB_TOUCHED_SYNCS, !TAILQ_EMPTY(&all->touched));
	assert(ngranted == count_granted(core));
	assert(all->nentries == nwaiting + ngranted);
	return nblocked;
}
