/*
 * STATUS and QUEUE: who has a name, from here or from the store.
 */
#ifndef LOCKBROKER_CORE_STATUS_H
#define LOCKBROKER_CORE_STATUS_H

#include "core/lock/state.h"

void status_init(struct core *core);
void status_fini(struct core *core);

void status_request(
    struct core *core, struct session *s, const struct core_request *rq);
/* Those that wait for Redis: their time is up, or it can be reached again. */
void status_timer(struct core *core, struct timer *t);
void status_link_up(struct core *core);

/* In parts: a step asks for some of them. */
void status_ask_on(struct core *core);
bool status_has_more(const struct core *core);

/*
 * The session does not wait any more, or is gone (then nothing is told): one of
 * those of it that wait.  False: none does.
 */
bool status_cancel_one(struct core *core, struct session *s, bool tell);

void status_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o);

#endif
