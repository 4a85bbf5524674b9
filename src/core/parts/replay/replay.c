/*
 * Events that a session may not have heard ("Sessions" in
 * lockbroker-protocol(7), RESUME).
 *
 * A session with grace keeps the events since its client last said anything: as
 * long as the client is silent, the broker cannot know whether they arrived.
 * It sends them again when the session is resumed.
 *
 * News of a state replaces older news of the same state, so that a session keeps
 * no more of them than the number of things that it may hold and watch.
 *
 *	!ATRISK, !SAFE   of a hold, or of permits: only the latest
 *	!HELD, !FREE     of a watched name: only the latest
 *	!LOST            replaces a warning of it; nothing replaces this
 *
 * A kept event is a copy, since effects are gone after the step.  Its text
 * begins with the key by which older news is found: a letter for what it is
 * about, and the name.
 */
#include "config.h"

#include <string.h>

#include "base/xmalloc.h"
#include "core/kernel/lock/hold.h"
#include "core/kernel/lock/lock.h"
#include "core/kernel/session/record.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/job.h"
#include "core/kernel/turn/work.h"
#include "core/parts/ids.h"
#include "core/parts/watch/watch.h"

#define KEPT_FIELDS_MAX 4

/* One event.  Owned by its session. */
struct kept {
	TAILQ_ENTRY(kept) link;	   /* in session.kept, or core.kept_over */
	struct table_link by_name; /* in session.kept_news */
	bool news;		   /* in that table: later news replaces it */
	uint64_t number;	   /* of all that were kept, in order */
	enum event_id event;
	size_t name_len;
	size_t nfields;
	struct field fields[KEPT_FIELDS_MAX];
	struct buf text; /* about(), the name, strings of fields */
};

/* What each event is about.  No later event replaces LOST. */
enum subject { SUBJECT_NONE, SUBJECT_HOLD, SUBJECT_NAME };

static const enum subject subjects[EVENT_MAX] = {
	[EVENT_ATRISK] = SUBJECT_HOLD,
	[EVENT_SAFE] = SUBJECT_HOLD,
	[EVENT_LOST] = SUBJECT_HOLD,
	[EVENT_HELD] = SUBJECT_NAME,
	[EVENT_FREE] = SUBJECT_NAME,
};

static void
kept_free(struct kept *k)
{
	buf_fini(&k->text);
	free(k);
}

/* Takes an event off its session, and frees it. */
static void
drop(struct session *s, struct kept *k)
{
	if (k->news)
		table_remove(&s->kept_news, &k->by_name);
	TAILQ_REMOVE(&s->kept, k, link);
	s->nkept--;
	kept_free(k);
}

/* The key is what the event is about, and the name. */
static const char *
key_of(const struct table_link *link, size_t *len)
{
	const struct kept *k = container_of_const(link, struct kept, by_name);

	*len = 1 + k->name_len;
	return buf_data(&k->text);
}

/* Is it about permits?  A semaphore and a lock may have the same name. */
static bool
of_permits(const struct kept *k)
{
	return k->nfields > 0 && k->fields[0].id == FIELD_KIND;
}

/* Returns what the event is about, as a letter; 0: it replaces nothing. */
static char
about(const struct kept *k)
{
	static const char letters[] = {
		[SUBJECT_HOLD] = 'h', [SUBJECT_NAME] = 'n'
	};

	if (subjects[k->event] == SUBJECT_HOLD && of_permits(k))
		return 'p';
	return letters[subjects[k->event]];
}

/* The event replaces older news of the same; LOST stays, whatever comes. */
static void
drop_older(struct session *s, struct kept *fresh)
{
	const char *text = buf_data(&fresh->text);
	struct table_link *old;

	if (subjects[fresh->event] == SUBJECT_NONE)
		return;
	old = table_find(&s->kept_news, text, 1 + fresh->name_len);
	if (old != NULL)
		drop(s, container_of(old, struct kept, by_name));
	fresh->news = fresh->event != EVENT_LOST;
	if (fresh->news)
		table_add(&s->kept_news, &fresh->by_name);
}

/* Strings of fields move to the text of the copy, and the fields point
 * there. */
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
	for (i = 0; i < k->nfields; i++)
		k->fields[i] = fx->fields[e->field + i];
	buf_init(&k->text);
	buf_addc(&k->text, about(k));
	buf_add(&k->text, text + e->name, e->name_len);
	for (i = 0; i < k->nfields; i++) {
		f = &k->fields[i];
		f->str = (uint32_t)buf_len(&k->text);
		buf_add(&k->text, text + fx->fields[e->field + i].str, f->len);
	}
	return k;
}

/* Keeps copies of this step's events to sessions with grace, from effect
 * `first` on. */
static void
collect(struct core *core, size_t first)
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
		core_visit(core, 1);
		s = session_find(core, e->session);
		if (s == NULL || s->option[SESSION_GRACE] == 0)
			continue;
		k = copy(fx, e);
		k->number = ++core->sessions->nevents;
		drop_older(s, k);
		/*
		 * Losses are not replaced, so there may be more of them than of
		 * things that are held.  The oldest go: UNLOCK also reports a
		 * loss.
		 */
		if (s->nkept >= 2 * core->config.limits.holds)
			drop(s, TAILQ_FIRST(&s->kept));
		TAILQ_INSERT_TAIL(&s->kept, k, link);
		s->nkept++;
	}
}

/*
 * Has the session lost the name, and shares it again in the same phase?  Then
 * the LOST would seem to be about its present hold.
 */
