/*
 * Votes: counted as they come, and decided as soon as a majority has said yes
 * or no longer can.  A slow or dead minority costs nothing: its later answers
 * do not change the verdict, and at most say who has won.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/xmalloc.h"
#include "core/kernel/lease/lease.h"
#include "core/kernel/lease/parts.h"
#include "core/parts/quorum/quorum.h"
#include "core/parts/quorum/votes.h"

#define RETRY_VOTE_MS 50 /* a server that a renewal needs */
#define YIELD_MS 50	 /* for others to come first, after a turn */
#define SILENT_MS 50	 /* how much longer an attempt waits for silent ones */

/*
 * Waiting for a name over a quorum, where there is no queue to wait in: each
 * broker tries by itself, as seldom as it can, because an attempt may take a
 * vote that another needs for a moment.
 *
 * If a majority has the token of one other broker, that broker has the name: we
 * do not try before a message says that its token is over (`free`), its key
 * ends, or a lease has passed.  Otherwise brokers came in each other's way, or
 * servers are away: the next attempt comes after a random part (full jitter) of
 * a time that doubles.  Who has which vote does not matter here.
 */

#define FREE_JITTER_MS 4  /* of brokers that all hear the same `free` */
#define RETRY_MAX_MS 200  /* between attempts without a known winner */
#define LOOK_JITTER_MS 20 /* of brokers that wait for the end of one key */
#define FAILED_MAX 8	  /* the time doubles no more often than that */

/* Returns a number that stands for a token; never 0. */
static uint32_t
backoff_token(const char *text, size_t len)
{
	unsigned number = hash_of(text, len);

	return number != 0 ? number : 1;
}

/*
 * An attempt has failed after that time, and the lease is NONE: sets wake_ms
 * for the next one.  o->rival says who has the name (backoff_token(); 0:
 * unknown).  If the status is BUSY, no message will tell us when that one has
 * ended.
 */
static void
backoff_plan(struct core *core, struct lease *l, int64_t took_ms,
    const struct outcome *o)
{
	struct lease_rare *rare = lease_need_rare(l);
	int64_t most_ms;

	assert(l->state == LEASE_NONE && l->pending == NULL);
	assert(took_ms >= 0);
	/* No one waited, so no message will come.  Try again if wanted now. */
	if (o->rival != 0 && o->status == OUTCOME_BUSY) {
		l->term.wake_ms = 0;
		return;
	}
	/* A token that is over (`freed`) may still stand on some servers. */
	if (o->rival != 0 && o->rival != rare->freed) {
		rare->rival = (uint32_t)o->rival;
		rare->failed = 0;
		lease_plan_look(core, l, o);
		l->term.wake_ms += core_jitter(core, LOOK_JITTER_MS);
		return;
	}
	most_ms = (FREE_JITTER_MS + took_ms) << rare->failed;
	if (rare->failed < FAILED_MAX)
		rare->failed++;
	l->term.wake_ms =
	    core->now_ms + 1 + core_jitter(core, min_ms(most_ms, RETRY_MAX_MS));
}

/* Late answers to a failed attempt say that another broker has the name. */
static void
backoff_known(
    struct core *core, struct lease *l, uint32_t rival, int64_t ttl_ms)
{
	struct outcome o = {
		.status = OUTCOME_QUEUED, .first = rival, .ttl_ms = ttl_ms
	};

	if (l->state != LEASE_NONE || l->pending != NULL ||
	    lease_backs_off(l) || rival == lease_rare(l)->freed)
		return;
	backoff_plan(core, l, 0, &o);
}

/*
 * Each server sends the message.  If it comes while an attempt is under way, it
 * is noted, because that attempt may still see the token.
 */
static bool
freed(struct core *core, struct lease *l, const char *text, size_t len)
{
	uint32_t token = backoff_token(text, len);

	if ((l->state != LEASE_NONE && l->state != LEASE_ACQUIRING) ||
	    lease_rare(l)->freed == token)
		return false;
	lease_need_rare(l)->freed = token;
	if (l->state != LEASE_NONE ||
	    (l->rare->rival != 0 && l->rare->rival != token))
		return false;
	l->rare->rival = 0;
	l->rare->failed = 0;
	l->term.wake_ms = min_ms(
	    l->term.wake_ms, core->now_ms + core_jitter(core, FREE_JITTER_MS));
	return true;
}

