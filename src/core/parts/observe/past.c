/*
 * Holds that are over.
 *
 *	names: latest of a name --older--> ... --older--> oldest of it
 *	         | next_name
 *	       latest of another name in the same chain
 *	all:   the latest of all ... the oldest of all
 *
 * Each UNLOCK adds a hold, so this must cost little: a name is hashed once, and
 * has no object of its own.  The next hold reuses the record of the oldest one,
 * with the room for its texts, so that in the long run nothing is allocated.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/xmalloc.h"
#include "core/parts/observe/past.h"

#define HOLDS_A_CHAIN 4 /* at most, on average */
#define TEXT_ROOM 96	/* bytes for the texts of a record, at least */

/* One hold.  Its memory is used again for a later one, unless that needs more
 * room. */
struct past_hold {
	TAILQ_ENTRY(past_hold) in_all;
	struct past_hold *older, *newer; /* of the same name */
	/* Only the latest hold of a name has these. */
	struct past_hold *next_name; /* in the chain */
	struct past_hold *oldest;
	unsigned of_name; /* how many holds the name has here */
	unsigned hash;
	struct measure_hold hold; /* its texts are in `text` */
	size_t room;
	char text[];
};

void
past_init(struct past *p, unsigned most, unsigned most_of_name)
{
	TAILQ_INIT(&p->all);
	p->n = 0;
	p->most = most;
	p->most_of_name = most_of_name;
	p->size = 1;
	while (p->size * HOLDS_A_CHAIN < most)
		p->size *= 2;
	p->names = xcalloc(p->size, sizeof(struct past_hold *));
}

/* Returns the pointer to the latest hold of a name; it is NULL if the name has
 * none. */
static struct past_hold **
find_past(const struct past *p, const char *name, size_t len, unsigned hash)
{
	struct past_hold **at = &p->names[hash & (p->size - 1)];

	while (*at != NULL &&
	       ((*at)->hash != hash || (*at)->hold.name_len != len ||
		   memcmp((*at)->hold.name, name, len) != 0))
		at = &(*at)->next_name;
	return at;
}

/* Requires that h is the latest of its name, so that a chain has it. */
static struct past_hold **
find_latest(const struct past *p, const struct past_hold *h)
{
	struct past_hold **at = &p->names[h->hash & (p->size - 1)];

	while (*at != h)
		at = &(*at)->next_name;
	return at;
}

/* Returns the latest hold of the name of h. */
static struct past_hold *
latest_of(const struct past *p, const struct past_hold *h)
{
	return *find_past(p, h->hold.name, h->hold.name_len, h->hash);
}

/* Takes the oldest hold of the name of `latest` out of all lists. */
static struct past_hold *
take_oldest(struct past *p, struct past_hold *latest)
{
	struct past_hold *h = latest->oldest;

	TAILQ_REMOVE(&p->all, h, in_all);
	p->n--;
	if (h == latest) {
		*find_latest(p, h) = h->next_name;
		return h;
	}
	latest->of_name--;
	latest->oldest = h->newer;
	h->newer->older = NULL;
	return h;
}

/* Takes out the hold that must go for another one; NULL if there is room. */
static struct past_hold *
take(struct past *p, struct past_hold *latest)
{
	struct past_hold *h;

	if (latest != NULL && latest->of_name >= p->most_of_name)
		return take_oldest(p, latest);
	if (p->n < p->most)
		return NULL;
	/* The oldest of all is the oldest of its name. */
	h = TAILQ_LAST(&p->all, past_list);
	return take_oldest(p, latest_of(p, h));
}

static size_t
text_len(const char *text)
{
	return text == NULL ? 0 : strlen(text) + 1;
}

/* Copies a text to *to, and moves *to on.  Returns the copy; NULL without n. */
static const char *
copy(char **to, const char *text, size_t n)
{
	char *at = *to;

	if (n == 0)
		return NULL;
	memcpy(at, text, n);
	*to += n;
	return at;
}

/* Writes a copy into h if that has the room, else into a new record, and frees
 * h.  h may be NULL. */
static struct past_hold *
written(struct past_hold *h, const struct measure_hold *from, unsigned hash)
{
	size_t label = text_len(from->label), peer = text_len(from->peer),
	       user = text_len(from->user), by = text_len(from->by),
	       trace = text_len(from->trace),
	       n = from->name_len + label + peer + user + by + trace;
	char *to;

	if (h == NULL || h->room < n) {
		free(h);
		n = n > TEXT_ROOM ? n : TEXT_ROOM;
		h = xmalloc(sizeof(*h) + n);
		h->room = n;
	}
	to = h->text;
	h->hash = hash;
	h->hold = *from;
	h->hold.name = copy(&to, from->name, from->name_len);
	h->hold.label = copy(&to, from->label, label);
	h->hold.peer = copy(&to, from->peer, peer);
	h->hold.user = copy(&to, from->user, user);
	h->hold.by = copy(&to, from->by, by);
	h->hold.trace = copy(&to, from->trace, trace);
	return h;
}

/* Puts h into the lists, as the latest of its name and of all. */
static void
enlist(struct past *p, struct past_hold *h)
{
	struct past_hold **at =
	    find_past(p, h->hold.name, h->hold.name_len, h->hash);
	struct past_hold *before = *at;

	h->newer = NULL;
	h->older = before;
	h->next_name = before != NULL ? before->next_name : NULL;
	h->oldest = before != NULL ? before->oldest : h;
	h->of_name = before != NULL ? before->of_name + 1 : 1;
	if (before != NULL)
		before->newer = h;
	*at = h;
	TAILQ_INSERT_HEAD(&p->all, h, in_all);
	p->n++;
}

/* First makes room: the record that goes may give its memory to the new one. */
void
past_add(struct past *p, const struct measure_hold *hold)
{
	unsigned hash = hash_of(hold->name, hold->name_len);
	struct past_hold *latest =
	    *find_past(p, hold->name, hold->name_len, hash);

	enlist(p, written(take(p, latest), hold, hash));
}

void
past_fini(struct past *p)
{
	struct past_hold *h;

	while ((h = TAILQ_FIRST(&p->all)) != NULL) {
		TAILQ_REMOVE(&p->all, h, in_all);
		free(h);
	}
	free(p->names);
}

/* Reading. */

/* The place is the record itself: it is good only until the next past_add(). */
static bool
copy_out(
    const struct past_hold *h, const void **place, struct measure_hold *out)
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

	return copy_out(
	    at != NULL ? at->older
		       : *find_past(p, name, name_len, hash_of(name, name_len)),
	    place, out);
}

bool
past_any(const struct past *p, const void **place, struct measure_hold *out)
{
	const struct past_hold *at = *place;

	return copy_out(
	    at != NULL ? TAILQ_NEXT(at, in_all) : TAILQ_FIRST(&p->all), place,
	    out);
}
