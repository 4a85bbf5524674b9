/*
 * Messages from other brokers, through the store:
 *
 *	grant SEQ NAME, waits SEQ NAME, look SEQ NAME
 *	given SEQ FENCE SECONDS MICROSECONDS HISTORY WAITING NAME
 *	ends SEQ MS NAME
 *	free 0 TOKEN NAME
 *
 * and those of parts (lock_hooks.words): of recall.c, about.c, force_message.c.
 * SEQ is that of a token of this run of the broker, because the channel has the
 * instance in its name; `free` is about a token of another broker.  If the
 * token SEQ is over, a message that hands the name to it makes the broker pass
 * the name on (stray(), give_back()), and any other does nothing.
 */
#include "config.h"

#include <string.h>

#include "base/parse.h"
#include "base/text.h"
#include "core/kernel/guard/guard.h"
#include "core/kernel/lease/lease.h"
#include "core/kernel/lease/parts.h"
#include "core/kernel/lock/broker_message.h"
#include "core/kernel/lock/hooks.h"
#include "core/kernel/lock/lock.h"

/* Messages: hints, each of which may be lost, late, doubled or wrong. */

static void
on_grant_message(struct core *core, struct lock *l, const struct message *m)
{
	(void)m;
	lease_woken(&l->lease);
	lock_next(core, l);
}

/* Can `seq` be that of a place in the queue, not of a lease that is held? */
static bool
may_be_queued(const struct lock *l, uint64_t seq)
{
	if (l->lease.state == LEASE_ENDING)
		return lease_rare(&l->lease)->again_seq == seq;
	return l->lease.state == LEASE_ACQUIRING ||
	       l->lease.state == LEASE_QUEUED;
}

bool
message_number(const struct message *m, unsigned i, uint64_t max, uint64_t *out)
{
	return parse_number(m->more[i].p, m->more[i].n, max, out);
}

/* Reads SECONDS MICROSECONDS HISTORY, from the word i on. */
bool
message_time(const struct message *m, unsigned i, int64_t *server_ms)
{
	uint64_t s, us;

	if (!message_number(m, i, FENCE_MAX / 1000000, &s) ||
	    !message_number(m, i + 1, 999999, &us) ||
	    m->more[i + 2].n != HISTORY_BYTES)
		return false;
	*server_ms = (int64_t)(s * 1000 + us / 1000);
	return true;
}

/*
 * Was it published by the server on which we heard it?  The script that hands a
 * name over counts the listeners of its own server only, and if there is none,
 * the next in line gets the name.  The message goes through the cluster and to
 * the replicas nevertheless.
 */
static bool
is_heard_there(const struct message *m, const char *history)
{
	return strncmp(m->history, history, HISTORY_BYTES) == 0;
}

/* If the rest of the message cannot be relied on, it is still a hint that the
 * name was handed to us, and a confirm asks about it. */
static void
on_given_message(struct core *core, struct lock *l, const struct message *m)
{
	struct handover handover = { .history = m->more[3].p };
	uint64_t waiting;

	if (may_be_queued(l, m->seq) &&
	    message_number(m, 0, FENCE_MAX, &handover.fence) &&
	    message_time(m, 1, &handover.server_ms) &&
	    message_number(m, 4, 1, &waiting) &&
	    is_heard_there(m, handover.history)) {
		handover.waiting = waiting > 0;
		lease_handed_over(core, &l->lease, &handover);
	}
	on_grant_message(core, l, m);
}

static void
on_waits_message(struct core *core, struct lock *l, const struct message *m)
{
	(void)m;
	/* The message may overtake the reply that grants, or renews. */
	l->lease.contended_early =
	    !lease_is_held(&l->lease) || l->lease.pending != NULL;
	if (!lease_is_held(&l->lease))
		return;
	lease_told_waiting(core, &l->lease, true);
	lock_next(core, l);
}

/* The place before ours in the queue was handed the name, for two pads.  If
 * that broker is dead, the key ends then, and a look finds it free. */
static void
on_look_message(struct core *core, struct lock *l, const struct message *m)
{
	(void)m;
	if (l->lease.state != LEASE_QUEUED)
		return;
	l->lease.term.wake_ms = min_ms(l->lease.term.wake_ms,
	    core->now_ms + 2 * core->pad_ms + LOOK_SLACK_MS);
	lock_next(core, l);
}

/* The token hold that this broker waits for ends in that many ms. */
static void
on_ends_message(struct core *core, struct lock *l, const struct message *m)
{
	uint64_t ms;

	if (l->lease.state != LEASE_QUEUED ||
	    !message_number(m, 0, INT64_MAX / 2, &ms))
		return;
	l->lease.term.wake_ms = min_ms(
	    l->lease.term.wake_ms, core->now_ms + (int64_t)ms + LOOK_SLACK_MS);
	lock_next(core, l);
}

/* The token that the message names has let the name go: without a queue, this
 * broker tries again if it waits. */
static void
on_free_message(struct core *core, struct lock *l, const struct message *m)
{
	const struct lease_way *way = core->leases->way;

	if (way->freed != NULL &&
	    way->freed(core, &l->lease, m->more[0].p, m->more[0].n))
		lock_next(core, l);
}

/*
 * A name was handed to a place in the queue that we have forgotten: an ending
 * that was given up has left it there.  Passes the name on.
 */
