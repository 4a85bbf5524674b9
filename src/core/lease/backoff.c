/*
 * Waiting for a name over a quorum, where there is no queue to wait in: each
 * broker tries by itself, as seldom as it can, because an attempt may take a
 * vote that another needs for a moment.
 *
 * If a majority has the token of one other broker, that one has the name: we do
 * not try before a message says that it is over (`free`), its key ends, or a
 * lease has passed.  Otherwise brokers came in each other's way, or servers are
 * away: the next attempt comes after a random part (full jitter) of a time that
 * doubles.  This file knows only when; votes.c knows who has which vote.
 */
#include "config.h"

#include "base/hash.h"
#include "core/lease/backoff.h"
#include "core/lease/parts.h"

#define FREE_JITTER_MS 4  /* of brokers that all hear the same `free` */
#define RETRY_MAX_MS 200  /* between attempts that nobody is known to win */
#define LOOK_JITTER_MS 20 /* of brokers that wait for the end of one key */
#define FAILED_MAX 8	  /* the time doubles no more often than that */

uint32_t
backoff_token(const char *text, size_t len)
{
	unsigned number = hash_of(text, len);

	return number != 0 ? number : 1;
}

void
backoff_plan(struct core *core, struct lease *l, int64_t took_ms,
    const struct outcome *o)
{
	struct lease_rare *more = lease_need_rare(l);
	int64_t most_ms;

	/* Nobody waited, so no message will come.  Try again if wanted now. */
	if (o->first != 0 && o->status == OUTCOME_BUSY) {
		l->tenure.wake_ms = 0;
		return;
	}
	/* A token that is over (`freed`) may still stand on some servers. */
	if (o->first != 0 && o->first != more->freed) {
		more->rival = (uint32_t)o->first;
		more->failed = 0;
		lease_plan_look(core, l, o);
		l->tenure.wake_ms += core_jitter(core, LOOK_JITTER_MS);
		return;
	}
	most_ms = (FREE_JITTER_MS + took_ms) << more->failed;
	if (more->failed < FAILED_MAX)
		more->failed++;
	l->tenure.wake_ms =
	    core->now_ms + 1 + core_jitter(core, min_ms(most_ms, RETRY_MAX_MS));
}

void
backoff_known(
    struct core *core, struct lease *l, uint32_t rival, int64_t ttl_ms)
{
	struct outcome o = {
		.status = OUTCOME_QUEUED, .first = rival, .ttl_ms = ttl_ms
	};

	if (l->state != LEASE_NONE || l->pending != NULL ||
	    backoff_goes_on(l) || rival == lease_rare(l)->freed)
		return;
	backoff_plan(core, l, 0, &o);
}

void
backoff_over(struct lease *l)
{
	if (l->rare != NULL)
		l->rare->rival = 0;
}

bool
backoff_goes_on(const struct lease *l)
{
	return l->state == LEASE_NONE && lease_rare(l)->rival != 0;
}

/*
 * Each server sends the message.  If it comes while an attempt is under way, it
 * is noted, because that attempt may still see the token.
 */
bool
backoff_freed(struct core *core, struct lease *l, const char *text, size_t len)
{
	uint32_t freed = backoff_token(text, len);

	if ((l->state != LEASE_NONE && l->state != LEASE_ACQUIRING) ||
	    lease_rare(l)->freed == freed)
		return false;
	lease_need_rare(l)->freed = freed;
	if (l->state != LEASE_NONE ||
	    (l->rare->rival != 0 && l->rare->rival != freed))
		return false;
	l->rare->rival = 0;
	l->rare->failed = 0;
	l->tenure.wake_ms = min_ms(l->tenure.wake_ms,
	    core->now_ms + core_jitter(core, FREE_JITTER_MS));
	return true;
}
