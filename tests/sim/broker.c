/*
 * The driver of a broker.  It does what daemon/bridge/broker.c does, in virtual time,
 * and tells the checker everything that clients are told.
 */
#include "config.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "core/dump.h"
#include "redis/redis.h"

#include "answer.h"
#include "bond.h"
#include "resumes.h"
#include "world.h"

#define CHECK_EVERY 97 /* steps from one check of the core to the next */

static event_fn broker_on_turn;
static event_fn broker_on_lines;
static event_fn broker_on_write;
static event_fn broker_on_wake;

int64_t
broker_clock_ms(const struct broker *b)
{
	int64_t now_us = world_now(b->w);

	return b->zero_ms +
	       (now_us + now_us / 1000 * b->rate_ppm / 1000) / 1000;
}

int64_t
broker_world_us(const struct broker *b, int64_t ms)
{
	int64_t local_us = (ms - b->zero_ms) * 1000;

	/* Rounded up: a timer never fires too soon. */
	return local_us - local_us / 1000 * b->rate_ppm / 1000 +
	       (local_us / 1000 * 16 / 1000000) + 5;
}

struct input *
input_new(enum input_kind kind, uint64_t sitting)
{
	struct input *in = xcalloc(1, sizeof(*in));

	in->kind = kind;
	in->sitting = sitting;
	return in;
}

static void
input_free(struct input *in)
{
	answer_free(in->reply);
	free(in->message);
	free(in);
}

/* Plans a turn soon, unless the broker is stalled or a turn is due already. */
void
broker_wake(struct broker *b)
{
	if (!b->alive || b->due || broker_stalled(b))
		return;
	b->due = true;
	events_at(&b->w->events,
	    world_now(b->w) + prng_range(&b->w->prng, 1, 60), broker_on_turn, b,
	    b->life);
}

void
broker_input(struct broker *b, struct input *in)
{
	if (!b->alive) {
		input_free(in);
		return;
	}
	if (b->w->leaves && resumes_holds(b->w, in))
		return;
	STAILQ_INSERT_TAIL(&b->inputs, in, entry);
	broker_wake(b);
}

void
broker_packet(
    struct broker *b, struct conn *c, redisReply *reply, char *message)
{
	struct input *in = input_new(INPUT_PACKET, 0);

	in->conn = c;
	c->unread += b->alive;
	in->reply = reply;
	in->message = message;
	broker_input(b, in);
}

void
broker_conn_broken(struct broker *b, struct conn *c)
{
	struct input *in = input_new(INPUT_BROKEN, 0);

	in->conn = c;
	broker_input(b, in);
}

/* Effects. */

static void
do_op(struct broker *b, const struct op *op)
{
	static const char *const words[] = {
#define OP(id, word, ...) word,
#include "store/ops.def"
#undef OP
	};
	struct flight *f;

	assert(b->nflights < BROKER_OPS_MAX);
	f = &b->flights[b->nflights++];
	f->id = op->id;
	f->kind = op->kind;
	f->shard = op->shard;
	f->seq = op->seq;
	snprintf(f->name, sizeof(f->name), "%.*s", (int)op->name_len,
	    op->name_len > 0 ? op->name : "");
	TRACE(b->w, "%s op %llu %s %.*s seq=%llu on=%u", b->name,
	    (unsigned long long)op->id, words[op->kind], (int)op->name_len,
	    op->name_len > 0 ? op->name : "", (unsigned long long)op->seq,
	    op->shard);
	if (op->name_len > 0 && !crowd_has(f->name) && !broker_tries(f->name)) {
		checker_op(b->w, b, f);
		pollers_op(b, op);
		faults_op(b->w, b, f);
	}
	if (op->kind == OP_ENLIST)
		electorate_moves(b->w);
	redis_submit(b->redis, op);
}

/* Steps.  Operations are gathered at once; lines wait to be written. */
static void
step(struct broker *b, const struct core_event *event)
{
	struct core_event timed = *event;
	struct effects *fx = event->kind == CORE_FLUSH ? &b->late : &b->fx;
	size_t before = fx->n, i;

	timed.now_ms = broker_clock_ms(b);
	if (event->kind == CORE_FLUSH && world_ablated(b->w, ABLATE_FLUSH))
		timed.now_ms = 0;
	core_step(b->core, &timed, fx);
	if (core_work(b->core).step > CORE_WORK_MAX)
		world_fail(b->w, "work", "a step of %s looks at %llu things",
		    b->name, (unsigned long long)core_work(b->core).step);
	for (i = before; i < fx->n; i++)
		if (fx->v[i].kind == EFFECT_OP)
			do_op(b, effects_op(fx, &fx->v[i]));
		else
			broker_attach(b, &fx->v[i]);
}

