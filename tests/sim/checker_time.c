/*
 * What only time can show: requests that are not answered, free names that
 * are not granted, bounds that are not kept, and what is left at the end
 * (P4, P5, P6).
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "core/dump.h"

#include "checker_state.h"
#include "resumes.h"
#include "world.h"

#define SLACK_US 30000	 /* timers, turns, the network */
#define OPS_A_SECOND 150 /* of a broker, while nothing happens */

/* Until when a majority has confirmed it. */
static int64_t
majority_us(const struct world *w, const struct votes *votes)
{
	int64_t best_us = 0;
	int shards = (int)w->shards, i, j, n;

	for (i = 0; i < shards; i++) {
		for (j = n = 0; j < shards; j++)
			n += votes->until_us[j] >= votes->until_us[i];
		if (n > shards / 2 && votes->until_us[i] > best_us)
			best_us = votes->until_us[i];
	}
	return best_us;
}

/* One server has; a token that is new has nobody's vote yet. */
static void
lease_voted(struct world *w, const struct broker *b, const struct flight *op,
    struct ground *ground, int64_t end_us)
{
	struct votes *votes = &ground->votes[b->index];

	/* The second phase of a grant makes it last no longer. */
	if (op->kind == OP_RAISE || op->seq < votes->seq)
		return;
	if (op->seq > votes->seq)
		memset(votes, 0, sizeof(*votes));
	votes->seq = op->seq;
	if (end_us > votes->until_us[op->shard])
		votes->until_us[op->shard] = end_us;
	ground->lease_us[b->index] = majority_us(w, votes);
}

/* Of the time for which its clock stood still, a broker may not see so much. */
static int64_t
unseen_us(const struct world *w, int64_t us)
{
	return us < w->pad_ms * 500 ? us : w->pad_ms * 500;
}

/*
 * Redis renews nothing that others have had since, except in a grace period: then
 * a broker whose clock has stood still may put back what they have given back
 * (lockbroker-guarantees(7)), and its session has it again.
 */
static void
put_back(struct world *w, const struct broker *b, const struct flight *op,
    int64_t sent_ms)
{
	struct checker *k = &w->checker;
	struct grant *g;
	int i;

	if (op->kind != OP_RENEW || sent_ms <= b->still_ms ||
	    !broker_unaware(b, world_now(w)))
		return;
	for (i = 0; i < k->ngrants; i++) {
		g = &k->grants[i];
		if (!g->doubted || g->broker != b->index ||
		    g->name != op->name[1] - '0')
			continue;
		g->doubted = false;
		k->excused++;
	}
}

void
checker_lease(struct world *w, const struct broker *b, const struct flight *op,
    int64_t sent_ms)
{
	struct ground *ground = &w->checker.grounds[op->name[1] - '0'];
	int64_t end_us =
	    broker_world_us(b, sent_ms + w->lease_ms - w->lease_ms / 100 - 2);

	if (sent_ms <= b->still_ms)
		end_us -= b->slept_ms * 1000 - unseen_us(w, b->slept_ms * 1000);
	if (w->quorum)
		lease_voted(w, b, op, ground, end_us);
	else if (end_us > ground->lease_us[b->index])
		ground->lease_us[b->index] = end_us;
	put_back(w, b, op, sent_ms);
	ground->had_us[b->index] = world_now(w);
	if (op->kind == OP_CONFIRM ||
	    (op->kind == OP_ACQUIRE &&
		world_now(w) - ground->let_in_us[b->index] <
		    2 * w->pad_ms * 1000))
		ground->began_us[b->index] = world_now(w);
}

void
checker_let_in(struct world *w, const struct broker *b, const char *name)
{
	w->checker.grounds[name[1] - '0'].let_in_us[b->index] = world_now(w);
}

/*
 * The clock of the server, by which the broker counts, may have been moved by
 * up to a pad since the broker knew it.
 */
