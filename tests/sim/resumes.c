/*
 * See resumes.h.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "core/dump.h"

#include "bond.h"
#include "resumes.h"
#include "world.h"

#define ANSWER_MS 3000
#define LOOK_US 10000

enum stage {
	ASKS,
	TOLD, /* yes, and waits for room in the channel */
	UNDER_WAY
};

/* A RESUME that waits.  Owned by the world, and under way by the channel. */
struct quest {
	TAILQ_ENTRY(quest) entry;
	struct broker *of;
	uint64_t id, number;
	uint64_t sitting, ref, resumes;
	char key[CLIENT_KEY_SIZE];
	enum stage stage;
	struct input_list held; /* lines behind the RESUME */
};

static event_fn resumes_on_late;

void
resumes_init(struct world *w)
{
	TAILQ_INIT(&w->quests);
}

static struct quest *
quest_of(const struct world *w, uint64_t sitting)
{
	struct quest *q;

	TAILQ_FOREACH (q, &w->quests, entry)
		if (q->sitting == sitting)
			return q;
	return NULL;
}

static void
discard(struct quest *q)
{
	struct input *in;

	while ((in = STAILQ_FIRST(&q->held)) != NULL) {
		STAILQ_REMOVE_HEAD(&q->held, entry);
		free(in);
	}
	free(q);
}

static void
quest_free(struct world *w, struct quest *q)
{
	TAILQ_REMOVE(&w->quests, q, entry);
	discard(q);
}

/* The lines that came behind it follow. */
static void
release(struct broker *b, struct quest *q)
{
	struct input *in;

	while ((in = STAILQ_FIRST(&q->held)) != NULL) {
		STAILQ_REMOVE_HEAD(&q->held, entry);
		broker_input(b, in);
	}
}

static void
refuse(struct quest *q, enum err_code code)
{
	struct broker *b = q->of;

	broker_refuse(b, q->sitting, q->ref, code);
	release(b, q);
	quest_free(b->w, q);
}

static void
resumes_on_late(void *object, uint64_t tag)
{
	struct world *w = object;
	struct quest *q;

	TAILQ_FOREACH (q, &w->quests, entry)
		if (q->id == tag)
			break;
	if (q == NULL || q->stage == UNDER_WAY)
		return;
	if (broker_stalled(q->of)) {
		events_at(&w->events, world_now(w) + LOOK_US, resumes_on_late,
		    w, tag);
		return;
	}
	TRACE(w, "%s: nobody says who has the session of @%llu", q->of->name,
	    (unsigned long long)q->ref);
	refuse(q, ERR_UNAVAILABLE);
}

static void
ask(struct quest *q)
{
	struct world *w = q->of->w;
	struct parcel has = { .word = BOND_HAS };

	q->stage = ASKS;
	q->number = has.number = ++w->quest_number;
	memcpy(has.key, q->key, sizeof(has.key));
	if (!bond_has(q->of))
		refuse(q, ERR_NOT_FOUND);
	else if (!bond_tell(q->of, &has, bond_of(q->of)->most))
		refuse(q, ERR_UNAVAILABLE);
}

bool
resumes_asks(struct broker *b, const struct input *in)
{
	struct world *w = b->w;
	struct quest *q;

	if (!bond_has(b) || world_ablated(w, ABLATE_ASK) ||
	    core_resumable(
		b->core, broker_clock_ms(b), in->key, strlen(in->key), NULL))
		return false;
	q = xcalloc(1, sizeof(*q));
	q->of = b;
	q->id = ++w->quest_number;
	q->sitting = in->sitting;
	q->ref = in->ref;
	q->resumes = in->resumes;
	memcpy(q->key, in->key, sizeof(q->key));
	STAILQ_INIT(&q->held);
	TAILQ_INSERT_TAIL(&w->quests, q, entry);
	events_at(&w->events, world_now(w) + ANSWER_MS * 1000, resumes_on_late,
	    w, q->id);
	ask(q);
	return true;
}

/* While it waits for an answer, a client sends nothing but its end. */
static struct input *
copy_of(const struct input *in)
{
	struct input *copy = xmalloc(sizeof(*copy));

	*copy = *in;
	return copy;
}

bool
resumes_diverts(struct broker *b, const struct input *in)
{
	struct world *w = b->w;
	struct quest *q;
	struct broker *at;
	struct input *copy;

	if (!w->leaves || in->sitting == 0)
		return false;
	q = quest_of(w, in->sitting);
	at = &w->brokers[checker_broker(w, in->sitting)];
	if (q == NULL && at == b)
		return false;
	if (q == NULL) {
		broker_input(at, copy_of(in));
		return true;
	}
	if (q->stage != UNDER_WAY && in->kind == INPUT_GONE) {
		quest_free(w, q);
		return false;
	}
	copy = copy_of(in);
	STAILQ_INSERT_TAIL(&q->held, copy, entry);
	return true;
}

bool
resumes_holds(struct world *w, struct input *in)
{
	struct quest *q = in->sitting != 0 ? quest_of(w, in->sitting) : NULL;

	if (q == NULL || q->stage != UNDER_WAY)
		return false;
	STAILQ_INSERT_TAIL(&q->held, in, entry);
	return true;
}

