/*
 * Adopts the holds of brokers that have gone: a pass over all keys of a guard.
 *
 * A pass takes its time, so that the server has four fifths of its own for
 * others: after each step comes a pause of four times its length.  A pass
 * during which the server's history changes begins anew.
 *
 * Nothing relies on a pass.  A hold that it misses, because a server failed
 * over in the middle, ends with its key, like a hold that is not adopted yet.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/text.h"
#include "base/times.h"
#include "base/xmalloc.h"
#include "core/kernel/guard/guard.h"
#include "core/parts/token/adopt.h"
#include "core/parts/token/notify.h"

#define NOBODY "%|%"	 /* the client of a reserved name */
#define CURSOR_BYTES 24	 /* 20 digits */
#define REST 4		 /* the pause after a step is this many times as long */
#define PAUSE_MAX_MS 200 /* but the answer may just have been late */
#define RETRY_MS 200	 /* after a step that was not carried out */

struct adoption {
	struct timer timer; /* armed: the next step */
	uint32_t shard;
	uint32_t epoch;		   /* of the guard, since the pass began */
	bool asked;		   /* a step is in flight */
	uint64_t seq;		   /* its first */
	uint64_t n;		   /* number of adopted holds */
	char cursor[CURSOR_BYTES]; /* "": no pass is under way */
};

void
adopt_init(struct core *core)
{
	uint32_t i, n = core->config.shards;
	struct adoption *all = xcalloc(n, sizeof(*all));

	for (i = 0; i < n; i++) {
		all[i].timer.kind = TIMER_ADOPT;
		all[i].shard = i;
	}
	tokens_of(core)->adoptions = all;
}

void
adopt_fini(struct core *core)
{
	uint32_t i;

	for (i = 0; i < core->config.shards; i++)
		core_disarm(core, &tokens_of(core)->adoptions[i].timer);
	free(tokens_of(core)->adoptions);
}

bool
adopt_idle(const struct core *core, uint32_t shard)
{
	return tokens_of(core)->adoptions[shard].cursor[0] == '\0';
}

static void
end(struct core *core, struct adoption *a)
{
	if (a->n > 0)
		notify_tokens_adopted(core, a->shard, a->n);
	core_disarm(core, &a->timer);
	a->cursor[0] = '\0';
	a->n = 0;
}

static void
start(struct core *core, struct adoption *a)
{
	strcpy(a->cursor, "0");
	a->epoch = guard_epoch(core, a->shard);
}

void
adopt_begin(struct core *core, uint32_t shard)
{
	struct adoption *a = &tokens_of(core)->adoptions[shard];

	if (core->stopping || a->cursor[0] != '\0')
		return;
	start(core, a);
	core_arm(core, &a->timer, core->now_ms);
}

/* Each hold gets a number of its own. */
static void
send(struct core *core, struct adoption *a)
{
	struct slot *slot;
	struct op *op;

	a->asked = true;
	a->seq = core->last_seq + 1;
	core->last_seq += OP_ADOPT_MAX;
	op = slot_submit(core, &slot, OP_ADOPT, SLOT_ADOPT, a->shard, a->cursor,
	    strlen(a->cursor));
	op->seq = a->seq;
}

void
adopt_timer(struct core *core, struct timer *t)
{
	struct adoption *a = container_of(t, struct adoption, timer);

	if (core->stopping) {
		end(core, a);
		return;
	}
	if (!guard_ready(core, a->shard)) {
		core_arm(core, &a->timer, core->now_ms + RETRY_MS);
		return;
	}
	if (a->epoch != guard_epoch(core, a->shard))
		start(core, a);
	send(core, a);
}

/* Cuts a line at its spaces.  Returns false unless there are `n` words. */
static bool
cut(const char **p, const char *end, struct core_name *words, unsigned n)
{
	const char *line = memchr(*p, '\n', (size_t)(end - *p)), *to;
	unsigned i;

	for (i = 0; line != NULL && i < n; i++) {
		to = i == n - 1 ? line : memchr(*p, ' ', (size_t)(line - *p));
		if (to == NULL)
			return false;
		words[i] = (struct core_name){ *p, (size_t)(to - *p) };
		*p = to + 1;
	}
	return line != NULL;
}

