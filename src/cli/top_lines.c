/*
 * From two answers to NAMES, what happened between them: the handoffs of each
 * name in a second, the busiest first. And one line of STATS.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/xmalloc.h"
#include "cli/top.h"
#include "client/message.h"

#define LINE_BYTES 1024

static int
by_name(const void *a, const void *b)
{
	const struct top_line *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int
by_rate(const void *a, const void *b)
{
	const struct top_line *x = a, *y = b;

	if (x->rate_tenths != y->rate_tenths)
		return x->rate_tenths < y->rate_tenths ? 1 : -1;
	if (x->waiters != y->waiters)
		return x->waiters < y->waiters ? 1 : -1;
	return x->place < y->place ? -1 : 1;
}

static bool
is_held(const char *line)
{
	struct pair p;

	return pair_find(line, "state", &p) && !pair_says(&p, "free");
}

/*
 * Computes the handoffs since the last answer. A name that was missing, or has
 * fewer now, was forgotten in between and began again. Returns false if the
 * number is unknown, because the broker may not have listed the name last time.
 */
static bool
changes(const struct top_lines *t, const struct top_line *now, uint64_t *out)
{
	const struct top_line *then = NULL;

	if (t->n > 0)
		then = bsearch(now, t->v, t->n, sizeof(*now), by_name);
	if (then == NULL && !t->all)
		return false;
	*out = now->handovers;
	if (then != NULL && then->handovers <= now->handovers)
		*out -= then->handovers;
	return true;
}

/* Writes ` key=value`, or nothing if the line has no such field. */
static void
field_copy(char *out, size_t size, const char *line, const char *key)
{
	struct pair p;

	out[0] = '\0';
	if (pair_find(line, key, &p))
		snprintf(out, size, " %s=%.*s", key, (int)p.value_len, p.value);
}

/* A lock and a semaphore can have the same name, here and in an old process: so
 * the kind follows the name, and then the mark. */
static char *
name_of(const char *line)
{
	char text[LINE_BYTES];
	size_t n = strcspn(line, " ");

	if (n >= sizeof(text))
		n = sizeof(text) - 1;
	memcpy(text, line, n);
	field_copy(text + n, sizeof(text) - n, line, "kind");
	n += strlen(text + n);
	field_copy(text + n, sizeof(text) - n, line, "leaving");
	return xstrdup(text);
}

/* `t` has the answer before, by name. */
static void
line_make(const struct top_lines *t, const char *line, int64_t elapsed_ms,
    struct top_line *out)
{
	char text[LINE_BYTES], rate[40] = "";
	static const char *const more[] = { "holder", "age", "kept", "was",
		"permits", "limit", "broker" };
	struct pair p = { NULL, 0, "-", 1 };
	int64_t oldest_ms = 0;
	uint64_t n;
	size_t i;

	out->name = name_of(line);
	out->handovers = pair_number(line, "handovers");
	out->waiters = pair_number(line, "waiters");
	if (elapsed_ms > 0 && changes(t, out, &n)) {
		out->rate_tenths = n * 10000 / (uint64_t)elapsed_ms;
		snprintf(rate, sizeof(rate), " rate=%" PRIu64 ".%" PRIu64,
		    out->rate_tenths / 10, out->rate_tenths % 10);
	}
	(void)pair_find(line, "state", &p);
	(void)pair_find_ms(line, "oldest", &oldest_ms);
	n = (uint64_t)snprintf(text, sizeof(text),
	    "%s state=%.*s waiters=%" PRIu64 "%s oldest=%" PRId64 "ms",
	    out->name, (int)p.value_len, p.value, out->waiters, rate,
	    oldest_ms);
	for (i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		field_copy(text + n, sizeof(text) - n, line, more[i]);
		n += strlen(text + n);
	}
	out->text = xstrdup(text);
}

void
top_lines_fini(struct top_lines *t)
{
	while (t->n > 0) {
		free(t->v[--t->n].name);
		free(t->v[t->n].text);
	}
	free(t->v);
	t->v = NULL;
}

void
top_lines_take(struct top_lines *t, char *const *lines, size_t n, size_t limit,
    int64_t elapsed_ms)
{
	struct top_line *v = xcalloc(n + 1, sizeof(*v));
	size_t i;

	if (t->n > 0)
		qsort(t->v, t->n, sizeof(*t->v), by_name);
	t->held = t->waiters = 0;
	for (i = 0; i < n; i++) {
		line_make(t, lines[i], elapsed_ms, &v[i]);
		v[i].place = i;
		t->held += is_held(lines[i]);
		t->waiters += v[i].waiters;
	}
	top_lines_fini(t);
	qsort(v, n, sizeof(*v), by_rate);
	t->v = v;
	t->n = n;
	t->all = n < limit;
}

uint64_t
top_stat(char *const *lines, size_t n, const char *name)
{
	const size_t len = strlen(name);
	const char *text;
	uint64_t value;
	size_t i;

	for (i = 0; i < n; i++) {
		if (strncmp(lines[i], name, len) != 0 || lines[i][len] != ' ')
			continue;
		text = lines[i] + len + 1;
		if (parse_number(text, strlen(text), UINT64_MAX, &value))
			return value;
	}
	return 0;
}
