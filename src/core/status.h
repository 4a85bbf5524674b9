/*
 * STATUS and QUEUE: who has a name, from here or from the store.
 */
#ifndef LOCKBROKER_CORE_STATUS_H
#define LOCKBROKER_CORE_STATUS_H

#include "core/state.h"

void status_init(struct core *core);
void status_fini(struct core *core);

void status_request(
    struct core *core, struct session *s, const struct core_request *rq);
/* Those that wait for Redis: their time is up, or it can be reached again. */
void status_timer(struct core *core, struct timer *t);
void status_link_up(struct core *core);

/* The session does not wait any more, or is gone (then nothing is told). */
void status_cancel(struct core *core, const struct session *s, bool tell);

void status_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o);

/* What the value of a key says; see lua/lease.lua. */
struct status_value {
	const char *state;
	bool free;
	size_t broker_len; /* at its beginning; 0: unknown */
	uint64_t fence;	   /* 0: unknown */
};

struct status_value status_parse(const char *value, size_t n);

/* Is it a token of this broker, of this run of it? */
bool status_is_ours(const struct core *core, const char *value, size_t n);

#endif
