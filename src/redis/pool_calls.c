/*
 * Sends calls on lanes and takes their answers.
 *
 * With redis.replicas a WAIT follows the calls of a turn on each lane.  The
 * answers of the calls are held back until the WAIT is answered: if too few
 * replicas confirm, the grants and renewals among them do not count.
 *
 * A WAIT blocks its connection, and if it fails, until its timeout.  So only
 * one WAIT is under way on a connection: the next one follows its answer, after
 * all calls that were sent meanwhile.  If the last WAIT failed, calls that can
 * wait are not sent before that answer either.
 *
 * Redis answers in order, so a flood of requests would make every renewal wait
 * for all of it.  So only a limited number of operations that can wait are
 * under way on a connection; the others wait in line here.
 */
#include "config.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/times.h"
#include "config/config.h"
#include "redis/pool_state.h"
#include "store/refusal.h"

/* A few milliseconds of work for Redis, and enough to keep it busy. */
#define PATIENT_MAX 1024

/*
 * Refusals: which of them, and which failures, have been logged.
 */

/* Has this refusal, or if it is NULL this failure, been logged? */
static bool
is_logged(const struct refusal_log *log, const struct refusal *refusal,
    const char *failure)
{
	size_t i;

	for (i = 0; i < SCRIPT_MAX; i++)
		if (refusal != NULL ? log->of[i].refusal == refusal
				    : strcmp(log->of[i].failure, failure) == 0)
			return true;
	return false;
}

static void
log_good(struct refusal_log *log, const char *node, struct refusal_run *run)
{
	if (run->refusal == NULL && run->failure[0] == '\0')
		return;
	memset(run, 0, sizeof(*run));
	for (run = log->of; run < log->of + SCRIPT_MAX; run++)
		if (run->refusal != NULL || run->failure[0] != '\0')
			return;
	LOG(NOTICE, "redis-ok", LOG_S("node", node));
}

/* Notes how a decoded call ended; logs that if it is new. */
static void
refusal_log_note(
    struct refusal_log *log, const char *node, const struct call *call)
{
	struct refusal_run *run = &log->of[call->script];

	const struct refusal *refusal = call->refused.refusal;
	bool errs =
	    call->verdict == CALL_REFUSED || call->verdict == CALL_FAILED;
	const char *failure = call->refused.words;

	if (call->verdict == CALL_ANSWERED) {
		log_good(log, node, run);
	} else if (errs && refusal != NULL) {
		if (!is_logged(log, refusal, ""))
			LOG(WARNING, refusal->event, LOG_S("node", node),
			    LOG_S("error", call->refused.words),
			    LOG_S("advice", refusal->text));
		run->refusal = refusal;
	} else if (errs || call->verdict == CALL_MALFORMED) {
		if (!errs)
			failure = call->malformed;
		if (!is_logged(log, NULL, failure))
			LOG(ERROR, "redis-reply", LOG_S("node", node),
			    LOG_S(errs ? "error" : "malformed", failure));
		snprintf(run->failure, sizeof(run->failure), "%s", failure);
	}
}

#define LACKS_MS (INT64_C(5) * 60 * 1000) /* until that is logged again */

/* Notes operations of an answered call that lack a right: others of their kind
 * may not need it, so only time shows that it is no longer missing. */
static void
note_lacks(struct pool *p, const struct call *call)
{
	struct refusal_log *log = &p->refusals;
	struct redis_stats *stats = p->config.stats;
	int64_t now = io_now_ms(p->config.io);
	enum op_kind kind = 0;
	unsigned i;

	if (now - log->lacks_ms > LACKS_MS)
		log->lacks = 0;
	log->lacks_ms = now;
	for (i = 0; i < call->nops; i++)
		stats->lacking += call->outcomes[i].status == OUTCOME_REFUSED;
	while (!(call->lacks & UINT64_C(1) << kind))
		kind++;
	stats->lacked_ms = now;
	snprintf(stats->lacks, sizeof(stats->lacks), "%s: operation %s: %s",
	    p->node, call_op_word(kind), call->refused.words);
	if (!(call->lacks & ~log->lacks))
		return;
	log->lacks |= call->lacks;
	LOG(WARNING, call->refused.refusal->event, LOG_S("node", p->node),
	    LOG_S("operation", call_op_word(kind)),
	    LOG_S("error", call->refused.words),
	    LOG_S("advice", call->refused.refusal->text));
}

