/*
 * WHY: a chain of names, each with its holder.
 *
 *	name --> held here ----------------------> a link --> what its holder
 *	     --> LOOK --> another broker has it              waits for: the next
 *	                  --> `about` there -----> a link    name, or the end
 *	              --> no one, or a plain client's key: the end
 *
 * Each broker that is asked reports one link, and no more; so this one can
 * count the links, see a circle, and answer with those that it has when the
 * time is up.  The driver shows no link whose name the asker may not watch.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/xmalloc.h"
#include "core/kernel/guard/guard.h"
#include "core/kernel/lock/hold.h"
#include "core/kernel/lock/hooks.h"
#include "core/kernel/lock/lock.h"
#include "core/kernel/lock/stored.h"
#include "core/kernel/session/quota.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/work.h"
#include "core/parts/ids.h"
#include "core/parts/views/about.h"

#define WHY_MS 2000
#define LINKS_MAX 16

/* A name and its holder; texts are owned, NULL: not known. */
struct chain_link {
	char *name;
	size_t name_len;
	const char *state; /* static */
	char *holder, *broker, *address;
	uint64_t session;
	int64_t age_ms, risk_ms, kept_ms; /* below 0: there is none */
	bool tagged;			  /* its waiter may go on without it */
};

/* One request.  Freed when it is answered; until then the last link may have
 * only its name. */
struct why {
	struct table_link by_id;
	struct timer deadline;
	uint64_t id; /* what its operations carry */
	uint64_t session, ref;
	struct chain_link links[LINKS_MAX];
	unsigned n;
};

struct whys {
	struct table by_id;
	uint64_t last; /* id */
};

static struct whys *
whys_of(const struct core *core)
{
	return core->part[PART_WHY];
}

static struct why *
find_id(const struct core *core, uint64_t id)
{
	return container_or_null(
	    table_find_key(&whys_of(core)->by_id, &id), struct why, by_id);
}

static void
why_free(struct core *core, struct why *y)
{
	unsigned i;

	for (i = 0; i < y->n; i++) {
		free(y->links[i].name);
		free(y->links[i].holder);
		free(y->links[i].broker);
		free(y->links[i].address);
	}
	table_remove(&whys_of(core)->by_id, &y->by_id);
	core_disarm(core, &y->deadline);
	free(y);
}

/* The answer. */

static void
emit_known(struct core *core, enum field_id id, const char *text)
{
	if (text != NULL)
		emit_text(core, id, text);
}

static void
emit_left(struct core *core, enum field_id id, int64_t ms)
{
	if (ms >= 0)
		emit_num(core, id, (uint64_t)ms);
}

static void
emit_chain_link(struct core *core, const struct chain_link *k, const char *end)
{
	emit_link(core, k->name, k->name_len);
	emit_text(core, FIELD_STATE, k->state);
	emit_known(core, FIELD_HELD_BY, k->holder);
	emit_left(core, FIELD_AGE, k->age_ms);
	emit_known(core, FIELD_BROKER, k->broker);
	emit_known(core, FIELD_ADDRESS, k->address);
	emit_left(core, FIELD_AT_RISK, k->risk_ms);
	if (k->session != 0)
		emit_num(core, FIELD_SESSION, k->session);
	emit_left(core, FIELD_KEPT, k->kept_ms);
	if (k->tagged)
		emit_num(core, FIELD_TAGGED, 1);
	emit_text(core, FIELD_END, end);
}

/* The driver needs an end for each link: it may be the last that is shown. */
static void
answer(struct core *core, struct why *y, const char *end)
{
	unsigned i;

	emit_why(core, y->session, y->ref, y->n);
	for (i = 0; i < y->n; i++)
		emit_chain_link(
		    core, &y->links[i], i + 1 < y->n ? "denied" : end);
	why_free(core, y);
}

/* Links. */

static struct chain_link *
last(struct why *y)
{
	assert(y->n > 0);
	return &y->links[y->n - 1];
}

static void
add(struct why *y, struct span name)
{
	struct chain_link *k = &y->links[y->n++];

	k->name = xstrndup(name.p, name.n);
	k->name_len = name.n;
	k->state = "unknown";
	k->age_ms = k->risk_ms = k->kept_ms = -1;
}

static char *
copy_text(struct span text)
{
	return text.n > 0 ? xstrndup(text.p, text.n) : NULL;
}

/* Takes a broker's report on the last name. */
static void
fill(struct chain_link *k, const struct about *a)
{
	if (strcmp(k->state, "unknown") == 0)
		k->state = "held";
	k->holder = copy_text(a->label.n > 0 ? a->label : a->peer);
	k->session = a->session;
	k->age_ms = a->age_ms;
	k->risk_ms = a->risk_ms;
	if (a->fence == 0 && a->session == 0)
		k->kept_ms = a->until_ms;
}

static bool
is_in(const struct why *y, struct span name)
{
	unsigned i = 0;

	while (i < y->n && !span_same(name, (struct span){ y->links[i].name,
						y->links[i].name_len }))
		i++;
	return i < y->n;
}

/* The name that the holder of the last one waits for is the next.  False: there
 * is none, and that was answered. */
static bool
add_next(struct core *core, struct why *y, const struct about *a)
{
	if (a->waits.n == 0 || last(y)->tagged)
		answer(core, y, "holder");
	else if (is_in(y, a->waits))
		answer(core, y, "circle");
	else if (y->n == LINKS_MAX)
		answer(core, y, "unknown");
	else {
		add(y, a->waits);
		last(y)->tagged = a->tagged != 0;
		return true;
	}
	return false;
}

