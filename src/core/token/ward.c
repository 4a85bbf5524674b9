/*
 * Wards: what the broker does about the holds that it looks after.
 *
 *	granted, extended --> ward ---- once a lease, new history --> RETAIN
 *	                      |  | ^------------- renewed ---------------+ |
 *	             its bound|  +--> over: released, taken <--------------+
 *	granted, not told --> stray --> TOKEN `u` until Redis has answered
 *
 * The key in Redis is the hold; a ward is what this broker knows of it.  A ward
 * that is wrong does no harm.  RETAIN writes a hold only on a server that may
 * not grant yet, over nothing, over what is older, or over the same hold if
 * that ends sooner.  If it finds anything else, the hold is not this broker's
 * any more.
 *
 * The broker ends a hold at its bound, by its own clock: the key lives for a
 * pad longer, so no step of the server's clock that the guard does not notice
 * ends it before.  RETAIN gives the key back what such a step has taken.
 *
 * A stray is a hold whose bound is over, or one that may have been made and of
 * which no client was told.  It is ended by the token of this broker, which no
 * other hold has, and never by that of the client, which may have been granted
 * the name again since.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/text.h"
#include "base/times.h"
#include "base/xmalloc.h"
#include "core/guard/guard.h"
#include "core/lock/watch.h"
#include "core/session/share.h"
#include "core/token/measured.h"
#include "core/token/parts.h"
#include "core/token/ward.h"
#include "core/turn/emit.h"
#include "core/turn/job.h"
#include "core/turn/work.h"

#define RETRY_MS 500 /* after an answer that says nothing; as much jitter */

static const char *
name_of(const struct table_link *link, size_t *len)
{
	const struct ward *w = container_of_const(link, struct ward, by_name);

	*len = w->name_len;
	return w->name;
}

/* Strays are in no table: a name may have several, beside its ward. */
void
wards_init(struct core *core)
{
	struct tokens *all = core->tokens;

	table_init(&all->by_name, name_of);
	TAILQ_INIT(&all->wards);
	TAILQ_INIT(&all->strays);
}

struct ward *
ward_find(const struct core *core, const char *name, size_t len)
{
	struct table_link *link = table_find(&core->tokens->by_name, name, len);

	return link == NULL ? NULL : container_of(link, struct ward, by_name);
}

/* Is anything left for ward_run()?  A stray that asks is answered first. */
static bool
has_more(const struct core *core)
{
	const struct tokens *all = core->tokens;
	const struct ward *stray = TAILQ_FIRST(&all->strays);

	if (core->stopping)
		return all->nwards > 0 || (stray != NULL && !stray->asked);
	return all->sweep != NULL;
}

static void
note_more(struct core *core)
{
	job_set(core, JOB_WARDS, has_more(core));
}

/* Also moves on the walk that would come to it next. */
static void
free_one(struct core *core, struct ward *w)
{
	struct tokens *all = core->tokens;

	assert(w->stray ? all->nstrays > 0 : all->nwards > 0);
	if (all->sweep == w)
		all->sweep = TAILQ_NEXT(w, link);
	if (w->stray) {
		TAILQ_REMOVE(&all->strays, w, link);
		all->nstrays--;
	} else {
		TAILQ_REMOVE(&all->wards, w, link);
		table_remove(&all->by_name, &w->by_name);
		all->nwards--;
		core->owners->ntokens--;
		share_give(core, &w->share);
		token_holds_not(core, w);
	}
	core_disarm(core, &w->timer);
	free(w->client);
	free(w->peer);
	free(w->label);
	free(w->user);
	free(w);
	note_more(core);
}

void
wards_fini(struct core *core)
{
	while (!TAILQ_EMPTY(&core->tokens->wards))
		free_one(core, TAILQ_FIRST(&core->tokens->wards));
	while (!TAILQ_EMPTY(&core->tokens->strays))
		free_one(core, TAILQ_FIRST(&core->tokens->strays));
	table_fini(&core->tokens->by_name);
}

/*
 * What Redis has let go at its bound is over here a round trip later.  What
 * ended before was ended, or extended, by another broker.
 */
static const char *
why_gone(const struct core *core, const struct ward *w)
{
	if (w->until_ms == TOKEN_HOLD_ALWAYS)
		return "taken";
	return w->until_ms <= core->now_ms + core->config.reply_timeout_ms
		   ? "hold"
		   : "taken";
}