static void on_call(void *arg, const redisReply *reply);
static void on_load(void *arg, const redisReply *reply);
static void on_wait(void *arg, const redisReply *reply);

/* Answers. */

/* Sends a WAIT after calls, on their connection; later, if one is under way. */
static void
send_wait(struct lane *lane)
{
	const struct config_redis *redis = lane->pool->config.redis;
	unsigned replicas = redis->replicas;
	int64_t wait_ms = lane->pool->config.lease_ms / 10;

	/* A failed WAIT is answered, too: the answer must come before the
	 * timeout. */
	if (wait_ms > redis->reply_timeout_ms / 2)
		wait_ms = redis->reply_timeout_ms / 2;
	if (!lane->unconfirmed || lane->waiting || replicas == 0)
		return;
	lane->unconfirmed = false;
	lane->waiting = link_sendf(lane->link, 0, on_wait, lane, "WAIT %u %lld",
	    replicas, (long long)wait_ms);
}

static bool
load(struct lane *lane, enum script_id script)
{
	const char *words[] = { "SCRIPT", "LOAD",
		link_script(lane->link, script) };
	size_t lens[] = { 6, 4, strlen(words[2]) };

	if (lane->loading[script])
		return true;
	lane->loading[script] = link_send(
	    lane->link, 3, words, lens, 0, on_load, &lane->loading[script]);
	return lane->loading[script];
}

static bool
send_on(struct lane *lane, struct call *call)
{
	struct link *l = lane->link;

	if (call->asking &&
	    !link_sendf(l, call->timeout_ms, pool_ignore, NULL, "ASKING"))
		return false;
	call->sent_ms = io_now_ms(lane->pool->config.io);
	call->sent_us = io_awake_us(lane->pool->config.io);
	if (!link_send(l, call->argc, call->argv, call->argvlen,
		call->timeout_ms, on_call, call))
		return false;
	lane->unconfirmed = true;
	return true;
}

/* Loads the script, which may be gone (SCRIPT FLUSH), and tries once more, with
 * the remaining time. */
static bool
resend(struct lane *lane, struct call *call)
{
	int64_t took_ms = io_now_ms(lane->pool->config.io) - call->sent_ms;

	assert(call->script < SCRIPT_MAX);
	if (call->resent > 0 || !load(lane, call->script))
		return false;
	call->resent++;
	call->timeout_ms = max_ms(1, call->timeout_ms - took_ms);
	lane->pool->config.stats->reloads++;
	if (!send_on(lane, call))
		return false;
	send_wait(lane);
	return true;
}

static void
on_guard(void *arg, uint32_t shard, int64_t sent_ms,
    const struct guard_report *report)
{
	struct pool *p = arg;

	if (p->handler.guard && report->state != GUARD_REFUSED)
		p->handler.guard(p->arg, report);
	p->config.owner->guard(p->config.owner_arg, shard, sent_ms, report);
}

static void
on_outcome(
    void *arg, uint64_t op, int64_t sent_ms, const struct outcome *outcome)
{
	const struct pool *p = arg;

	p->config.owner->outcome(p->config.owner_arg, op, sent_ms, outcome);
}

static const struct store_handler store_handler = { on_guard, on_outcome };

static void
deliver(struct lane *lane, struct call *call)
{
	struct pool *p = lane->pool;

	assert(p->under_way > 0);
	p->under_way--;
	if (p->closing) {
		gather_drop(p->config.gather, call);
		return;
	}
	if (call->verdict != CALL_ANSWERED && call->verdict != CALL_REFUSED)
		p->config.stats->unknown += call->nops;
	call_deliver(p->config.gather, call, &store_handler, p);
}

