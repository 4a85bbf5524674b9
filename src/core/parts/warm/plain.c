/*
 * See plain.h.  Whichever broker finds the key of such a program in its way,
 * the script that says so marks the guard (met_plain() in lua/define.lua).  The
 * server's time of that mark is in the report of every call, so it counts
 * before the client is told of any grant that rests on such a call; the name
 * comes with the next heartbeat, which follows at once.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/times.h"
#include "base/xmalloc.h"
#include "core/kernel/guard/guard.h"
#include "core/kernel/guard/sweep.h"
#include "core/kernel/turn/emit.h"
#include "core/parts/ids.h"
#include "core/parts/warm/plain.h"

#define HOUR_MS (INT64_C(3600) * 1000)
#define UNMARKED_MS (INT64_C(60) * 1000) /* met again this long after a mark */

struct plains {
	int64_t told_ms; /* the log has reported a time that ends then */
	struct plain of[];
};

static struct plains *
plains_of(const struct core *core)
{
	return core->part[PART_PLAIN];
}

static void
plain_init(struct core *core)
{
	size_t shards = core->config.shards;

	core->part[PART_PLAIN] =
	    xcalloc(1, sizeof(struct plains) + shards * sizeof(struct plain));
}

static void
plain_fini(struct core *core)
{
	uint32_t i;

	for (i = 0; i < core->config.shards; i++)
		free(plains_of(core)->of[i].name);
	free(plains_of(core));
}

/* A number of locks.warm means what it says, whatever other programs there
 * are. */
static bool
matters(const struct core *core)
{
	return core->config.locks.warm_ms == WARM_AUTO && core->warm_ms > 0;
}

const struct plain *
plain_near(const struct core *core, uint32_t shard)
{
	const struct plain *p = &plains_of(core)->of[shard];

	return core->now_ms < p->until_ms && matters(core) ? p : NULL;
}

int64_t
plain_until(const struct plain *p)
{
	return p->last + HOUR_MS + UNMARKED_MS;
}

static void
noted(struct core *core, uint32_t shard, uint64_t at, int64_t ago_ms)
{
	struct plain *p = &plains_of(core)->of[shard];
	int64_t until_ms = core->now_ms + HOUR_MS + UNMARKED_MS - ago_ms;

	if (until_ms <= p->until_ms)
		return;
	p->until_ms = until_ms;
	p->last = (int64_t)at;
	if (matters(core))
		sweep_plan(core, shard, SWEEP_WARM);
}

/* Once for all servers and buckets, and again only if none was met for an
 * hour. */
static void
tell(struct core *core, uint32_t shard, const struct plain *p)
{
	struct plains *plains = plains_of(core);
	bool told = core->now_ms < plains->told_ms;

	plains->told_ms = max_ms(plains->told_ms, p->until_ms);
	if (told)
		return;
	emit_notice(core, NOTICE_WARM_PLAIN);
	emit_num(core, FIELD_SHARD, shard);
	emit_str(core, FIELD_NAME, p->name, p->len);
	emit_text(core, FIELD_TEXT,
	    "a program without a broker holds the name: no lease of this Redis"
	    " is cached until an hour after the last such program was met");
}

/* `SINCE NAME` */
static void
note_read(struct core *core, uint32_t shard, const char *text, size_t len)
{
	struct plain *p = &plains_of(core)->of[shard];
	const char *space = memchr(text, ' ', len);
	uint64_t since;
	size_t n;

	if (core->now_ms >= p->until_ms || space == NULL ||
	    !parse_number(text, (size_t)(space - text), INT64_MAX, &since))
		return;
	n = len - (size_t)(space + 1 - text);
	free(p->name);
	p->name = xstrndup(space + 1, n);
	p->len = strlen(p->name);
	p->since = (int64_t)since;
	if (matters(core))
		tell(core, shard, p);
}

const struct core_part plain_part = {
	.id = PART_PLAIN,
	.init = plain_init,
	.fini = plain_fini,
	.noted = noted,
	.note_read = note_read,
};
