/*
 * The module as a whole: its life, and its work in parts.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>

#include "base/xmalloc.h"
#include "core/kernel/turn/job.h"
#include "core/kernel/turn/work.h"
#include "core/parts/token/adopt.h"
#include "core/parts/token/call.h"
#include "core/parts/token/notify.h"
#include "core/parts/token/parts.h"
#include "core/parts/token/poll.h"
#include "core/parts/token/pollers.h"
#include "core/parts/token/token_record.h"

static const char *
id_of(const struct table_link *link, size_t *len)
{
	const struct token_call *c =
	    container_of_const(link, struct token_call, by_id);

	*len = sizeof(c->id);
	return (const char *)&c->id;
}

void
token_init(struct core *core)
{
	core->part[PART_TOKEN] = xcalloc(1, sizeof(struct tokens));
	TAILQ_INIT(&tokens_of(core)->calls);
	table_init(&tokens_of(core)->by_id, id_of);
	token_records_init(core);
	poll_init(core);
	adopt_init(core);
}

void
token_fini(struct core *core)
{
	struct token_call *c;

	while ((c = TAILQ_FIRST(&tokens_of(core)->calls)) != NULL) {
		c->parked = false; /* no other call shall take its place */
		call_drop(core, c);
	}
	poll_fini(core);
	adopt_fini(core);
	table_fini(&tokens_of(core)->by_id);
	token_records_fini(core);
	free(tokens_of(core));
}

/*
 * Calls in flight are not refused: Redis may have granted them, and their
 * answers are due in a moment.  Poll queues go last, when no call is parked in
 * them any longer.
 */
void
token_stop(struct core *core)
{
	struct token_call *c, *next;

	notify_tokens_left(core);
	token_records_stop(core);
	TAILQ_FOREACH_SAFE (c, &tokens_of(core)->calls, link, next)
		if (!call_in_flight(c))
			call_refuse(core, c, ERR_SHUTDOWN,
			    "the broker is stopping; try another one");
	poll_stop(core);
}

/* Orphans need no counter here: core_stopped() waits for all operations in
 * flight. */
bool
token_all_over(const struct core *core)
{
	return TAILQ_EMPTY(&tokens_of(core)->calls) &&
	       tokens_of(core)->nrecords == 0 &&
	       tokens_of(core)->pollers.n == 0;
}

size_t
token_check(const struct core *core)
{
	const struct token_call *c;

	TAILQ_FOREACH (c, &tokens_of(core)->calls, link) {
		/* Each waits for something. */
		assert(call_in_flight(c) || timer_armed(&c->deadline));
		assert(call_in_flight(c) || c->wait.waits || c->parked ||
		       c->yields);
	}
	poll_check(core);
	adopt_check(core);
	return token_records_check(core);
}

/* Lowers `*upto` to the number before an operation in doubt; 0: there is
 * none. */
static void
first_doubt(uint64_t seq, uint64_t *upto)
{
	if (seq != 0 && *upto >= seq)
		*upto = seq - 1;
}

/*
 * A broker that is drained has no successor.  A hold that this one may yet end
 * by the number of an operation stays here, with all that came later: under the
 * token of another broker it would not find it.
 */
uint64_t
token_hands_over(const struct core *core)
{
	const struct tokens *t = tokens_of(core);
	uint64_t upto = core->last_seq;

	if (!core->leaving || core->draining || core->stopping ||
	    t->nrecords == 0)
		return 0;
	first_doubt(call_first(core), &upto);
	first_doubt(token_record_first_orphan(core), &upto);
	first_doubt(pollers_first_seq(core), &upto);
	return upto;
}

bool
token_has_nothing(const struct core *core, uint32_t shard)
{
	const struct tokens *t = tokens_of(core);

	return adopt_idle(core, shard) && TAILQ_EMPTY(&t->calls) &&
	       t->nrecords == 0 && t->norphans == 0;
}
