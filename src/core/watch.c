/*
 * Watched names, and who watches them.
 *
 *	session --watches--> watch <--watches-- watched
 *
 * A watched name exists apart from the lock of that name, which comes and
 * goes.  Its `now` is what its watchers were told last.  Whoever changes a
 * lock touches it; at the end of the step `now` is compared with what the
 * lock says then, so that quick changes are told as one.
 */
#include "config.h"

#include <string.h>

#include "base/xmalloc.h"
#include "core/guard/guard.h"
#include "core/lock.h"
#include "core/session.h"
#include "core/status.h"
#include "core/turn/emit.h"
#include "core/turn/work.h"
#include "core/watch.h"

#define WHY_SIZE 256
#define REACH_MS 50  /* between looks whether Redis can be reached */
#define PASSED_MS 20 /* until another broker has taken up what it was given */

/* One session's WATCH of one name.  Owned by the watched name. */
struct watch {
	TAILQ_ENTRY(watch) in_session;
	TAILQ_ENTRY(watch) in_watched;
	struct session *session;
	struct watched *watched;
	bool told;	  /* it was, once */
	bool pending;	  /* its OK waits for a look */
	uint64_t ref;	  /* pending: of the request */
	int64_t until_ms; /* pending: Redis must be reached before */
};

/* What a name looks like from outside. */
struct scene {
	bool held;
	uint64_t fence;	   /* 0: unknown */
	size_t broker_len; /* 0: unknown */
	char broker[BROKER_MAX_BYTES];
};

/* A name with watchers.  Freed with the last of them. */
struct watched {
	UT_hash_handle hh;
	TAILQ_ENTRY(watched) in_touched;
	struct watch_list watches;
	struct timer timer; /* the next look */
	struct scene now;
	uint32_t shard;
	bool known;   /* `now` is */
	bool here;    /* this broker had it when it was looked at last ... */
	bool passing; /* ... and may have passed it on to another since */
	bool taken;   /* it was seen in another's hands */
	bool looking; /* an operation is in flight */
	bool touched; /* in watches.touched */
	uint8_t name_len;
	char name[];
};

/* All watched names. */
struct watches {
	struct watched *by_name;
	TAILQ_HEAD(, watched) touched; /* in that order */
};

void
watch_init(struct core *core)
{
	core->watches = xcalloc(1, sizeof(*core->watches));
	TAILQ_INIT(&core->watches->touched);
}

void
watch_fini(struct core *core)
{
	assert(core->watches->by_name == NULL);
	free(core->watches);
}

static struct watched *
find(const struct core *core, const char *name, size_t len)
{
	struct watched *w;

	HASH_FIND(hh, core->watches->by_name, name, len, w);
	return w;
}

static struct watched *
get(struct core *core, const char *name, size_t len)
{
	struct watched *w = find(core, name, len);

	if (w != NULL)
		return w;
	assert(len > 0 && len <= UINT8_MAX);
	w = xcalloc(1, sizeof(*w) + len);
	TAILQ_INIT(&w->watches);
	w->timer.kind = TIMER_WATCH;
	w->shard = guard_shard(core, name, len);
	w->name_len = (uint8_t)len;
	memcpy(w->name, name, len);
	HASH_ADD_KEYPTR(hh, core->watches->by_name, w->name, len, w);
	return w;
}

/* Ends one watch; the name is freed with the last. */
static void
leave(struct core *core, struct watch *one)
{
	struct watched *w = one->watched;

	TAILQ_REMOVE(&one->session->watches, one, in_session);
	TAILQ_REMOVE(&w->watches, one, in_watched);
	one->session->nwatches--;
	free(one);
	if (!TAILQ_EMPTY(&w->watches))
		return;
	if (w->touched)
		TAILQ_REMOVE(&core->watches->touched, w, in_touched);
	core_disarm(core, &w->timer);
	HASH_DELETE(hh, core->watches->by_name, w);
	free(w);
}

