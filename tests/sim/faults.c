/*
 * The nemesis.  Every now and then, until all is healed, it draws one of the
 * faults of this run and lets it strike.
 *
 * It stays within the product's assumptions (lockbroker-guarantees(7)): clocks may jump
 * by less than a pad once a lease, or by any amount that is noticed; if data
 * are lost as well, a clock stays within G of the true time; a plain client's
 * lock is as safe as the data.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "clocks.h"
#include "faults_parts.h"
#include "words.h"
#include "world.h"

/* The faults that befall a single server. */
#define OF_SERVERS                                                         \
	(unsigned)(FAULT_CUT | FAULT_PAUSE | FAULT_RESTART | FAULT_FLUSH | \
		   FAULT_CLOCK | FAULT_OOM | FAULT_FORGET)

static event_fn faults_on_tick;
static event_fn thaw_server;
static event_fn die;
static event_fn restart_server;
static event_fn thaw_broker;
static event_fn restart_broker;
static event_fn await_stop;
static event_fn memory_back;
static event_fn late_run;

static const char *const fault_words[] = {
#define FAULT(id, word, what) word,
	FAULTS(FAULT)
#undef FAULT
};

bool
faults_parse(const char *text, unsigned *out)
{
	return words_parse(text, fault_words, FAULT_BITS, out);
}

bool
faults_has(const struct world *w, enum fault fault)
{
	return (w->faults.on & (unsigned)fault) != 0;
}

/* Faults strike until all is healed. */
bool
faults_active(const struct world *w, enum fault fault)
{
	return faults_has(w, fault) && world_now(w) < w->heal_us;
}

int64_t
faults_some_us(struct world *w, int64_t least_ms, int64_t most_ms)
{
	return prng_skewed(&w->prng, least_ms * 1000, most_ms * 1000);
}

static struct broker *
some_broker(struct world *w)
{
	return &w->brokers[prng_below(&w->prng, (uint64_t)w->nbrokers)];
}

/* How many servers faults may befall.  Servers that wait to replace others
 * matter only if one is replaced. */
static int
choice(const struct world *w)
{
	if (w->faults.few > 0)
		return w->faults.few;
	return w->quorum && !faults_has(w, FAULT_REPLACE) ? w->members
							  : w->nservers;
}

/* If there is no choice, draws nothing.  A master has more to lose. */
struct server *
faults_some_server(struct world *w)
{
	if (w->nservers == 1)
		return &w->servers[0];
	if (w->replicates && prng_chance(&w->prng, 500))
		return w->tagged ? cluster_some_master(w) : w->sentinels.master;
	return &w->servers[prng_below(&w->prng, (uint64_t)choice(w))];
}

void
faults_later(struct world *w, int64_t in_us, event_fn *fn, void *object)
{
	events_at(&w->events, world_now(w) + in_us, fn, object, 0);
}

/* Faults of messages, replies and turns. */

int64_t
faults_delay_us(struct world *w, int64_t usual_us)
{
	if (faults_active(w, FAULT_DELAY) && prng_chance(&w->prng, 10))
		return usual_us + faults_some_us(w, 1, 2 * w->lease_ms);
	return usual_us;
}

int64_t
faults_lag_us(struct world *w)
{
	if (faults_active(w, FAULT_LAG) && prng_chance(&w->prng, 15))
		return faults_some_us(w, 1, 2 * w->lease_ms);
	return 0;
}

int64_t
faults_pause_us(struct world *w)
{
	if (faults_active(w, FAULT_HICCUP) && prng_chance(&w->prng, 2))
		return faults_some_us(w, 1, 2 * w->lease_ms);
	return 0;
}

int64_t
faults_turn_us(struct world *w, struct broker *b)
{
	(void)b;
	if (faults_active(w, FAULT_HICCUP) && prng_chance(&w->prng, 5))
		return faults_some_us(w, 1, 2 * w->lease_ms);
	return prng_range(&w->prng, 1, 80);
}

