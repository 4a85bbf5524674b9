/*
 * The forced releases that are under way, and those to be looked at.
 *
 * A release waits in one of two lists: that of its name, while a lease ends
 * here, or that of those to be looked at.  It moves from the first to the
 * second when the name changes.  If it is answered while it is in a list, that
 * list frees it, so that no list has to be searched.
 */
#include "config.h"

#include <stdlib.h>

#include "base/xmalloc.h"
#include "core/kernel/lock/names.h"
#include "core/kernel/turn/job.h"
#include "core/parts/force/force_state.h"

void
force_init(struct core *core)
{
	core->part[PART_FORCE] = xcalloc(1, sizeof(struct forces));
	TAILQ_INIT(&forces_of(core)->list);
	TAILQ_INIT(&forces_of(core)->touched);
	table_init_key(&forces_of(core)->by_id, struct force, by_id, id);
}

void
force_end(struct core *core, struct force *f)
{
	assert(!f->over);
	TAILQ_REMOVE(&forces_of(core)->list, f, link);
	table_remove(&forces_of(core)->by_id, &f->by_id);
	core_disarm(core, &f->timer);
	free(f->value);
	f->value = NULL;
	f->over = true;
	if (!f->listed)
		free(f);
}

void
force_list(struct force_list *list, struct force *f)
{
	assert(!f->listed);
	f->listed = true;
	TAILQ_INSERT_TAIL(list, f, in_turn);
}

struct force *
force_next_touched(struct core *core)
{
	struct force *f = TAILQ_FIRST(&forces_of(core)->touched);

	if (f == NULL)
		return NULL;
	TAILQ_REMOVE(&forces_of(core)->touched, f, in_turn);
	f->listed = false;
	if (!f->over)
		return f;
	free(f);
	return NULL;
}

/* No name is left by then, and force_leave() has moved what waited for one. */
void
force_fini(struct core *core)
{
	while (!TAILQ_EMPTY(&forces_of(core)->list))
		force_end(core, TAILQ_FIRST(&forces_of(core)->list));
	while (!TAILQ_EMPTY(&forces_of(core)->touched))
		(void)force_next_touched(core); /* all of them are over */
	table_fini(&forces_of(core)->by_id);
	free(forces_of(core));
}

struct force *
force_find(const struct core *core, uint64_t id)
{
	return container_or_null(
	    table_find_key(&forces_of(core)->by_id, &id), struct force, by_id);
}

bool
force_awaits(const struct lock *l)
{
	const struct force_list *list = lock_part(l, PART_FORCE);

	return list != NULL && !TAILQ_EMPTY(list);
}

void
force_await(struct lock *l, struct force *f)
{
	struct force_list *list = lock_part(l, PART_FORCE);

	if (list == NULL) {
		list = lock_need_part(l, PART_FORCE, sizeof(*list));
		TAILQ_INIT(list);
	}
	force_list(list, f);
}

/* Not while force_run() looks at one of them: its changes to the name would
 * bring up the others of that name over and over. */
void
force_changed(struct core *core, struct lock *l)
{
	if (!forces_of(core)->running)
		force_leave(core, l);
}

void
force_leave(struct core *core, struct lock *l)
{
	struct force_list *list = lock_part(l, PART_FORCE);

	if (list == NULL)
		return;
	TAILQ_CONCAT(&forces_of(core)->touched, list, in_turn);
	job_set(core, JOB_FORCE, !TAILQ_EMPTY(&forces_of(core)->touched));
}

void
force_touch(struct core *core, struct lock *l)
{
	if (force_awaits(l))
		force_changed(core, l);
}
