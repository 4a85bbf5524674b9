/*
 * Calls that a node refused: another node has the bucket (MOVED), or already
 * has those keys (ASK), or they are on their way between two nodes (TRYAGAIN),
 * or no node has them (CLUSTERDOWN).  The node carried out nothing of such a
 * call, so it may be sent again until it times out.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "redis/cluster_map.h"
#include "redis/cluster_state.h"

#define PARK_MS 30 /* until a parked call is sent again */
#define REDIRECTS_MAX 16

/* Reports how a call ended: without a reply, as never carried out. */
static void
finish(struct topology *t, struct call *call, const redisReply *reply)
{
	const struct store_handler store = { t->env.handler->guard,
		t->env.handler->outcome };

	if (reply == NULL)
		call->sent_ms = 0;
	(void)call_finish(
	    t->env.gather, call, reply, reply == NULL, &store, t->env.arg);
}

/* Sends a call to the node that has the bucket now. */
static void
send_again(struct topology *t, struct call *call)
{
	struct node *n = t->buckets[call->shard].node;

	call->asking = false;
	if (!t->buckets[call->shard].up || !pool_send(n->pool, call))
		finish(t, call, NULL);
}

void
cluster_unpark(void *arg)
{
	struct topology *t = arg;
	struct call_list calls = TAILQ_HEAD_INITIALIZER(calls);
	struct call *call;

	TAILQ_CONCAT(&calls, &t->parked, entry);
	while ((call = TAILQ_FIRST(&calls)) != NULL) {
		TAILQ_REMOVE(&calls, call, entry);
		send_again(t, call);
	}
}

static void
park(struct topology *t, struct call *call)
{
	if (TAILQ_EMPTY(&t->parked))
		timer_in(t->unpark, PARK_MS);
	TAILQ_INSERT_TAIL(&t->parked, call, entry);
}

static void
on_moved(struct node *n, struct call *call, const struct redirect *r)
{
	struct topology *t = n->cluster;
	struct bucket *b = &t->buckets[call->shard];
	struct node *target;

	cluster_doubt_map(t);
	if (r->host[0] == '\0' || r->slot != b->slot) {
		park(t, call);
		return;
	}
	target = cluster_node_at(t, r->host, r->port);
	/* A node that no longer has the bucket may know less than we do. */
	if (b->node == n && target != n) {
		b->hint_ms = io_now_ms(t->env.io);
		cluster_place(t, call->shard, target);
		if (io_now_ms(t->env.io) - t->ask_ms >= ASK_MS)
			(void)cluster_ask(t, target);
	}
	if (b->node == n)
		park(t, call);
	else
		send_again(t, call);
}

static void
on_ask(struct node *n, struct call *call, const struct redirect *r)
{
	struct topology *t = n->cluster;
	struct node *target;

	if (r->host[0] == '\0') {
		park(t, call);
		return;
	}
	target = cluster_node_at(t, r->host, r->port);
	cluster_open(target);
	call->asking = true;
	if (!pool_is_up(target->pool) || !pool_send(target->pool, call))
		park(t, call);
}

static void
on_tryagain(struct node *n, struct call *call, const struct redirect *r)
{
	(void)r;
	park(n->cluster, call);
}

static void (*const redirects[REDIRECT_MAX])(
    struct node *n, struct call *call, const struct redirect *r) = {
	[REDIRECT_MOVED] = on_moved,
	[REDIRECT_ASK] = on_ask,
	[REDIRECT_TRYAGAIN] = on_tryagain,
};

/*
 * Has the call used up its time for redirections?  If not, the next node gets
 * only the rest of that time.
 */
static bool
is_spent(const struct topology *t, struct call *call)
{
	int64_t limit_ms = t->env.config->redis.reply_timeout_ms;

	if (call->redirects++ == 0) {
		if (call->timeout_ms < limit_ms)
			limit_ms = call->timeout_ms;
		call->until_ms = call->sent_ms + limit_ms;
	}
	call->timeout_ms = call->until_ms - io_now_ms(t->env.io);
	return call->timeout_ms <= PARK_MS;
}

bool
cluster_redirected(void *arg, struct call *call, const redisReply *reply)
{
	struct node *n = arg;
	struct topology *t = n->cluster;
	struct bucket *b = &t->buckets[call->shard];
	struct redirect r;

	if (!redirect_read(&r, reply->str, n->address.host))
		return false;
	call->asking = false;
	call->resent = 0; /* the next node may lack the scripts, too */
	if (!is_spent(t, call) && redirects[r.kind] != NULL &&
	    (r.kind != REDIRECT_MOVED || call->redirects < REDIRECTS_MAX)) {
		redirects[r.kind](n, call, &r);
		return true;
	}
	if (r.kind == REDIRECT_DOWN && b->node == n) {
		b->down_ms = io_now_ms(t->env.io);
		cluster_tell(t, call->shard, false, reply->str);
		cluster_doubt_map(t);
	}
	finish(t, call, reply);
	return true;
}