bool
watch_leave(struct core *core, struct session *s)
{
	while (work_left(core) && !TAILQ_EMPTY(&s->watches)) {
		core_visit(core, 1);
		leave(core, TAILQ_FIRST(&s->watches));
	}
	return TAILQ_EMPTY(&s->watches);
}

static void
tell(struct core *core, const struct watch *one)
{
	const struct watched *w = one->watched;
	const struct scene *now = &w->now;

	emit_event(core, one->session->id, now->held ? EVENT_HELD : EVENT_FREE,
	    w->name, w->name_len);
	if (now->fence > 0)
		emit_num(core, FIELD_FENCE, now->fence);
	if (now->broker_len > 0)
		emit_str(core, FIELD_BROKER, now->broker, now->broker_len);
}

static bool
same(const struct scene *a, const struct scene *b)
{
	return a->held == b->held && a->fence == b->fence &&
	       a->broker_len == b->broker_len &&
	       memcmp(a->broker, b->broker, a->broker_len) == 0;
}

static void
change(struct core *core, struct watched *w, const struct scene *fresh)
{
	const struct watch *one;

	if (w->known && same(&w->now, fresh))
		return;
	w->known = true;
	w->now = *fresh;
	TAILQ_FOREACH (one, &w->watches, in_watched)
		if (!one->pending)
			tell(core, one);
}

static void
welcome(struct core *core, struct watch *one)
{
	one->pending = false;
	one->told = true;
	emit_reply(core, one->session->id, one->ref, STATUS_OK);
	tell(core, one);
}

/* How the name is at present is known now. */
static void
welcome_all(struct core *core, struct watched *w)
{
	struct watch *one;

	TAILQ_FOREACH (one, &w->watches, in_watched)
		if (one->pending)
			welcome(core, one);
}

/* Looks are a little shorter than a lease apart: that is the promise. */
static void
plan_look(struct core *core, struct watched *w)
{
	int64_t slack_ms = core->config.lease_ms / 8;

	core_arm(core, &w->timer,
	    core->now_ms + core->config.lease_ms - slack_ms -
		core_jitter(core, slack_ms));
}

static void
look(struct core *core, struct watched *w)
{
	struct slot *slot;

	plan_look(core, w);
	if (w->looking || !guard_up(core, w->shard))
		return;
	/* Over a quorum any server will do, if it can be reached. */
	w->shard = guard_shard(core, w->name, w->name_len);
	w->looking = true;
	slot_submit(
	    core, &slot, OP_STATUS, SLOT_WATCH, w->shard, w->name, w->name_len);
	slot->name = xstrndup(w->name, w->name_len);
	slot->name_len = w->name_len;
}

/* Does the name linger for its last holder, in whatever is going on? */
static bool
lingers(const struct core *core, const struct lock *l)
{
	return more_of(l)->linger_ms > core->now_ms &&
	       l->state >= LEASE_CONFIRMING;
}

/* What this broker itself has of the name.  False: nothing. */
static bool
look_here(const struct core *core, const struct watched *w, struct scene *scene)
{
	const struct lock *l = lock_find(core, w->name, w->name_len);
	const struct hold *h = l == NULL ? NULL : LIST_FIRST(&l->holders);

	memset(scene, 0, sizeof(*scene));
	if (h == NULL && (l == NULL || !lingers(core, l)))
		return false;
	scene->held = true;
	if (h != NULL)
		scene->fence = h->fence;
	else if (w->here)
		scene->fence = w->now.fence;
	scene->broker_len = strlen(core->broker);
	memcpy(scene->broker, core->broker, scene->broker_len);
	return true;
}

/* Nobody has it here, and it is not free yet: it goes on or ends. */
static bool
between(const struct lock *l)
{
	return l->state == LEASE_HELD || l->state == LEASE_ATRISK ||
	       l->state == LEASE_ENDING;
}