void
broker_step(struct broker *b, const struct core_event *event)
{
	struct core_event time = { .kind = CORE_TIME };
	bool late =
	    event->kind == CORE_FLUSH && world_ablated(b->w, ABLATE_FLUSH);

	while (!late && !world_ablated(b->w, ABLATE_CATCH_UP) &&
	       core_has_losses(b->core, broker_clock_ms(b)))
		step(b, &time);
	step(b, event);
}

/* The timer of the daemon's loop: nothing else steps the time without an
 * event. */
static void
step_time(struct broker *b)
{
	struct core_event event = { .kind = CORE_TIME };

	if (!b->fired)
		return;
	b->fired = false;
	b->timer_ms = INT64_MAX;
	broker_step(b, &event);
}

/* Whatever has run out by now is told, and given back. */
void
broker_catch_up(struct broker *b)
{
	struct core_event event = { .kind = CORE_TIME };

	if (!world_ablated(b->w, ABLATE_CATCH_UP) &&
	    core_deadline(b->core) <= broker_clock_ms(b))
		broker_step(b, &event);
}

/* The broker takes in what servers say as it is read, before any line. */
static bool
is_line(const struct input *in)
{
	return in->kind != INPUT_PACKET && in->kind != INPUT_BROKEN &&
	       in->kind != INPUT_BOND && in->kind != INPUT_ROOM;
}

static void
take_inputs(struct broker *b, bool lines)
{
	struct input_list all = STAILQ_HEAD_INITIALIZER(all);
	struct input_list rest = STAILQ_HEAD_INITIALIZER(rest);
	struct input *in;

	STAILQ_CONCAT(&all, &b->inputs);
	while ((in = STAILQ_FIRST(&all)) != NULL) {
		STAILQ_REMOVE_HEAD(&all, entry);
		if (is_line(in) != lines) {
			STAILQ_INSERT_TAIL(&rest, in, entry);
			continue;
		}
		if (!b->w->failed)
			broker_take(b, in);
		input_free(in);
	}
	/* These inputs come before those that this has caused. */
	STAILQ_CONCAT(&rest, &b->inputs);
	STAILQ_CONCAT(&b->inputs, &rest);
}

/* The middle of a turn: the lines of clients are handled, and then calls
 * leave. */
static void
broker_on_lines(void *object, uint64_t tag)
{
	struct broker *b = object;

	if (!b->alive || tag != b->life || b->frozen)
		return;
	broker_catch_up(b);
	broker_hurry(b);
	take_inputs(b, true);
	broker_catch_up(b);
	broker_hurry(b);
	redis_flush(b->redis);
	events_at(&b->w->events, world_now(b->w) + faults_turn_us(b->w, b),
	    broker_on_write, b, b->life);
}

/* The first part of a turn: it handles what the loop has read. */
static void
broker_on_turn(void *object, uint64_t tag)
{
	struct broker *b = object;
	int64_t pause_us;
	bool clock_first;

	if (!b->alive || tag != b->life)
		return;
	b->due = false;
	if (broker_stalled(b))
		return;
	if (b->fx.n == 0 && !core_has_grants(b->core))
		b->turn_us = world_now(b->w);
	clock_first = prng_chance(&b->w->prng, 500);
	if (clock_first)
		step_time(b);
	take_inputs(b, false);
	net_run_timers(b);
	if (!clock_first)
		step_time(b);
	b->in_turn = true;
	pause_us = faults_pause_us(b->w);
	if (pause_us == 0)
		broker_on_lines(b, tag);
	else
		events_at(&b->w->events, world_now(b->w) + pause_us,
		    broker_on_lines, b, tag);
}

