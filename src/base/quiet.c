/*
 * Keeps a line of the log from being written too often.
 */
#include "config.h"

#include "base/now.h"
#include "base/quiet.h"

#define EVERY_MS 1000

bool
quiet_may_log(struct quiet *q, uint64_t *left_out)
{
	int64_t at_ms = now_ms();

	if (at_ms < q->until_ms) {
		q->left_out++;
		return false;
	}
	*left_out = q->left_out;
	q->left_out = 0;
	q->until_ms = at_ms + EVERY_MS;
	return true;
}
