/* See run_request.h. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "base/xmalloc.h"
#include "cli/run_request.h"

static void
option_add(struct buf *line, const char *key, int64_t ms)
{
	if (ms >= 0)
		buf_addf(line, " %s=%" PRId64 "ms", key, ms);
}

static void
names_add(const struct request *r, struct buf *line)
{
	unsigned i;

	for (i = 0; i < r->names_n; i++)
		buf_addf(line, " %s", r->names[i]);
}

void
run_request_take(const struct request *r, int64_t wait_ms, struct buf *line)
{
	buf_adds(line, r->limit > 0 ? "ACQUIRE" : "LOCK");
	names_add(r, line);
	if (r->limit > 0)
		buf_addf(line, " limit=%" PRIu64, r->limit);
	if (r->slot)
		buf_adds(line, " slot=yes");
	if (r->shared)
		buf_adds(line, " mode=shared");
	if (wait_ms == REQUEST_FOREVER)
		buf_adds(line, " wait=forever");
	option_add(line, "wait", wait_ms);
	option_add(line, "hold", r->hold_ms);
	option_add(line, "keep", r->keep_ms);
	option_add(line, "delay", r->delay_ms);
	if (r->value != NULL)
		buf_addf(line, " value=%s", r->value);
	if (r->trace != NULL && r->limit == 0)
		buf_addf(line, " trace=%s", r->trace);
}

void
run_request_give(const struct request *r, struct buf *line)
{
	buf_adds(line, r->limit > 0 ? "RELEASE" : "UNLOCK");
	names_add(r, line);
}

char *
run_request_names(const struct request *r)
{
	struct buf text;
	char *copy;

	buf_init(&text);
	names_add(r, &text);
	copy = xstrndup(buf_data(&text) + 1, buf_len(&text) - 1);
	buf_fini(&text);
	return copy;
}

static bool
is_ours(const struct request *r, const struct pair *name)
{
	unsigned i;

	for (i = 0; i < r->names_n; i++)
		if (strlen(r->names[i]) == name->value_len &&
		    memcmp(name->value, r->names[i], name->value_len) == 0)
			return true;
	return false;
}

bool
run_request_lost(const struct request *r, const struct message *event)
{
	const char *cursor = event->text;
	struct pair p, kind;

	if (message_is(event, "!SHUTDOWN"))
		return true;
	if (!message_is(event, "!LOST") ||
	    pair_find(event->text, "kind", &kind) != (r->limit > 0))
		return false;
	return pair_next(&cursor, &p) && pair_next(&cursor, &p) &&
	       p.key == NULL && is_ours(r, &p);
}
