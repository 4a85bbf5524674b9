/*
 * Messages from other brokers, through the store: `WORD SEQ NAME`.
 */
#include "config.h"

#include <string.h>

#include "base/parse.h"
#include "core/force.h"
#include "core/lease.h"
#include "core/lease_parts.h"
#include "core/lock.h"
#include "core/message.h"

#define FREE_JITTER_MS 4

/* Messages: hints, each of which may be lost, late, doubled or wrong. */

static void
on_grant_message(struct core *core, struct lock *l, uint64_t seq)
{
	(void)seq;
	l->hint = true;
	lease_next(core, l);
}

static void
on_waits_message(struct core *core, struct lock *l, uint64_t seq)
{
	(void)seq;
	if (!lease_is_held(l)) {
		/* It may overtake the reply that grants. */
		l->early_waits = true;
		return;
	}
	lease_told_waiting(core, l, true);
	lease_next(core, l);
}

static void
on_look_message(struct core *core, struct lock *l, uint64_t seq)
{
	(void)seq;
	if (l->state != LEASE_QUEUED)
		return;
	l->wake_ms =
	    min_ms(l->wake_ms, core->now_ms + core->pad_ms + LOOK_SLACK_MS);
	lease_next(core, l);
}

static void
on_force_message(struct core *core, struct lock *l, uint64_t seq)
{
	(void)seq;
	force_message(core, l);
}

/* Quorum: a name was let go; whoever waits for it may try, not all at once. */
static void
on_free_message(struct core *core, struct lock *l, uint64_t seq)
{
	(void)seq;
	if (l->state != LEASE_NONE)
		return;
	l->wake_ms = min_ms(
	    l->wake_ms, core->now_ms + core_jitter(core, FREE_JITTER_MS));
	lease_next(core, l);
}

/*
 * A name was handed to a place in the queue that we no longer know to have:
 * what an ending that was given up has left.  Pass it on.
 */
static void
stray(struct core *core, const char *name, size_t len, uint64_t seq)
{
	struct lock *l = lock_get(core, name, len);

	l->seq = seq;
	l->key_end_ms = core->now_ms + core->pad_ms;
	lease_set_state(l, LEASE_ENDING);
	lease_next(core, l);
}

static const struct {
	const char *word;
	void (*run)(struct core *core, struct lock *l, uint64_t seq);
} messages[] = {
	{ "grant", on_grant_message },
	{ "waits", on_waits_message },
	{ "look", on_look_message },
	{ "free", on_free_message },
	{ "force", on_force_message },
};

/* Of the token that it has, or of the next one, which is heard of first. */
static bool
is_of(const struct lock *l, uint64_t seq)
{
	return l->seq == seq ||
	       (more_of(l)->again_seq != 0 && more_of(l)->again_seq == seq);
}

static void
dispatch(
    struct core *core, size_t kind, uint64_t seq, const char *name, size_t len)
{
	struct lock *l = lock_find(core, name, len);

	if (l != NULL &&
	    (is_of(l, seq) || messages[kind].run == on_free_message))
		messages[kind].run(core, l, seq);
	else if (l == NULL && messages[kind].run == on_grant_message)
		stray(core, name, len, seq);
}

/* `WORD SEQ NAME`; anything else is none of ours and ignored. */
void
message_take(struct core *core, const char *text, size_t len)
{
	const char *seq, *name, *end = text + len;
	uint64_t number;
	size_t i, n;

	for (i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		n = strlen(messages[i].word);
		if (len <= n || memcmp(text, messages[i].word, n) != 0 ||
		    text[n] != ' ')
			continue;
		seq = text + n + 1;
		name = memchr(seq, ' ', (size_t)(end - seq));
		if (name == NULL || name + 1 == end ||
		    end - name - 1 > UINT8_MAX ||
		    !parse_number(
			seq, (size_t)(name - seq), UINT64_MAX, &number))
			return;
		dispatch(core, i, number, name + 1, (size_t)(end - name - 1));
		return;
	}
}

/* Messages may have been missed: look at every queued name, spread out. */
void
message_resubscribed(struct core *core)
{
	struct table_walk walk;
	struct lock *l;

	for (l = lock_first(core, &walk); l != NULL; l = lock_next(&walk)) {
		if (l->state != LEASE_QUEUED)
			continue;
		l->wake_ms = min_ms(l->wake_ms,
		    core->now_ms + core_jitter(core, core->pad_ms / 2));
		lease_next(core, l);
	}
}
