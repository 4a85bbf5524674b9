/*
 * What is true of all synchronizers between two steps.
 */
#include "config.h"

#include "core/sync/sync.h"

static void
check_object(const struct core *core, const struct sync *y)
{
	const struct claim *c;
	unsigned n = 0;

	assert(sync_find(core, y->kind, y->name, y->name_len) == y);
	assert(y->class == core->syncs->classes[y->kind]);
	TAILQ_FOREACH (c, &y->queue, in_sync) {
		assert(c->sync == y && c->state != CLAIM_GRANTED);
		assert(c->permits == NULL && !c->withdrawn);
		n++;
	}
	assert(n == y->nclaims);
	if (y->class->check != NULL)
		y->class->check(core, y);
}

static uint64_t
count_granted(const struct core *core)
{
	const struct claim *c;
	uint64_t n = 0;

	TAILQ_FOREACH (c, &core->syncs->granted, in_sync) {
		assert(c->state == CLAIM_GRANTED && c->sync->ngranted > 0);
		assert(!timer_armed(&c->deadline));
		n++;
	}
	return n;
}

static uint64_t
count_claims(const struct session *s)
{
	const struct claim *c;
	uint64_t n = 0;

	TAILQ_FOREACH (c, &s->claims, in_session) {
		assert(c->session == s);
		n++;
	}
	assert(n == s->nclaims);
	return n;
}

void
sync_check(const struct core *core)
{
	const struct syncs *all = core->syncs;
	uint64_t nclaims = 0, nwaiting = 0, ngranted = 0;
	const struct session *s;
	const struct sync *y;
	unsigned kind;

	for (kind = 0; kind < SYNC_MAX; kind++)
		TAILQ_FOREACH (y, &all->all[kind], in_all) {
			check_object(core, y);
			nwaiting += y->nclaims;
			ngranted += y->ngranted;
		}
	TAILQ_FOREACH (s, &core->sessions->all, in_all)
		nclaims += count_claims(s);
	assert(ngranted == count_granted(core));
	assert(nclaims == all->nclaims && nclaims == nwaiting + ngranted);
}