/*
 * One operation and what the servers say.  Freed with the last answer.  `lease`
 * is NULL if no lease waits for the verdict, or no longer does.
 */
struct vote {
	TAILQ_ENTRY(vote) link; /* in quorum.votes until it is sent */
	struct lease *lease;
	enum op_kind asked; /* what the lease asked for */
	struct op op;	    /* what is sent; `name` unused */
	unsigned left;	    /* answers outstanding */
	unsigned yes;
	unsigned lost; /* answers that the key is not ours */
	/* ACQUIRE: whose token each server has (backoff_token(); 0: unknown),
	 * and when that token ends. */
	uint32_t rivals[QUORUM_MAX];
	int64_t ends_ms[QUORUM_MAX];
	unsigned nfences;
	uint64_t fences[QUORUM_MAX];
	int64_t since_ms;  /* when it was asked for */
	int64_t sent_ms;   /* the earliest sending of those that said yes */
	bool waiting;	   /* one of them knows of a broker that waits */
	struct outcome no; /* the weightiest other answer */
	bool decided;
	bool failed;	  /* ACQUIRE: without a known winner */
	unsigned without; /* servers that do not have the token, as bits */
	unsigned again;	  /* RENEW: those of them to be asked once more */
	/* Armed while there are any; ACQUIRE: once another has a server. */
	struct timer timer;
	size_t name_len;
	char name[];
};

/* Which answers say yes. */
static const unsigned yes_answers[OP_MAX] = {
	[OP_ACQUIRE] = 1u << OUTCOME_GRANTED,
	[OP_CONFIRM] = 1u << OUTCOME_GRANTED,
	[OP_RENEW] = 1u << OUTCOME_RENEWED,
	[OP_RAISE] = 1u << OUTCOME_RENEWED,
	[OP_END] = 1u << OUTCOME_ENDED | 1u << OUTCOME_GONE,
};

/* If too few say yes, the weightiest of the other answers is the outcome. */
static const unsigned weight[OUTCOME_MAX] = {
	[OUTCOME_UNKNOWN] = 1,
	[OUTCOME_UNSENT] = 2,
	[OUTCOME_PENDING] = 3,
	[OUTCOME_REFUSED] = 4,
	[OUTCOME_LOST] = 5,
	[OUTCOME_FOREIGN] = 6,
	[OUTCOME_BUSY] = 7,
	[OUTCOME_QUEUED] = 7,
};

/* Which answers say that the server has another token, or none. */
static const unsigned not_ours = 1u << OUTCOME_LOST | 1u << OUTCOME_FOREIGN |
				 1u << OUTCOME_BUSY | 1u << OUTCOME_QUEUED;

/* For an attempt, these say so, too: its token is new, and was not written. */
static const unsigned not_tried = 1u << OUTCOME_PENDING | 1u << OUTCOME_UNSENT;

static struct vote *
vote_new(struct core *core, const char *name, size_t len, enum op_kind kind)
{
	struct vote *v = xcalloc(1, sizeof(*v) + len);

	assert(yes_answers[kind] != 0 || kind == OP_UNDO);
	v->op.kind = kind;
	v->op.timeout_ms = core->config.reply_timeout_ms;
	v->asked = kind;
	v->since_ms = core->now_ms;
	v->sent_ms = INT64_MAX;
	v->no.status = OUTCOME_UNKNOWN;
	v->timer.kind = TIMER_VOTE;
	v->name_len = len;
	memcpy(v->name, name, len);
	TAILQ_INSERT_TAIL(&quorum_of(core)->votes, v, link);
	return v;
}

/* The vote is sent at the end of the step (send_votes()), when the lease has
 * filled in what it asks for. */
static struct op *
submit_vote(struct core *core, struct lease *l, enum op_kind kind)
{
	size_t len;
	const char *name = lessee_of(core, &l->term)->name(&l->term, &len);
	struct vote *v = vote_new(core, name, len, kind);

	assert(l->pending != NULL && l->pending->kind == kind);
	v->lease = l;
	return &v->op;
}

/* Redis hands nothing over, so the next attempt is planned in any case. */
static void
plan_attempt(struct core *core, struct lease *l, const struct pending_op *asked,
    const struct outcome *o)
{
	backoff_plan(core, l, core->now_ms - asked->since_ms, o);
}

