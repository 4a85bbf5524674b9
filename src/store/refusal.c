/*
 * Finds the row for an error reply.  An error that a script raised may have
 * come after something was carried out; but each operation of ours runs
 * protected, so that what fails a whole call failed before the first of them.
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
