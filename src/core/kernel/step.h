/*
 * What core.c hangs above the kernel.
 */
#ifndef LOCKBROKER_CORE_STEP_H
#define LOCKBROKER_CORE_STEP_H

#include "core/kernel/lock/lock.h"
#include "core/kernel/turn/part.h"

/* How a verb is answered; `answer` is NULL for those that the core does not
 * answer. */
struct core_verb {
	void (*answer)(struct core *core, struct owner *owner,
	    const struct core_request *rq);
	unsigned flags; /* enum verb_flag */
};

/* Static, as all that it points to.  Lists end in NULL. */
struct core_assembly {
	const struct core_part *const *parts;
	const struct core_verb *verbs; /* VERB_MAX of them */
	const struct swept *const *swept;
	const struct holding_class *const *holdings; /* HOLDING_KINDS */
	const struct term_lessee *const *terms;	     /* TERM_KINDS */
};

/* core_new(), with these. */
struct core *core_begin(
    const struct core_config *config, const struct core_assembly *assembly);

#endif