bool
faults_time_up(struct world *w)
{
	return faults_active(w, FAULT_HICCUP) &&
	       prng_chance(&w->faults.late, 300);
}

void
faults_message(struct world *w, struct conn *c, struct text message)
{
	if (!faults_active(w, FAULT_MESSAGE)) {
		conn_message(c, message, 0);
		return;
	}
	faults_note_echo(c, message);
	if (prng_chance(&w->prng, 250))
		return;
	if (prng_chance(&w->prng, 250))
		conn_message(c, message, faults_some_us(w, 1, w->lease_ms));
	else
		conn_message(c, message, 0);
	if (prng_chance(&w->prng, 100))
		conn_message(c, message, faults_some_us(w, 1, w->lease_ms));
}

void
faults_op(struct world *w, struct broker *b, const struct flight *op)
{
	if (faults_active(w, FAULT_MESSAGE))
		faults_echo(w, b, op);
}

bool
faults_reply(struct world *w, struct conn *c)
{
	if (!faults_active(w, FAULT_CUT) || c->server->index >= choice(w) ||
	    !prng_chance(&w->prng, 8))
		return true;
	TRACE(w, "%s: connection %llu breaks, a reply is lost", c->broker->name,
	    (unsigned long long)c->id);
	c->mute = true;
	conn_break(c);
	return false;
}

/*
 * Calls may still sit in the sockets of a connection that its broker gave up:
 * they are gone, or are carried out after all, perhaps much later.
 */
static void
late_run(void *object, uint64_t tag)
{
	(void)tag;
	conn_late(object);
}

void
faults_abandoned(struct world *w, struct conn *c)
{
	if (!c->server_open)
		return;
	if (prng_chance(&w->prng, 300)) {
		conn_discard(c);
		return;
	}
	conn_hold_back(c);
	faults_later(w, faults_some_us(w, 1, w->lease_ms), late_run, c);
}

/* Strikes. */

static void
strike_cut(struct world *w)
{
	struct broker *b = some_broker(w);
	struct conn *c = net_some_conn(b, false, choice(w));

	if (c == NULL)
		return;
	TRACE(w, "%s: connection %llu to %s breaks", b->name,
	    (unsigned long long)c->id, c->server->name);
	conn_break(c);
}

static void
strike_channel(struct world *w)
{
	struct broker *b = some_broker(w);
	struct conn *c = net_some_conn(b, true, choice(w));

	if (c == NULL)
		return;
	c->mute = prng_chance(&w->prng, 500);
	TRACE(w, "%s: channel %llu to %s %s", b->name,
	    (unsigned long long)c->id, c->server->name,
	    c->mute ? "falls silent" : "breaks");
	if (!c->mute)
		conn_break(c);
}

static void
thaw_server(void *object, uint64_t tag)
{
	clocks_stand_still(object, (int64_t)tag);
	server_freeze(object, false);
}

static void
strike_pause(struct world *w)
{
	struct server *s = faults_some_server(w);

	if (!s->up || s->frozen)
		return;
	server_freeze(s, true);
	events_at(&w->events,
	    world_now(w) + faults_some_us(w, 1, 3 * w->lease_ms), thaw_server,
	    s, (uint64_t)world_now(w));
}

/* If the clocks of brokers are no help, a quorum bears only so much loss. */
static bool
may_lose(struct server *s, enum server_data data)
{
	struct world *w = s->w;

	if (w->quorum && !electorate_may_lose(w, s, data))
		return false;
	return !w->clocks_apart || quorum_bears(w, s);
}

static void
restart_server(void *object, uint64_t tag)
{
	struct server *s = object;

	enum server_data data = (enum server_data)prng_below(&s->w->prng, 3);

	(void)tag;
	if (!s->up)
		server_start(s, may_lose(s, data) ? data : SERVER_KEPT);
	checker_amnesia(s->w);
	if (faults_has(s->w, FAULT_CLOCK))
		clocks_jump_later(s);
}