/* The operation is the same for all servers but for its id and its shard. */
static void
send_one(struct core *core, struct vote *v, uint32_t shard)
{
	struct slot *slot;
	struct op *op = slot_submit(
	    core, &slot, v->op.kind, SLOT_VOTE, shard, v->name, v->name_len);
	uint64_t id = op->id;

	assert(shard < core->config.shards);
	*op = v->op;
	op->id = id;
	op->shard = shard;
	slot->of = v;
	v->left++;
}

/* An end goes only to servers that may have the token. */
static void
send_all(struct core *core, struct vote *v)
{
	uint32_t i;

	for (i = 0; i < core->config.shards; i++)
		if ((v->without & (1u << i)) == 0)
			send_one(core, v, i);
}

static void
send_votes(struct core *core)
{
	struct vote_list *votes = &quorum_of(core)->votes;
	struct vote *v;

	while ((v = TAILQ_FIRST(votes)) != NULL) {
		TAILQ_REMOVE(votes, v, link);
		send_all(core, v);
	}
}

const struct lease_way way_votes = {
	.draws = 1,
	.yield_ms = YIELD_MS,
	.submit = submit_vote,
	.plan = plan_attempt,
	.freed = freed,
	.send = send_votes,
};

/* How many servers are in a set of bits. */
static unsigned
members(const struct core *core, unsigned set)
{
	unsigned i, n = 0;

	for (i = 0; i < core->config.shards; i++)
		n += set >> i & 1;
	return n;
}

/*
 * Ends the token wherever it may be, whatever became of it.  Waiting brokers
 * get a message, unless it was a mere attempt: no majority can have had its
 * token, so no broker believes that it has the name.
 */
static void
end_everywhere(struct core *core, const struct vote *v)
{
	struct vote *end;
	bool mere = v->op.kind == OP_ACQUIRE &&
		    members(core, v->without) + quorum_majority(core) >
			core->config.shards;

	if (v->without == (1u << core->config.shards) - 1)
		return;
	end = vote_new(core, v->name, v->name_len, mere ? OP_UNDO : OP_END);
	end->op.seq = v->op.seq;
	end->without = v->without;
	end->decided = true;
}

/*
 * The verdict.  The vote no longer knows its lease then, which may be freed by
 * this, or ask for something else, while answers to this vote are still to
 * come.
 */
static void
deliver(struct core *core, struct vote *v, const struct outcome *o)
{
	struct lease *l = v->lease;

	assert(!v->decided && l != NULL);
	core_disarm(core, &v->timer);
	v->decided = true;
	v->lease = NULL;
	lease_outcome(core, l, v->asked, v->sent_ms, o);
}

/* The highest fence, and how many answered with exactly that one.  Servers that
 * were given one hint agree, unless the counter of one is ahead. */
static uint64_t
highest_fence(const struct vote *v, unsigned *same)
{
	uint64_t top = 0;
	unsigned i;

	for (i = 0; i < v->nfences; i++)
		if (v->fences[i] > top)
			top = v->fences[i];
	*same = 0;
	for (i = 0; i < v->nfences; i++)
		if (v->fences[i] == top)
			(*same)++;
	return top;
}

/* The second phase: the lease gets its outcome when a majority has the
 * fence. */
static void
write_back(struct core *core, struct vote *v, uint64_t top)
{
	struct vote *w = vote_new(core, v->name, v->name_len, OP_RAISE);

	assert(!v->decided && v->lease != NULL && top > 0);
	w->asked = v->asked;
	w->lease = v->lease;
	w->op.seq = v->op.seq;
	w->op.ttl_ms = v->op.ttl_ms;
	w->op.fence = top;
	w->sent_ms = v->sent_ms;
	w->waiting = v->waiting;
	v->lease = NULL;
	core_disarm(core, &v->timer);
	v->decided = true;
}

/* A majority has said yes.  Fences that differ must be made one first, so the
 * lease gets the success only after a second round. */
static void
succeed(struct core *core, struct vote *v)
{
	struct outcome o = { .text = "" };
	unsigned same;
	uint64_t top;

	assert(v->yes >= quorum_majority(core));
	o.status = v->asked == OP_END	  ? OUTCOME_ENDED
		   : v->asked == OP_RENEW ? OUTCOME_RENEWED
					  : OUTCOME_GRANTED;
	o.waiting = v->waiting;
	if (v->op.kind == OP_RAISE) {
		o.fence = v->op.fence;
	} else if (v->op.reserve > 0) {
		top = highest_fence(v, &same);
		if (same < quorum_majority(core)) {
			write_back(core, v, top);
			return;
		}
		o.fence = top;
	}
	deliver(core, v, &o);
}