static void
stray(struct core *core, const struct message *m)
{
	struct lock *l = lock_get(core, m->name, m->name_len);

	l->lease.seq = m->seq;
	l->lease.key_end_ms = core->now_ms + 2 * core->pad_ms;
	lease_set_state(core, &l->lease, LEASE_ENDING);
	lock_next(core, l);
}

static const struct message_word own_words[] = {
	{ "grant", 0, TO_HEIR, on_grant_message },
	{ "given", MORE_MAX, TO_HEIR, on_given_message },
	{ "waits", 0, TO_TOKEN, on_waits_message },
	{ "look", 0, TO_TOKEN, on_look_message },
	{ "ends", 1, TO_TOKEN, on_ends_message },
	{ "free", 1, TO_NAME, on_free_message },
	{ .word = NULL },
};

/*
 * Is the message about the token of the lease, or about its next token, which a
 * message may mention before the reply does?  A lease that is being given back
 * is no longer handed over: such a message is old.
 */
static bool
is_of(const struct lock *l, const struct message_word *word, uint64_t seq)
{
	if (lease_rare(&l->lease)->again_seq != 0 &&
	    lease_rare(&l->lease)->again_seq == seq)
		return true;
	return l->lease.seq == seq &&
	       !(word->to == TO_HEIR && l->lease.state == LEASE_ENDING);
}

/*
 * The name was handed to a token for which this broker has no use, while it is
 * busy with another one.  Ends that token, so that the name goes to the next in
 * line, and is not left unused.
 */
static void
give_back(struct core *core, const struct lock *l, const struct message *m)
{
	struct slot *slot;

	if (m->seq == l->lease.seq || !guard_up(core, l->lease.term.shard) ||
	    !core->leases->way->queues)
		return;
	slot_submit(core, &slot, OP_END, SLOT_STRAY, l->lease.term.shard,
	    l->name, l->name_len)
	    ->seq = m->seq;
}

static void
dispatch(
    struct core *core, const struct message_word *word, const struct message *m)
{
	struct lock *l = lock_find(core, m->name, m->name_len);

	/* Any client can publish: no token of ours has such a number. */
	if ((word->to == TO_TOKEN || word->to == TO_HEIR) &&
	    (m->seq == 0 || m->seq > core->last_seq))
		return;
	if (word->to == TO_BROKER ||
	    (l != NULL && (word->to == TO_NAME || is_of(l, word, m->seq))))
		word->run(core, l, m);
	else if (l == NULL && word->to == TO_HEIR)
		stray(core, m);
	else if (l != NULL && word->to == TO_HEIR)
		give_back(core, l, m);
}

/* Returns the length of the word at *at, and moves *at behind the space that
 * ends it; 0: no space does. */
static size_t
take_word(const char **at, const char *end)
{
	const char *start = *at;
	const char *space = memchr(start, ' ', (size_t)(end - start));

	if (space == NULL)
		return 0;
	*at = space + 1;
	return (size_t)(space - start);
}

/* Takes all words but the last, and moves *at to that. */
static void
take_words(struct message *m, const char **at, const char *end)
{
	const char *space = memrchr(*at, ' ', (size_t)(end - *at));

	m->more[0].p = *at;
	m->more[0].n = space != NULL ? (size_t)(space - *at) : 0;
	if (space != NULL)
		*at = space + 1;
}

static bool
parse(struct message *m, const struct message_word *word, const char *at,
    const char *end)
{
	const char *seq = at;
	size_t n = take_word(&at, end);
	unsigned i;

	if (!parse_number(seq, n, UINT64_MAX, &m->seq))
		return false;
	if (word->more == MORE_ANY)
		take_words(m, &at, end);
	for (i = 0; word->more != MORE_ANY && i < word->more; i++) {
		m->more[i].p = at;
		m->more[i].n = take_word(&at, end);
		if (m->more[i].n == 0)
			return false;
	}
	m->name = at;
	m->name_len = (size_t)(end - at);
	return text_name_why((struct span){ m->name, m->name_len },
		   NAME_MAX_BYTES) == NULL;
}

/* Returns the word with which the text begins; NULL: none of these. */
static const struct message_word *
find_word(const struct message_word *w, const char *text, size_t len)
{
	size_t n;

	for (; w != NULL && w->word != NULL; w++) {
		n = strlen(w->word);
		if (len > n && memcmp(text, w->word, n) == 0 && text[n] == ' ')
			return w;
	}
	return NULL;
}

/* Takes `WORD SEQ [MORE ...] NAME`; anything else is not ours, and ignored. */
void
broker_message_take(
    struct core *core, const char *text, size_t len, const char *history)
{
	const struct lock_hooks *const *hook = LOCK_HOOKS(words, core);
	struct message m = { .history = history };
	const struct message_word *w = find_word(own_words, text, len);

	for (; w == NULL && *hook != NULL; hook++)
		w = find_word((*hook)->words, text, len);
	if (w != NULL && parse(&m, w, text + strlen(w->word) + 1, text + len))
		dispatch(core, w, &m);
}

/* The looks are spread over half a pad: after a lost subscription all queued
 * names of the broker need one. */
bool
broker_message_missed(struct core *core, struct lock *l)
{
	if (l->lease.state != LEASE_QUEUED && !lease_backs_off(&l->lease))
		return false;
	l->lease.term.wake_ms = min_ms(l->lease.term.wake_ms,
	    core->now_ms + core_jitter(core, core->pad_ms / 2));
	return true;
}
