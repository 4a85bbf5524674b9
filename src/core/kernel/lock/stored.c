/*
 * Values of keys, taken apart.
 */
#include "config.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "core/kernel/lock/stored.h"

#define INSTANCE_DIGITS 16 /* of a broker, in a token */

/* The name ends where BROKER.INSTANCE.SEQ goes on.  A plain client's value may
 * look much like a token. */
size_t
stored_broker(const char *token, size_t n)
{
	size_t end = n, i;

	while (end > 0 && isdigit((unsigned char)token[end - 1]))
		end--;
	if (end == n || end < INSTANCE_DIGITS + 3 || token[end - 1] != '.')
		return 0;
	end -= INSTANCE_DIGITS + 1;
	for (i = 0; i < INSTANCE_DIGITS; i++)
		if (!isxdigit((unsigned char)token[end + i]))
			return 0;
	return token[end - 1] == '.' ? end - 1 : 0;
}

/* Of this run: an earlier run of the broker had another instance.  A bar at the
 * end marks the value of a token hold. */
bool
stored_is_ours(const struct core *core, const char *value, size_t n)
{
	char us[BROKER_MAX_BYTES + 20];
	int len = snprintf(us, sizeof(us), "%s.%016" PRIx64 ".", core->broker,
	    core->config.instance);

	return n > (size_t)len && memcmp(value, us, (size_t)len) == 0 &&
	       value[n - 1] != '|';
}

/* Says no more than the form of the value proves: a plain client's may have a
 * bar and a number, too. */
struct stored
stored_parse(const char *p, size_t n)
{
	static const char marker[] = "@shared";
	const char *bar = memchr(p, '|', n);
	struct stored v = { .state = n == 0 ? "free" : "held", .free = n == 0 };
	size_t token = bar == NULL ? 0 : (size_t)(bar - p);
	bool client = false;

	if (n > token + 1 && p[n - 1] == '|') {
		client = true;
		n--;
	}
	if (bar == NULL ||
	    !parse_number(bar + 1, n - token - 1, UINT64_MAX, &v.fence))
		return v;
	if (token == sizeof(marker) - 1 && memcmp(p, marker, token) == 0) {
		v.state = "shared";
		return v;
	}
	v.broker_len = stored_broker(p, token);
	v.lease = v.broker_len > 0 && !client;
	if (v.broker_len == 0)
		v.fence = 0;
	return v;
}
