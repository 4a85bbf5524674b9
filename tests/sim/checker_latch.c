/*
 * Promises about latches: each count-down counts once, whatever became of its
 * reply; nobody is told that a latch is open before it is; who waits for one
 * that is open hears of it, however late he came; and a latch goes away only
 * when it was not used for its ttl.
 *
 * A latch is known from the answer to the LATCH that made it, as long as
 * nothing may have made another.  What has no answer, or came while that LATCH
 * was under way, may have been counted: then a count is right within bounds.
 */
#include "config.h"

#include "checker_state.h"
#include "world.h"

#define SURE_US 200000 /* of life left, which no delay without faults eats */

static struct latch_facts *
facts_of(struct world *w, const struct ask *ask)
{
	return &w->checker.latches[ask->object];
}

static bool
is_latch(const struct ask *ask)
{
	return ask->kind == ASK_LATCH || ask->kind == ASK_COUNTDOWN ||
	       ask->kind == ASK_AWAIT;
}

void
checker_latch_init(struct world *w)
{
	int i;

	for (i = 0; i < CHECKER_LATCHES_MAX; i++) {
		w->checker.latches[i].open_us = -1;
		w->checker.latches[i].forgot_us = -1;
	}
}

static void
forget(struct latch_facts *f)
{
	f->known = false;
	f->open_us = -1;
	f->life++;
}

void
checker_latch_amnesia(struct world *w)
{
	int i;

	for (i = 0; i < CHECKER_LATCHES_MAX; i++) {
		forget(&w->checker.latches[i]);
		w->checker.latches[i].forgot_us = world_now(w);
	}
}

/* Requests for a latch that are under way: how much they may count, or, of
 * LATCH, how many they are. */
static uint64_t
under_way(const struct checker *k, int latch, enum ask_kind kind)
{
	const struct ask *ask;
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < k->nopen; i++) {
		ask = &k->asks[k->open[i] - 1];
		if (ask->kind == kind && ask->object == latch)
			n += kind == ASK_LATCH ? 1 : ask->number;
	}
	return n;
}

/* It may have ended, and another may have been made. */
static void
refresh(struct world *w, int latch)
{
	struct latch_facts *f = &w->checker.latches[latch];

	if (f->known && world_now(w) > f->alive_us &&
	    (f->obscure || under_way(&w->checker, latch, ASK_LATCH) > 0))
		forget(f);
}

void
checker_latch_received(struct world *w, struct ask *ask)
{
	struct latch_facts *f;

	if (!is_latch(ask))
		return;
	refresh(w, ask->object);
	f = facts_of(w, ask);
	ask->life = f->known ? f->life : UINT64_MAX;
	ask->seen = f->sure;
	ask->open = f->known && f->open_us >= 0;
	ask->safe = f->known && world_now(w) + SURE_US < f->alive_us;
}

/* It may have been carried out, or may still be. */
static void
leave_open(struct world *w, const struct ask *ask)
{
	struct latch_facts *f = facts_of(w, ask);

	if (ask->kind == ASK_LATCH) {
		f->makers++;
		f->obscure = true;
	}
	if (ask->kind != ASK_COUNTDOWN)
		return;
	if (world_now(w) > f->stray_us)
		f->stray = 0;
	f->perhaps += ask->number;
	f->stray += ask->number;
	f->stray_us = world_now(w) + faults_patience_us(w);
}

void
checker_latch_gone(struct world *w, const struct ask *ask)
{
	if (is_latch(ask))
		leave_open(w, ask);
}

/* It was used, and lives on for its ttl. */
static void
touch(struct latch_facts *f, const struct ask *ask)
{
	if (ask->received_us + f->ttl_us > f->alive_us)
		f->alive_us = ask->received_us + f->ttl_us;
}

/* Was it there all the time, as it is known now? */
static bool
same_life(const struct latch_facts *f, const struct ask *ask)
{
	return f->known && f->life == ask->life;
}

/* Counted for a latch whose LATCH was under way at the time. */
static uint64_t
counted_since(const struct checker *k, const struct ask *made)
{
	const struct ask *ask;
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < k->nasks; i++) {
		ask = &k->asks[i];
		if (ask->kind == ASK_COUNTDOWN && ask->answered &&
		    ask->object == made->object &&
		    ask->ended_us >= made->received_us)
			n += ask->number;
	}
	return n;
}

static void
on_made(struct world *w, const struct answer *a, const struct ask *ask)
{
	struct latch_facts *f = facts_of(w, ask);

	if (same_life(f, ask) && world_now(w) < f->alive_us)
		world_fail(w, "latch",
		    "l%d is made by request %llu, and was there for %lld ms "
		    "more",
		    ask->object, (unsigned long long)ask->ref,
		    (long long)(f->alive_us - world_now(w)) / 1000);
	if (a->count != ask->number)
		world_fail(w, "latch", "l%d is made with %llu instead of %llu",
		    ask->object, (unsigned long long)a->count,
		    (unsigned long long)ask->number);
	f->makers++;
	forget(f);
	if (ask->received_us <= f->forgot_us) {
		f->obscure = true;
		return;
	}
	f->known = true;
	f->first = ask->number;
	f->sure = 0;
	f->perhaps = counted_since(&w->checker, ask);
	if (world_now(w) <= f->stray_us)
		f->perhaps += f->stray;
	f->ttl_us = ask->ttl_ms * 980;
	f->alive_us = 0;
	touch(f, ask);
}