/* A WATCH of the name looks again; the history is told of the end. */
void
ward_drop(struct core *core, struct ward *w, const char *end)
{
	watch_stir(core, w->name, w->name_len);
	if (!w->stray)
		token_ended(core, w, end, NULL);
	free_one(core, w);
}

void
ward_gone(struct core *core, struct ward *w)
{
	ward_drop(core, w, why_gone(core, w));
}

/* A hold that was granted since is not meant. */
void
ward_forced(struct core *core, const char *name, size_t len, const char *by,
    int64_t sent_ms)
{
	struct ward *w = ward_find(core, name, len);

	if (w == NULL || w->since_ms > sent_ms)
		return;
	watch_stir(core, w->name, w->name_len);
	token_ended(core, w, "forced", by);
	free_one(core, w);
}

static struct ward *
make(struct core *core, const struct token_name *n, bool stray)
{
	struct tokens *all = core->tokens;
	struct ward *w = xcalloc(1, sizeof(*w) + n->len);

	assert(stray || ward_find(core, n->name, n->len) == NULL);
	w->timer.kind = TIMER_WARD;
	w->shard = guard_shard(core, n->name, n->len);
	w->stray = stray;
	w->since_ms = core->now_ms;
	w->name_len = n->len;
	memcpy(w->name, n->name, n->len);
	if (stray) {
		TAILQ_INSERT_TAIL(&all->strays, w, link);
		all->nstrays++;
		note_more(core);
		return w;
	}
	TAILQ_INSERT_TAIL(&all->wards, w, link);
	table_add(&all->by_name, &w->by_name);
	all->nwards++;
	core->owners->ntokens++;
	token_holds(core, w);
	note_more(core);
	return w;
}

/* The first moment that is surely past the bound: the one from which it counts
 * was cut to a millisecond. */
static int64_t
over_ms(const struct ward *w)
{
	return w->until_ms == TOKEN_HOLD_ALWAYS ? TOKEN_HOLD_ALWAYS
						: w->until_ms + 1;
}

/* Arms the timer for the end of the hold, or for the next look. */
static void
arm(struct core *core, struct ward *w, int64_t pause_ms)
{
	core_arm(core, &w->timer, min_ms(over_ms(w), core->now_ms + pause_ms));
}

static void
set_text(char **to, const char *text)
{
	free(*to);
	*to = text != NULL ? xstrdup(text) : NULL;
}

/* The answer tells what was left when the script ran, which was before now: a
 * ward does not end before its hold. */
static void
set_until(struct core *core, struct ward *w, int64_t left_ms)
{
	w->until_ms = left_ms < 0 ? TOKEN_HOLD_ALWAYS : core->now_ms + left_ms;
}

void
ward_take(struct core *core, const struct token_name *n, const char *client,
    const struct owner *asker)
{
	struct ward *w = ward_find(core, n->name, n->len);

	assert(n->fence > 0 && client != NULL);
	/* An answer may be overtaken by one to a later request. */
	if (w != NULL &&
	    (w->fence > n->fence || (w->fence == n->fence && w->seq > n->seq)))
		return;
	/* A new hold of the name: the one before it is over, whatever became of
	 * it. */
	if (w != NULL && w->fence < n->fence) {
		ward_gone(core, w);
		w = NULL;
	}
	if (w == NULL) {
		w = make(core, n, false);
		w->waited_ms = n->waited_ms;
	}
	w->asked = false; /* an answer about the old hold no longer counts */
	w->seq = n->seq;
	w->fence = n->fence;
	w->epoch = guard_epoch(core, w->shard);
	set_until(core, w, n->left_ms);
	set_text(&w->client, client);
	if (asker != NULL) {
		set_text(&w->peer, asker->peer);
		set_text(&w->label, asker->label);
		set_text(&w->user, asker->user);
		share_pass(core, &w->share, asker->user);
		w->session = asker->id;
	}
	arm(core, w, core->config.lease_ms);
	watch_stir(core, w->name, w->name_len);
}

/* Operations. */

static void
ask(struct core *core, struct ward *w, enum op_kind kind)
{
	struct slot *slot;
	struct op *op;

	assert(!w->asked);
	w->asked = true;
	w->asked_epoch = guard_epoch(core, w->shard);
	note_more(core);
	op = slot_submit(
	    core, &slot, kind, SLOT_WARD, w->shard, w->name, w->name_len);
	slot->ref = w->seq;
	slot->name = xstrndup(w->name, w->name_len);
	slot->name_len = w->name_len;
	op->seq = w->seq;
	/* `u`: ends what has this token, a hold or a place in the queue. */
	if (kind != OP_RETAIN) {
		memcpy(op->how, "u--", sizeof(op->how));
		return;
	}
	op->fence = w->fence;
	if (w->until_ms != TOKEN_HOLD_ALWAYS)
		op->ttl_ms = w->until_ms - core->now_ms;
	emit_op_client(core, op, w->client, "");
}

