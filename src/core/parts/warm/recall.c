/*
 * Recalls: a name that another broker keeps warm (warm.h) is free to clients,
 * so no client here is told that it is not before that broker has been asked.
 *
 *	operation --> `BUSY`, held, ...; its owner keeps names warm
 *	          --> RECALL --> `recall` --> the owner, which gives the name back
 *	                                      if it is warm, and keeps it warm no
 *	                                      more for half a minute
 *	          <-------------- `recalled` <--
 *	          --> the operation again: what it finds now stands
 *
 * If the owner is this broker itself, the name goes back in the same call that
 * asks for it; if a renewal is under way, that call waits for it here.
 *
 * So the answer to an operation that does not wait passes through here, and the
 * asker sees only one that took longer.  That an owner was asked is remembered
 * for less than that half a minute: any name that it has meanwhile, it has for
 * a client.  If it does not answer, the warmth is over by itself.
 *
 * The memory of owners that were asked is no proof: 64 bits of hash stand for
 * name and owner, and a pair that shares a place with another one is asked for
 * once more.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/parse.h"
#include "base/table.h"
#include "base/times.h"
#include "base/xmalloc.h"
#include "core/kernel/guard/guard.h"
#include "core/kernel/lock/broker_message.h"
#include "core/kernel/lock/hooks.h"
#include "core/kernel/lock/lock.h"
#include "core/kernel/lock/names.h"
#include "core/kernel/lock/stored.h"
#include "core/parts/ids.h"
#include "core/parts/views/about.h"
#include "core/parts/warm/warm.h"

#define PLACES 4096    /* of owners that were asked; a power of two */
#define KNOWN_MS 25000 /* less than COLD_MS in warm.c, by any drift */
#define SILENT_MS 1000 /* an owner that has not answered */
#define SLACK_MS 50    /* beyond the time for which a name is warm */
#define LEAST_PART 4   /* of the reply timeout: to send an operation again */
#define ASKERS_MAX 16  /* of one name; others wait for their time */

/* An owner that was asked for a name lately. */
struct known {
	uint64_t pair;	  /* hashes of both */
	int64_t until_ms; /* 0: none */
};

/* A question to an owner about a name.  Freed with the last operation that
 * waits. */
struct question {
	LIST_ENTRY(question) link;
	struct table_link by_seq, by_pair;
	LIST_HEAD(, recall) waiting;
	uint64_t seq;
	uint64_t pair;
	int64_t since_ms; /* when it was asked */
};

/* An operation that waits for its owner.  Owned by the question. */
struct recall {
	LIST_ENTRY(recall) link;
	struct timer deadline;
	struct question *question;
	struct put_off off; /* the operation */
};

/* A broker that wants to know when a name has been given back. */
struct asker {
	SLIST_ENTRY(asker) link;
	size_t len;
	char token[]; /* that it has asked under; no NUL */
};

/* Brokers that recall a name: the part's data on it. */
struct askers {
	SLIST_HEAD(, asker) list; /* owned */
	unsigned n;
};

struct recalls {
	LIST_HEAD(, question) questions;
	struct table by_seq, by_pair;
	struct known *known; /* owned; made with the first that is asked */
};

static struct recalls *
recalls_of(const struct core *core)
{
	return core->part[PART_RECALL];
}

static void
recalls_init(struct core *core)
{
	core->part[PART_RECALL] = xcalloc(1, sizeof(struct recalls));
	LIST_INIT(&recalls_of(core)->questions);
	table_init_key(&recalls_of(core)->by_seq, struct question, by_seq, seq);
	table_init_key(
	    &recalls_of(core)->by_pair, struct question, by_pair, pair);
}

static struct question *
find_seq(const struct core *core, uint64_t seq)
{
	return container_or_null(
	    table_find_key(&recalls_of(core)->by_seq, &seq), struct question,
	    by_seq);
}

static struct question *
find_pair(const struct core *core, uint64_t pair)
{
	return container_or_null(
	    table_find_key(&recalls_of(core)->by_pair, &pair), struct question,
	    by_pair);
}

static struct question *
question_new(struct core *core, uint64_t pair)
{
	struct question *q = xcalloc(1, sizeof(*q));

	LIST_INIT(&q->waiting);
	q->seq = ++core->last_seq;
	q->pair = pair;
	q->since_ms = core->now_ms;
	LIST_INSERT_HEAD(&recalls_of(core)->questions, q, link);
	table_add(&recalls_of(core)->by_seq, &q->by_seq);
	table_add(&recalls_of(core)->by_pair, &q->by_pair);
	return q;
}

