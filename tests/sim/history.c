/*
 * Reads, writes and keeps histories. history_check.c finds what is wrong in
 * them.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/xmalloc.h"

#include "history.h"

/* The text of a lock's name, once for all events. */
struct history_name {
	struct table_link by_text;
	size_t len;
	char text[];
};

static const char *const phase_words[HISTORY_PHASES] = { "invoke", "ok", "fail",
	"info" };
static const char *const kind_words[HISTORY_KINDS] = { "lock", "unlock", "lost",
	"closed", "doubt", "end" };

static const char *
text_of(const struct table_link *link, size_t *len)
{
	const struct history_name *name =
	    container_of_const(link, struct history_name, by_text);

	*len = name->len;
	return name->text;
}

void
history_init(struct history *h)
{
	memset(h, 0, sizeof(*h));
	table_init(&h->names, text_of);
}

void
history_fini(struct history *h)
{
	struct table_link *link;
	struct table_walk walk;

	for (link = table_first(&h->names, &walk); link != NULL;
	     link = table_next(&walk))
		free(container_of(link, struct history_name, by_text));
	table_fini(&h->names);
	free(h->v);
	history_init(h);
}

static const char *
intern(struct history *h, const char *text)
{
	struct history_name *name;
	size_t len = strlen(text);
	struct table_link *link = table_find(&h->names, text, len);

	if (link != NULL)
		return container_of(link, struct history_name, by_text)->text;
	name = xcalloc(1, sizeof(*name) + len + 1);
	memcpy(name->text, text, len);
	name->len = len;
	table_add(&h->names, &name->by_text);
	return name->text;
}

struct history_event *
history_add(struct history *h, const struct history_event *event)
{
	struct history_event *e;

	if (h->n == h->size) {
		h->size = h->size > 0 ? h->size * 2 : 256;
		h->v = xrealloc(h->v, h->size * sizeof(*h->v));
	}
	e = &h->v[h->n++];
	*e = *event;
	if (e->lock != NULL)
		e->lock = intern(h, e->lock);
	if (e->line == 0)
		e->line = h->n;
	return e;
}

struct history_event *
history_note(struct history *h, int64_t at_us, enum history_phase phase,
    uint64_t session, enum history_kind kind, const char *lock, uint64_t id)
{
	struct history_event e = { .at_us = at_us,
		.phase = phase,
		.kind = kind,
		.session = session,
		.lock = lock,
		.id = id };

	return history_add(h, &e);
}

static int
word_find(const char *const *words, int n, const char *word)
{
	int i;

	for (i = 0; i < n; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return -1;
}

static bool
number(const char *word, int64_t *out)
{
	char *end;

	*out = strtoll(word, &end, 10);
	return end != word && *end == '\0';
}

/* `key=N`, after the six words. */
static bool
parse_extra(struct history_event *e, const char *word)
{
	const char *eq = strchr(word, '=');
	int64_t n;

	if (eq == NULL || !number(eq + 1, &n))
		return false;
	if (strncmp(word, "wait=", 5) == 0)
		e->wait_us = n;
	else if (strncmp(word, "limit=", 6) == 0)
		e->limit_us = n;
	else if (strncmp(word, "depth=", 6) == 0)
		e->depth = (uint64_t)n;
	else if (strncmp(word, "id=", 3) == 0)
		e->id = (uint64_t)n;
	else if (strncmp(word, "shared=", 7) == 0)
		e->shared = n != 0;
	else
		return false;
	return true;
}

/* Splits a line into its words and reads them; false: malformed. */
static bool
parse_line(struct history_event *e, char *line)
{
	char *words[16], *save = NULL, *word;
	int n = 0, phase, kind, i;
	int64_t session, fence = 0;

	for (word = strtok_r(line, " \t\r\n", &save); word != NULL && n < 16;
	     word = strtok_r(NULL, " \t\r\n", &save))
		words[n++] = word;
	if (n < 6)
		return false;
	phase = word_find(phase_words, HISTORY_PHASES, words[1]);
	kind = word_find(kind_words, HISTORY_KINDS, words[3]);
	if (!number(words[0], &e->at_us) || phase < 0 || kind < 0 ||
	    !number(words[2], &session))
		return false;
	if (strcmp(words[5], "-") != 0 && !number(words[5], &fence))
		return false;
	e->phase = (enum history_phase)phase;
	e->kind = (enum history_kind)kind;
	e->session = (uint64_t)session;
	e->lock = strcmp(words[4], "-") == 0 ? NULL : words[4];
	e->fence = (uint64_t)fence;
	if (e->lock == NULL && e->kind != HISTORY_CLOSED &&
	    e->kind != HISTORY_END)
		return false;
	for (i = 6; i < n; i++)
		if (!parse_extra(e, words[i]))
			return false;
	return true;
}

bool
history_read(struct history *h, FILE *in, history_fault_fn *fault, void *arg)
{
	struct history_event e;
	char *line = NULL, text[64];
	size_t size = 0, n = 0;
	bool good = true;

	while (good && getline(&line, &size, in) >= 0) {
		n++;
		if (line[0] == '#' || line[0] == '\n')
			continue;
		memset(&e, 0, sizeof(e));
		e.wait_us = -1;
		e.line = n;
		good = parse_line(&e, line);
		if (good) {
			history_add(h, &e);
			continue;
		}
		snprintf(text, sizeof(text), "line %zu is malformed", n);
		fault(arg, text);
	}
	free(line);
	return good;
}

void
history_write(const struct history *h, FILE *out)
{
	const struct history_event *e;
	size_t i;

	for (i = 0; i < h->n; i++) {
		e = &h->v[i];
		fprintf(out, "%" PRId64 " %s %" PRIu64 " %s %s ", e->at_us,
		    phase_words[e->phase], e->session, kind_words[e->kind],
		    e->lock != NULL ? e->lock : "-");
		if (e->fence != 0)
			fprintf(out, "%" PRIu64, e->fence);
		else
			fputc('-', out);
		if (e->id != 0)
			fprintf(out, " id=%" PRIu64, e->id);
		if (e->depth != 0)
			fprintf(out, " depth=%" PRIu64, e->depth);
		if (e->phase == HISTORY_INVOKE && e->kind == HISTORY_LOCK)
			fprintf(out, " wait=%" PRId64, e->wait_us);
		if (e->shared)
			fputs(" shared=1", out);
		if (e->limit_us != 0)
			fprintf(out, " limit=%" PRId64, e->limit_us);
		fputc('\n', out);
	}
}
