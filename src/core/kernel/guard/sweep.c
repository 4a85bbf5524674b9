/*
 * The walk: through the tables of each kind of things, one after the other.
 *
 * guard.wished gathers what is wanted; as a walk begins, it becomes guard.sweep.
 * A walk rests between two chains of a table (table_go_on()), so that anything
 * may come and go meanwhile.
 */
#include "config.h"

#include <stdlib.h>

#include "base/xmalloc.h"
#include "core/kernel/guard/sweep.h"
#include "core/kernel/turn/job.h"
#include "core/kernel/turn/work.h"

#define BUCKETS_A_VISIT 16 /* of a table; most are empty or near */

struct sweeps {
	const struct swept *const *rows; /* static */
	const struct swept *const *row;	 /* NULL: no walk is under way */
	uint32_t i;			 /* the table */
	struct table_walk at;		 /* the place in it */
	bool wished;			 /* of any guard */
};

void
sweep_init(struct core *core, const struct swept *const *rows)
{
	core->sweeps = xcalloc(1, sizeof(*core->sweeps));
	core->sweeps->rows = rows;
}

void
sweep_fini(struct core *core)
{
	free(core->sweeps);
}

unsigned
sweep_of(const struct core *core, uint32_t shard)
{
	return core->guards[guard_first(core, shard)].sweep;
}

void
sweep_plan(struct core *core, uint32_t shard, unsigned what)
{
	core->guards[guard_first(core, shard)].wished |= (uint8_t)what;
	core->sweeps->wished = true;
	job_set(core, JOB_SWEEP, true);
}

void
sweep_plan_all(struct core *core, unsigned what)
{
	uint32_t i;

	for (i = 0; i < core->config.shards; i++)
		sweep_plan(core, i, what);
}

/* Goes to the first table, from the present one on, that has things of a guard
 * for which the walk is; if none has, the walk is over. */
static void
find_table(struct core *core)
{
	struct sweeps *s = core->sweeps;
	const struct table *t;

	for (; *s->row != NULL; s->row++, s->i = 0)
		for (; (t = (*s->row)->table(core, s->i)) != NULL; s->i++)
			if (t->n > 0 && (!(*s->row)->by_guard ||
					    core->guards[s->i].sweep != 0)) {
				table_rewind(t, &s->at);
				return;
			}
	s->row = NULL;
}

static void
begin_walk(struct core *core)
{
	struct sweeps *s = core->sweeps;
	struct guard *g;

	for (g = core->guards; g < core->guards + core->config.shards; g++) {
		g->sweep = g->wished;
		g->wished = 0;
	}
	s->wished = false;
	s->row = s->rows;
	s->i = 0;
	find_table(core);
}

/* Goes on with a table.  True: it has visited all things.  Empty chains cost
 * little, but not nothing: some of them count as one thing. */
static bool
walk_table(struct core *core)
{
	struct table_walk *at = &core->sweeps->at;
	uint32_t head = at->head;
	struct table_link *link = table_go_on(at);

	/* If the table has shrunk, the walk has begun again. */
	head = at->head < head ? 0 : head;
	for (; link != NULL; link = table_next(at)) {
		core_visit(core, 1 + (at->head - head) / BUCKETS_A_VISIT);
		head = at->head;
		(*core->sweeps->row)->one(core, link);
		if (!work_left(core) && table_rests(at))
			return false;
	}
	return true;
}

bool
sweep_run(struct core *core)
{
	struct sweeps *s = core->sweeps;

	while (work_left(core) && (s->row != NULL || s->wished)) {
		if (s->row == NULL) {
			begin_walk(core);
			continue;
		}
		core_visit(core, 1);
		if (walk_table(core)) {
			s->i++;
			find_table(core);
		}
	}
	return s->row != NULL || s->wished;
}

bool
sweep_block(struct core *core, uint32_t shard, bool was, bool blocked)
{
	struct guard *g = &core->guards[guard_first(core, shard)];

	assert(g->nblocked >= was);
	g->nblocked += blocked;
	g->nblocked -= was;
	return blocked;
}

void
sweep_check(const struct core *core, size_t nblocked)
{
	const struct sweeps *s = core->sweeps;
	uint32_t i;

	for (i = 0; i < core->config.shards; i++)
		nblocked -= core->guards[i].nblocked;
	assert(nblocked == 0);
	job_check(core, JOB_SWEEP, s->row != NULL || s->wished);
}
