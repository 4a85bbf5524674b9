/*
 * Finds the row for an error reply.  A script may carry something out before it
 * raises an error; but each operation of ours runs protected, so an error of a
 * whole call came before the first of them.
 */
#include "config.h"

#include <string.h>

#include "store/refusal.h"

static const struct refusal refusals[] = {
#define REFUSAL(prefix, action, event, text) \
	{ prefix, sizeof(prefix) - 1, REFUSAL_##action, event, text },
	REFUSALS(REFUSAL)
#undef REFUSAL
};

const struct refusal *
refusal_find(const char *error, size_t len)
{
	const struct refusal *r;
	size_t i;

	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		r = &refusals[i];
		if (len < r->prefix_len ||
		    memcmp(error, r->prefix, r->prefix_len) != 0)
			continue;
		if (len == r->prefix_len || error[r->prefix_len] == ' ')
			return r;
	}
	return NULL;
}
