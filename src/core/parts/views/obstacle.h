/*
 * Why a request was refused (`SESSION why=yes`): who has the name that is in
 * the way, as far as this broker knows without asking another one.
 */
#ifndef LOCKBROKER_CORE_PARTS_VIEWS_OBSTACLE_H
#define LOCKBROKER_CORE_PARTS_VIEWS_OBSTACLE_H

#include "core/kernel/session/owner.h"

/* core_part.refused: adds fields to the reply that was begun, if its
 * session wants them. */
void obstacle_tell(struct core *core, const struct owner *owner, enum kind kind,
    const char *name, size_t len, uint64_t before);

#endif
