/*
 * The state of a lease: which one may follow another, what a message has said
 * of it, and what is known of few leases only.
 *
 * Both tables are there to be asserted: a step that is not in them is a fault
 * of this program, and it is better to abort than to vouch for a name by
 * mistake.  The leases of a broker that aborts run out in Redis.
 */
#include "config.h"

#include <stdlib.h>

#include "base/xmalloc.h"
#include "core/kernel/lease/lease.h"
#include "core/kernel/lease/parts.h"

#define FOREIGN_LOOK_MS 750 /* at a plain client's key; 500 of jitter */

#define TO(state) (1u << LEASE_##state)

_Static_assert(LEASE_MAX <= 8, "lease.state has three bits");

/*
 * HELD is entered only by an answer or a message that says that the key has our
 * token, and left for good: the lease is held again only if the store gives the
 * name once more.  NONE goes to ENDING for a place in the queue that only a
 * message has reminded us of (stray() in lock/broker_message.c).
 */
static const unsigned legal[LEASE_MAX] = {
	[LEASE_NONE] = TO(ACQUIRING) | TO(ENDING),
	[LEASE_ACQUIRING] = TO(HELD) | TO(QUEUED) | TO(NONE) | TO(ENDING),
	[LEASE_QUEUED] = TO(HELD) | TO(CONFIRMING) | TO(NONE) | TO(ENDING),
	[LEASE_CONFIRMING] = TO(HELD) | TO(NONE) | TO(ENDING) | TO(LINGERING),
	[LEASE_HELD] = TO(ENDING) | TO(NONE),
	[LEASE_ENDING] = TO(NONE) | TO(QUEUED) | TO(LINGERING),
	[LEASE_LINGERING] = TO(CONFIRMING) | TO(ENDING) | TO(NONE),
};

struct lease_rare *
lease_need_rare(struct lease *l)
{
	if (l->rare == NULL)
		l->rare = xcalloc(1, sizeof(*l->rare));
	return l->rare;
}

void
lease_linger_over(struct lease *l)
{
	if (l->rare != NULL)
		l->rare->linger_ms = l->rare->others_ms = 0;
}

void
lease_not_idle(struct lease *l)
{
	if (l->rare != NULL)
		l->rare->idle_ms = 0;
}

void
lease_set_why(struct lease *l, char *why)
{
	free(lease_rare(l)->why);
	if (why != NULL || l->rare != NULL)
		lease_need_rare(l)->why = why;
}

void
lease_set_elsewhere(struct lease *l, const char *token, size_t len)
{
	free(lease_rare(l)->elsewhere);
	if (len > 0)
		lease_need_rare(l)->elsewhere = xstrndup(token, len);
	else if (l->rare != NULL)
		l->rare->elsewhere = NULL;
}

/* The term of a lease ends here, whatever the reason is.  wake_ms means
 * something else in each state, so none takes it over from the one before. */
void
lease_set_state(struct core *core, struct lease *l, enum lease_state state)
{
	if (l->state == state)
		return;
	assert(lease_is_held(l) == (l->term.state != TERM_OVER));
	assert(legal[l->state] & (1u << state));
	core->leases->nlingering +=
	    (state == LEASE_LINGERING) - (l->state == LEASE_LINGERING);
	l->state = state;
	if (!lease_is_held(l))
		term_end(core, &l->term);
	l->term.wake_ms = 0;
	l->for_blocked = false;
	if (state != LEASE_LINGERING)
		l->hand_on = false;
}

/* A lease without `rare` says anyway that no one waits. */
void
lease_told_waiting(struct core *core, struct lease *l, bool waiting)
{
	if (waiting || l->rare != NULL)
		contention_told(core, &lease_need_rare(l)->contention, waiting);
}

/* News. */

#define NEWS(news) (1u << NEWS_##news)

static const unsigned news_legal[NEWS_MAX] = {
	[NEWS_NONE] = NEWS(NONE) | NEWS(WOKEN) | NEWS(HANDOVER),
	[NEWS_WOKEN] = NEWS(NONE) | NEWS(HANDOVER),
	[NEWS_HANDOVER] = NEWS(NONE),
};

void
lease_set_news(struct lease *l, enum lease_news news)
{
	assert(news < NEWS_MAX);
	assert(news_legal[l->news] & (1u << news));
	l->news = news;
}

/* A `grant` after a `given` says less than that, and changes nothing. */
void
lease_woken(struct lease *l)
{
	if (l->news == NEWS_NONE)
		lease_set_news(l, NEWS_WOKEN);
}

void
lease_no_news(struct lease *l)
{
	lease_set_news(l, NEWS_NONE);
}

/* Another's key. */

/*
 * Looks when the other's key ends (ttl_ms -1: never, or unknown), and after a
 * lease in any case: that renews this broker's place in the queue, and finds
 * out what a lost message would have said.  A plain client ends its key without
 * a message, so the broker at the head of the queue looks more often.
 */
void
lease_plan_look(struct core *core, struct lease *l, const struct outcome *o)
{
	int64_t pause_ms = core->config.lease_ms;

	assert(l->state == LEASE_QUEUED || l->state == LEASE_NONE);
	if (o->ttl_ms >= 0)
		pause_ms = min_ms(pause_ms, o->ttl_ms + LOOK_SLACK_MS);
	if (l->foreign && !o->waiting)
		pause_ms =
		    min_ms(pause_ms, FOREIGN_LOOK_MS + core_jitter(core, 500));
	l->term.wake_ms = core->now_ms + pause_ms;
}
