/*
 * Kept events.  News of a state replaces older news of the same state, so that
 * there are no more of them than things that a session may hold and watch.
 */
#include "config.h"

#include <string.h>

#include "base/xmalloc.h"
#include "core/emit.h"
#include "core/hold.h"
#include "core/kept.h"
#include "core/lock.h"
#include "core/session.h"

#define KEPT_FIELDS_MAX 4

/* One event.  Owned by its session. */
struct kept {
	TAILQ_ENTRY(kept) link;
	enum event_id event;
	size_t name_len;
	size_t nfields;
	struct field fields[KEPT_FIELDS_MAX];
	struct buf text; /* the name, then strings of fields */
};

/* What each event says something about; LOST is not taken back by any. */
enum subject { SUBJECT_NONE, SUBJECT_HOLD, SUBJECT_NAME };

static const enum subject subjects[EVENT_MAX] = {
	[EVENT_ATRISK] = SUBJECT_HOLD,
	[EVENT_SAFE] = SUBJECT_HOLD,
	[EVENT_LOST] = SUBJECT_HOLD,
	[EVENT_HELD] = SUBJECT_NAME,
	[EVENT_FREE] = SUBJECT_NAME,
};

static void
drop(struct session *s, struct kept *k)
{
	TAILQ_REMOVE(&s->kept, k, link);
	s->nkept--;
	buf_fini(&k->text);
	free(k);
}

/* Semaphores have names of their own. */
static bool
of_permits(const struct kept *k)
{
	return k->nfields > 0 && k->fields[0].id == FIELD_KIND;
}

static bool
replaces(const struct kept *fresh, const struct kept *old)
{
	return subjects[fresh->event] != SUBJECT_NONE &&
	       subjects[fresh->event] == subjects[old->event] &&
	       old->event != EVENT_LOST &&
	       of_permits(fresh) == of_permits(old) &&
	       fresh->name_len == old->name_len &&
	       memcmp(buf_data(&fresh->text), buf_data(&old->text),
		   fresh->name_len) == 0;
}

static void
drop_older(struct session *s, const struct kept *fresh)
{
	struct kept *k, *next;

	TAILQ_FOREACH_SAFE (k, &s->kept, link, next)
		if (replaces(fresh, k))
			drop(s, k);
}

static struct kept *
copy(const struct effects *fx, const struct effect *e)
{
	struct kept *k = xcalloc(1, sizeof(*k));
	const char *text = buf_len(&fx->text) == 0 ? "" : buf_data(&fx->text);
	struct field *f;
	size_t i;

	assert(e->nfields <= KEPT_FIELDS_MAX);
	k->event = e->event;
	k->name_len = e->name_len;
	k->nfields = e->nfields;
	buf_init(&k->text);
	buf_add(&k->text, text + e->name, e->name_len);
	for (i = 0; i < k->nfields; i++) {
		f = &k->fields[i];
		*f = fx->fields[e->field + i];
		f->str = (uint32_t)buf_len(&k->text);
		buf_add(&k->text, text + fx->fields[e->field + i].str, f->len);
	}
	return k;
}

void
kept_collect(struct core *core, size_t first)
{
	const struct effects *fx = core->fx;
	const struct effect *e;
	struct session *s;
	struct kept *k;
	size_t i;

	for (i = first; i < fx->n; i++) {
		e = &fx->v[i];
		if (e->kind != EFFECT_EVENT)
			continue;
		s = session_find(core, e->session);
		if (s == NULL || s->grace_ms == 0)
			continue;
		k = copy(fx, e);
		drop_older(s, k);
		if (s->nkept >= 2 * core->config.max_holds)
			drop(s, TAILQ_FIRST(&s->kept));
		TAILQ_INSERT_TAIL(&s->kept, k, link);
		s->nkept++;
	}
}

/*
 * It shares the name again, in the phase in which it had lost it: now that
 * would seem to be said of what it has.
 */
static bool
has_again(struct core *core, const struct session *s, const struct kept *k)
{
	const struct lock *l;
	const struct hold *h;
	size_t i;

	if (k->event != EVENT_LOST || of_permits(k))
		return false;
	l = lock_find(core, buf_data(&k->text), k->name_len);
	h = l != NULL ? hold_find(l, s) : NULL;
	for (i = 0; h != NULL && i < k->nfields; i++)
		if (k->fields[i].id == FIELD_FENCE &&
		    k->fields[i].num == h->fence)
			return true;
	return false;
}

void
kept_tell(struct core *core, struct session *s)
{
	const struct kept *k;
	const char *text;
	size_t i;

	TAILQ_FOREACH (k, &s->kept, link) {
		if (has_again(core, s, k))
			continue;
		text = buf_len(&k->text) == 0 ? "" : buf_data(&k->text);
		emit_event(core, s->id, k->event, text, k->name_len);
		for (i = 0; i < k->nfields; i++)
			if (k->fields[i].len > 0)
				emit_str(core, k->fields[i].id,
				    text + k->fields[i].str, k->fields[i].len);
			else
				emit_num(
				    core, k->fields[i].id, k->fields[i].num);
	}
	kept_forget(s);
}

void
kept_forget(struct session *s)
{
	while (!TAILQ_EMPTY(&s->kept))
		drop(s, TAILQ_FIRST(&s->kept));
}