/* The key of a stray has ended by itself then. */
static void
end_at_bound(struct core *core, struct ward *w)
{
	const struct token_name n = {
		.name = w->name, .len = w->name_len, .seq = w->seq
	};

	if (!w->stray)
		ward_stray(core, &n);
	ward_drop(core, w, guard_up(core, w->shard) ? "hold" : "unreachable");
}

/* Sends the ward's next operation, if the server can be reached.  If it can't,
 * ward_guard_changed() comes when it can, and the timer all the same. */
static void
go_on(struct core *core, struct ward *w)
{
	if (over_ms(w) <= core->now_ms) {
		end_at_bound(core, w);
		return;
	}
	arm(core, w, core->config.lease_ms);
	if (w->asked || w->until_ms <= core->now_ms ||
	    !guard_up(core, w->shard))
		return;
	ask(core, w, w->stray ? OP_TOKEN : OP_RETAIN);
}

/* Requires the number of an operation of this broker, which is the hold's
 * token. */
void
ward_stray(struct core *core, const struct token_name *n)
{
	struct ward *w = make(core, n, true);

	assert(n->seq != 0);
	w->seq = n->seq;
	set_until(core, w, n->left_ms < 0 ? -1 : n->left_ms + core->pad_ms);
	go_on(core, w);
}

void
ward_doubt(struct core *core, const char *name, size_t len)
{
	struct ward *w = ward_find(core, name, len);

	if (w != NULL)
		arm(core, w, 0);
}

void
ward_timer(struct core *core, struct timer *t)
{
	go_on(core, container_of(t, struct ward, timer));
}

/* An answer about an earlier hold of the name is of no use any more: the number
 * tells.  Strays are few, so they are looked through. */
static struct ward *
find_asked(struct core *core, const struct slot *slot)
{
	struct ward *w = ward_find(core, slot->name, slot->name_len);

	if (slot->op == OP_RETAIN)
		return w != NULL && w->asked && w->seq == slot->ref ? w : NULL;
	TAILQ_FOREACH (w, &core->tokens->strays, link)
		if (w->seq == slot->ref)
			return w;
	return NULL;
}

bool
ward_strays(const struct core *core, const char *name, size_t len)
{
	const struct ward *w;

	TAILQ_FOREACH (w, &core->tokens->strays, link) {
		core_visit(core, 1);
		if (w->name_len == len && memcmp(w->name, name, len) == 0)
			return true;
	}
	return false;
}

uint64_t
ward_first_stray(const struct core *core)
{
	const struct ward *w;
	uint64_t first = 0;

	TAILQ_FOREACH (w, &core->tokens->strays, link)
		if (first == 0 || w->seq < first)
			first = w->seq;
	return first;
}

/* The key is later than the ward if nobody heard of an extension.  Otherwise the
 * ward knows its bound best: the key's is that of the server's clock. */
static void
follow(struct core *core, struct ward *w, const struct outcome *o)
{
	bool extended = o->first > w->seq;
	char *client;

	assert(o->fence == w->fence && o->first >= w->seq);
	if (!extended)
		return;
	set_until(core, w, o->ttl_ms);
	w->seq = o->first;
	client = xstrndup(o->text, o->text_len);
	set_text(&w->client, client);
	free(client);
}

void
ward_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o)
{
	struct ward *w = find_asked(core, slot);

	if (w == NULL)
		return;
	w->asked = false;
	note_more(core);
	switch (o->status) {
	case OUTCOME_RENEWED:
		/* The history may have changed once more since the operation
		 * was sent; then it is asked again at once. */
		w->epoch = w->asked_epoch;
		follow(core, w, o);
		arm(core, w,
		    w->epoch == guard_epoch(core, w->shard)
			? core->config.lease_ms
			: 0);
		return;
	case OUTCOME_LOST:
	case OUTCOME_ENDED:
	case OUTCOME_GONE:
		/* It may be there on the server that has taken over; asked
		 * again, that one says. */
		if (call_outdated(o))
			break;
		ward_gone(core, w);
		return;
	default:
		break;
	}
	arm(core, w, RETRY_MS + core_jitter(core, RETRY_MS));
}

