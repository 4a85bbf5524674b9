/*
 * See newcomer.h.
 */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "base/times.h"
#include "core/kernel/lock/names.h"
#include "core/kernel/lock/stored.h"
#include "core/kernel/turn/work.h"
#include "core/parts/token/newcomer.h"
#include "core/parts/token/parts.h"
#include "core/parts/token/pollers.h"

#define BACK_MS 20 /* an answer and a message later */

/* A client that tries with a new token each time does not stand in its own way.
 * The input after a pressed call may be the try that it would wait for. */
static int64_t
turn_of(
    const struct core *core, const struct poller *p, const struct token_call *c)
{
	if (p->call != 0)
		return INT64_MAX;
	if (!p->polls || c->pressed || p->session == c->session ||
	    core->above->conn_of(core, p->session) == 0)
		return 0;
	return p->heard_ms + min_ms(p->gap_ms + p->gap_ms / 2, TURN_MS);
}

int64_t
newcomer_turn_ms(const struct core *core, const struct token_call *c)
{
	const struct pollers *ps = pollers_of(core, c);
	const struct poller *p;
	int64_t ms = 0;

	if (ps == NULL)
		return 0;
	TAILQ_FOREACH (p, &ps->list, link) {
		core_visit(core, 1);
		if (strcmp(p->holder, c->holder) == 0)
			break;
		ms = max_ms(ms, turn_of(core, p, c));
		if (ms == INT64_MAX)
			break;
	}
	return ms;
}

bool
newcomer_yields(struct core *core, struct token_call *c, int64_t until_ms)
{
	assert(c->n == 1 && !call_in_flight(c) && !c->parked);
	if (c->yields_ms == 0)
		c->yields_ms = core->now_ms + TURN_MS;
	if (core->now_ms >= c->yields_ms)
		return false;
	c->looks = c->names[0].settled = false;
	c->yields = true;
	core_arm(core, &c->deadline, min_ms(until_ms, c->yields_ms));
	return true;
}

/* Redis has given the name to the poll queue, which gives it back: it has no
 * holder here. */
static bool
is_coming_back(const struct core *core, const struct token_name *n)
{
	return n->kind == TOKEN_NATIVE && n->text != NULL &&
	       stored_is_ours(core, n->text, strlen(n->text)) &&
	       lock_find(core, n->name, n->len) == NULL;
}

bool
newcomer_waits(struct core *core, struct token_call *c)
{
	struct token_name *n = &c->names[0];
	int64_t turn_ms = newcomer_turn_ms(core, c);
	bool looked = c->looks;

	c->looks = false;
	if (!n->settled || turn_ms == INT64_MAX)
		return false;
	if (is_coming_back(core, n))
		return newcomer_yields(
		    core, c, max_ms(turn_ms, core->now_ms + BACK_MS));
	return looked && n->kind == TOKEN_FREE &&
	       newcomer_yields(core, c, turn_ms);
}
