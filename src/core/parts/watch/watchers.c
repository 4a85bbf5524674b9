/*
 * The watchers of a name: their lists, and their events.
 *
 * A watcher counts the changes of `now` that it has seen, so no code must note
 * for each change who has heard of it: all watchers after the first that has
 * seen the last change have seen it, too.
 */
#include "config.h"

#include <string.h>

#include "base/xmalloc.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/job.h"
#include "core/kernel/turn/work.h"
#include "core/parts/watch/watch.h"
#include "core/parts/watch/watchers.h"

static const char *
name_of(const struct table_link *link, size_t *len)
{
	const struct watched *w =
	    container_of_const(link, struct watched, by_name);

	*len = w->name_len;
	return w->name;
}

void
watch_init(struct core *core)
{
	core->part[PART_WATCH] = xcalloc(1, sizeof(struct watches));
	TAILQ_INIT(&watches_of(core)->touched);
	TAILQ_INIT(&watches_of(core)->telling);
	table_init(&watches_of(core)->by_name, name_of);
	table_init_key(&watches_of(core)->table, struct watch, by_key, key);
}

void
watch_fini(struct core *core)
{
	assert(watches_of(core)->by_name.n == 0);
	table_fini(&watches_of(core)->by_name);
	table_fini(&watches_of(core)->table);
	free(watches_of(core));
}

struct watch *
watchers_find(const struct core *core, struct owner *owner, struct watched *w)
{
	struct watch_key key = { owner, w };
	return container_or_null(table_find_key(&watches_of(core)->table, &key),
	    struct watch, by_key);
}

struct watch *
watchers_join(struct core *core, struct owner *owner, struct watched *w)
{
	struct watch *one = xcalloc(1, sizeof(*one));

	one->key.owner = owner;
	one->key.watched = w;
	TAILQ_INSERT_TAIL(&owner->watches, one, in_owner);
	TAILQ_INSERT_TAIL(&w->watches, one, in_watched);
	table_add(&watches_of(core)->table, &one->by_key);
	owner->nwatches++;
	return one;
}

static void
free_watched(struct core *core, struct watched *w)
{
	if (w->touched)
		TAILQ_REMOVE(&watches_of(core)->touched, w, in_touched);
	job_set(core, JOB_WATCHED, !TAILQ_EMPTY(&watches_of(core)->touched));
	if (w->telling)
		TAILQ_REMOVE(&watches_of(core)->telling, w, in_telling);
	job_set(core, JOB_WATCHERS, !TAILQ_EMPTY(&watches_of(core)->telling));
	core_disarm(core, &w->timer);
	table_remove(&watches_of(core)->by_name, &w->by_name);
	free(w->refusal);
	free(w->value);
	free(w);
}

/* Each watch is in one of the two lists of its name. */
static struct watch_list *
list_of(const struct watch *one)
{
	struct watched *w = one->key.watched;

	return one->asking ? &w->asking : &w->watches;
}

/* The last watcher takes the watched name with it. */
bool
watchers_leave(struct core *core, struct watch *one)
{
	struct watched *w = one->key.watched;
	struct owner *owner = one->key.owner;

	TAILQ_REMOVE(&owner->watches, one, in_owner);
	TAILQ_REMOVE(list_of(one), one, in_watched);
	table_remove(&watches_of(core)->table, &one->by_key);
	owner->nwatches--;
	free(one);
	if (!TAILQ_EMPTY(&w->watches) || !TAILQ_EMPTY(&w->asking))
		return false;
	free_watched(core, w);
	return true;
}

/* It is told nothing while it waits for its OK: the state follows after that,
 * and must not come before. */
void
watchers_ask(struct watch *one, uint64_t ref)
{
	struct watched *w = one->key.watched;

	assert(!one->asking);
	TAILQ_REMOVE(&w->watches, one, in_watched);
	TAILQ_INSERT_TAIL(&w->asking, one, in_watched);
	one->asking = true;
	one->number = ++w->asked;
	one->ref = ref;
}

static void
tell_watcher(struct core *core, struct watch *one)
{
	const struct watched *w = one->key.watched;
	const struct snapshot *now = &w->now;

	one->seen = w->changes;
	one->told = *now;
	emit_event(core, one->key.owner->id,
	    now->held ? EVENT_HELD : EVENT_FREE, w->name, w->name_len);
	if (now->fence > 0)
		emit_num(core, FIELD_FENCE, now->fence);
	if (now->broker_len > 0)
		emit_str(core, FIELD_BROKER, now->broker, now->broker_len);
	if (now->value > 0)
		emit_text(core, FIELD_VALUE, w->value);
}

static bool
same_broker(const struct snapshot *a, const struct snapshot *b)
{
	return a->broker_len == b->broker_len &&
	       memcmp(a->broker, b->broker, a->broker_len) == 0;
}