/* The timer is only ever moved forward (daemon/bridge/alarm.c). */
static void
arm_timer(struct broker *b)
{
	int64_t at_ms = core_deadline(b->core);

	if (at_ms >= b->timer_ms)
		return;
	b->timer_ms = at_ms;
	b->wake++;
	events_at(&b->w->events,
	    broker_world_us(b, at_ms) + prng_range(&b->w->prng, 0, 1000),
	    broker_on_wake, b, b->wake);
}

/* Grants for which there is no time left are told in the next turn. */
static void
tell_grants(struct broker *b)
{
	struct core_event event = { .kind = CORE_FLUSH };

	if (!core_has_grants(b->core))
		broker_catch_up(b);
	while (core_has_grants(b->core) && !b->w->failed) {
		broker_step(b, &event);
		broker_hurry(b);
		if (faults_time_up(b->w))
			return;
	}
}

/*
 * The last part of a turn: it tells grants by a fresh reading of the clock,
 * writes lines, and sends the calls that this has caused.
 */
static void
broker_on_write(void *object, uint64_t tag)
{
	struct broker *b = object;
	if (!b->alive || tag != b->life)
		return;
	b->in_turn = false;
	if (world_now(b->w) - b->turn_us > 5000)
		b->awake_us = world_now(b->w);
	if (b->frozen)
		return;
	tell_grants(b);
	broker_tell(b);
	if (b->w->failed)
		return;
	core_written(b->core);
	redis_flush(b->redis);
	broker_hurry(b);
	arm_timer(b);
	/* Whatever finished at once (unsent) is handled in the next turn. */
	if (!STAILQ_EMPTY(&b->inputs) || b->fired || b->fx.n > 0 ||
	    net_has_timers(b) || core_has_grants(b->core))
		broker_wake(b);
}

static void
broker_on_wake(void *object, uint64_t tag)
{
	struct broker *b = object;

	if (!b->alive || tag != b->wake)
		return;
	b->fired = true;
	broker_wake(b);
}

/* Life and death. */

void
broker_init(struct broker *b, struct world *w, int index)
{
	memset(b, 0, sizeof(*b));
	b->w = w;
	b->index = index;
	snprintf(b->name, sizeof(b->name), "b%u",
	    (unsigned)(index % w->places) % WORLD_BROKERS_MAX);
	b->part = index < w->places ? PART_ALONE : PART_ABSENT;
	b->zero_ms = prng_range(&w->prng, 1000, 100000000);
	b->rate_ppm = prng_range(&w->prng, -4000, 4000);
	STAILQ_INIT(&b->inputs);
	net_init(b);
	effects_init(&b->fx);
	effects_init(&b->late);
	if (w->quorum)
		(void)electorate_tell(b);
}

/* The default, of most.  Where warmth is to be met it is a number for half of
 * them, which the core cuts to a tenth of the lease: `auto` is shorter than the
 * time after which a refusal is judged. */
static int64_t
warm_ms(const struct broker *b)
{
	if ((b->instance & 48) == 0)
		return (b->instance & 64) == 0 ? b->w->lease_ms : 0;
	return b->w->warmth.left > 0 && (b->instance & 16) != 0 ? b->w->lease_ms
								: WARM_AUTO;
}

static void
broker_make_core(struct broker *b)
{
	const char *nodes[WORLD_SERVERS_MAX] = { NULL };
	static char all_names[] = "*", *warm_names[] = { all_names };
	struct world *w = b->w;
	struct core_config core = {
		.broker = b->name,
		.instance = b->instance,
		.address = b->instance % 2 == 0 ? "host:5625" : "",
		.seed = { prng_next(&w->prng), prng_next(&w->prng) },
		.shards = w->shards,
		.lanes = w->lanes,
		.quorum = w->quorum,
		.lease_ms = w->lease_ms,
		.replicas = w->replicas,
		.trust_new = w->trusts,
		.fences = 1u << b->instance % 4,
		.reply_timeout_ms = w->reply_timeout_ms,
		.locks.max_grace_ms = 300000,
		.locks.warm_ms = warm_ms(b),
		.locks.warm_names = { warm_names, 1 },
		.locks.handovers = (unsigned)prng_range(&w->prng, 1, 8),
		.work = w->work,
		.check = CHECK_EVERY,
		.limits.holds = 100 + (unsigned)w->crowd.n,
		.locks.max_keep_ms = INT64_MAX,
		.locks.max_delay_ms = INT64_MAX,
		.locks.max_ttl_ms = INT64_MAX,
		.limits.unowned = 1000 + (unsigned)w->crowd.n,
		.limits.waiters = 1000,
		.limits.requests = 100,
	};
	int i;

	for (i = 0; w->quorum && i < (int)w->shards; i++)
		nodes[i] = w->servers[b->list[i]].name;
	core.nodes = w->quorum ? nodes : NULL;
	b->core = w->o->alone ? alone_core(&core) : core_new(&core);
}