static bool
has_again(struct core *core, const struct session *s, const struct kept *k)
{
	const struct lock *l;
	const struct hold *h;
	size_t i;

	if (k->event != EVENT_LOST || of_permits(k))
		return false;
	l = lock_find(core, buf_data(&k->text) + 1, k->name_len);
	h = l != NULL ? hold_find(core, l, &s->owner) : NULL;
	for (i = 0; h != NULL && i < k->nfields; i++)
		if (k->fields[i].id == FIELD_FENCE &&
		    k->fields[i].num == h->fence)
			return true;
	return false;
}

/* Events that are repeated to a session.  Nothing happens to it meanwhile. */
struct retold {
	TAILQ_ENTRY(retold) link; /* in sessions.retelling */
	struct session *session;
	struct kept_list kept; /* those still to tell */
};

/*
 * Is there no need for the session to hear of it any longer?  A loss is written
 * before the next line of its client is read, so that line shows that it has
 * arrived.
 */
static bool
is_over(struct core *core, struct session *s, const struct kept *k)
{
	/* It stays after all. */
	if (k->event == EVENT_LEAVING && !core->leaving)
		return true;
	if (subjects[k->event] != SUBJECT_NAME)
		return k->number <= s->heard || has_again(core, s, k);
	return k->number <= s->heard_written ||
	       !watch_has(core, &s->owner, buf_data(&k->text) + 1, k->name_len);
}

static void
replay_one(struct core *core, struct session *s, const struct kept *k)
{
	const char *text = buf_data(&k->text);
	size_t i;

	if (is_over(core, s, k))
		return;
	emit_event(core, s->owner.id, k->event, text + 1, k->name_len);
	for (i = 0; i < k->nfields; i++)
		if (k->fields[i].len > 0)
			emit_str(core, k->fields[i].id, text + k->fields[i].str,
			    k->fields[i].len);
		else
			emit_num(core, k->fields[i].id, k->fields[i].num);
}

/* If anything is left to tell, the core is being freed. */
static void
retold_free(struct core *core, struct retold *r)
{
	TAILQ_CONCAT(&core->sessions->kept_over, &r->kept, link);
	TAILQ_REMOVE(&core->sessions->retelling, r, link);
	free(r);
}

/* free_over() frees them later: they may be many. */
static void
forget(struct core *core, struct session *s)
{
	TAILQ_CONCAT(&core->sessions->kept_over, &s->kept, link);
	job_set(core, JOB_FORGET, !TAILQ_EMPTY(&core->sessions->kept_over));
	s->nkept = 0;
	table_fini(&s->kept_news);
}

/*
 * Sends the kept events again, in order; they stay kept until the client says
 * something.  If there are many, each step sends some of them, and nothing else
 * happens before all are sent (core_has_losses()): later news comes after them.
 *
 * They are no longer kept from here on, but each is kept once more as it is sent
 * again: collect() cannot distinguish it from other events.
 */
static void
tell_again(struct core *core, struct session *s)
{
	struct retold *r;

	if (s->nkept == 0)
		return;
	r = xcalloc(1, sizeof(*r));
	r->session = s;
	TAILQ_INIT(&r->kept);
	TAILQ_CONCAT(&r->kept, &s->kept, link);
	forget(core, s);
	TAILQ_INSERT_TAIL(&core->sessions->retelling, r, link);
	job_run(core, JOB_RETELL);
}

static bool
tell_more(struct core *core)
{
	struct retold *r;
	struct kept *k;

	while (work_left(core) &&
	       (r = TAILQ_FIRST(&core->sessions->retelling)) != NULL) {
		core_visit(core, 1);
		/* The session lives: its end is an event, and no event comes in
		 * between. */
		k = TAILQ_FIRST(&r->kept);
		if (k == NULL) {
			retold_free(core, r);
			continue;
		}
		replay_one(core, r->session, k);
		TAILQ_REMOVE(&r->kept, k, link);
		kept_free(k);
	}
	return !TAILQ_EMPTY(&core->sessions->retelling);
}

/*
 * The client has said something.  That shows that it has heard of the events
 * that were written before; but not of news of watched names that the broker is
 * about to write in this turn: these stay kept (core_written()).  If some were
 * not written before the client spoke, all stay, and tell_again() passes over
 * those that are over.
 */
static void
heard(struct core *core, struct session *s)
{
	const struct kept *last = TAILQ_LAST(&s->kept, kept_list);

	s->heard = core->sessions->nevents;
	s->heard_written = core->sessions->nwritten;
	if (last != NULL && last->number <= s->heard_written)
		forget(core, s);
}

void
core_written(struct core *core)
{
	core->sessions->nwritten = core->sessions->nevents;
}

static bool
free_over(struct core *core)
{
	struct kept *k;

	while (work_left(core) &&
	       (k = TAILQ_FIRST(&core->sessions->kept_over)) != NULL) {
		core_visit(core, 1);
		TAILQ_REMOVE(&core->sessions->kept_over, k, link);
		kept_free(k);
	}
	return !TAILQ_EMPTY(&core->sessions->kept_over);
}

static void
fini(struct core *core)
{
	while (!TAILQ_EMPTY(&core->sessions->retelling))
		retold_free(core, TAILQ_FIRST(&core->sessions->retelling));
	while (!TAILQ_EMPTY(&core->sessions->kept_over)) {
		work_begin(core);
		work_allow(core, CORE_WORK_MAX);
		(void)free_over(core);
	}
}

/* As a part. */

static void
opened(struct core *core, struct session *s)
{
	(void)core;
	table_init(&s->kept_news, key_of);
}

static const struct part_job jobs[] = {
	{ JOB_RETELL, tell_more },
	{ JOB_FORGET, free_over },
	{ 0 },
};

const struct core_part replay_part = {
	.id = PART_REPLAY,
	.fini = fini,
	.opened = opened,
	.heard = heard,
	.resumed = tell_again,
	.closed = forget,
	.told = collect,
	.jobs = jobs,
};