static bool
same(const struct snapshot *a, const struct snapshot *b)
{
	return a->held == b->held && a->fence == b->fence &&
	       a->value == b->value && same_broker(a, b);
}

/*
 * Was it told the same before, and has it missed a different state in between?
 * A name that is shared may have no broker any longer.  But in a quorum a
 * server may have shown its vote for another broker, which tried with the same
 * fence.
 */
static bool
knows(const struct watch *one)
{
	const struct snapshot *told = &one->told;
	const struct snapshot *now = &one->key.watched->now;

	return one->seen > 0 && told->held == now->held &&
	       told->fence == now->fence && told->value == now->value &&
	       (!now->held || now->fence > 0) &&
	       (told->broker_len == 0 || now->broker_len == 0 ||
		   same_broker(told, now));
}

/* A watcher must be told something: tell_touched() of watch.c will visit the name. */
static void
need_telling(struct core *core, struct watched *w)
{
	if (w->telling)
		return;
	w->telling = true;
	TAILQ_INSERT_TAIL(&watches_of(core)->telling, w, in_telling);
	job_set(core, JOB_WATCHERS, true);
}

/* Values are numbered as they come, so that a watcher need not keep the text of
 * the value that it was told. */
static uint64_t
number_value(struct watched *w, struct span value)
{
	if (value.n == 0) {
		free(w->value);
		w->value = NULL;
		return 0;
	}
	if (w->value != NULL && span_is(value, w->value))
		return w->values;
	free(w->value);
	w->value = xstrndup(value.p, value.n);
	return ++w->values;
}

/* Each change makes the earlier ones old: watchers that have not heard of those
 * are no longer told of them. */
void
watchers_change(struct core *core, struct watched *w, struct snapshot fresh,
    struct span value)
{
	fresh.value = number_value(w, value);
	if (w->known && same(&w->now, &fresh))
		return;
	w->known = true;
	w->now = fresh;
	w->changes++;
	need_telling(core, w);
}

/* From now on it is told of changes; a watcher not told of the last one goes
 * first. */
static void
settle_down(struct watch *one)
{
	struct watched *w = one->key.watched;

	TAILQ_REMOVE(&w->asking, one, in_watched);
	one->asking = false;
	if (one->seen == w->changes)
		TAILQ_INSERT_TAIL(&w->watches, one, in_watched);
	else
		TAILQ_INSERT_HEAD(&w->watches, one, in_watched);
}

void
watchers_welcome(struct core *core, struct watch *one)
{
	emit_reply(core, one->key.owner->id, one->ref, STATUS_OK);
	tell_watcher(core, one);
	settle_down(one);
}

/* A session that watched the name before goes on watching it. */
bool
watchers_refuse(struct core *core, struct watch *one, const char *why)
{
	emit_error(
	    core, one->key.owner->id, one->ref, ERR_UNAVAILABLE, "%s", why);
	if (one->seen == 0)
		return watchers_leave(core, one);
	need_telling(core, one->key.watched);
	settle_down(one);
	return false;
}

void
watchers_answer(struct core *core, struct watched *w, char *refusal)
{
	free(w->refusal);
	w->refusal = refusal;
	w->answered = w->asked;
	if (!TAILQ_EMPTY(&w->asking))
		need_telling(core, w);
}

static void
done(struct core *core, struct watched *w)
{
	TAILQ_REMOVE(&watches_of(core)->telling, w, in_telling);
	w->telling = false;
}

/*
 * Answers one watcher, or tells one of the last change.  False: that was all,
 * or the last watcher is gone, and w is freed.  Watchers that asked come first:
 * they wait for an answer.  A watcher that has been told goes to the end, after
 * those that know.
 */
static bool
tell_one(struct core *core, struct watched *w)
{
	struct watch *one = TAILQ_FIRST(&w->asking);

	if (one != NULL && one->number <= w->answered) {
		if (w->refusal != NULL)
			return !watchers_refuse(core, one, w->refusal);
		watchers_welcome(core, one);
		return true;
	}
	one = TAILQ_FIRST(&w->watches);
	if (one == NULL || one->seen == w->changes) {
		done(core, w);
		return false;
	}
	if (!knows(one))
		tell_watcher(core, one);
	one->seen = w->changes;
	TAILQ_REMOVE(&w->watches, one, in_watched);
	TAILQ_INSERT_TAIL(&w->watches, one, in_watched);
	return true;
}

/* The names take turns, and each gets a part of the step. */
bool
watchers_tell_on(struct core *core)
{
	struct watched *w;

	while (work_left(core) &&
	       (w = TAILQ_FIRST(&watches_of(core)->telling)) != NULL) {
		TAILQ_REMOVE(&watches_of(core)->telling, w, in_telling);
		TAILQ_INSERT_TAIL(&watches_of(core)->telling, w, in_telling);
		do
			core_visit(core, 1);
		while (tell_one(core, w) && work_left(core));
	}
	return !TAILQ_EMPTY(&watches_of(core)->telling);
}
