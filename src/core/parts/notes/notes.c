/*
 * See notes.h.  Most requests have no note, so waiters and holds have no field
 * for them: the note of one is found in a table, by its address.
 *
 *	LOCK value=V --waits--> note of the waiter --begins--> note of the hold
 *	                                      \-----told----> (a re-entry)
 *	SETVALUE -------------------------------------------> note of the hold
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/xmalloc.h"
#include "core/kernel/lock/hooks.h"
#include "core/kernel/lock/lock.h"
#include "core/kernel/turn/emit.h"
#include "core/parts/ids.h"
#include "core/parts/notes/notes.h"

/* The notes of one of them.  Freed with it. */
struct noted {
	struct table_link by_owner;
	const void *of;	   /* a struct waiter or struct hold */
	char *text[NOTES]; /* owned; NULL: none */
};

static struct table *
table_of(const struct core *core)
{
	return core->part[PART_NOTES];
}

static struct noted *
find(const struct core *core, const void *of)
{
	return container_or_null(
	    table_find_key(table_of(core), &of), struct noted, by_owner);
}

struct span
notes_of(const struct core *core, const void *of, enum note note)
{
	const struct noted *n = find(core, of);

	if (n == NULL || n->text[note] == NULL)
		return (struct span){ NULL, 0 };
	return span_of(n->text[note]);
}

/* An empty text leaves the present one. */
static void
set(struct core *core, const void *of, enum note note, struct span text)
{
	struct noted *n = find(core, of);

	if (text.n == 0)
		return;
	if (n == NULL) {
		n = xcalloc(1, sizeof(*n));
		n->of = of;
		table_add(table_of(core), &n->by_owner);
	}
	free(n->text[note]);
	n->text[note] = xstrndup(text.p, text.n);
}

static void
forget(struct core *core, const void *of)
{
	struct noted *n = find(core, of);
	unsigned i;

	if (n == NULL)
		return;
	table_remove(table_of(core), &n->by_owner);
	for (i = 0; i < NOTES; i++)
		free(n->text[i]);
	free(n);
}

static void
pass(struct core *core, const struct hold *h, const struct waiter *w)
{
	unsigned i;

	for (i = 0; i < NOTES; i++)
		set(core, h, (enum note)i, notes_of(core, w, (enum note)i));
}

/* Hooks. */

/* A value describes one holder, so it needs one. */
static bool
admits(struct core *core, struct owner *owner, const struct core_request *rq)
{
	if (rq->notes[NOTE_VALUE].n == 0 || (rq->nnames == 1 && !rq->shared))
		return true;
	emit_error(core, owner->id, rq->ref, ERR_BAD_OPTION,
	    "value= is for one exclusive name");
	return false;
}

static void
waits(struct core *core, struct waiter *w, const struct core_request *rq)
{
	unsigned i;

	for (i = 0; i < NOTES; i++)
		set(core, w, (enum note)i,
		    (struct span){ rq->notes[i].p, rq->notes[i].n });
}

static void
waited(struct core *core, struct waiter *w)
{
	forget(core, w);
}

static void
begins(struct core *core, struct hold *h, const struct waiter *w)
{
	pass(core, h, w);
}

/* The note of a re-entry counts once its client is told: until then it may be
 * taken back.  Clients that watch the name are told then, too. */
static void
told(struct core *core, const struct waiter *w)
{
	if (w->hold == NULL || w->depth == 1 || find(core, w) == NULL)
		return;
	pass(core, w->hold, w);
	lock_touch(core, w->lock);
}

static void
ends(struct core *core, const struct hold *h)
{
	forget(core, h);
}

/* Requests. */

void
setvalue_request(
    struct core *core, struct owner *owner, const struct core_request *rq)
{
	const struct hold *h = hold_or_refuse(core, owner, rq);

	if (h == NULL)
		return;
	if (h->lock->shared_hold) {
		emit_error(core, owner->id, rq->ref, ERR_BAD_REQUEST,
		    "this session shares %.*s: a value is for one exclusive "
		    "holder",
		    (int)h->lock->name_len, h->lock->name);
		return;
	}
	set(core, h, NOTE_VALUE,
	    (struct span){ rq->notes[NOTE_VALUE].p, rq->notes[NOTE_VALUE].n });
	emit_reply(core, owner->id, rq->ref, STATUS_OK);
	lock_touch(core, h->lock);
}

/* As a part. */

static void
init(struct core *core)
{
	struct table *t = xcalloc(1, sizeof(*t));

	table_init_key(t, struct noted, by_owner, of);
	core->part[PART_NOTES] = t;
}

/* The core may be freed with holds and waiters, without notice to this part. */
static void
fini(struct core *core)
{
	struct table_walk walk;
	struct table_link *link;

	for (link = table_first(table_of(core), &walk); link != NULL;
	     link = table_next(&walk))
		forget(core, container_of(link, struct noted, by_owner)->of);
	table_fini(table_of(core));
	free(table_of(core));
}

/* Does each note belong to a hold or waiter? */
static size_t
check(const struct core *core)
{
	const struct lock *l;
	const struct holding *h;
	const struct waiter *w;
	struct lock_walk walk;
	size_t n = 0;

	if (table_of(core)->n == 0)
		return 0;
	for (l = names_first(core, &walk); l != NULL; l = names_next(&walk)) {
		TAILQ_FOREACH (h, &l->holders, in_holders)
			n += find(core, hold_seen(h)) != NULL;
		TAILQ_FOREACH (w, &queue_of(l)->waiters, in_lock)
			n += find(core, w) != NULL;
	}
	assert(n <= table_of(core)->n &&
	       table_of(core)->n <= n + locks_untold(core));
	return 0;
}

static const struct lock_hooks hooks = {
	.admits = admits,
	.waits = waits,
	.waited = waited,
	.begins = begins,
	.told = told,
	.ends = ends,
};

const struct core_part notes_part = {
	.id = PART_NOTES,
	.lock = &hooks,
	.init = init,
	.fini = fini,
	.check = check,
};
