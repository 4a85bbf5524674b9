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
#include "core/lock/force_state.h"
#include "core/turn/job.h"

static const char *
id_of(const struct table_link *link, size_t *len)
{
	const struct force *f = container_of_const(link, struct force, by_id);

	*len = sizeof(f->id);
	return (const char *)&f->id;
}

void
force_init(struct core *core)
{
	core->forces = xcalloc(1, sizeof(*core->forces));
	TAILQ_INIT(&core->forces->list);
	TAILQ_INIT(&core->forces->touched);
	table_init(&core->forces->by_id, id_of);
}

void
force_end(struct core *core, struct force *f)
{
	assert(!f->over);
	TAILQ_REMOVE(&core->forces->list, f, link);
	table_remove(&core->forces->by_id, &f->by_id);
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
	struct force *f = TAILQ_FIRST(&core->forces->touched);

	if (f == NULL)
		return NULL;
	TAILQ_REMOVE(&core->forces->touched, f, in_turn);
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
	while (!TAILQ_EMPTY(&core->forces->list))
		force_end(core, TAILQ_FIRST(&core->forces->list));
	while (!TAILQ_EMPTY(&core->forces->touched))
		(void)force_next_touched(core); /* all of them are over */
	table_fini(&core->forces->by_id);
	free(core->forces);
}

struct force *
force_find(const struct core *core, uint64_t id)
{
	struct table_link *link =
	    table_find(&core->forces->by_id, (const char *)&id, sizeof(id));

	return link == NULL ? NULL : container_of(link, struct force, by_id);
}

/* Not while force_run() looks at one of them: what it ends changes the name,
 * and would bring up the others of that name over and over. */
void
force_changed(struct core *core, struct lock *l)
{
	if (!core->forces->running)
		force_leave(core, l);
}

void
force_leave(struct core *core, struct lock *l)
{
	if (l->rare == NULL)
		return;
	TAILQ_CONCAT(&core->forces->touched, &l->rare->forces, in_turn);
	job_set(core, JOB_FORCE, !TAILQ_EMPTY(&core->forces->touched));
}