void
checker_given(struct world *w, const struct server *s, const struct broker *b,
    const char *name)
{
	struct ground *ground = &w->checker.grounds[name[1] - '0'];
	int64_t end_ms = broker_clock_ms(b) + w->pad_ms, end_us;

	if (s->last_jump_us > 0 &&
	    world_now(w) - s->last_jump_us <= 2 * w->pad_ms * 1000)
		end_ms += w->pad_ms;
	/* Whatever it had before has ended, or the name would not be free.  If
	 * a token waits there, somebody may count on that yet.  The message may
	 * come over several connections. */
	if (ground->given_us[b->index] != world_now(w))
		ground->former_us[b->index] = ground->lease_us[b->index];
	ground->given_us[b->index] = world_now(w);
	end_us = broker_world_us(b, end_ms);
	/* After a failover another master may have given it, too. */
	if (!faults_split(w) || end_us > ground->lease_us[b->index])
		ground->lease_us[b->index] = end_us;
}

/*
 * P5: nobody polls.  Where nobody asks and nobody is told anything, names are
 * renewed and looked at, a few times in a lease.
 */
void
checker_op(struct world *w, const struct broker *b, const struct flight *op)
{
	struct checker *k = &w->checker;

	k->calls++;
	/* Each server of a quorum is asked. */
	k->attempts += op->kind == OP_ACQUIRE && (!w->quorum || op->shard == 0);

	if (world_now(w) - k->ops_us > 1000000) {
		k->ops_us = world_now(w);
		k->ops = 0;
	}
	if (++k->ops > OPS_A_SECOND * (unsigned)(w->nbrokers * w->nservers))
		world_fail(
		    w, "P5", "%s asks for %s over and over", b->name, op->name);
}

void
checker_stood_still(struct world *w, const struct broker *b, int64_t us)
{
	struct checker *k = &w->checker;
	struct ask *ask;
	size_t i;
	int n;

	for (i = 0; i < k->nopen; i++) {
		ask = &k->asks[k->open[i] - 1];
		if (ask->broker == b->index)
			ask->received_us += us;
	}
	for (n = 0; n < CHECKER_NAMES_MAX; n++) {
		k->grounds[n].lease_us[b->index] += unseen_us(w, us);
		k->grounds[n].former_us[b->index] += unseen_us(w, us);
	}
	for (n = 0; n < k->ngrants; n++)
		if (k->grants[n].broker == b->index &&
		    k->grants[n].bound_us != INT64_MAX)
			k->grants[n].bound_us += us;
}

/* A script must never fail; Redis may refuse what there is no room for. */
void
checker_refused(struct world *w, const char *name, const char *text, size_t len)
{
	if (w->replicates && memmem(text, len, "read-only", 9) != NULL)
		return;
	if (w->strict && memmem(text, len, "replicas", 8) != NULL)
		return;
	/* A bucket was on its way for longer than a call may wait. */
	if (w->tagged && memmem(text, len, "slot", 4) != NULL)
		return;
	/* A master misses the others. */
	if (w->tagged && w->replicates &&
	    memmem(text, len, "cluster is down", 15) != NULL)
		return;
	if (memmem(text, len, "out of memory", 13) == NULL &&
	    memmem(text, len, "OOM", 3) == NULL)
		world_fail(w, "P7", "%s: refused: %.*s", name, (int)len, text);
}

/* Redis has lost data: what rested on it alone is over. */
void
checker_amnesia(struct world *w)
{
	int i;

	pollers_amnesia(w);
	for (i = 0; i < CHECKER_NAMES_MAX; i++)
		if (!pollers_count_on(w, i))
			w->checker.grounds[i].plain_us = 0;
	checker_latch_amnesia(w);
	checker_barrier_amnesia(w);
	w->checker.forgot_us[1] = w->checker.forgot_us[0];
	w->checker.forgot_us[0] = world_now(w);
}

/* Somebody forces the name, and has not been answered. */
static bool
is_being_forced(const struct checker *k, int name)
{
	const struct ask *ask;
	size_t i;

	for (i = 0; i < k->nopen; i++) {
		ask = &k->asks[k->open[i] - 1];
		if (ask->kind == ASK_FORCE && ask->name == name)
			return true;
	}
	return false;
}

/* A request to force it that nobody has answered may be carried out yet, at
 * that time. */
static bool
is_forced_late(const struct world *w, int name, int64_t at_us)
{
	const struct ground *ground = &w->checker.grounds[name];

	return ground->force_us != 0 &&
	       at_us - ground->force_us <
		   faults_patience_us(w) + w->reply_timeout_ms * 2020;
}