/*
 * Returns whose token a majority has; 0: none is known.  That broker may have
 * the name until a majority is without its token: in *ttl_ms; -1: unknown.
 */
static uint32_t
rival_of(const struct core *core, const struct vote *v, int64_t *ttl_ms)
{
	unsigned i, j, same, over, n = core->config.shards;
	int64_t end_ms = INT64_MAX;
	uint32_t rival = 0;

	for (i = 0; i < n; i++) {
		for (j = same = over = 0; j < n; j++) {
			same += v->rivals[j] == v->rivals[i];
			over += v->rivals[j] != v->rivals[i] ||
				v->ends_ms[j] <= v->ends_ms[i];
		}
		if (v->rivals[i] == 0 || same < quorum_majority(core))
			continue;
		rival = v->rivals[i];
		if (over >= quorum_majority(core) && v->ends_ms[i] < end_ms)
			end_ms = v->ends_ms[i];
	}
	*ttl_ms = end_ms == INT64_MAX ? -1 : max_ms(end_ms - core->now_ms, 0);
	return rival;
}

/* An answer that comes after the verdict may say who has won. */
static void
look_again(struct core *core, struct vote *v)
{
	struct lease *l =
	    core->leases->lessee->find(core, v->name, v->name_len);
	int64_t ttl_ms;
	uint32_t rival = rival_of(core, v, &ttl_ms);

	assert(v->decided && v->asked == OP_ACQUIRE);
	if (rival == 0)
		return;
	v->failed = false;
	if (l == NULL || l->seq != v->op.seq || (v->op.flags & OP_QUEUE) == 0)
		return;
	backoff_known(core, l, rival, ttl_ms);
	core->leases->lessee->next(core, l);
}

/* No majority can say yes any longer, or the attempt does not wait for it.  A
 * single outcome stands for all answers: the weightiest of them. */
static void
fail(struct core *core, struct vote *v)
{
	struct outcome o = v->no;

	assert(v->yes < quorum_majority(core));
	o.text = v->no.text_len > 0 ? "a server of the quorum refused" : "";
	o.text_len = strlen(o.text);
	/* The lease is lost only if no majority can have it any more. */
	if (o.status == OUTCOME_LOST &&
	    v->lost + quorum_majority(core) <= core->config.shards)
		o.status = OUTCOME_UNKNOWN;
	/* The votes were taken away before all had one fence. */
	if (v->asked == OP_ACQUIRE && o.status == OUTCOME_LOST)
		o.status = OUTCOME_BUSY;
	o.rival = rival_of(core, v, &o.ttl_ms);
	v->failed = o.rival == 0 && v->asked == OP_ACQUIRE;
	/* A confirm is of a tombstone, which stays unless it is lost. */
	if (v->asked == OP_ACQUIRE ||
	    (v->asked == OP_CONFIRM && o.status == OUTCOME_LOST))
		end_everywhere(core, v);
	deliver(core, v, &o);
}

/*
 * Was the answer so long on its way that the key of another broker may have
 * ended meanwhile, although that one has the name?  It has renewed it at other
 * servers then, perhaps at one that has lost our vote since.  A key outlives
 * its broker's reliance on it by a pad: if the call was sent less than that
 * before it ran, the other broker no longer counted on this server when we
 * began.
 */
static bool
is_late(const struct core *core, const struct vote *v, int64_t sent_ms)
{
	return v->op.kind == OP_ACQUIRE &&
	       core->now_ms - sent_ms > core->pad_ms;
}

/* Notes what one server says.  A lease counts from the earliest sending of
 * those that said yes, because at worst it needs the keys of all of them. */
