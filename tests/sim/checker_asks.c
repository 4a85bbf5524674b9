/*
 * The record of requests: when each was sent, read by a broker, and answered.
 */
#include "config.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/xmalloc.h"

#include "checker_state.h"
#include "world.h"

static const char *const ask_words[ASK_KINDS] = {
#define ASK(id, word, form) word,
	ASKS(ASK)
#undef ASK
};

static const unsigned ask_forms[ASK_KINDS] = {
#define ASK(id, word, form) (form),
	ASKS(ASK)
#undef ASK
};

bool
checker_ask_is(const struct ask *ask, enum ask_form form)
{
	return (ask_forms[ask->kind] & (unsigned)form) != 0;
}

uint64_t
checker_asked(struct world *w, const struct client *c, enum ask_kind kind,
    unsigned nnames, const int *names)
{
	struct checker *k = &w->checker;
	struct ask *a;
	unsigned i;

	if (k->nasks == k->asks_size) {
		k->asks_size = k->asks_size * 2 + 256;
		k->asks = xrealloc(k->asks, k->asks_size * sizeof(*k->asks));
	}
	a = &k->asks[k->nasks++];
	memset(a, 0, sizeof(*a));
	a->ref = k->nasks;
	a->kind = kind;
	a->untagged = true;
	a->session = c->session;
	a->sitting = c->sitting;
	a->broker = c->broker;
	a->nnames = nnames;
	if (nnames > 0)
		memcpy(a->names, names, nnames * sizeof(*names));
	a->name = nnames > 0 ? names[0] : -1;
	a->sent_us = world_now(w);
	for (i = 0; i < nnames && kind == ASK_UNLOCK; i++)
		history_note(&w->history, a->sent_us, HISTORY_INVOKE,
		    c->session, HISTORY_UNLOCK, checker_name(names[i]), a->ref);
	return a->ref;
}

void
checker_wants(struct world *w, uint64_t ref, const struct core_request *rq)
{
	struct ask *a = &w->checker.asks[ref - 1];
	struct history_event *e;
	unsigned i;

	a->wait_ms = rq->wait_ms;
	a->has_hold = rq->has_hold;
	a->hold_ms = rq->hold_ms;
	a->keep_ms = rq->keep_ms;
	a->delay_ms = rq->delay_ms;
	a->untagged = rq->untagged;
	a->shared = rq->shared;
	a->number = rq->number;
	a->limit = rq->limit;
	a->slot = rq->slot;
	a->ttl_ms = rq->ttl_ms;
	a->max_ms = rq->max_ms;
	a->object = rq->names[0].p[1] - '0';
	for (i = 0; i < a->nnames && a->kind == ASK_LOCK; i++) {
		e = history_note(&w->history, a->sent_us, HISTORY_INVOKE,
		    a->session, HISTORY_LOCK, checker_name(a->names[i]),
		    a->ref);
		e->wait_us =
		    a->wait_ms == CORE_WAIT_FOREVER ? -1 : a->wait_ms * 1000;
		e->shared = a->shared;
	}
}

void
checker_cancels(struct world *w, uint64_t ref)
{
	w->checker.asks[ref - 1].cancelled = true;
}

const struct ask *
checker_ask(const struct world *w, uint64_t ref)
{
	assert(ref > 0 && ref <= w->checker.nasks);
	return &w->checker.asks[ref - 1];
}

/*
 * May it pass those who came before?  Who had the name with a keep= may, and
 * who has it now: that is a re-entry, even where Redis must first be told of a
 * longer keep= or delay= and an UNLOCK overtakes it meanwhile.
 */
static bool
is_privileged(struct world *w, const struct ask *ask, int name)
{
	const struct sitting *s = &w->checker.sittings[ask->session - 1];
	const struct grant *g = checker_grant(w, ask->session, name);

	return ((s->kept >> name) & 1) != 0 ||
	       (g != NULL && g->depth - g->parting > 0);
}

