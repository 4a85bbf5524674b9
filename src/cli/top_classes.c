/*
 * Lines of STATS: `class.NAME.KEY NUMBER`.  A name may have dots, a key has
 * none.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/xmalloc.h"
#include "cli/top_classes.h"

#define PREFIX "class."
#define LINE_BYTES 512

static const struct {
	const char *key;
	size_t offset;
} keys[] = {
	{ "waiters", offsetof(struct top_class, waiters) },
	{ "held", offsetof(struct top_class, held) },
	{ "oldest_wait_ms", offsetof(struct top_class, oldest_ms) },
	{ "granted_total", offsetof(struct top_class, granted) },
	{ "given_up_total", offsetof(struct top_class, given_up) },
	{ "wait_ms_total", offsetof(struct top_class, wait_ms) },
	{ "lost_total", offsetof(struct top_class, lost) },
};

static void
set(struct top_class *c, const char *key, size_t key_len, uint64_t value)
{
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strlen(keys[i].key) == key_len &&
		    memcmp(keys[i].key, key, key_len) == 0)
			memcpy(
			    (char *)c + keys[i].offset, &value, sizeof(value));
}

static struct top_class *
find(const struct top_classes *t, const char *name, size_t n)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (strlen(t->v[i].name) == n &&
		    memcmp(t->v[i].name, name, n) == 0)
			return &t->v[i];
	return NULL;
}

static void
take_line(struct top_classes *t, const char *line)
{
	const char *name = line + strlen(PREFIX);
	const char *space = strchr(line, ' '), *dot;
	struct top_class *c;
	uint64_t value;

	if (strncmp(line, PREFIX, strlen(PREFIX)) != 0 || space == NULL ||
	    !parse_number(space + 1, strlen(space + 1), UINT64_MAX, &value))
		return;
	dot = memrchr(name, '.', (size_t)(space - name));
	if (dot == NULL)
		return;
	c = find(t, name, (size_t)(dot - name));
	if (c == NULL) {
		c = &t->v[t->n++];
		c->name = xstrndup(name, (size_t)(dot - name));
	}
	set(c, dot + 1, (size_t)(space - dot - 1), value);
}

/*
 * Returns the growth since the last answer, or all of it if the count began
 * again.
 */
static uint64_t
since(uint64_t now, uint64_t then)
{
	return now >= then ? now - then : now;
}

static void
describe(struct top_class *c, const struct top_class *then, int64_t elapsed_ms)
{
	uint64_t ended = c->granted + c->given_up, waits, tenths;
	char text[LINE_BYTES], rate[64] = "", mean[64] = "";

	if (then != NULL && elapsed_ms > 0) {
		waits = since(ended, then->granted + then->given_up);
		tenths = waits * 10000 / (uint64_t)elapsed_ms;
		snprintf(rate, sizeof(rate), " rate=%" PRIu64 ".%" PRIu64,
		    tenths / 10, tenths % 10);
		if (waits > 0)
			snprintf(mean, sizeof(mean), " mean=%" PRIu64 "ms",
			    since(c->wait_ms, then->wait_ms) / waits);
	}
	snprintf(text, sizeof(text),
	    "%s waiters=%" PRIu64 " oldest=%" PRIu64 "ms%s%s given_up=%" PRIu64
	    " holds=%" PRIu64 " lost=%" PRIu64,
	    c->name, c->waiters, c->oldest_ms, rate, mean, c->given_up, c->held,
	    c->lost);
	c->text = xstrdup(text);
}

static int
by_waiters(const void *a, const void *b)
{
	const struct top_class *x = a, *y = b;

	if (x->waiters != y->waiters)
		return x->waiters < y->waiters ? 1 : -1;
	if (x->oldest_ms != y->oldest_ms)
		return x->oldest_ms < y->oldest_ms ? 1 : -1;
	return strcmp(x->name, y->name);
}

void
top_classes_fini(struct top_classes *t)
{
	size_t i;

	for (i = 0; i < t->n; i++) {
		free(t->v[i].name);
		free(t->v[i].text);
	}
	free(t->v);
	t->v = NULL;
	t->n = 0;
}

void
top_classes_take(
    struct top_classes *t, char *const *lines, size_t n, int64_t elapsed_ms)
{
	struct top_classes now = { xcalloc(n + 1, sizeof(*now.v)), 0 };
	struct top_class *c;
	size_t i;

	for (i = 0; i < n; i++)
		take_line(&now, lines[i]);
	for (i = 0; i < now.n; i++) {
		c = &now.v[i];
		describe(c, find(t, c->name, strlen(c->name)), elapsed_ms);
	}
	qsort(now.v, now.n, sizeof(*now.v), by_waiters);
	top_classes_fini(t);
	*t = now;
}