static bool
is_noscript(const redisReply *reply)
{
	return reply != NULL && reply->type == REDIS_REPLY_ERROR &&
	       strncmp(reply->str, "NOSCRIPT", 8) == 0;
}

/* Does the topology take over a call that was refused here? */
static bool
taken_over(struct pool *p, struct call *call, const redisReply *reply)
{
	if (!p->handler.redirected || p->closing || reply == NULL ||
	    reply->type != REDIS_REPLY_ERROR ||
	    !p->handler.redirected(p->arg, call, reply))
		return false;
	assert(p->under_way > 0);
	p->under_way--;
	return true;
}

/* Was the broker told to stay away, because it has nothing there? */
static bool
is_quiet(const struct call *call)
{
	return call->verdict == CALL_ANSWERED && call->nops == 1 &&
	       call->kinds[0] == OP_HEARTBEAT && call->outcomes[0].ttl_ms > 0;
}

/* Counts a call by how long its answer took. */
static void
note_trip(struct pool *p, struct call *call)
{
	static const int64_t le_us[REDIS_TRIPS - 1] = REDIS_TRIPS_US;
	struct redis_stats *stats = p->config.stats;
	unsigned i = 0;

	call->trip_us = io_awake_us(p->config.io) - call->sent_us;
	while (i < REDIS_TRIPS - 1 && call->trip_us > le_us[i])
		i++;
	stats->trips[i]++;
	stats->trips_us += (uint64_t)call->trip_us;
}

/* A server that reports no run_id cannot be told from another. */
static void
note_history(struct lane *lane, const struct call *call)
{
	const char *run_id = link_info(lane->link)->run_id;
	struct pool *p = lane->pool;

	p->history[0] = '\0';
	if (call->guard.history_len != HISTORY_BYTES || run_id[0] == '\0')
		return;
	memcpy(p->history, call->guard.history, HISTORY_BYTES);
	p->history[HISTORY_BYTES] = '\0';
	snprintf(p->history_run_id, sizeof(p->history_run_id), "%s", run_id);
}

static void
on_call(void *arg, const redisReply *reply)
{
	struct call *call = arg;
	struct lane *lane = call->sender;
	enum call_verdict verdict;

	assert(!call->can_wait || lane->patient >= call->nops);
	if (reply != NULL)
		note_trip(lane->pool, call);
	if (is_noscript(reply) && resend(lane, call))
		return;
	if (call->can_wait)
		lane->patient -= call->nops;
	pool_admit(lane->pool);
	if (taken_over(lane->pool, call, reply))
		return;
	verdict = call_decode(call, reply, false);
	lane->pool->quiet = is_quiet(call);
	if (verdict == CALL_ANSWERED)
		note_history(lane, call);
	refusal_log_note(&lane->pool->refusals, lane->pool->node, call);
	if (verdict == CALL_ANSWERED && call->lacks != 0)
		note_lacks(lane->pool, call);
	if (verdict == CALL_REFUSED && lane->pool->handler.refused)
		lane->pool->handler.refused(
		    lane->pool->arg, call->refused.refusal);
	if (verdict == CALL_MALFORMED)
		link_cut(lane->link, "a malformed reply", NULL);
	else if (verdict == CALL_REFUSED &&
		 call->refused.refusal->action == REFUSAL_RECONNECT)
		link_refuse(lane->link, call->refused.words,
		    call->refused.refusal->text);
	if (verdict == CALL_ANSWERED && lane->pool->config.redis->replicas > 0)
		TAILQ_INSERT_TAIL(&lane->held, call, entry);
	else
		deliver(lane, call);
}

static void
on_load(void *arg, const redisReply *reply)
{
	bool *loading = arg;
	struct refused refused;

	*loading = false;
	if (reply == NULL || reply->type != REDIS_REPLY_ERROR)
		return;
	refusal_read(&refused, reply->str, (size_t)reply->len);
	LOG(WARNING, "redis-load", LOG_S("error", refused.words));
}