void
broker_gauges(const struct broker *b, struct core_gauges *gauges)
{
	if (b->w->o->alone)
		alone_gauges(b->core, gauges);
	else
		core_gauges(b->core, broker_clock_ms(b), gauges);
}

void
broker_start(struct broker *b)
{
	assert(!b->alive);
	b->instance = leaving_instance(b, prng_next(&b->w->prng));
	broker_make_core(b);
	b->alive = true;
	b->life++;
	b->due = false;
	b->fired = false;
	b->timer_ms = INT64_MAX;
	b->awake_us = b->start_us = world_now(b->w);
	b->aware_us = b->still_us = b->stood_ms = b->still_ms = 0;
	TRACE(b->w, "%s starts", b->name);
	broker_open_store(b);
	crowd_begin(b);
	pollers_begin(b);
	broker_wake(b);
}

static void
broker_forget(struct broker *b)
{
	struct input *in;

	while ((in = STAILQ_FIRST(&b->inputs)) != NULL) {
		STAILQ_REMOVE_HEAD(&b->inputs, entry);
		input_free(in);
	}
	redis_free(b->redis);
	crowd_end(b);
	pollers_end(b);
	effects_clear(&b->fx);
	effects_clear(&b->late);
	b->w->checker.warm += core_stats(b->core)->warm_grants;
	b->w->checker.recalls += core_stats(b->core)->warm_recalls;
	core_free(b->core);
	b->core = NULL;
	b->redis = NULL;
	memset(b->echoes, 0, sizeof(b->echoes));
	b->nflights = 0;
	b->alive = false;
	b->frozen = false;
	b->in_turn = false;
	b->stopping = false;
	b->life++;
	b->wake++;
}

void
broker_crash(struct broker *b)
{
	if (!b->alive)
		return;
	TRACE(b->w, "%s dies", b->name);
	embedded_end(b);
	broker_forget(b);
	checker_crashed(b->w, b);
	client_broker_died(b->w, b);
	if (b->w->leaves) {
		bond_close(b);
		resumes_died(b);
	}
}

void
broker_freeze(struct broker *b, bool frozen)
{
	if (!b->alive || b->frozen == frozen)
		return;
	TRACE(b->w, "%s %s", b->name, frozen ? "freezes" : "thaws");
	b->frozen = frozen;
	if (frozen)
		return;
	b->awake_us = world_now(b->w);
	b->in_turn = false;
	broker_wake(b);
}

void
broker_stand_still(struct broker *b)
{
	b->still_us = world_now(b->w);
	b->stopped_ms = broker_clock_ms(b);
	broker_freeze(b, true);
}

/* As if a virtual machine was paused: CLOCK_BOOTTIME does not count that. */
void
broker_go_on(struct broker *b)
{
	/* One millisecond passes, so that before and after differ. */
	int64_t ms = broker_clock_ms(b) - b->stopped_ms - 1;
	int64_t us = world_now(b->w) - b->still_us;

	TRACE(b->w, "the clock of %s stood still for %lld ms", b->name,
	    (long long)ms);
	b->zero_ms -= ms;
	b->stood_ms += ms;
	b->slept_ms = ms;
	b->still_ms = b->stopped_ms;
	b->still_us = 0;
	b->aware_us = INT64_MAX;
	checker_stood_still(b->w, b, us);
	broker_freeze(b, false);
}

void
broker_stop(struct broker *b)
{
	struct core_event event = { .kind = CORE_STOP };

	if (!b->alive || b->stopping)
		return;
	TRACE(b->w, "%s stops", b->name);
	pollers_stop(b);
	b->stopping = true;
	broker_step(b, &event);
	broker_wake(b);
}

void
broker_fini(struct broker *b)
{
	if (b->alive)
		broker_forget(b);
	effects_fini(&b->fx);
	effects_fini(&b->late);
}
