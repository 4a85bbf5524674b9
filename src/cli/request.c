/*
 * What `run` asks the broker for, in the words of the protocol.
 */
#include "config.h"

#include "cli/request.h"

#include "base/parse.h"

#include <inttypes.h>
#include <string.h>

#define NAME_MAX_BYTES 255

static void
option_add(struct buf *line, const char *key, int64_t ms)
{
	if (ms >= 0)
		buf_addf(line, " %s=%" PRId64 "ms", key, ms);
}

void
request_take(const struct request *r, int64_t wait_ms, struct buf *line)
{
	buf_addf(line, "LOCK %s", r->name);
	if (wait_ms == REQUEST_FOREVER)
		buf_adds(line, " wait=forever");
	option_add(line, "wait", wait_ms);
	option_add(line, "hold", r->hold_ms);
	option_add(line, "keep", r->keep_ms);
	option_add(line, "delay", r->delay_ms);
}

void
request_give(const struct request *r, struct buf *line)
{
	buf_addf(line, "UNLOCK %s", r->name);
}

bool
request_lost(const struct request *r, const struct message *event)
{
	const char *cursor = event->text;
	struct pair p;

	if (message_is(event, "!SHUTDOWN"))
		return true;
	if (!message_is(event, "!LOST"))
		return false;
	return pair_next(&cursor, &p) && pair_next(&cursor, &p) &&
	       p.key == NULL && strlen(r->name) == p.value_len &&
	       memcmp(p.value, r->name, p.value_len) == 0;
}

/* Protocol, section 2. */
bool
request_name_ok(const char *name)
{
	const size_t n = strlen(name);
	size_t i;

	if (n == 0 || n > NAME_MAX_BYTES || name[0] == '@' || name[0] == '!')
		return false;
	for (i = 0; i < n; i++) {
		if ((unsigned char)name[i] <= ' ' || name[i] == 0x7f ||
		    name[i] == '=')
			return false;
	}
	return parse_utf8(name, n);
}
