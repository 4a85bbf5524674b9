/*
 * The calls that have not been answered: how they are found and freed, and what
 * others ask of them.
 *
 * Operations carry the id of their call, and never a pointer: a parked call may
 * be over by the time that the stand's operation is answered.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>

#include "core/guard/guard.h"
#include "core/token/parts.h"

struct token_call *
call_find(const struct core *core, uint64_t id)
{
	struct table_link *link =
	    table_find(&core->tokens->by_id, (const char *)&id, sizeof(id));

	return link == NULL ? NULL
			    : container_of(link, struct token_call, by_id);
}

void
call_stop_waiting(struct core *core, struct token_call *c)
{
	if (c->waits)
		TAILQ_REMOVE(&core->tokens->waiting, c, in_waiting);
	core->tokens->nwaiting -= c->waits;
	c->waits = false;
}

void
call_remove(struct core *core, struct token_call *c)
{
	unsigned i;

	assert(!c->parked);
	TAILQ_REMOVE(&core->tokens->calls, c, link);
	table_remove(&core->tokens->by_id, &c->by_id);
	call_stop_waiting(core, c);
	core_disarm(core, &c->deadline);
	for (i = 0; i < c->n; i++) {
		free(c->names[i].name);
		free(c->names[i].text);
	}
	free(c->client);
	free(c->other);
	free(c);
}

/* A session without a connection counts as nobody: it would not hear of a
 * grant, and the hold would stay for its whole time. */
struct owner *
call_asker(const struct core *core, const struct token_call *c)
{
	if (core->above->conn_of(core, c->session) == 0)
		return NULL;
	return owner_find(core, c->session);
}

bool
call_in_flight(const struct token_call *c)
{
	const struct token_name *n;

	for (n = c->names; n < c->names + c->n; n++)
		if (n->asked)
			return true;
	return false;
}

bool
call_takes(const struct token_call *c)
{
	return c->op == TOKEN_ACQUIRE || (c->op == TOKEN_EXTEND && c->either);
}

bool
call_doubts(const struct core *core, uint32_t shard, uint32_t epoch,
    int64_t sent_ms, const struct outcome *o)
{
	return (o->status == OUTCOME_GRANTED || o->status == OUTCOME_RENEWED) &&
	       (epoch != guard_epoch(core, shard) ||
		   core->now_ms - sent_ms >= core->recovery_ms);
}

bool
call_outdated(const struct outcome *o)
{
	return o->alone &&
	       (o->status == OUTCOME_LOST || o->status == OUTCOME_GONE);
}
