/*
 * A core: the kernel, and what core.c hangs above it.
 */
#ifndef LOCKBROKER_CORE_KERNEL_STEP_H
#define LOCKBROKER_CORE_KERNEL_STEP_H

#include "core/kernel/turn/part.h"

/* Answers a verb, at once or later. */
typedef void (*core_answer_fn)(
    struct core *core, struct owner *owner, const struct core_request *rq);

/*
 * core_new(), with these parts, of which NULL ends the list, and what they
 * answer: VERB_MAX rows, or NULL if they answer nothing.  Both are static.
 * Without any part the kernel is alone.
 */
struct core *core_begin(const struct core_config *config,
    const struct core_part *const *parts, const core_answer_fn *answers);

#endif
