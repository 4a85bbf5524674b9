/* How long a lock is valid by our own clock. */
#include "config.h"

#include <assert.h>

#include "base/now.h"
#include "cli/validity.h"

/* The minimum time between two PINGs, however little validity is left. */
#define ASK_MIN_MS 50
/* The maximum time that KILL needs; and its share of a short validity. */
#define MARGIN_MAX_MS 100
#define MARGIN_PART 40
/* The grace is no more than this part of the longest validity. */
#define GRACE_PART 4

void
validity_init(struct validity *v, int64_t kill_after_ms)
{
	assert(kill_after_ms >= 0);
	*v = (struct validity){ .kill_after_ms = kill_after_ms };
}

void
validity_ask(struct validity *v, int64_t now)
{
	assert(!v->asking);
	v->asking = true;
	v->asked_ms = now;
}

void
validity_forget(struct validity *v)
{
	v->asking = false;
}

void
validity_told(struct validity *v, int64_t valid_ms)
{
	assert(v->asking);
	v->asking = false;
	v->sent_ms = v->asked_ms;
	v->valid_ms = valid_ms;
	if (valid_ms > v->longest_ms)
		v->longest_ms = valid_ms;
}

int64_t
validity_ask_at(const struct validity *v)
{
	const int64_t third_ms = v->valid_ms / 3;

	if (v->asking)
		return NEVER_MS;
	return v->sent_ms + (third_ms > ASK_MIN_MS ? third_ms : ASK_MIN_MS);
}

int64_t
validity_kill_at(const struct validity *v)
{
	int64_t margin_ms = v->longest_ms / MARGIN_PART;

	if (margin_ms > MARGIN_MAX_MS)
		margin_ms = MARGIN_MAX_MS;
	return v->sent_ms + v->valid_ms - margin_ms;
}

int64_t
validity_term_at(const struct validity *v)
{
	int64_t grace_ms = v->longest_ms / GRACE_PART;

	if (grace_ms > v->kill_after_ms)
		grace_ms = v->kill_after_ms;
	return validity_kill_at(v) - grace_ms;
}