/* It was here and is not any more; where it may be elsewhere, look. */
static void
gone_from_here(struct core *core, struct watched *w)
{
	const struct scene nobody = { .held = false };

	w->here = false;
	if (w->passing) {
		w->passing = false;
		core_arm(core, &w->timer, core->now_ms + PASSED_MS);
		return;
	}
	change(core, w, &nobody);
	welcome_all(core, w);
	plan_look(core, w);
}

static void look_if_up(struct core *core, struct watched *w);

static void
settle(struct core *core, struct watched *w)
{
	const struct lock *l = lock_find(core, w->name, w->name_len);
	bool taken = w->taken;
	struct scene scene;

	w->taken = false;
	if (look_here(core, w, &scene)) {
		w->here = true;
		core_disarm(core, &w->timer);
		change(core, w, &scene);
		welcome_all(core, w);
	} else if (l != NULL && between(l)) {
		w->passing = more_of(l)->remote_ms != 0;
	} else if (w->here) {
		gone_from_here(core, w);
	} else if (taken && !w->now.held) {
		look_if_up(core, w);
	}
}

static void
touch(struct core *core, const struct lock *l, bool taken)
{
	struct watched *w;

	if (core->watches->by_name == NULL)
		return;
	w = find(core, l->name, l->name_len);
	if (w == NULL)
		return;
	w->taken = w->taken || taken;
	if (w->touched)
		return;
	w->touched = true;
	TAILQ_INSERT_TAIL(&core->watches->touched, w, in_touched);
}

void
watch_touch(struct core *core, const struct lock *l)
{
	touch(core, l, false);
}

void
watch_taken(struct core *core, const struct lock *l)
{
	touch(core, l, true);
}

void
watch_run(struct core *core)
{
	struct watched *w;

	while (!TAILQ_EMPTY(&core->watches->touched)) {
		w = TAILQ_FIRST(&core->watches->touched);
		w->touched = false;
		TAILQ_REMOVE(&core->watches->touched, w, in_touched);
		settle(core, w);
	}
}

/* Outcomes of looks. */

/* Whoever watched before goes on watching. */
static void
refuse(struct core *core, struct watch *one, const char *why, size_t len)
{
	emit_error(core, one->session->id, one->ref, ERR_UNAVAILABLE, "%.*s",
	    (int)len, why);
	one->pending = false;
	if (!one->told)
		leave(core, one);
}

static void
refuse_all(struct core *core, struct watched *w, const struct outcome *o)
{
	static const char lost[] = "Redis did not answer in time; try again";
	struct watch *one, *next;

	TAILQ_FOREACH_SAFE (one, &w->watches, in_watched, next) {
		if (!one->pending)
			continue;
		if (o->text_len > 0)
			refuse(core, one, o->text, o->text_len);
		else
			refuse(core, one, lost, sizeof(lost) - 1);
	}
}

/* Redis can't be reached: some wait for that, but not for ever. */
static void
wait_for_redis(struct core *core, struct watched *w)
{
	struct watch *one, *next;
	char why[WHY_SIZE];

	plan_look(core, w);
	guard_why(core, w->shard, why, sizeof(why));
	TAILQ_FOREACH_SAFE (one, &w->watches, in_watched, next) {
		if (!one->pending)
			continue;
		if (core->now_ms < one->until_ms) {
			core_arm(core, &w->timer, core->now_ms + REACH_MS);
			continue;
		}
		refuse(core, one, why, strlen(why));
	}
}

static void
look_if_up(struct core *core, struct watched *w)
{
	if (guard_up(core, w->shard))
		look(core, w);
	else
		wait_for_redis(core, w);
}

void
watch_timer(struct core *core, struct timer *t)
{
	look_if_up(core, container_of(t, struct watched, timer));
}

/*
 * What the key says.  False: it is a lease of this broker that is on its way,
 * in or out, and was not touched by it yet.
 */
