/*
 * Measurements of token holds.  Only calls that are parked count as waiting;
 * any other is answered as soon as Redis has answered.  The time for which a
 * hold was waited for counts from its call, not from the first try of its
 * token.
 */
#include "config.h"

#include "core/lock/measured.h"
#include "core/token/measured.h"
#include "core/turn/emit.h"

/* Calls are short, so their class is found each time. */
static struct measure_mark
class_of(struct core *core, const struct token_name *n)
{
	struct measure_mark mark = { .class = 0 };

	measure_classify(core->measure, &mark, n->name, n->len, 0);
	return mark;
}

void
token_waits(struct core *core, struct token_call *c)
{
	core->owners->nparked++;
	measure_waits(core->measure, &c->wait, class_of(core, &c->names[0]),
	    core->now_ms);
}

void
token_waited(struct core *core, struct token_call *c)
{
	core->owners->nparked--;
	measure_waited(core->measure, &c->wait, c->result, core->now_ms);
}

void
token_busy(struct core *core, const struct token_call *c)
{
	const struct token_name *n;

	for (n = c->names; n < c->names + c->n; n++)
		measure_busy(core->measure, class_of(core, n), core->now_ms);
}

/* Holds. */

void
token_holds(struct core *core, struct ward *w)
{
	measure_classify(core->measure, &w->mark, w->name, w->name_len, 0);
	measure_holds(core->measure, w->mark);
}

void
token_holds_not(struct core *core, struct ward *w)
{
	measure_holds_not(core->measure, w->mark);
}

struct measure_hold
ward_hold(const struct ward *w, int64_t now_ms)
{
	return (struct measure_hold){ .name = w->name,
		.name_len = w->name_len,
		.session = w->session,
		.label = w->label,
		.peer = w->peer != NULL ? w->peer : "-",
		.user = w->user,
		.fence = w->fence,
		.granted_ms = w->since_ms,
		.ended_ms = now_ms,
		.waited_ms = w->waited_ms,
		.end = "held" };
}

void
token_ended(struct core *core, struct ward *w, const char *end, const char *by)
{
	struct measure_hold hold = ward_hold(w, core->now_ms);

	hold.end = end;
	hold.by = by;
	measure_classify(core->measure, &w->mark, w->name, w->name_len, 1);
	measure_held(core->measure, w->mark, &hold, by != NULL);
	core->stats.lost += by != NULL;
	if (core->config.audit && core->fx != NULL)
		measured_audit(core, &hold);
}
