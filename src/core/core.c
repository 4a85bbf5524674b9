/*
 * Which parts the core has, and what else hangs above the kernel: the order in
 * which parts begin and are called, who answers which verb, what is swept.
 */
#include "config.h"

#include "core/kernel/guard/sweep.h"
#include "core/kernel/lock/hold.h"
#include "core/kernel/step.h"
#include "core/parts/fleet/fleet.h"
#include "core/parts/force/force.h"
#include "core/parts/ids.h"
#include "core/parts/sync/semaphore.h"
#include "core/parts/sync/sync.h"
#include "core/parts/token/token_record.h"
#include "core/parts/views/status.h"
#include "core/parts/watch/watch.h"

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
	&views_part,
	&sync_part,
	&token_part,
	&fleet_part,
	&tenant_part,
	NULL,
};

static const struct core_verb verbs[VERB_MAX] = {
#define CORE(function) function
#define BROKER(function) NULL
#define F(x) VERB_FLAG_##x
#define VERB(id, word, min, max, kind, options, required, answer, wait_ms, \
    right, flags, ...)                                                     \
	[VERB_##id] = { answer, flags },
#include "base/verbs.def"
#undef VERB
#undef F
#undef BROKER
#undef CORE
};

/* What walks over all things of a guard come by, in this order. */
static const struct swept *const swept[] = { &syncs_swept, &names_swept,
	&token_records_swept, NULL };

static const struct holding_class *const holdings[HOLDING_KINDS] = {
	[HOLDING_NAME] = &hold_class,
	[HOLDING_PERMITS] = &permits_class,
};

static const struct term_lessee *const terms[TERM_KINDS] = {
	[TERM_LEASE] = &lock_of_term,
	[TERM_PERMITS] = &semaphore_of_term,
};

static const struct core_assembly assembly = {
	.parts = parts,
	.verbs = verbs,
	.swept = swept,
	.holdings = holdings,
	.terms = terms,
};

struct core *
core_new(const struct core_config *config)
{
	return core_begin(config, &assembly);
}
