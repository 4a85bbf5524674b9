/*
 * Which parts the core has: the order in which they begin and are called, and
 * which of them answers which verb.
 */
#include "config.h"

#include "core/kernel/step.h"
#include "core/parts/ids.h"

/* The order in which they begin, and are called. */
static const struct core_part *const parts[] = {
	&quorum_part,
	&observe_part,
	&replay_part,
	&watch_part,
	&force_part,
	&recall_part,
	&about_part,
	&unowned_part,
	&warm_part,
	&plain_part,
	&views_part,
	&why_part,
	&sync_part,
	&token_part,
	&fleet_part,
	&tenant_part,
	&notes_part,
	&drill_part,
	NULL,
};

static const core_answer_fn answers[VERB_MAX] = {
#define CORE(function) NULL
#define PART(function) function
#define BROKER(function) NULL
#define VERB(id, word, min, max, kind, options, required, answer, ...) \
	[VERB_##id] = answer,
#include "base/verbs.def"
#undef VERB
#undef BROKER
#undef PART
#undef CORE
};

struct core *
core_new(const struct core_config *config)
{
	return core_begin(config, parts, answers);
}