static bool
link_told(struct core *core, struct why *y, struct about *a)
{
	struct chain_link *k = last(y);
	const struct lock *l = lock_find(core, k->name, k->name_len);

	core_visit(core, 1);
	if (!about_here(core, l, a) &&
	    LOCK_ASK(token_held, core, k->name, k->name_len, a) == 0)
		return false;
	if (l != NULL && l->shared_hold && hold_first(l) != NULL)
		k->state = "shared";
	fill(k, a);
	k->broker = xstrndup(core->broker, strlen(core->broker));
	k->address = copy_text(span_of(core->address));
	return true;
}

static void
ask_redis(struct core *core, const struct why *y, int64_t waited_ms)
{
	const struct chain_link *k = &y->links[y->n - 1];
	struct slot *slot;
	struct op *op = slot_submit(core, &slot, OP_STATUS, SLOT_WHY,
	    guard_shard(core, k->name, k->name_len), k->name, k->name_len);

	op->look = KIND_LOCK;
	op->timeout_ms -= waited_ms;
	slot->waited_ms = waited_ms;
	slot->ref = y->id;
	slot->name = xstrndup(k->name, k->name_len);
	slot->name_len = k->name_len;
}

/* Follows the chain as far as it goes without a question. */
static void
go_on(struct core *core, struct why *y)
{
	const struct chain_link *k;
	struct about a;

	while (link_told(core, y, &a))
		if (!add_next(core, y, &a))
			return;
	k = last(y);
	if (!core->stopping &&
	    guard_up(core, guard_shard(core, k->name, k->name_len)))
		ask_redis(core, y, 0);
	else
		answer(core, y, "unknown");
}

void
why_request(
    struct core *core, struct owner *owner, const struct core_request *rq)
{
	struct span name = { rq->names[0].p, rq->names[0].n };
	struct lock *l = lock_find(core, name.p, name.n);
	struct why *y;

	if (!quota_open(core, owner, rq->ref))
		return;
	/* The owner is told of a loss before the answer. */
	if (l != NULL)
		lock_look(core, l, owner);
	y = xcalloc(1, sizeof(*y));
	y->id = ++whys_of(core)->last;
	y->session = owner->id;
	y->ref = rq->ref;
	table_add(&whys_of(core)->by_id, &y->by_id);
	y->deadline.kind = TIMER_WHY;
	core_arm(core, &y->deadline, core->now_ms + WHY_MS);
	add(y, name);
	go_on(core, y);
}

/* Outcomes. */

static void
on_why_again(struct core *core, const struct slot *slot, int64_t left_ms)
{
	const struct why *y = find_id(core, slot->ref);

	if (y != NULL)
		ask_redis(core, y, core->config.reply_timeout_ms - left_ms);
}

static void
on_why_told(struct core *core, const struct slot *slot, const struct outcome *o,
    const struct about *a)
{
	struct why *y = find_id(core, slot->ref);

	(void)o;
	if (y == NULL)
		return;
	if (a == NULL ||
	    (a->session == 0 && a->fence == 0 && a->until_ms < 0)) {
		answer(core, y, "unknown");
		return;
	}
	fill(last(y), a);
	if (add_next(core, y, a))
		go_on(core, y);
}

static void
on_why(struct core *core, const struct slot *slot, const struct outcome *o)
{
	struct why *y = find_id(core, slot->ref);
	const struct lock *l;
	struct chain_link *k;
	struct stored v;
	struct about a;

	if (y == NULL)
		return;
	k = last(y);
	l = lock_find(core, k->name, k->name_len);
	/* This broker may have the name by now. */
	if (about_here(core, l, &a)) {
		go_on(core, y);
		return;
	}
	if (o->status != OUTCOME_VALUE && o->status != OUTCOME_GONE) {
		answer(core, y, "unknown");
		return;
	}
	/* A lease of ours without a holder is on its way in or out. */
	v = stored_parse(
	    o->text, l != NULL && stored_is_ours(core, o->text, o->text_len)
			 ? 0
			 : o->text_len);
	k->state = v.state;
	if (v.broker_len > 0) {
		k->broker = xstrndup(o->text, v.broker_len);
		k->address = copy_text((struct span){ o->also, o->also_len });
	}
	if (v.free)
		answer(core, y, "holder");
	else if (v.broker_len == 0 ||
		 !about_ask(core, slot, o, ABOUT_EACH_SECOND))
		answer(core, y, "unknown");
}

static void
on_why_timer(struct core *core, struct timer *t)
{
	answer(core, container_of(t, struct why, deadline), "unknown");
}

static void
whys_init(struct core *core)
{
	core->part[PART_WHY] = xcalloc(1, sizeof(struct whys));
	table_init_key(&whys_of(core)->by_id, struct why, by_id, id);
}

static void
whys_fini(struct core *core)
{
	struct table_walk walk;
	struct table_link *link;

	for (link = table_first(&whys_of(core)->by_id, &walk); link != NULL;
	     link = table_next(&walk))
		why_free(core, container_of(link, struct why, by_id));
	table_fini(&whys_of(core)->by_id);
	free(whys_of(core));
}

/* As a part. */

static const struct part_timer timers[] = {
	{ TIMER_WHY, { AGENDA_PATIENT, on_why_timer } },
	{ 0 },
};

static const struct part_slot slots[] = {
	{ SLOT_WHY,
	    { .outcome = on_why, .again = on_why_again, .told = on_why_told } },
	{ 0 },
};

const struct core_part why_part = {
	.id = PART_WHY,
	.init = whys_init,
	.fini = whys_fini,
	.timers = timers,
	.slots = slots,
};