/* The connection is the other one's from now on. */
static void
let_go(struct quest *q)
{
	struct core_event event = { .kind = CORE_GONE };
	struct broker *b = q->of, *to = leaving_twin(b);

	TRACE(b->w, "%s hands connection %llu to process %d", b->name,
	    (unsigned long long)q->sitting, to->index);
	q->stage = UNDER_WAY;
	event.u.gone.session = q->sitting;
	broker_step(b, &event);
	checker_handed(b->w, q->sitting, q->ref, to->index);
	client_handed(b->w, q->sitting, to);
}

static void
give(struct quest *q)
{
	struct broker *b = q->of;

	if (bond_hand(b, q))
		let_go(q);
	else if (bond_has_room(b))
		refuse(q, ERR_UNAVAILABLE);
}

void
resumes_room(struct broker *b)
{
	struct quest *q, *next;

	TAILQ_FOREACH_SAFE (q, &b->w->quests, entry, next)
		if (q->of == b && q->stage == TOLD && bond_has_room(b))
			give(q);
}

static void
on_answer(struct broker *b, const struct parcel *p)
{
	struct quest *q;

	TAILQ_FOREACH (q, &b->w->quests, entry)
		if (q->of == b && q->number == p->number && q->stage == ASKS)
			break;
	if (q == NULL)
		return;
	if (p->word == BOND_NO) {
		refuse(q, ERR_NOT_FOUND);
		return;
	}
	q->stage = TOLD;
	if (bond_has_room(b))
		give(q);
}

static void
on_has(struct broker *b, const struct parcel *p)
{
	bool yes = b->part != PART_LEAVING ||
		   core_resumable(b->core, broker_clock_ms(b), p->key,
		       strlen(p->key), NULL);
	const struct parcel answer = { .word = yes ? BOND_YES : BOND_NO,
		.number = p->number };

	if (yes) {
		b->promised++;
		b->promised_us = world_now(b->w);
	}
	(void)bond_tell(b, &answer, BOND_ANY);
}

/* It came to us, and says RESUME. */
static void
on_take(struct broker *b, struct quest *q)
{
	struct input *in = input_new(INPUT_OPEN, q->sitting);

	TAILQ_REMOVE(&b->w->quests, q, entry);
	TRACE(b->w, "process %d takes connection %llu", b->index,
	    (unsigned long long)q->sitting);
	if (b->promised > 0)
		b->promised--;
	broker_input(b, in);
	in = input_new(INPUT_RESUME, q->sitting);
	in->ref = q->ref;
	in->resumes = q->resumes;
	in->broker = b;
	memcpy(in->key, q->key, sizeof(in->key));
	broker_input(b, in);
	release(b, q);
	discard(q);
}

bool
resumes_hears(struct broker *b, const struct parcel *p)
{
	if (p->word == BOND_HAS)
		on_has(b, p);
	else if (p->word == BOND_YES || p->word == BOND_NO)
		on_answer(b, p);
	else if (p->word == BOND_TAKE)
		on_take(b, p->quest);
	else
		return false;
	return true;
}

/* The others are asked again; here that is nobody. */
void
resumes_gone(struct broker *b)
{
	struct quest *q, *next;

	TAILQ_FOREACH_SAFE (q, &b->w->quests, entry, next)
		if (q->of == b && q->stage != UNDER_WAY)
			ask(q);
}

void
resumes_died(struct broker *b)
{
	struct quest *q, *next;

	TAILQ_FOREACH_SAFE (q, &b->w->quests, entry, next)
		if (q->of == b && q->stage != UNDER_WAY)
			quest_free(b->w, q);
	b->promised = 0;
}

void
resumes_lost(struct broker *reader, struct quest *q)
{
	uint64_t sitting = q->sitting;

	if (reader == NULL)
		return;
	quest_free(reader->w, q);
	/* What has died closes all that it has. */
	if (!reader->alive || checker_sitting_gone(reader->w, sitting))
		return;
	checker_gone(reader->w, reader, sitting, false, false);
	client_hung_up(reader->w, sitting);
}

bool
resumes_expects(const struct broker *b)
{
	return b->promised > 0 &&
	       world_now(b->w) < b->promised_us + ANSWER_MS * 1000;
}

/* It may go there and back, and the other one be asked once more. */
int64_t
resumes_more_us(const struct world *w)
{
	return w->leaves ? (3 * ANSWER_MS + 4 * w->lease_ms) * 1010 : 0;
}

bool
resumes_should_find(const struct world *w, const struct ask *ask)
{
	const struct broker *asked = &w->brokers[ask->broker], *has;
	const struct sitting *s;

	if (!w->leaves || ask->resumes == 0)
		return false;
	s = &w->checker.sittings[ask->resumes - 1];
	has = &w->brokers[s->broker];
	return has == leaving_twin(asked) && has->alive && !has->stopping &&
	       bond_joins(bond_of(asked)) &&
	       bond_of(asked)->go_us < ask->received_us && !s->ended &&
	       (s->sitting != 0 || broker_clock_ms(has) < s->until_ms);
}

void
resumes_free(struct world *w)
{
	struct quest *q;

	while ((q = TAILQ_FIRST(&w->quests)) != NULL)
		quest_free(w, q);
}