static void
count(struct core *core, struct vote *v, uint32_t shard, int64_t sent_ms,
    const struct outcome *o)
{
	bool yes = (yes_answers[v->op.kind] & (1u << o->status)) != 0;

	if (yes &&
	    (is_late(core, v, sent_ms) || (v->op.reserve > 0 && o->fence == 0)))
		return;
	if (yes) {
		v->yes++;
		v->waiting = v->waiting || o->waiting;
		if (v->op.kind != OP_RAISE && sent_ms < v->sent_ms)
			v->sent_ms = sent_ms;
		assert(v->nfences < QUORUM_MAX);
		if (o->fence > 0)
			v->fences[v->nfences++] = o->fence;
		return;
	}
	if (o->status == OUTCOME_LOST)
		v->lost++;
	if ((not_ours & (1u << o->status)) != 0 ||
	    (v->op.kind == OP_ACQUIRE && (not_tried & (1u << o->status)) != 0))
		v->without |= 1u << shard;
	if (v->op.kind == OP_ACQUIRE && o->text_len > 0) {
		v->rivals[shard] = backoff_token(o->text, o->text_len);
		v->ends_ms[shard] = o->ttl_ms == -1
					? INT64_MAX
					: core->now_ms + max_ms(o->ttl_ms, 0);
	}
	if (weight[o->status] >= weight[v->no.status])
		v->no = *o;
	v->no.text = ""; /* the text does not outlive this call */
}

/*
 * Another token has a server that the renewal needs: only for a moment, if it
 * is a mere attempt.  So the server is asked again soon, even while others are
 * silent: their silence may last for as long as the lease can wait.
 */
static void
ask_again(struct core *core, struct vote *v, uint32_t shard)
{
	if (v->op.kind != OP_RENEW || (v->without >> shard & 1) == 0)
		return;
	if (v->again == 0)
		core_arm(core, &v->timer, core->now_ms + RETRY_VOTE_MS);
	v->again |= 1u << shard;
}

/*
 * Another token has a server, and silent servers could still make a majority.
 * Until the broker gave up the silent ones, after the reply timeout, this
 * attempt would keep the other one from the servers that it has, and both from
 * the name; or it would keep a holder from the one more server that its renewal
 * needs.
 */
static void
bound_attempt(struct core *core, struct vote *v, const struct outcome *o)
{
	if ((not_ours & (1u << o->status)) != 0 && !timer_armed(&v->timer))
		core_arm(core, &v->timer,
		    2 * core->now_ms - v->since_ms + SILENT_MS);
}

/*
 * Shall a renewal that could not be answered in a row be sent by itself?  After
 * the end of the lease it would write the key again, for no one.
 */
static bool
is_wanted(const struct core *core, const struct vote *v)
{
	const struct lease *l =
	    core->leases->lessee->find(core, v->name, v->name_len);

	return !v->decided ||
	       (l != NULL && l->seq == v->op.seq && lease_is_held(l));
}

/*
 * Counts an answer, and decides as soon as the others cannot change the
 * verdict.  The last answer frees the vote, so nothing may refer to it after
 * that.
 */
void
votes_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o)
{
	struct vote *v = slot->of;

	assert(v->left > 0);
	v->left--;
	if (o->status == OUTCOME_AGAIN && is_wanted(core, v)) {
		v->op.flags |= OP_WHOLE;
		send_one(core, v, slot->shard);
		return;
	}
	count(core, v, slot->shard, slot->sent_ms, o);
	if (v->decided && v->failed)
		look_again(core, v);
	else if (!v->decided && v->yes >= quorum_majority(core))
		succeed(core, v);
	else if (!v->decided && v->yes + v->left < quorum_majority(core))
		fail(core, v);
	else if (!v->decided && v->op.kind == OP_ACQUIRE)
		bound_attempt(core, v, o);
	else if (!v->decided)
		ask_again(core, v, slot->shard);
	if (v->left == 0)
		free(v);
}

void
votes_timer(struct core *core, struct timer *t)
{
	struct vote *v = container_of(t, struct vote, timer);
	unsigned again = v->again;
	uint32_t i;

	assert(!v->decided);
	if (v->op.kind == OP_ACQUIRE) {
		fail(core, v);
		return;
	}
	v->again = 0;
	v->without &= ~again;
	v->lost -= members(core, again);
	for (i = 0; i < core->config.shards; i++)
		if ((again >> i & 1) != 0)
			send_one(core, v, i);
}

/* For core_free(): frees each vote with the last of its slots. */
void
votes_fini(struct core *core)
{
	struct vote *v, *next;
	uint32_t i;

	TAILQ_FOREACH_SAFE (v, &quorum_of(core)->votes, link, next)
		free(v);
	for (i = 0; i < core->slots->n; i++) {
		if (core->slots->v[i].kind != SLOT_VOTE)
			continue;
		v = core->slots->v[i].of;
		core_disarm(core, &v->timer);
		if (--v->left == 0)
			free(v);
	}
}
