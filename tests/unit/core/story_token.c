/*
 * Token holds in a story.
 *
 *	TIME token ID [@TAG] acquire|extend|release|query NAME ... token=T
 *		[new=T] [px=D] [park=D] [either] [all] [awaits]
 *		[program=N] [audience=N] [latch=L]
 *		[match=exact|prefix|not|any|counted] [prefix=N]
 *		[bound=replace|add|bound|unbound|longer|shorter]
 *	TIME unheard NAME AUDIENCE
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "core/parts/token/token.h"

#include "story_state.h"

static const char *const ops[] = { "acquire", "extend", "release", "query" };
static const char *const matches[] = { "exact", "prefix", "not", "any",
	"counted" };
static const char *const bounds[] = { "replace", "add", "bound", "unbound",
	"longer", "shorter" };
static const char *const answers[] = { "done", "busy", "absent", "others",
	"unbound" };
static const char *const kinds[] = { "free", "held", "native", "plain" };

static unsigned
which(const struct story *st, const char *const *words, unsigned n,
    const char *word)
{
	unsigned i;

	for (i = 0; i < n; i++)
		if (word == NULL || strcmp(words[i], word) == 0)
			return i;
	story_fail(st, word);
}
#define WHICH(st, words, word) \
	which(st, words, sizeof(words) / sizeof((words)[0]), word)

static int64_t
duration(const struct story *st, const char *key)
{
	const char *value = story_option(st, key);

	if (value == NULL)
		return 0;
	return value[0] == '-' ? -story_number(st, value + 1)
			       : story_number(st, value);
}

static const char *
text(const struct story *st, const char *key, size_t *len)
{
	const char *value = story_option(st, key);

	*len = value == NULL ? 0 : strlen(value);
	return value;
}

void
story_token(struct story *st)
{
	struct core_event ev = { .kind = CORE_TOKEN };
	struct core_name names[CORE_NAMES_MAX];
	struct token_request rq;
	size_t i = 3;

	memset(&rq, 0, sizeof(rq));
	if (st->nwords > i && st->words[i][0] == '@')
		rq.ref = (uint64_t)story_number(st, st->words[i++] + 1);
	rq.op = (enum token_op)WHICH(st, ops, st->words[i]);
	for (i++; i < st->nwords && strchr(st->words[i], '=') == NULL; i++) {
		names[rq.nnames].p = st->words[i];
		names[rq.nnames++].n = strlen(st->words[i]);
	}
	rq.names = names;
	rq.match =
	    (enum token_match)WHICH(st, matches, story_option(st, "match"));
	rq.bound =
	    (enum token_bound)WHICH(st, bounds, story_option(st, "bound"));
	rq.token = text(st, "token", &rq.token_len);
	rq.new_token = text(st, "new", &rq.new_token_len);
	rq.prefix = (size_t)duration(st, "prefix");
	rq.ttl_ms = duration(st, "px");
	rq.park_ms = duration(st, "park");
	rq.either = story_flag(st, "either");
	rq.all = story_flag(st, "all");
	rq.awaits = story_flag(st, "awaits");
	rq.program = (size_t)duration(st, "program");
	rq.audience = (uint64_t)duration(st, "audience");
	if (story_option(st, "latch") != NULL)
		strncpy(rq.latch, story_option(st, "latch"), TOKEN_LATCH_BYTES);
	ev.u.token.session = (uint64_t)story_number(st, st->words[2]);
	ev.u.token.request = &rq;
	story_step(st, &ev);
}

void
story_unheard(struct story *st)
{
	struct core_event ev = { .kind = CORE_UNHEARD };

	ev.u.unheard.name = st->words[2];
	ev.u.unheard.len = strlen(st->words[2]);
	ev.u.unheard.audience = (uint64_t)story_number(st, st->words[3]);
	story_step(st, &ev);
}

void
story_write_token(struct story *st, const struct effect *e)
{
	const struct token_result *r = &st->fx.tokens[e->token];

	if (e->ref != 0)
		buf_addf(st->out, " @%" PRIu64, e->ref);
	buf_addf(
	    st->out, " %s %u %s", answers[r->answer], r->done, kinds[r->kind]);
	if (r->all_free)
		buf_adds(st->out, " all");
	if (r->own)
		buf_adds(st->out, " own");
	if (r->matches)
		buf_adds(st->out, " meant");
	if (r->listed)
		buf_adds(st->out, " listed");
	if (r->fence != 0)
		buf_addf(st->out, " fence=%" PRIu64, r->fence);
	if (r->left_ms >= 0)
		buf_addf(st->out, " left=%" PRId64, r->left_ms);
	if (r->depth > 0)
		buf_addf(st->out, " depth=%" PRIu64, r->depth);
	if (r->token_len > 0)
		buf_addf(st->out, " token=%.*s", (int)r->token_len,
		    buf_data(&st->fx.text) + r->token);
}
