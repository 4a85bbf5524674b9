/*
 * See voter_stage.h.
 */
#include "config.h"

#include <string.h>

#include "core/kernel/guard/voter_set.h"
#include "core/kernel/guard/voter_stage.h"

bool
voter_is_known(const struct guard *g)
{
	return g->up && g->node[0] != '\0' && g->node_ms >= g->up_ms;
}

bool
voter_is_new(const struct guard *g)
{
	return g->set[0] == '\0' || g->open == 'n' || g->open == 'o';
}

static bool
is_pledged(const struct guard *g)
{
	return g->set[0] != '\0' && g->open != 'k' && g->open != 'n';
}

bool
voter_is_higher(const struct guard *a, const struct guard *b)
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
	const struct guard *g;
	unsigned before = 0;
	uint32_t i;

	for (i = 0; i < core->config.shards; i++) {
		g = &core->guards[i];
		if (!voter_is_known(g) || strcmp(g->set, set) != 0)
			continue;
		stage.here++;
		stage.free += !is_pledged(g);
		stage.kept += g->open == 'k' || g->open == 'p';
		stage.pledged += g->open == 'p';
		stage.settled |= g->open == '\0';
		before = g->before > before ? g->before : before;
	}
	stage.need = set_majority(before > 0 ? before : n);
	return stage;
}

char
stage_step(const struct guard *g, const struct stage *stage, unsigned n)
{
	bool few = stage->kept < stage->need, all = stage->here == n;

	if (g->open == '\0')
		return 0;
	if (stage->settled || stage->pledged >= stage->need ||
	    (few && all && stage->free == 0))
		return 's';
	if (is_pledged(g) || (few ? !all : g->open != 'k'))
		return 0;
	return 'p';
}

bool
stage_ties(const struct guard *g, const char *set, const struct stage *stage)
{
	return is_pledged(g) && !stage->settled &&
	       set_version(g->set) == set_version(set);
}