static uint64_t
left_of(uint64_t count, uint64_t by)
{
	return count > by ? count - by : 0;
}

static void
on_counted(struct world *w, const struct answer *a, const struct ask *ask)
{
	struct latch_facts *f = facts_of(w, ask);
	uint64_t most, least;

	if (!same_life(f, ask)) {
		f->perhaps += ask->number;
		return;
	}
	f->sure += ask->number;
	most = left_of(f->first, ask->seen + ask->number);
	least = left_of(
	    f->first, f->sure + f->perhaps +
			  under_way(&w->checker, ask->object, ASK_COUNTDOWN));
	if (a->count < least || a->count > most)
		world_fail(w, "latch",
		    "l%d: request %llu leaves %llu, which should be %llu to "
		    "%llu",
		    ask->object, (unsigned long long)ask->ref,
		    (unsigned long long)a->count, (unsigned long long)least,
		    (unsigned long long)most);
	if (f->sure >= f->first && f->open_us < 0)
		f->open_us = world_now(w);
	touch(f, ask);
}

static void
on_open(struct world *w, const struct ask *ask)
{
	struct latch_facts *f = facts_of(w, ask);
	uint64_t counted;

	if (!same_life(f, ask))
		return;
	counted = f->sure + f->perhaps +
		  under_way(&w->checker, ask->object, ASK_COUNTDOWN);
	if (counted < f->first)
		world_fail(w, "latch",
		    "request %llu hears that l%d is open, of which %llu are "
		    "left",
		    (unsigned long long)ask->ref, ask->object,
		    (unsigned long long)(f->first - counted));
	touch(f, ask);
}

static void
on_not_found(struct world *w, const struct ask *ask)
{
	const struct latch_facts *f = facts_of(w, ask);

	if (!same_life(f, ask))
		return;
	/* While somebody waits for it, it is used. */
	if (world_now(w) < f->alive_us ||
	    (ask->kind == ASK_AWAIT && ask->safe && faults_none(w)))
		world_fail(w, "latch",
		    "request %llu does not find l%d, which should be there",
		    (unsigned long long)ask->ref, ask->object);
}

static void
on_ok(struct world *w, const struct answer *a, const struct ask *ask)
{
	if (ask->kind == ASK_LATCH)
		on_made(w, a, ask);
	else if (ask->kind == ASK_COUNTDOWN)
		on_counted(w, a, ask);
	else
		on_open(w, ask);
}

void
checker_latch_answered(struct world *w, const struct broker *b,
    const struct answer *a, const struct ask *ask)
{
	struct latch_facts *f;

	if (!is_latch(ask))
		return;
	refresh(w, ask->object);
	f = facts_of(w, ask);
	if (a->status == STATUS_OK)
		on_ok(w, a, ask);
	else if (a->code == ERR_NOT_FOUND)
		on_not_found(w, ask);
	else if (a->code == ERR_EXISTS) {
		if (f->makers +
			under_way(&w->checker, ask->object, ASK_LATCH) ==
		    0)
			world_fail(w, "latch",
			    "request %llu finds l%d, which nobody has made",
			    (unsigned long long)ask->ref, ask->object);
	} else if (a->status == STATUS_ERR && a->code != ERR_LIMIT)
		leave_open(w, ask);
	else if (a->status == STATUS_TIMEOUT && ask->wait_ms == 0 &&
		 ask->open && same_life(f, ask) && faults_none(w))
		world_fail(w, "latch",
		    "%s tells request %llu that l%d is not open", b->name,
		    (unsigned long long)ask->ref, ask->object);
}

/* Late or early, who waits for a latch that is open is told. */
void
checker_latch_look(struct world *w)
{
	const struct checker *k = &w->checker;
	const struct latch_facts *f;
	const struct ask *ask;
	int64_t since_us;
	size_t i;

	for (i = 0; i < k->nopen; i++) {
		ask = &k->asks[k->open[i] - 1];
		if (ask->kind != ASK_AWAIT || w->brokers[ask->broker].frozen)
			continue;
		f = &k->latches[ask->object];
		if (!f->known || f->open_us < 0)
			continue;
		since_us = ask->received_us;
		if (since_us < f->open_us)
			since_us = f->open_us;
		if (since_us < faults_calm_us(w))
			since_us = faults_calm_us(w);
		if (world_now(w) - since_us > faults_patience_us(w))
			world_fail(w, "latch",
			    "request %llu waits for l%d, which is open for "
			    "%lld ms",
			    (unsigned long long)ask->ref, ask->object,
			    (long long)(world_now(w) - f->open_us) / 1000);
	}
}