static void
recall_free(struct core *core, struct recall *r)
{
	struct question *q = r->question;

	LIST_REMOVE(r, link);
	core_disarm(core, &r->deadline);
	put_off_fini(&r->off);
	free(r);
	if (!LIST_EMPTY(&q->waiting))
		return;
	LIST_REMOVE(q, link);
	table_remove(&recalls_of(core)->by_seq, &q->by_seq);
	table_remove(&recalls_of(core)->by_pair, &q->by_pair);
	free(q);
}

/* Any that waits; NULL: none does. */
static struct recall *
any_recall(const struct core *core)
{
	struct question *q = LIST_FIRST(&recalls_of(core)->questions);

	return q == NULL ? NULL : LIST_FIRST(&q->waiting);
}

static void
recalls_fini(struct core *core)
{
	struct recall *r;

	while ((r = any_recall(core)) != NULL)
		recall_free(core, r);
	table_fini(&recalls_of(core)->by_seq);
	table_fini(&recalls_of(core)->by_pair);
	free(recalls_of(core)->known);
	free(recalls_of(core));
}

/* Is the name without a holder, while this broker still has the lease? */
static bool
is_parting(const struct lock *l)
{
	return l != NULL && l->queue == NULL && TAILQ_EMPTY(&l->holders) &&
	       !lock_is_warm(l) &&
	       (lease_is_held(&l->lease) || l->lease.state == LEASE_ENDING);
}

/* What is known. */

/* The broker in BROKER.INSTANCE.SEQ or BROKER.INSTANCE.SEQ|FENCE. */
static size_t
broker_length(const char *text, size_t len)
{
	const char *bar = memchr(text, '|', len);
	size_t n = bar != NULL ? (size_t)(bar - text) : len;

	while (n > 0 && text[n - 1] != '.')
		n--;
	return n;
}

static struct known *
known_place(struct recalls *recalls, uint64_t pair)
{
	if (recalls->known == NULL)
		recalls->known = xcalloc(PLACES, sizeof(*recalls->known));
	return &recalls->known[(pair ^ pair >> 32) % PLACES];
}

static bool
is_known(const struct core *core, uint64_t pair)
{
	const struct known *k = known_place(recalls_of(core), pair);

	return k->pair == pair && k->until_ms > core->now_ms;
}

static void
note_known(struct core *core, uint64_t pair, int64_t until_ms)
{
	struct known *k = known_place(recalls_of(core), pair);

	k->pair = pair;
	k->until_ms = until_ms;
}

/* Operations that wait for the question wait no longer than that. */
static void
end_by(struct core *core, uint64_t seq, int64_t at_ms)
{
	struct question *q = find_seq(core, seq);
	struct recall *r;

	if (q == NULL)
		return;
	LIST_FOREACH (r, &q->waiting, link)
		if (at_ms < core_armed_ms(core, &r->deadline))
			core_arm(core, &r->deadline, at_ms);
}

/* At the owner. */

/* Is it this broker that asks?  Then the waiting operations go on in the next
 * step: the name is in the middle of this one. */
static bool
tell_self(struct core *core, const char *asker, size_t len)
{
	const char *dot = memrchr(asker, '.', len);
	uint64_t seq;

	if (!stored_is_ours(core, asker, len) ||
	    !parse_number(
		dot + 1, len - (size_t)(dot + 1 - asker), UINT64_MAX, &seq))
		return false;
	end_by(core, seq, core->now_ms);
	return true;
}

static void
tell_asker(struct core *core, const char *name, size_t name_len,
    const char *asker, size_t asker_len)
{
	if (!tell_self(core, asker, asker_len))
		about_send(core, SLOT_STRAY, name, name_len,
		    (struct span){ asker, asker_len }, "recalled");
}

/* The broker of the token `asker` wants the name, of which this one has `l`, or
 * nothing (NULL); then it is told so at once.  Brokers beyond the maximum are
 * told nothing: their time runs out. */