static bool
look_there(
    const struct core *core, const struct outcome *o, struct scene *scene)
{
	struct status_value v = status_parse(o->text, o->text_len);

	memset(scene, 0, sizeof(*scene));
	scene->held = o->text_len > 0;
	scene->fence = v.fence;
	if (v.broker_len <= sizeof(scene->broker)) {
		scene->broker_len = v.broker_len;
		memcpy(scene->broker, o->text, v.broker_len);
	}
	return !status_is_ours(core, o->text, o->text_len);
}

void
watch_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o)
{
	struct watched *w = find(core, slot->name, slot->name_len);
	struct scene scene;

	if (w == NULL)
		return;
	w->looking = false;
	if (o->status != OUTCOME_VALUE) {
		refuse_all(core, w, o);
		return;
	}
	if (look_here(core, w, &scene) || look_there(core, o, &scene) ||
	    !w->known)
		change(core, w, &scene);
	welcome_all(core, w);
}

/* Requests. */

static struct watch *
find_watch(const struct session *s, const struct watched *w)
{
	struct watch *one;

	TAILQ_FOREACH (one, &s->watches, in_session)
		if (one->watched == w)
			return one;
	return NULL;
}

static bool
allowed(
    struct core *core, const struct session *s, const struct core_request *rq)
{
	unsigned n = session_load(s);

	if (core->stopping) {
		emit_error(core, s->id, rq->ref, ERR_SHUTDOWN,
		    "the broker is stopping; try another one");
		return false;
	}
	if (n < core->config.max_holds)
		return true;
	emit_error(core, s->id, rq->ref, ERR_LIMIT,
	    "this session holds, waits for or watches %u things already"
	    " (limits.holds)",
	    n);
	return false;
}

static struct watch *
join(struct session *s, struct watched *w)
{
	struct watch *one = xcalloc(1, sizeof(*one));

	one->session = s;
	one->watched = w;
	TAILQ_INSERT_TAIL(&s->watches, one, in_session);
	TAILQ_INSERT_TAIL(&w->watches, one, in_watched);
	s->nwatches++;
	return one;
}

/* The present state comes right behind the OK, so it is looked at first. */
static void
begin(struct core *core, struct watch *one, uint64_t ref)
{
	struct watched *w = one->watched;
	struct scene scene;

	one->pending = true;
	one->ref = ref;
	if (look_here(core, w, &scene)) {
		w->here = true;
		change(core, w, &scene);
		welcome(core, one);
		return;
	}
	one->until_ms = core->now_ms + core->config.reply_timeout_ms;
	look_if_up(core, w);
}

void
watch_request(
    struct core *core, struct session *s, const struct core_request *rq)
{
	const struct core_name *name = &rq->names[0];
	struct watched *w = find(core, name->p, name->n);
	struct watch *one = w == NULL ? NULL : find_watch(s, w);

	if (one != NULL && one->pending) {
		emit_error(core, s->id, rq->ref, ERR_BAD_REQUEST,
		    "this session is about to watch it already");
		return;
	}
	if (one == NULL) {
		if (!allowed(core, s, rq))
			return;
		one = join(s, get(core, name->p, name->n));
	}
	begin(core, one, rq->ref);
}

void
watch_end_request(
    struct core *core, struct session *s, const struct core_request *rq)
{
	const struct core_name *name = &rq->names[0];
	struct watched *w = find(core, name->p, name->n);
	struct watch *one = w == NULL ? NULL : find_watch(s, w);

	if (one == NULL) {
		emit_error(core, s->id, rq->ref, ERR_NOT_FOUND,
		    "this session does not watch %.*s", (int)name->n, name->p);
		return;
	}
	if (one->pending)
		emit_reply(core, s->id, one->ref, STATUS_CANCELLED);
	leave(core, one);
	emit_reply(core, s->id, rq->ref, STATUS_OK);
}