static void
die(void *object, uint64_t tag)
{
	struct server *s = object;

	(void)tag;
	if (!s->up || world_now(s->w) >= s->w->heal_us)
		return;
	server_stop(s);
	if (s->w->owned)
		embedded_died(s->w);
	else
		faults_later(s->w, faults_some_us(s->w, 5, s->w->lease_ms),
		    restart_server, s);
}

static void
strike_restart(struct world *w)
{
	struct server *s = faults_some_server(w);

	if (!s->up || !may_lose(s, SERVER_EMPTY))
		return;
	/* Data that are only a little old are the hardest to notice. */
	if (prng_chance(&w->prng, 300)) {
		server_save(s);
		faults_later(w, faults_some_us(w, 1, w->pad_ms / 2), die, s);
		return;
	}
	die(s, 0);
}

static void
strike_back(struct world *w)
{
	faults_go_back(faults_some_server(w));
}

void
faults_flush(struct server *s)
{
	static const char *const words[] = { "FLUSHALL", NULL };

	TRACE(s->w, "%s FLUSHALL", s->name);
	answer_free(server_command(s, words));
	checker_amnesia(s->w);
}

static void
strike_flush(struct world *w)
{
	struct server *s = faults_some_server(w);

	if (s->up && !s->frozen && s->db.master && may_lose(s, SERVER_EMPTY))
		faults_flush(s);
}

static void
strike_clock(struct world *w)
{
	clocks_jump(faults_some_server(w));
}

static void
thaw_broker(void *object, uint64_t tag)
{
	(void)tag;
	broker_freeze(object, false);
}

static void
strike_freeze(struct world *w)
{
	struct broker *b = some_broker(w);

	if (!b->alive || b->frozen)
		return;
	broker_freeze(b, true);
	faults_later(w, faults_some_us(w, 1, 3 * w->lease_ms), thaw_broker, b);
}

/* The broker may have died meanwhile, or all was healed. */
static void
go_on(void *object, uint64_t tag)
{
	struct broker *b = object;

	if (b->alive && b->frozen && b->still_us == (int64_t)tag)
		broker_go_on(b);
}

static void
strike_standstill(struct world *w)
{
	struct broker *b = some_broker(w);

	if (!b->alive || b->frozen)
		return;
	broker_stand_still(b);
	events_at(&w->events,
	    world_now(w) + faults_some_us(w, 1, 3 * w->lease_ms), go_on, b,
	    (uint64_t)world_now(w));
}

static void
restart_broker(void *object, uint64_t tag)
{
	struct broker *b = object;

	(void)tag;
	if (b->alive || b->part != PART_ALONE)
		return;
	if (faults_unnoticed(b->w))
		faults_later(b->w, 10000, restart_broker, b);
	else
		broker_start(b);
}

void
faults_crash(struct broker *b)
{
	if (!b->alive || faults_unnoticed(b->w))
		return;
	broker_crash(b);
	if (leaving_died(b))
		faults_later(b->w, faults_some_us(b->w, 5, 2 * b->w->lease_ms),
		    restart_broker, b);
}

void
faults_restart(struct broker *b)
{
	events_at(&b->w->events,
	    world_now(b->w) +
		prng_skewed(&b->w->leaving, 5000, b->w->lease_ms * 1000),
	    restart_broker, b, 0);
}

static void
strike_crash(struct world *w)
{
	faults_crash(some_broker(w));
}

/* A broker that stops exits once it has let go of everything, or after 3 s; the
 * tag counts the looks at it. */
static void
await_stop(void *object, uint64_t tag)
{
	struct broker *b = object;

	if (!b->alive || !b->stopping)
		return;
	if (!core_stopped(b->core) && tag < 60) {
		events_at(&b->w->events, world_now(b->w) + 50000, await_stop, b,
		    tag + 1);
		return;
	}
	broker_crash(b);
	if (faults_has(b->w, FAULT_BACK) && b->w->servers[0].up &&
	    !faults_saved_idle(&b->w->servers[0]))
		server_save(&b->w->servers[0]);
	if (leaving_died(b))
		faults_later(b->w, faults_some_us(b->w, 5, b->w->lease_ms),
		    restart_broker, b);
}