static void
note_asker(struct core *core, struct lock *l, const char *name, size_t name_len,
    const char *asker, size_t asker_len)
{
	struct askers *all;
	struct asker *a;

	if (l == NULL) {
		tell_asker(core, name, name_len, asker, asker_len);
		return;
	}
	all = lock_need_part(l, PART_RECALL, sizeof(*all));
	if (all->n >= ASKERS_MAX)
		return;
	a = xcalloc(1, sizeof(*a) + asker_len);
	a->len = asker_len;
	memcpy(a->token, asker, asker_len);
	SLIST_INSERT_HEAD(&all->list, a, link);
	all->n++;
}

static void
forget_askers(struct core *core, struct lock *l)
{
	struct askers *all = lock_part(l, PART_RECALL);
	struct asker *a;

	(void)core;
	if (all == NULL)
		return;
	while ((a = SLIST_FIRST(&all->list)) != NULL) {
		SLIST_REMOVE_HEAD(&all->list, link);
		free(a);
	}
	all->n = 0;
}

/* Tells those who have asked, unless the name is on its way back. */
static void
tell_askers(struct core *core, struct lock *l)
{
	const struct askers *all = lock_part(l, PART_RECALL);
	const struct asker *a;

	if (all == NULL || all->n == 0 || is_parting(l))
		return;
	SLIST_FOREACH(a, &all->list, link)
	tell_asker(core, l->name, l->name_len, a->token, a->len);
	forget_askers(core, l);
}

/* Messages. */

/* A warm name is given back before the other broker is told; any other name is
 * held, and stays so. */
/* Asking. */

/* Does the owner that the outcome names keep names warm? */
static bool
is_doubtful(const struct slot *slot, const struct outcome *o)
{
	if (slot->op == OP_TOKEN && o->status == OUTCOME_LOST)
		return o->waiting;
	if (o->status != OUTCOME_BUSY && o->status != OUTCOME_VALUE)
		return false;
	if (slot->op == OP_PEEK)
		return o->maybe_warm != 0;
	if (slot->op == OP_FORCE)
		return o->status == OUTCOME_BUSY;
	return o->waiting && (slot->op == OP_ACQUIRE || slot->op == OP_CLAIM ||
				 slot->op == OP_TOKEN || slot->op == OP_STATUS);
}

/* The rest of the reply timeout of its operation. */
static int64_t
left_of(const struct core *core, const struct recall *r)
{
	return core->config.reply_timeout_ms - r->off.slot.waited_ms -
	       (core->now_ms - r->off.slot.sent_ms);
}

/* Notes that it waits for this broker itself. */
static void
ask_self(struct core *core, uint64_t seq, const char *name, size_t n)
{
	char asker[ABOUT_TOKEN_BYTES];

	about_token(core, seq, asker);
	note_asker(
	    core, lock_find(core, name, n), name, n, asker, strlen(asker));
}

/* Asks the owner. */
static void
ask_owner(struct core *core, const struct question *q, uint32_t shard,
    const char *name, size_t n, bool ours)
{
	struct slot *slot;

	if (ours) {
		ask_self(core, q->seq, name, n);
		return;
	}
	slot_submit(core, &slot, OP_RECALL, SLOT_RECALL, shard, name, n)->seq =
	    q->seq;
	slot->ref = q->seq;
}

/* An operation on a name waits for its owner, who is asked unless that is under
 * way. */
static void
wait_for(struct core *core, struct recall *r, uint64_t pair, const char *name,
    size_t n, bool ours)
{
	struct question *q = find_pair(core, pair);
	bool new = q == NULL;

	if (new)
		q = question_new(core, pair);
	r->question = q;
	LIST_INSERT_HEAD(&q->waiting, r, link);
	core_arm(
	    core, &r->deadline, core->now_ms + max_ms(left_of(core, r), 0) / 2);
	if (new)
		ask_owner(core, q, r->off.slot.shard, name, n, ours);
}

static const char *
name_of(const struct core *core, const struct slot *slot, size_t *len)
{
	const struct lock *l =
	    slot->kind == SLOT_LEASE ? lock_seen(slot->lease) : NULL;

	if (l == NULL && slot->name == NULL)
		return core->above->slots[slot->kind].name(core, slot, len);
	*len = l != NULL ? l->name_len : slot->name_len;
	return l != NULL ? l->name : slot->name;
}

/*
 * The operation of this slot, which is free by now, has this outcome.  Returns
 * true if its owner is asked first: the operation is sent again then
 * (slot_row.again()), and the outcome does not count.  Takes over the name of
 * the slot in that case.
 */