void
checker_plain_alone(struct world *w, int name)
{
	const struct checker *k = &w->checker;
	int i;

	for (i = 0; i < k->ngrants; i++)
		if (k->grants[i].name == name &&
		    checker_vouched(w, &k->grants[i]) && !faults_excuse(w))
			world_fail(w, "P1",
			    "n%d: a plain client gets it while b%d vouches "
			    "for session %llu",
			    name, k->grants[i].broker,
			    (unsigned long long)k->grants[i].session);
}

/* A broker that was stalled before it could write says late that a token has
 * the name, which may have been forced and granted to others meanwhile. */
void
checker_token_alone(struct world *w, int name, int64_t asked_us)
{
	if (!is_being_forced(&w->checker, name) &&
	    !is_forced_late(w, name, asked_us))
		checker_plain_alone(w, name);
}

/* One that takes a name which is being forced may be meant, too. */
void
checker_plain(struct world *w, int name, int64_t until_us)
{
	struct checker *k = &w->checker;

	if (until_us > 0 &&
	    (is_being_forced(k, name) || is_forced_late(w, name, world_now(w))))
		poller_hush(
		    w, name, until_us); /* an extension may shorten it */
	else
		k->grounds[name].plain_us = until_us;
	checker_hunger(w);
}

bool
checker_had_since(const struct world *w, int name, int64_t since_us)
{
	const struct checker *k = &w->checker;
	int i;

	since_us -= leaving_more_us(w);
	if (checker_quiet_us(&k->grounds[name]) > since_us ||
	    k->grounds[name].plain_us > since_us)
		return true;
	for (i = 0; i < k->ngrants; i++)
		if (k->grants[i].name == name &&
		    ((!k->grants[i].detached && !k->grants[i].away) ||
			k->grants[i].until_us > since_us))
			return true;
	return false;
}

/* Has anybody the name, or had it until after that moment, or may have? */
bool
checker_taken(struct world *w, int name, int64_t since_us)
{
	return checker_had_since(w, name, since_us) ||
	       w->checker.grounds[name].hush_us > since_us - leaving_more_us(w);
}

/*
 * Names that are asked for together are one: a request for several may have to
 * wait for another of its names, and then those behind it wait, too.
 */
static void
join_names(const struct checker *k, int parts[CHECKER_NAMES_MAX])
{
	const struct ask *ask;
	int from, to, name;
	unsigned j;
	size_t i;

	for (name = 0; name < CHECKER_NAMES_MAX; name++)
		parts[name] = name;
	for (i = 0; i < k->nopen; i++) {
		ask = &k->asks[k->open[i] - 1];
		for (j = 1; checker_waits(ask) && j < ask->nnames; j++) {
			from = parts[ask->names[j]];
			to = parts[ask->names[0]];
			for (name = 0; name < CHECKER_NAMES_MAX; name++)
				if (parts[name] == from)
					parts[name] = to;
		}
	}
}

void
checker_hunger(struct world *w)
{
	struct checker *k = &w->checker;
	bool wanted[CHECKER_NAMES_MAX] = { false };
	bool taken[CHECKER_NAMES_MAX] = { false };
	int parts[CHECKER_NAMES_MAX];
	const struct ask *ask;
	size_t i;
	int name;

	join_names(k, parts);
	for (i = 0; i < k->nopen; i++) {
		ask = &k->asks[k->open[i] - 1];
		if (checker_waits(ask) && !w->brokers[ask->broker].frozen)
			wanted[ask->name] = true;
	}
	for (name = 0; name < w->nnames; name++)
		if (checker_taken(w, name, world_now(w)))
			taken[parts[name]] = true;
	for (name = 0; name < w->nnames; name++) {
		if (!wanted[name] || taken[parts[name]]) {
			if (k->grounds[name].hungry_us >= 0 &&
			    k->grounds[name].grants > 1)
				k->free_us +=
				    world_now(w) - k->grounds[name].hungry_us;
			k->grounds[name].hungry_us = -1;
		} else if (k->grounds[name].hungry_us < 0)
			k->grounds[name].hungry_us = world_now(w);
	}
}

/* Groups of several brokers pass each other until one of them is firm. */
static int64_t
checker_extra_us(const struct world *w)
{
	return w->groups ? 3 * w->lease_ms * 1000 : 0;
}