/* Answers come in order: all held calls were sent before this WAIT. */
static void
on_wait(void *arg, const redisReply *reply)
{
	struct lane *lane = arg;
	struct pool *p = lane->pool;
	long long wanted = p->config.redis->replicas, have = 0;
	struct call_list held = TAILQ_HEAD_INITIALIZER(held);
	struct call *call;

	if (reply != NULL && reply->type == REDIS_REPLY_INTEGER)
		have = reply->integer;
	if (reply != NULL && (have < wanted) != p->short_told) {
		p->short_told = have < wanted;
		if (p->short_told)
			LOG(WARNING, "redis-replicas", LOG_S("node", p->node),
			    LOG_N("replicas", have), LOG_N("wanted", wanted));
		else
			LOG(NOTICE, "redis-ok", LOG_S("node", p->node),
			    LOG_N("replicas", have), LOG_N("wanted", wanted));
	}
	TAILQ_CONCAT(&held, &lane->held, entry);
	while ((call = TAILQ_FIRST(&held)) != NULL) {
		TAILQ_REMOVE(&held, call, entry);
		if (have < wanted)
			call_doubt(call);
		deliver(lane, call);
	}
	lane->waiting = false;
	pool_admit(p);
	send_wait(lane);
}

/* Sending: calls that can wait do wait, so that the others need not. */

static bool
start(struct lane *lane, struct call *call)
{
	struct pool *p = lane->pool;
	const char *sha = link_sha(lane->link, call->script);

	call->argv[1] = sha;
	call->argvlen[1] = strlen(sha);
	call->sender = lane;
	if (!send_on(lane, call))
		return false;
	if (call->can_wait)
		lane->patient += call->nops;
	p->config.stats->calls++;
	p->config.stats->ops += call->nops;
	return true;
}

/* Answers a call that waited in line in vain, as unsent. */
static void
give_back(struct pool *p, struct call *call)
{
	assert(p->under_way > 0);
	p->under_way--;
	(void)call_finish(
	    p->config.gather, call, NULL, true, &store_handler, p);
}

/* Must calls that can wait do so now? */
static bool
is_full(const struct lane *lane)
{
	return lane->patient >= PATIENT_MAX ||
	       (lane->waiting && lane->pool->short_told);
}

/* Sends calls from the line of a lane while there is room; were there any? */
static bool
admit_lane(struct pool *p, struct lane *lane)
{
	bool sent = false;
	struct call *call;
	struct lane *by;

	while ((call = TAILQ_FIRST(&lane->line)) != NULL) {
		by = pool_route(p, lane->index);
		if (by != NULL && is_full(by))
			break;
		TAILQ_REMOVE(&lane->line, call, entry);
		if (by != NULL && start(by, call))
			sent = true;
		else
			give_back(p, call);
	}
	return sent;
}

void
pool_admit(struct pool *p)
{
	bool sent = false;
	uint32_t i;

	for (i = 0; i < p->nlanes && !p->closing; i++)
		sent = admit_lane(p, &p->lanes[i]) || sent;
	if (sent)
		pool_flush(p);
}

bool
pool_send(struct pool *p, struct call *call)
{
	struct lane *lane = &p->lanes[call->lane % p->nlanes];
	struct lane *by = pool_route(p, lane->index);

	if (by == NULL)
		return false;
	if (call->can_wait && (is_full(by) || !TAILQ_EMPTY(&lane->line)))
		TAILQ_INSERT_TAIL(&lane->line, call, entry);
	else if (!start(by, call))
		return false;
	p->under_way++;
	return true;
}

void
pool_flush(struct pool *p)
{
	uint32_t i;

	for (i = 0; i < p->nlanes; i++) {
		send_wait(&p->lanes[i]);
		link_flush(p->lanes[i].link);
	}
}
