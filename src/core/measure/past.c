/*
 * Holds that are over.
 *
 *	names: table --> past_name --> past_hold --> past_hold ...	of it
 *	all:                         past_hold --> past_hold ...	of all
 *
 * A record is used again for the next one, so that under load nothing is
 * allocated but what longer texts need.  A name goes with its last record.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "core/measure/past.h"

/* So much more than is needed is taken, for the next one in its place. */
#define TEXT_STEP 64

struct past_name {
	struct table_link link;
	struct past_list holds; /* the latest first */
	unsigned n;
	size_t len;
	char name[];
};

/* Owned by the list of all; its texts are pointed to by `hold`. */
struct past_hold {
	TAILQ_ENTRY(past_hold) in_name;
	TAILQ_ENTRY(past_hold) in_all;
	struct past_name *of;
	struct measure_hold hold;
	char *text; /* owned */
	size_t room;
};

static const char *
name_of(const struct table_link *link, size_t *len)
{
	const struct past_name *name =
	    container_of_const(link, struct past_name, link);

	*len = name->len;
	return name->name;
}

void
past_init(struct past *p, unsigned most, unsigned most_of_name)
{
	table_init(&p->names, name_of);
	TAILQ_INIT(&p->all);
	p->n = 0;
	p->most = most;
	p->most_of_name = most_of_name;
}

static struct past_name *
find(const struct past *p, const char *name, size_t len)
{
	struct table_link *link = table_find(&p->names, name, len);

	return link == NULL ? NULL : container_of(link, struct past_name, link);
}

static struct past_name *
find_or_add(struct past *p, const char *name, size_t len)
{
	struct past_name *of = find(p, name, len);

	if (of != NULL)
		return of;
	of = xcalloc(1, sizeof(*of) + len);
	TAILQ_INIT(&of->holds);
	of->len = len;
	memcpy(of->name, name, len);
	table_add(&p->names, &of->link);
	return of;
}

static void
forget_name(struct past *p, struct past_name *of)
{
	table_remove(&p->names, &of->link);
	free(of);
}

/* Out of all lists; its name goes with it if that has no other, but `keep`. */
static void
unlist(struct past *p, struct past_hold *h, const struct past_name *keep)
{
	struct past_name *of = h->of;

	TAILQ_REMOVE(&p->all, h, in_all);
	TAILQ_REMOVE(&of->holds, h, in_name);
	p->n--;
	of->n--;
	if (of->n == 0 && of != keep)
		forget_name(p, of);
}

/* One to be written, which is in no list. */
static struct past_hold *
take(struct past *p, const struct past_name *of)
{
	struct past_hold *h = NULL;

	if (of->n >= p->most_of_name)
		h = TAILQ_LAST(&of->holds, past_list);
	else if (p->n >= p->most)
		h = TAILQ_LAST(&p->all, past_list);
	if (h == NULL)
		return xcalloc(1, sizeof(*h));
	unlist(p, h, of);
	return h;
}

static size_t
text_len(const char *text)
{
	return text == NULL ? 0 : strlen(text) + 1;
}

/* The copy of a text, and where the next one goes. */
static const char *
copy(char **to, const char *text)
{
	size_t n = text_len(text);
	char *at = *to;

	if (text == NULL)
		return NULL;
	memcpy(at, text, n);
	*to += n;
	return at;
}

static void
fill(struct past_hold *h, struct past_name *of, const struct measure_hold *from)
{
	size_t n = text_len(from->label) + text_len(from->peer) +
		   text_len(from->user) + text_len(from->end) +
		   text_len(from->by);
	char *to;

	if (n > h->room) {
		free(h->text);
		h->room = n + TEXT_STEP;
		h->text = xmalloc(h->room);
	}
	to = h->text;
	h->of = of;
	h->hold = *from;
	h->hold.name = of->name;
	h->hold.label = copy(&to, from->label);
	h->hold.peer = copy(&to, from->peer);
	h->hold.user = copy(&to, from->user);
	h->hold.end = copy(&to, from->end);
	h->hold.by = copy(&to, from->by);
}

void
past_add(struct past *p, const struct measure_hold *hold)
{
	struct past_name *of = find_or_add(p, hold->name, hold->name_len);
	struct past_hold *h = take(p, of);

	fill(h, of, hold);
	TAILQ_INSERT_HEAD(&p->all, h, in_all);
	TAILQ_INSERT_HEAD(&of->holds, h, in_name);
	p->n++;
	of->n++;
}

void
past_fini(struct past *p)
{
	struct past_hold *h;

	while ((h = TAILQ_FIRST(&p->all)) != NULL) {
		unlist(p, h, NULL);
		free(h->text);
		free(h);
	}
	assert(p->names.n == 0);
	table_fini(&p->names);
}

/* Reading. */

static bool
tell(const struct past_hold *h, const void **place, struct measure_hold *out)
{
	if (h == NULL)
		return false;
	*place = h;
	*out = h->hold;
	return true;
}

bool
past_of(const struct past *p, const char *name, size_t name_len,
    const void **place, struct measure_hold *out)
{
	const struct past_hold *at = *place;
	const struct past_name *of;

	if (at != NULL)
		return tell(TAILQ_NEXT(at, in_name), place, out);
	of = find(p, name, name_len);
	return of != NULL && tell(TAILQ_FIRST(&of->holds), place, out);
}

bool
past_any(const struct past *p, const void **place, struct measure_hold *out)
{
	const struct past_hold *at = *place;

	return tell(at != NULL ? TAILQ_NEXT(at, in_all) : TAILQ_FIRST(&p->all),
	    place, out);
}