/*
 * FENCE MS CLIENT NAME; 0 ms: the hold has no bound.
 *
 * The clock of the server may have been put forward since the broker that has
 * gone looked last, by up to a pad without being noticed, and then the key says
 * that much less than the client counts on.  So the hold is not ended before
 * its key would end by itself; and that end stays, however often it is adopted.
 */
static bool
take_one(struct core *core, uint32_t shard, const char **p, const char *behind,
    uint64_t seq)
{
	struct token_name n = { .seq = seq };
	struct core_name words[4];
	uint64_t left_ms;
	char *holder;

	if (!cut(p, behind, words, 4) ||
	    !parse_number(words[0].p, words[0].n, FENCE_MAX, &n.fence) ||
	    !parse_number(words[1].p, words[1].n, FENCE_MAX, &left_ms) ||
	    !guard_believes(core, shard, n.fence))
		return false;
	/* Any client can write a key, with a name that no client can lock. */
	if (text_name_why((struct span){ words[3].p, words[3].n },
		NAME_MAX_BYTES) != NULL)
		return true;
	n.left_ms = left_ms == 0 ? -1 : (int64_t)left_ms + core->pad_ms;
	n.padded = true;
	n.name = xstrndup(words[3].p, words[3].n);
	n.len = words[3].n;
	holder = xstrndup(words[2].p, words[2].n);
	token_record_take(core, &n, holder, NULL);
	free(holder);
	free(n.name);
	return true;
}

void
adopt_disowned(struct core *core, const char *name, size_t len, uint64_t seq,
    uint64_t fence, int64_t left_ms)
{
	struct token_name n = {
		.len = len, .seq = seq, .fence = fence, .left_ms = left_ms
	};

	n.name = xstrndup(name, len);
	token_record_take(core, &n, NOBODY, NULL);
	free(n.name);
	guard_hand_over(core, guard_shard(core, name, len));
}

/* Returns false at the end of the pass.  A text that does not fit counts as
 * that, too: the next one goes over it again. */
static bool
take_up(struct core *core, struct adoption *a, const struct outcome *o)
{
	const char *p = o->text, *behind = o->text + o->text_len;
	struct core_name cursor;
	uint64_t seq = a->seq;

	if (!cut(&p, behind, &cursor, 1) || cursor.n >= sizeof(a->cursor))
		return false;
	while (p < behind && seq - a->seq < OP_ADOPT_MAX &&
	       take_one(core, a->shard, &p, behind, seq))
		seq++;
	a->n += seq - a->seq;
	core->stats.adopted += seq - a->seq;
	memcpy(a->cursor, cursor.p, cursor.n);
	a->cursor[cursor.n] = '\0';
	return strcmp(a->cursor, "0") != 0;
}

void
adopt_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o)
{
	struct adoption *a = &tokens_of(core)->adoptions[slot->shard];
	int64_t pause_ms = RETRY_MS;

	a->asked = false;
	switch (o->status) {
	case OUTCOME_VALUE:
		if (!take_up(core, a, o)) {
			end(core, a);
			return;
		}
		pause_ms = min_ms(
		    PAUSE_MAX_MS, 1 + REST * (core->now_ms - slot->sent_ms));
		break;
	case OUTCOME_GONE:
		end(core, a);
		return;
	case OUTCOME_REFUSED:
		notify_not_adopted(core, a->shard, o->text, o->text_len);
		end(core, a);
		return;
	default:
		break;
	}
	core_arm(core, &a->timer, core->now_ms + pause_ms);
}

/* A pass goes on by its timer, or by the answer to a step. */
void
adopt_check(const struct core *core)
{
	const struct adoption *a;
	uint32_t i;

	for (i = 0; i < core->config.shards; i++) {
		a = &tokens_of(core)->adoptions[i];
		assert((a->cursor[0] != '\0') ==
		       (a->asked || timer_armed(&a->timer)));
		assert(!a->asked || !timer_armed(&a->timer));
	}
}
