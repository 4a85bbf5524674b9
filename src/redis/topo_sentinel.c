/*
 * One shard on the master that the Sentinels name.
 *
 *	Sentinels --> answer --> decide --> pool (one server at a time)
 *
 * The pool follows the Sentinels: at once if more than half of those configured
 * name another address; if fewer do, only when the present master does not
 * serve (it cannot be reached, or says that it is no master).  So a few
 * Sentinels that were cut off cannot move a broker away from a master that
 * works, and a broker is never stuck with a master that does not.
 *
 * An answer only says where to connect.  A wrong one leads to a server whose
 * guard refuses; the outcomes of calls under way on the old server are unknown.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "redis/io.h"
#include "redis/pool.h"
#include "redis/sentinels.h"
#include "redis/topology.h"
#include "store/refusal.h"

#define RETRY_MS_MAX 1000

/* How long we don't believe the first master if only a minority names it. */
#define FIRST_MS 300

struct topology {
	struct topology_env env;
	struct sentinels *sentinels;
	struct address address; /* the master; host NULL: none yet */
	struct pool *pool;	/* NULL until there is one */
	bool refused;		/* it says that it is no master */
	struct timer *decide;
	int64_t first_ms; /* when the first of them answered; 0: none did */
};

/* Moving cuts links, so only the loop does it. */
static void
decide_soon(void *arg)
{
	struct topology *t = arg;

	timer_in(t->decide, 0);
}

static bool
serves(const struct topology *t)
{
	return t->pool != NULL && pool_is_up(t->pool) && !t->refused;
}

/* News from the pool. */

static void
on_guard(void *arg, const struct guard_report *report)
{
	struct topology *t = arg;

	t->refused = report->state == GUARD_READONLY;
	sentinels_hurry(t->sentinels, !serves(t));
	if (t->refused)
		decide_soon(t);
}

/* Redis itself refuses scripts on a replica, before they run. */
static void
on_refused(void *arg, const struct refusal *refusal)
{
	struct topology *t = arg;

	if (strcmp(refusal->prefix, "READONLY") != 0 &&
	    strcmp(refusal->prefix, "MASTERDOWN") != 0)
		return;
	t->refused = true;
	sentinels_hurry(t->sentinels, true);
	decide_soon(t);
}

static void
on_up(void *arg)
{
	struct topology *t = arg;

	t->refused = false;
	sentinels_hurry(t->sentinels, false);
	t->env.handler->link(t->env.arg, 0, true, "");
}

static void
on_down(void *arg, const char *why)
{
	struct topology *t = arg;

	sentinels_hurry(t->sentinels, true);
	decide_soon(t);
	t->env.handler->link(t->env.arg, 0, false, why);
}

static void
on_failed(void *arg, const char *why)
{
	struct topology *t = arg;

	t->env.handler->link(t->env.arg, 0, false, why);
}

static const struct pool_handler pool_handler = {
	.up = on_up,
	.down = on_down,
	.failed = on_failed,
	.guard = on_guard,
	.refused = on_refused,
};

/* Following. */

static void
open_pool(struct topology *t)
{
	struct pool_config c =
	    pool_config_of(&t->env, &t->address, RETRY_MS_MAX);

	t->pool = pool_new(&c, &pool_handler, t);
	pool_start(t->pool);
}

static void
follow(struct topology *t, const struct sentinels_answer *said)
{
	char from[ADDRESS_SIZE] = "", to[ADDRESS_SIZE];

	if (t->address.host)
		(void)address_format(&t->address, from);
	free(t->address.host);
	t->address.host = xstrdup(said->host);
	t->address.port = said->port;
	(void)address_format(&t->address, to);
	t->refused = false;
	if (t->pool == NULL) {
		LOG(NOTICE, "master", LOG_S("node", to),
		    LOG_N("sentinels", said->votes));
		open_pool(t);
		return;
	}
	LOG(NOTICE, "master-changed", LOG_S("from", from), LOG_S("to", to),
	    LOG_N("sentinels", said->votes));
	t->env.stats->failovers++;
	pool_move(t->pool, "another server is the master");
	sentinels_hurry(t->sentinels, true);
}

/*
 * The pool follows no master yet, and most Sentinels have not named this one:
 * those that did may be wrong, and the others may answer in a moment.
 */
static bool
is_too_early(struct topology *t, const struct sentinels_answer *said)
{
	int64_t now = io_now_ms(t->env.io), left_ms;

	if (t->pool != NULL || said->verdict != SENTINELS_SOME)
		return false;
	if (t->first_ms == 0)
		t->first_ms = now;
	left_ms = t->first_ms + FIRST_MS - now;
	if (left_ms <= 0)
		return false;
	timer_in(t->decide, left_ms);
	return true;
}

static void
on_decide(void *arg)
{
	struct topology *t = arg;
	struct sentinels_answer said = sentinels_answer(t->sentinels);

	if (said.verdict == SENTINELS_NONE && t->pool == NULL)
		t->env.handler->link(
		    t->env.arg, 0, false, sentinels_why(t->sentinels));
	if (said.verdict == SENTINELS_NONE ||
	    (said.verdict == SENTINELS_SOME && serves(t)) ||
	    is_too_early(t, &said))
		return;
	if (t->address.host && t->address.port == said.port &&
	    strcmp(t->address.host, said.host) == 0)
		return;
	follow(t, &said);
}

/* Life. */

static struct topology *
sentinel_new(const struct topology_env *env, char *why, size_t why_size)
{
	struct topology *t = xcalloc(1, sizeof(*t));

	(void)why;
	(void)why_size;
	t->env = *env;
	t->sentinels = sentinels_new(&t->env, decide_soon, t);
	t->decide = timer_new(env->io, on_decide, t);
	return t;
}

static void
sentinel_start(struct topology *t)
{
	sentinels_start(t->sentinels);
}

static void
sentinel_free(struct topology *t)
{
	if (t == NULL)
		return;
	pool_free(t->pool);
	sentinels_free(t->sentinels);
	timer_free(t->decide);
	free(t->address.host);
	free(t);
}

static struct pool *
sentinel_route(struct topology *t, uint32_t shard)
{
	(void)shard;
	return t->pool != NULL && pool_is_up(t->pool) ? t->pool : NULL;
}

static void
sentinel_flush(struct topology *t)
{
	if (t->pool != NULL)
		pool_flush(t->pool);
}

static struct link *
sentinel_link(const struct topology *t, size_t i)
{
	return sentinels_link(t->sentinels, i);
}

const struct topology_ops topo_sentinel = { sentinel_new, sentinel_start,
	sentinel_free, sentinel_route, sentinel_flush, sentinel_link, NULL,
	NULL };