/* Walks over all wards, in parts. */

/* A walk that is under way begins anew: what it has passed is in doubt, too. */
static void
begin(struct core *core)
{
	core->tokens->sweep = TAILQ_FIRST(&core->tokens->wards);
	note_more(core);
}

static void
sweep(struct core *core)
{
	struct tokens *all = core->tokens;
	struct ward *w;

	while (work_left(core) && (w = all->sweep) != NULL) {
		core_visit(core, 1);
		all->sweep = TAILQ_NEXT(w, link);
		/* Any other was confirmed in the present epoch. */
		if (w->epoch != guard_epoch(core, w->shard))
			go_on(core, w);
	}
}

/* Strays first: as long as such a key is there, nobody else is granted the
 * name. */
void
ward_guard_changed(struct core *core, uint32_t shard)
{
	struct ward *w;

	if (!guard_up(core, shard))
		return;
	TAILQ_FOREACH (w, &core->tokens->strays, link) {
		core_visit(core, 1);
		if (w->shard == shard && !w->asked)
			arm(core, w, 0);
	}
	if (core->tokens->nwards > 0)
		begin(core);
}

void
ward_history_changed(struct core *core, uint32_t shard)
{
	(void)shard;
	begin(core);
}

/*
 * Their keys stay in Redis until their bounds, as the clients were told, and
 * another broker takes them up (adopt.h).
 */
static void
leave_all(struct core *core)
{
	struct tokens *all = core->tokens;

	while (work_left(core) && !TAILQ_EMPTY(&all->wards)) {
		core_visit(core, 1);
		all->nleft++;
		free_one(core, TAILQ_FIRST(&all->wards));
	}
	while (work_left(core) && !TAILQ_EMPTY(&all->strays) &&
	       !TAILQ_FIRST(&all->strays)->asked) {
		core_visit(core, 1);
		free_one(core, TAILQ_FIRST(&all->strays));
	}
}

/* A broker that stops looks after no hold any more. */
bool
ward_run(struct core *core)
{
	if (core->stopping)
		leave_all(core);
	else
		sweep(core);
	return has_more(core);
}

void
ward_stop(struct core *core)
{
	note_more(core);
}

/* Messages. */

/*
 * Another broker has ended the hold, or looks after it from now on.  If the
 * hold is not known, the answer that makes it may be under way: its number is
 * remembered.
 */
bool
ward_message(struct core *core, const char *text, size_t len)
{
	static const char word[] = "took ";
	const char *seq = text + sizeof(word) - 1, *space;
	struct ward *w;
	uint64_t n;

	if (len < sizeof(word) || memcmp(text, word, sizeof(word) - 1) != 0)
		return false;
	space = memchr(seq, ' ', len - (size_t)(seq - text));
	if (space == NULL ||
	    !parse_number(seq, (size_t)(space - seq), UINT64_MAX, &n))
		return true;
	w = ward_find(core, space + 1, len - (size_t)(space + 1 - text));
	if (w != NULL && w->seq == n)
		ward_drop(core, w, "taken");
	else
		core->tokens->taken[core->tokens->ntaken++ % TAKEN_MAX] = n;
	return true;
}

bool
ward_was_taken(const struct core *core, uint64_t seq)
{
	unsigned i;

	for (i = 0; i < TAKEN_MAX; i++)
		if (core->tokens->taken[i] == seq)
			return true;
	return false;
}

/* Each ward and each stray waits for its end, or for the next look. */
void
ward_check(const struct core *core)
{
	const struct tokens *all = core->tokens;
	unsigned n = 0, nstrays = 0;
	const struct ward *w;

	TAILQ_FOREACH (w, &all->wards, link) {
		assert(!w->stray && w->fence > 0 && w->client != NULL);
		assert(ward_find(core, w->name, w->name_len) == w);
		assert(timer_armed(&w->timer));
		n++;
	}
	TAILQ_FOREACH (w, &all->strays, link) {
		assert(w->stray && timer_armed(&w->timer));
		nstrays++;
	}
	assert(n == all->nwards && n == all->by_name.n);
	assert(n == core->owners->ntokens);
	assert(shares_sum(core) <= core->owners->ncounted +
				       core->owners->nmade +
				       core->owners->ntokens);
	assert(nstrays == all->nstrays);
	job_check(core, JOB_WARDS, has_more(core));
}