/* P5: a free name that somebody waits for is granted in time. */
static void
look_at_names(struct world *w)
{
	int64_t bound_us = faults_names_patience_us(w) + checker_extra_us(w);
	int64_t calm_us = faults_names_calm_us(w), since_us;
	int name;

	checker_hunger(w);
	for (name = 0; name < w->nnames; name++) {
		since_us = w->checker.grounds[name].hungry_us;
		if (since_us < 0)
			continue;
		if (since_us < calm_us)
			since_us = calm_us;
		if (world_now(w) - since_us > bound_us)
			world_fail(w, "P5",
			    "n%d is free and wanted for %lld ms", name,
			    (long long)(world_now(w) - since_us) / 1000);
	}
}

/*
 * How long Redis may take for a request.  Each call has the reply timeout, and
 * so has the WAIT behind a call that was answered in time.  A name that another
 * broker keeps warm is asked for again in the time that is left of the first
 * call, and that has a WAIT of its own.  Where many operations may be under way,
 * one that can wait is not sent before a call is answered (GROUP_MIN in
 * store/gather.c), and then one of another lane, which had waited for longer.  A
 * request that waits has a timer of its own.
 */
static int64_t
redis_us(const struct world *w, const struct ask *ask)
{
	int64_t calls = checker_ask_is(ask, ASK_TWICE) ? 2 : 1;

	if ((w->crowd.n > 0 || w->nclients + w->pollers.n >= 8) &&
	    !checker_ask_is(ask, ASK_WAITS))
		calls += 1 + (w->lanes > 1);
	if (w->replicas > 0)
		calls = 2 * calls + (w->nbrokers > 1);
	return calls * w->reply_timeout_ms * 1010 + 300000;
}

/*
 * When a request must be answered at the latest; INT64_MAX: never.  A broker
 * that was stalled begins to count when it comes back.
 */
static int64_t
due_us(const struct world *w, const struct ask *ask, int64_t awake_us)
{
	int64_t from_us = ask->received_us, at_us;

	if (from_us < awake_us)
		from_us = awake_us;
	if (from_us < ask->awake_us)
		from_us = ask->awake_us;
	/* Who leaves a barrier hears of it when that is broken. */
	if (checker_ask_is(ask, ASK_AT_ONCE) &&
	    !(ask->kind == ASK_CANCEL && uses_has(w, USE_BARRIER)))
		return from_us + SLACK_US +
		       (ask->kind == ASK_RESUME ? resumes_more_us(w) : 0);
	if (!checker_ask_is(ask, ASK_WAITS) || ask->wait_ms == 0)
		return from_us + redis_us(w, ask) + ask->max_ms * 1005;
	if (ask->wait_ms == CORE_WAIT_FOREVER)
		return INT64_MAX;
	at_us = ask->received_us + ask->wait_ms * 1005;
	if (at_us < awake_us)
		at_us = awake_us;
	if (checker_ask_is(ask, ASK_TWICE))
		return at_us + redis_us(w, ask);
	return at_us + SLACK_US;
}

static void
look_at_asks(struct world *w)
{
	struct checker *k = &w->checker;
	const struct ask *ask;
	const struct broker *b;
	size_t i;

	for (i = 0; i < k->nopen; i++) {
		ask = &k->asks[k->open[i] - 1];
		b = &w->brokers[ask->broker];
		if (!broker_stalled(b) &&
		    world_now(w) > due_us(w, ask, b->awake_us))
			world_fail(w, "P5",
			    "request %llu to %s is not answered after %lld ms",
			    (unsigned long long)ask->ref, b->name,
			    (long long)(world_now(w) - ask->received_us) /
				1000);
	}
}

/* A client that has not heard that it is cut off counts on its hold for the
 * valid= that it was told, and no longer. */
static void
drop_when_over(struct world *w, struct grant *g)
{
	if (world_now(w) < g->until_us)
		return;
	history_note(&w->history, world_now(w), HISTORY_INFO, g->session,
	    HISTORY_DOUBT, checker_name(g->name), 0);
	checker_drop(w, g);
}