static const char *
more_names(const struct ask *ask, char *out)
{
	unsigned i;

	out[0] = '\0';
	for (i = 1; i < ask->nnames; i++)
		sprintf(out + strlen(out), ",n%d", ask->names[i]);
	return out;
}

void
checker_received(struct world *w, const struct broker *b, uint64_t ref)
{
	struct checker *k = &w->checker;
	struct ask *ask = &k->asks[ref - 1];
	struct grant *g;
	char more[3 * CHECKER_NAMES_MAX + 1];
	unsigned i;

	ask->session = checker_session(w, ask->sitting);
	k->sittings[ask->sitting - 1].heard_us = world_now(w);
	if (ask->untagged)
		k->sittings[ask->sitting - 1].waits = ref;
	if (!checker_ask_is(ask, ASK_AT_ONCE) || ask->kind == ASK_SESSION ||
	    ask->kind == ASK_PING)
		checker_hears(w, b, ask->session);
	TRACE(w,
	    "%s from %llu: @%llu %s %d%s%s n=%llu of %llu wait=%lld hold=%lld "
	    "keep=%lld delay=%lld",
	    b->name, (unsigned long long)ask->session, (unsigned long long)ref,
	    ask_words[ask->kind], ask->name < 0 ? ask->object : ask->name,
	    more_names(ask, more), ask->shared ? " shared" : "",
	    (unsigned long long)ask->number, (unsigned long long)ask->limit,
	    (long long)(ask->wait_ms == CORE_WAIT_FOREVER ? -1 : ask->wait_ms),
	    (long long)(ask->has_hold ? ask->hold_ms : -1),
	    (long long)ask->keep_ms, (long long)ask->delay_ms);
	k->ops = 0;
	ask->received = true;
	ask->received_us = ask->idle_us = world_now(w);
	ask->order = ++k->next_order;
	for (i = 0; i < ask->nnames; i++)
		if (is_privileged(w, ask, ask->names[i]))
			ask->ahead |= 1u << ask->names[i];
	ask->privileged = ask->name >= 0 && ((ask->ahead >> ask->name) & 1);
	/* It may be in Redis before it is answered. */
	if (ask->name >= 0 && (ask->keep_ms > 0 || ask->delay_ms > 0) &&
	    checker_grant(w, ask->session, ask->name) != NULL)
		k->sittings[ask->session - 1].kept |= 1u << ask->name;
	if (k->nopen == k->open_size) {
		k->open_size = k->open_size * 2 + 64;
		k->open = xrealloc(k->open, k->open_size * sizeof(*k->open));
	}
	k->open[k->nopen++] = ref;
	if (!checker_ask_is(ask, ASK_AT_ONCE))
		k->sittings[ask->sitting - 1].outstanding++;
	if (ask->kind == ASK_UNLOCK || ask->kind == ASK_RELEASE)
		checker_gives_back(w, ask->session, true);
	checker_permits_received(w, ask);
	checker_force_received(w, ask);
	checker_latch_received(w, ask);
	checker_barrier_received(w, ask);
	for (i = 0; i < ask->nnames && ask->kind == ASK_UNLOCK; i++) {
		g = checker_grant(w, ask->session, ask->names[i]);
		if (g == NULL)
			continue;
		g->parting++;
		checker_drill_unlocks(w, g, ask);
	}
	checker_hunger(w);
}

void
checker_close_ask(struct world *w, struct ask *ask)
{
	struct checker *k = &w->checker;
	size_t i;

	ask->answered = true;
	if (k->sittings[ask->sitting - 1].waits == ask->ref) {
		k->sittings[ask->sitting - 1].waits = 0;
		k->sittings[ask->sitting - 1].heard_us = world_now(w);
	}
	ask->ended_us = world_now(w);
	for (i = 0; i < k->nopen; i++)
		if (k->open[i] == ask->ref) {
			k->open[i] = k->open[--k->nopen];
			break;
		}
	if (!checker_ask_is(ask, ASK_AT_ONCE))
		k->sittings[ask->sitting - 1].outstanding--;
}
