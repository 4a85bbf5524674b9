/*
 * Walks over all semaphores, latches and barriers, in parts (work.h).
 *
 * One walk serves all who want one.  A wish that comes while the walk is under
 * way makes it go around once more, so that it visits each object after the
 * wish.
 */
#include "config.h"

#include "core/sync/sync.h"
#include "core/turn/job.h"
#include "core/turn/work.h"

enum {
	SWEEP_LOOK = 1,	   /* the broker may have missed messages */
	SWEEP_UNBLOCK = 2, /* objects that wait for the guard go on */
	SWEEP_RECLAIM = 4, /* the broker writes again what it holds */
};

static void
rewind_walk(struct sync_walk *walk)
{
	cursor_end(&walk->next);
	walk->kind = KIND_SYNC - 1;
}

/* Returns what comes next, of the next kind that has any; NULL: that was
 * all. */
static struct sync *
take_next(struct core *core, struct sync_walk *walk)
{
	while (walk->next.at == NULL && ++walk->kind < KIND_MAX)
		cursor_begin(&core->syncs->cursors, &walk->next,
		    TAILQ_FIRST(&core->syncs->all[walk->kind]),
		    offsetof(struct sync, in_all));
	return cursor_take(&walk->next);
}

/* Does for an object what the walk is for, as far as its guard has asked for
 * it. */
static void
sweep_one(struct core *core, struct sync *y)
{
	struct sync_shard *shard = &core->syncs->shards[y->shard];

	if ((shard->sweep & SWEEP_LOOK) != 0)
		y->class->message(core, y, NULL);
	if ((shard->sweep & SWEEP_RECLAIM) != 0 && y->class->reclaim != NULL)
		y->class->reclaim(core, y);
	if ((shard->sweep & (SWEEP_LOOK | SWEEP_RECLAIM)) != 0)
		sync_touch(core, y);
	if ((shard->sweep & SWEEP_UNBLOCK) == 0 || !y->blocked)
		return;
	shard->nblocked--;
	y->blocked = false;
	sync_touch(core, y);
}

/* All guards have had what they asked for. */
static void
end(struct core *core)
{
	uint32_t i;

	for (i = 0; i < core->config.shards; i++)
		core->syncs->shards[i].sweep = 0;
}

bool
sync_sweep_on(struct core *core)
{
	struct syncs *syncs = core->syncs;
	struct sync *y;

	while (syncs->rounds > 0 && work_left(core)) {
		y = take_next(core, &syncs->sweep);
		if (y != NULL) {
			core_visit(core, 1);
			sweep_one(core, y);
			continue;
		}
		syncs->rounds--;
		rewind_walk(&syncs->sweep);
		if (syncs->rounds == 0)
			end(core);
	}
	return syncs->rounds > 0;
}

static void
begin_sync_sweep(struct core *core)
{
	if (core->syncs->rounds == 0)
		rewind_walk(&core->syncs->sweep);
	/* The rest of the present round, and a whole one after it. */
	core->syncs->rounds = core->syncs->rounds == 0 ? 1 : 2;
	job_run(core, JOB_SWEEP_SYNCS);
}

void
sync_look_all(struct core *core)
{
	uint32_t i;

	for (i = 0; i < core->config.shards; i++)
		core->syncs->shards[i].sweep |= SWEEP_LOOK;
	begin_sync_sweep(core);
}

void
sync_unblock(struct core *core, uint32_t shard)
{
	if (core->syncs->shards[shard].nblocked == 0)
		return;
	core->syncs->shards[shard].sweep |= SWEEP_UNBLOCK;
	begin_sync_sweep(core);
}

void
sync_reclaim(struct core *core, uint32_t shard)
{
	core->syncs->shards[shard].sweep |= SWEEP_RECLAIM;
	begin_sync_sweep(core);
}
