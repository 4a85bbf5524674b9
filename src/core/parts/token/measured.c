/*
 * Measurements of token holds.  A token that comes back waits for as long as it
 * keeps its place, whether it is here or away: one wait, from its first try to
 * its grant, or to its last try.  A token that came once has not waited.
 */
#include "config.h"

#include <string.h>

#include "core/parts/observe/measured.h"
#include "core/parts/token/measured.h"
#include "core/parts/token/notify.h"
#include "core/parts/token/pollers.h"

/* Calls are short, so their class is found each time. */
static struct measure_mark
class_of(struct core *core, const struct token_name *n)
{
	struct measure_mark mark = { .class = 0 };

	measure_classify(measure_of(core), &mark, n->name, n->len, 0);
	return mark;
}

void
token_waits(struct core *core, const struct pollers *ps, struct poller *p)
{
	struct measure_mark mark = { .class = 0 };

	assert(!p->waits);
	p->waits = true;
	core->owners->nparked++;
	measure_classify(measure_of(core), &mark, ps->name, ps->name_len, 0);
	measure_waits_since(
	    measure_of(core), &p->wait, mark, p->came.ms, core->now_ms);
}

/* A client that is gone has not given up by itself. */
void
token_waited(struct core *core, struct poller *p)
{
	assert(p->waits);
	p->waits = false;
	core->owners->nparked--;
	if (p->result == RESULT_TIMEOUT &&
	    core->above->conn_of(core, p->session) == 0)
		p->result = RESULT_CANCELLED;
	measure_waited(measure_of(core), &p->wait, p->result, p->heard_ms);
}

void
token_granted(struct core *core, const struct token_name *n)
{
	struct measure_wait wait;

	measure_waits_since(measure_of(core), &wait, class_of(core, n),
	    core->now_ms - n->waited_ms, core->now_ms);
	measure_waited(measure_of(core), &wait, RESULT_GRANTED, core->now_ms);
}

void
token_busy(struct core *core, const struct token_call *c)
{
	const struct token_name *n;

	for (n = c->names; n < c->names + c->n; n++)
		measure_busy(measure_of(core), class_of(core, n), core->now_ms);
}

/* Holds. */

void
token_holds(struct core *core, struct token_record *r)
{
	measure_classify(measure_of(core), &r->mark, r->name, r->name_len, 0);
	measure_holds(measure_of(core), r->mark);
}

struct measure_hold
token_record_hold(const struct token_record *r, int64_t now_ms)
{
	return (struct measure_hold){ .name = r->name,
		.name_len = r->name_len,
		.session = r->session,
		.label = r->label,
		.peer = r->peer != NULL ? r->peer : "-",
		.user = r->user,
		.fence = r->fence,
		.granted_ms = r->since_ms,
		.ended_ms = now_ms,
		.waited_ms = r->waited_ms,
		.end = "held" };
}

void
token_ended(
    struct core *core, struct token_record *r, const char *end, const char *by)
{
	struct measure_hold hold = token_record_hold(r, core->now_ms);
	/* No client could extend it, or give it back. */
	bool unreachable = strcmp(end, "unreachable") == 0;
	bool lost = by != NULL || unreachable;

	hold.end = end;
	hold.by = by;
	measure_classify(measure_of(core), &r->mark, r->name, r->name_len, 1);
	measure_held(measure_of(core), r->mark, &hold, lost);
	core->stats.lost += lost;
	if (unreachable)
		notify_token_lost(core, &hold);
	if (core->config.audit && core->fx != NULL)
		measured_audit(core, &hold);
}
