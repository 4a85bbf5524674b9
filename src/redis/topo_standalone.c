/*
 * One shard on one server: one that runs already, or one that we start
 * ourselves (embedded.h).
 *
 * The address may lead to another server one day, if an operator or a cloud
 * makes a replica the master.  The old master may live on as a replica and keep
 * our connections; so if it says for a while that it is a replica, we give them
 * up and resolve the name again.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "config/config.h"
#include "redis/embedded.h"
#include "redis/io.h"
#include "redis/pool.h"
#include "redis/topology.h"

#define RETRY_MS_MAX 2000
#define OWN_RETRY_MS_MAX 100 /* to our own server */
#define OWN_QUIET_MS 3000    /* it may take this long to start */

/* How long we put up with a replica, at first and at last. */
#define REPLICA_MS_MIN 5000
#define REPLICA_MS_MAX 60000

struct topology {
	struct topology_env env;
	struct pool *pool;
	struct embedded *embedded; /* NULL: the server is not ours */
	struct address address;
	bool replica;	       /* the server says that it is one */
	int64_t replica_ms;    /* for how long we put up with that */
	struct timer *look_up; /* fires when that is over */
};

static void
on_look_up(void *arg)
{
	struct topology *t = arg;

	pool_move(t->pool, "it is a replica and stays one");
	t->replica_ms *= 2;
	if (t->replica_ms > REPLICA_MS_MAX)
		t->replica_ms = REPLICA_MS_MAX;
	timer_in(t->look_up, t->replica_ms);
}

static void
on_guard(void *arg, const struct guard_report *report)
{
	struct topology *t = arg;
	bool replica = report->state == GUARD_READONLY;

	if (t->embedded != NULL) {
		embedded_wrote(t->embedded, report->state == GUARD_BLESSED);
		gather_begun(t->env.gather, STORE_DOUBTED);
	}
	if (replica == t->replica)
		return;
	t->replica = replica;
	t->replica_ms = REPLICA_MS_MIN;
	if (replica)
		timer_in(t->look_up, t->replica_ms);
	else
		timer_stop(t->look_up);
}

static void
on_up(void *arg)
{
	struct topology *t = arg;

	if (t->embedded != NULL)
		embedded_ready(t->embedded);
	t->env.handler->link(t->env.arg, 0, true, "");
}

static void
on_down(void *arg, const char *why)
{
	struct topology *t = arg;

	t->env.handler->link(t->env.arg, 0, false, why);
}

static void
on_refused(void *arg, const struct refusal *refusal)
{
	struct topology *t = arg;

	if (t->embedded != NULL && strcmp(refusal->prefix, "MISCONF") == 0)
		embedded_stuck(t->embedded);
}

static const struct pool_handler pool_handler = {
	.up = on_up,
	.down = on_down,
	.failed = on_down,
	.guard = on_guard,
	.refused = on_refused,
};

/* The first call that this server answers says so there (lua/guard.lua). */
static void
on_server_started(void *arg, enum store_data data)
{
	struct topology *t = arg;

	gather_begun(t->env.gather, data);
	pool_start(t->pool);
}

static void
on_server_fatal(void *arg, const char *why)
{
	struct topology *t = arg;

	t->env.handler->fatal(t->env.arg, why);
}

static const struct embedded_handler embedded_handler = { on_server_started,
	on_server_fatal };

static void
standalone_free(struct topology *t)
{
	if (t == NULL)
		return;
	pool_free(t->pool);
	timer_free(t->look_up);
	embedded_free(t->embedded);
	free(t);
}

/* Finds where the server is; returns false, with a line in why. */
static bool
find_server(struct topology *t, char *why, size_t why_size)
{
	const struct config *config = t->env.config;

	if (config->redis.mode != CONFIG_MODE_EMBEDDED) {
		if (config->redis.nodes.n != 1) {
			snprintf(why, why_size,
			    "redis.mode standalone needs one of redis.nodes");
			return false;
		}
		t->address = config->redis.nodes.v[0];
		return true;
	}
	t->embedded = embedded_new(
	    t->env.io, config, &embedded_handler, t, why, why_size);
	if (t->embedded == NULL)
		return false;
	t->address.path = embedded_path(t->embedded);
	return true;
}

static struct topology *
standalone_new(const struct topology_env *env, char *why, size_t why_size)
{
	struct topology *t = xcalloc(1, sizeof(*t));
	struct pool_config c = topology_pool(env, &t->address, RETRY_MS_MAX);

	t->env = *env;
	t->look_up = timer_new(env->io, on_look_up, t);
	if (!find_server(t, why, why_size)) {
		standalone_free(t);
		return NULL;
	}
	if (t->embedded != NULL) {
		c.retry_ms_max = OWN_RETRY_MS_MAX;
		c.quiet_ms = OWN_QUIET_MS;
		c.own = true;
	}
	t->pool = pool_new(&c, &pool_handler, t);
	return t;
}

static void
standalone_start(struct topology *t)
{
	if (t->embedded != NULL)
		embedded_start(t->embedded);
	else
		pool_start(t->pool);
}

static struct pool *
standalone_route(struct topology *t, uint32_t shard)
{
	(void)shard;
	return pool_is_up(t->pool) ? t->pool : NULL;
}

static void
standalone_flush(struct topology *t)
{
	pool_flush(t->pool);
}

static void
standalone_hand_over(const struct topology *t, struct handed_list *out)
{
	if (t->embedded != NULL)
		embedded_hand_over(t->embedded, out);
}

static bool
standalone_own(struct topology *t, bool own)
{
	if (t->embedded == NULL)
		return true;
	if (!own)
		return embedded_leave(t->embedded);
	embedded_own(t->embedded);
	return true;
}

const struct topology_ops topo_standalone = { standalone_new, standalone_start,
	standalone_free, standalone_route, standalone_flush, NULL,
	standalone_hand_over, standalone_own };