static bool
ask_first(struct core *core, const struct slot *slot, const struct outcome *o)
{
	const char *name;
	struct recall *r;
	uint64_t pair;
	size_t n;
	bool ours;

	if (slot->again || !is_doubtful(slot, o) ||
	    core->above->slots[slot->kind].again == NULL || core->stopping)
		return false;
	name = name_of(core, slot, &n);
	ours = stored_is_ours(core, o->text, o->text_len);
	if (ours && !is_parting(lock_find(core, name, n)))
		return false;
	pair = (uint64_t)hash_of(name, n) << 32 |
	       hash_of(o->text, broker_length(o->text, o->text_len));
	if (!ours && is_known(core, pair))
		return false;
	r = xcalloc(1, sizeof(*r));
	r->deadline.kind = TIMER_RECALL;
	put_off(&r->off, slot, o);
	wait_for(core, r, pair, name, n, ours);
	return true;
}

/* The operation is sent again; or if there is too little time for that, its
 * outcome is the answer.  until_ms: until then, the owner counts as one that
 * was asked; 0: it was not. */
static void
over(struct core *core, struct recall *r, int64_t until_ms)
{
	int64_t left_ms = left_of(core, r);
	struct put_off off = put_off_take(&r->off);
	const struct slot_row *row = &core->above->slots[off.slot.kind];

	if (until_ms != 0)
		note_known(core, r->question->pair, until_ms);
	recall_free(core, r);
	if (left_ms >= core->config.reply_timeout_ms / LEAST_PART) {
		core->slots->again = true;
		row->again(core, &off.slot, left_ms);
		core->slots->again = false;
	} else {
		row->outcome(core, &off.slot, &off.then);
	}
	put_off_fini(&off);
}

/* All operations that the question was asked for.  DONE: the owner had let the
 * name go before, and knows of no question; it may keep the name the next
 * time. */
static void
all_over(struct core *core, uint64_t seq, enum outcome_status status)
{
	struct question *q;
	int64_t until_ms;

	while ((q = find_seq(core, seq)) != NULL) {
		until_ms = core->now_ms + SILENT_MS;
		if (status == OUTCOME_VALUE)
			until_ms = q->since_ms + KNOWN_MS;
		else if (status == OUTCOME_DONE)
			until_ms = 0;
		over(core, LIST_FIRST(&q->waiting), until_ms);
	}
}

/* The owner was asked: it answers, or its warmth is over by then.  The message
 * may be faster than this. */
static void
on_outcome(struct core *core, const struct slot *slot, const struct outcome *o)
{
	if (o->status == OUTCOME_VALUE)
		end_by(core, slot->ref, core->now_ms + o->ttl_ms + SLACK_MS);
	else
		all_over(core, slot->ref, o->status);
}

static void
on_timer(struct core *core, struct timer *t)
{
	over(core, container_of(t, struct recall, deadline),
	    core->now_ms + SILENT_MS);
}

static void
stop(struct core *core)
{
	struct recall *r;

	while ((r = any_recall(core)) != NULL)
		over(core, r, core->now_ms + SILENT_MS);
}

/* Messages. */

static void
on_recall_message(struct core *core, struct lock *l, const struct message *m)
{
	warm_cool(core, m->name, m->name_len);
	note_asker(core, l, m->name, m->name_len, m->more[0].p, m->more[0].n);
	if (l == NULL)
		return;
	warm_recall(core, l);
	lock_next(core, l);
}

/* About a recall of this number, and not about a token. */
static void
on_recalled_message(struct core *core, struct lock *l, const struct message *m)
{
	(void)l;
	all_over(core, m->seq, OUTCOME_VALUE);
}

static const struct message_word words[] = {
	{ "recall", 1, TO_BROKER, on_recall_message },
	{ "recalled", 0, TO_BROKER, on_recalled_message },
	{ .word = NULL },
};

/* As a part. */

static const struct part_timer timers[] = {
	{ TIMER_RECALL, { AGENDA_PATIENT, on_timer } },
	{ 0 },
};

static const struct part_slot slots[] = {
	{ SLOT_RECALL, { .outcome = on_outcome } },
	{ 0 },
};

static const struct lock_hooks hooks = {
	.settles = tell_askers,
	.freed = forget_askers,
	.words = words,
};

const struct core_part recall_part = {
	.id = PART_RECALL,
	.lock = &hooks,
	.init = recalls_init,
	.fini = recalls_fini,
	.puts_off = ask_first,
	.stops = stop,
	.timers = timers,
	.slots = slots,
};