void
faults_stop(struct broker *b)
{
	if (!b->alive || b->stopping || broker_stalled(b) ||
	    faults_unnoticed(b->w))
		return;
	leaving_stops(b);
	broker_stop(b);
	faults_later(b->w, 20000, await_stop, b);
}

/* All brokers at once, so that the saved data are from a time when nobody had
 * anything. */
static void
strike_stop(struct world *w)
{
	int i;

	if (!faults_has(w, FAULT_BACK) || prng_chance(&w->prng, 500)) {
		faults_stop(some_broker(w));
		return;
	}
	for (i = 0; i < w->nbrokers; i++)
		faults_stop(&w->brokers[i]);
}

static void
memory_back(void *object, uint64_t tag)
{
	struct server *s = object;

	(void)tag;
	s->full = false;
	TRACE(s->w, "%s has memory again", s->name);
}

static void
strike_oom(struct world *w)
{
	struct server *s = faults_some_server(w);

	if (s->full)
		return;
	TRACE(w, "%s has no memory left", s->name);
	s->full = true;
	faults_later(w, faults_some_us(w, 1, 2 * w->lease_ms), memory_back, s);
}

static void
strike_forget(struct world *w)
{
	struct server *s = faults_some_server(w);

	/* If a call finds no script twice, it is refused.  The first time may
	 * be long after the scripts were forgotten. */
	if ((s->flushed_us != 0 &&
		world_now(w) - s->flushed_us < 4 * w->lease_ms * 1000) ||
	    server_repeats(s))
		return;
	s->flushed_us = world_now(w);
	TRACE(w, "%s SCRIPT FLUSH", s->name);
	memset(s->knows, 0, sizeof(s->knows));
}

/* Several clients at once, as if a part of the network was gone. */
static void
strike_apart(struct world *w)
{
	int i, n = (int)prng_range(&w->prng, 1, 3);

	for (i = 0; i < n; i++)
		client_cut_off(
		    &w->clients[prng_below(&w->prng, (uint64_t)w->nclients)]);
}

/* As SENTINEL FAILOVER does it, or CLUSTER FAILOVER FORCE. */
static void
strike_failover(struct world *w)
{
	struct server *old = w->tagged ? takeover_force(w) : NULL;

	if (old != NULL ||
	    (w->sentinels.master != NULL && sentinels_failover(w)))
		TRACE(w, "a failover was asked for");
	if (old != NULL && faults_has(w, FAULT_PARTITION) &&
	    prng_chance(&w->prng, 600))
		faults_part_from(old);
}

static void
strike_move(struct world *w)
{
	if (w->tagged)
		cluster_move(w);
}

static void
strike_replace(struct world *w)
{
	if (w->quorum)
		electorate_replace(w);
}

static void (*const strikes[FAULT_BITS])(struct world *w) = {
	[FAULT_BIT_CUT] = strike_cut,
	[FAULT_BIT_CHANNEL] = strike_channel,
	[FAULT_BIT_PAUSE] = strike_pause,
	[FAULT_BIT_RESTART] = strike_restart,
	[FAULT_BIT_FLUSH] = strike_flush,
	[FAULT_BIT_CLOCK] = strike_clock,
	[FAULT_BIT_FREEZE] = strike_freeze,
	[FAULT_BIT_CRASH] = strike_crash,
	[FAULT_BIT_STOP] = strike_stop,
	[FAULT_BIT_OOM] = strike_oom,
	[FAULT_BIT_FORGET] = strike_forget,
	[FAULT_BIT_APART] = strike_apart,
	[FAULT_BIT_PLAIN] = faults_plain,
	[FAULT_BIT_PARTITION] = faults_partition,
	[FAULT_BIT_FAILOVER] = strike_failover,
	[FAULT_BIT_MOVE] = strike_move,
	[FAULT_BIT_REPLACE] = strike_replace,
	[FAULT_BIT_BACK] = strike_back,
	[FAULT_BIT_STANDSTILL] = strike_standstill,
	[FAULT_BIT_SPOIL] = faults_spoil,
};

