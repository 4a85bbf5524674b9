/*
 * See voter_stage.h.
 */
#include "config.h"

#include <string.h>

#include "core/parts/quorum/voter_set.h"
#include "core/parts/quorum/voter_stage.h"

bool
voter_is_known(const struct voter *v)
{
	return v->guard->up && v->node[0] != '\0' &&
	       v->node_ms >= v->guard->up_ms;
}

bool
voter_is_new(const struct voter *v)
{
	return v->set[0] == '\0' || v->open == 'n' || v->open == 'o';
}

static bool
is_pledged(const struct voter *v)
{
	return v->set[0] != '\0' && v->open != 'k' && v->open != 'n';
}

bool
voter_is_higher(const struct voter *a, const struct voter *b)
{
	uint64_t x = set_version(a->set), y = set_version(b->set);

	if (x != y)
		return x > y;
	if (is_pledged(a) != is_pledged(b))
		return is_pledged(a);
	if ((a->open == '\0') != (b->open == '\0'))
		return a->open == '\0';
	return strcmp(a->set, b->set) > 0;
}

struct stage
stage_of(const struct core *core, const char *set, unsigned n)
{
	struct stage stage = { 0 };
	const struct voter *v;
	unsigned before = 0;
	uint32_t i;

	for (i = 0; i < core->config.shards; i++) {
		v = voter_at(core, i);
		if (!voter_is_known(v) || strcmp(v->set, set) != 0)
			continue;
		stage.here++;
		stage.free += !is_pledged(v);
		stage.kept += v->open == 'k' || v->open == 'p';
		stage.pledged += v->open == 'p';
		stage.settled |= v->open == '\0';
		before = v->before > before ? v->before : before;
	}
	stage.need = set_majority(before > 0 ? before : n);
	return stage;
}

char
stage_step(const struct voter *v, const struct stage *stage, unsigned n)
{
	bool few = stage->kept < stage->need, all = stage->here == n;

	if (v->open == '\0')
		return 0;
	if (stage->settled || stage->pledged >= stage->need ||
	    (few && all && stage->free == 0))
		return 's';
	if (is_pledged(v) || (few ? !all : v->open != 'k'))
		return 0;
	return 'p';
}

bool
stage_ties(const struct voter *v, const char *set, const struct stage *stage)
{
	return is_pledged(v) && !stage->settled &&
	       set_version(v->set) == set_version(set);
}