/* hold= ends a hold in time. */
static void
look_at_grants(struct world *w)
{
	struct checker *k = &w->checker;
	struct grant *g;
	const struct broker *b;
	int i;

	for (i = k->ngrants - 1; i >= 0; i--) {
		g = &k->grants[i];
		b = &w->brokers[g->broker];
		if (g->detached || g->orphaned) {
			drop_when_over(w, g);
			continue;
		}
		if (broker_stalled(b) || g->depth - g->parting <= 0 ||
		    g->bound_us == INT64_MAX)
			continue;
		if (world_now(w) > g->bound_us + SLACK_US + g->slack_us &&
		    world_now(w) > b->awake_us + SLACK_US)
			world_fail(w, "hold",
			    "n%d is still held by session %llu after its "
			    "hold= is over",
			    g->name, (unsigned long long)g->session);
	}
}

void
checker_look(struct world *w)
{
	look_at_asks(w);
	checker_session_look(w);
	look_at_grants(w);
	look_at_names(w);
	threads_look(w);
	checker_look_share(w);
	checker_permits_look(w);
	checker_watch_look(w);
	checker_latch_look(w);
	checker_barrier_look(w);
}

/* The guard or the fence of a bucket? */
static bool
key_stays(const struct redis_key *key)
{
	const char *at = strchr(key->name, '@');

	return at != NULL &&
	       (strcmp(at, "@guard") == 0 || strcmp(at, "@fence") == 0);
}

/* A key of a broker that is left in Redis, and where; NULL: none. */
static const struct redis_key *
key_left(struct world *w, struct server **server)
{
	struct server *s;
	const struct redis_key *key;

	for (s = w->servers; s < w->servers + w->nservers; s++) {
		if (!s->db.master)
			continue;
		s->db.now_us = server_clock_us(s);
		redis_db_expire(&s->db);
		*server = s;
		TAILQ_FOREACH (key, &s->db.keys, in_all)
			if (!key_stays(key))
				return key;
	}
	return NULL;
}

/* P6: nothing is left in Redis. */
static void
end_of_keys(struct world *w)
{
	struct server *s;
	const struct redis_key *key = key_left(w, &s);

	if (key != NULL)
		world_fail(w, "P6", "%s is left in %s, for %lld ms more",
		    key->name, s->name,
		    key->end_ms < 0
			? -1LL
			: (long long)(key->end_ms - s->db.now_us / 1000));
}

bool
checker_at_rest(struct world *w)
{
	struct core_gauges gauges;
	const struct broker *b;
	struct server *s;
	int i;

	for (i = 0; i < w->nclients; i++)
		if (!w->clients[i].left)
			return false;
	for (i = 0; i < w->nbrokers; i++) {
		b = &w->brokers[i];
		if (!b->alive)
			continue;
		broker_gauges(b, &gauges);
		if (gauges.sessions != 0 || gauges.names != 0 ||
		    gauges.all_syncs != 0)
			return false;
	}
	return w->checker.nopen == 0 && key_left(w, &s) == NULL;
}

static void
end_of_core(struct world *w, const struct broker *b)
{
	struct core_gauges gauges;

	broker_gauges(b, &gauges);
	if (gauges.sessions != 0 || gauges.locks_held != gauges.tokens ||
	    gauges.permits_held != 0 || gauges.waiters != gauges.parked ||
	    gauges.names != 0 || gauges.all_syncs != 0 ||
	    gauges.unowned + gauges.bound != 0)
		world_fail(w, "P6",
		    "%s is left with %llu sessions, %llu locks, %llu waiters, "
		    "%llu names, %llu synchronizers",
		    b->name, (unsigned long long)gauges.sessions,
		    (unsigned long long)gauges.locks_held,
		    (unsigned long long)gauges.waiters,
		    (unsigned long long)gauges.names,
		    (unsigned long long)gauges.all_syncs);
}

static void
history_fault(void *arg, const char *text)
{
	world_fail(arg, "history", "%s", text);
}

void
checker_end(struct world *w)
{
	struct history_limits limits = { -1, -1 };
	int i;

	if (w->failed)
		return;
	if (w->checker.nopen > 0)
		world_fail(w, "P5", "request %llu is never answered",
		    (unsigned long long)w->checker.open[0]);
	for (i = 0; i < w->nbrokers; i++)
		if (w->brokers[i].alive)
			end_of_core(w, &w->brokers[i]);
	end_of_keys(w);
	checker_barrier_end(w);
	if (!w->failed && w->checker.excused == 0 && checker_fences_rise(w))
		history_check(&w->history, &limits, history_fault, w);
}