/* The faults that this topology may have are below the result; a new fault of
 * other topologies changes no seed. */
static unsigned
bits_of(const struct world *w)
{
	unsigned bits = FAULT_BIT_SEVERAL;

	while (w->o->topology->faults >> bits != 0)
		bits++;
	return bits;
}

static void
faults_on_tick(void *object, uint64_t tag)
{
	struct world *w = object;
	struct server *s;
	unsigned bits = bits_of(w);
	unsigned bit = (unsigned)prng_below(&w->prng, bits), tries;

	(void)tag;
	if (world_now(w) >= w->heal_us || w->pollers.orphan != ORPHAN_NONE)
		return;
	s = faults_some_server(w);
	if (s->up && prng_chance(&w->prng, 300) && !faults_saved_idle(s))
		server_save(s);
	for (tries = 0; tries < bits; tries++) {
		bit = (bit + 1) % bits;
		if (faults_has(w, (enum fault)(1u << bit)) &&
		    strikes[bit] != NULL)
			break;
	}
	if (tries < bits)
		strikes[bit](w);
	/* A fault of one server of a quorum may befall others together with
	 * it. */
	while (tries < bits && w->quorum && prng_chance(&w->prng, 400))
		strikes[bit](w);
	faults_later(w,
	    faults_some_us(w, 50, (w->quorum ? 2 : 4) * w->lease_ms),
	    faults_on_tick, w);
}

void
faults_start(struct world *w)
{
	if (w->faults.few > 0)
		w->faults.on &= OF_SERVERS;
	/* A plain client does not wait for replicas. */
	if (w->quorum || w->tagged || w->replicates || w->owned)
		w->faults.on &= ~(unsigned)FAULT_PLAIN;
	if (faults_has(w, FAULT_PLAIN))
		w->faults.on &= ~(unsigned)(FAULT_RESTART | FAULT_FLUSH |
					    FAULT_CLOCK | FAULT_BACK);
	/* Without the counter, fences rest on the clock; servers differ. */
	if (faults_has(w, FAULT_SPOIL))
		w->faults.on &=
		    ~(unsigned)(FAULT_CLOCK | FAULT_BACK | FAULT_MOVE);
	faults_spoil_start(w);
	/* If a server of a quorum is emptied while none is blessed, the first
	 * grace period begins again. */
	faults_later(w,
	    faults_some_us(w, 100, 3 * w->lease_ms) +
		(w->faults.few > 0 ? (w->grace_ms + 2000) * 1000 : 0),
	    faults_on_tick, w);
}

void
faults_heal(struct world *w)
{
	struct server *s;
	struct broker *b;
	bool moved;
	int i;

	TRACE(w, "all is healed");
	if (w->quorum)
		electorate_trace(w);
	faults_reunite(w);
	for (i = 0; i < w->nservers; i++) {
		s = &w->servers[i];
		if (!s->up && !w->owned)
			server_start(s, SERVER_KEPT);
		if (s->frozen)
			server_freeze(s, false);
		s->full = false;
	}
	for (i = 0; i < w->nbrokers; i++) {
		b = &w->brokers[i];
		/* One that is dead begins with the latest list, too. */
		moved = w->quorum && electorate_tell(b);
		if (b->alive && (moved || b->stopping)) {
			broker_crash(b);
			(void)leaving_died(b);
		}
		if (!b->alive && b->part == PART_ALONE)
			broker_start(b);
		broker_freeze(b, false);
	}
}
