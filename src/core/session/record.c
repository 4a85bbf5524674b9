/*
 * Records of sessions.
 */
#include "config.h"

#include <string.h>

#include "base/xmalloc.h"
#include "core/session/record.h"
#include "core/turn/work.h"

static const char *
id_of(const struct table_link *link, size_t *len)
{
	const struct session *s =
	    container_of_const(link, struct session, by_id);

	*len = sizeof(s->id);
	return (const char *)&s->id;
}

void
session_init(struct core *core)
{
	core->sessions = xcalloc(1, sizeof(*core->sessions));
	table_init(&core->sessions->by_id, id_of);
	TAILQ_INIT(&core->sessions->all);
	TAILQ_INIT(&core->sessions->withdrawing);
	TAILQ_INIT(&core->sessions->letting_go);
	TAILQ_INIT(&core->sessions->kept_over);
	TAILQ_INIT(&core->sessions->hastening);
	TAILQ_INIT(&core->sessions->going);
	TAILQ_INIT(&core->sessions->reentering);
	TAILQ_INIT(&core->sessions->retelling);
	TAILQ_INIT(&core->sessions->walking);
}

void
session_fini(struct core *core)
{
	assert(core->sessions->by_id.n == 0);
	table_fini(&core->sessions->by_id);
	free(core->sessions);
}

static const char *
lost_name(const struct table_link *link, size_t *len)
{
	const struct lost *lost =
	    container_of_const(link, struct lost, by_name);

	*len = lost->name_len;
	return lost->name;
}

struct session *
session_new(struct core *core, uint64_t id, const char *peer)
{
	struct session *s = xcalloc(1, sizeof(*s));

	assert(session_find(core, id) == NULL);
	s->id = s->conn = id;
	s->peer = xstrdup(peer);
	s->end.kind = TIMER_SESSION;
	TAILQ_INIT(&s->holds);
	TAILQ_INIT(&s->waiting);
	TAILQ_INIT(&s->granted);
	TAILQ_INIT(&s->lost);
	table_init(&s->lost_names, lost_name);
	TAILQ_INIT(&s->claims);
	TAILQ_INIT(&s->permits);
	TAILQ_INIT(&s->kept);
	TAILQ_INIT(&s->watches);
	TAILQ_INIT(&s->asks);
	table_add(&core->sessions->by_id, &s->by_id);
	TAILQ_INSERT_TAIL(&core->sessions->all, s, in_all);
	return s;
}

void
session_delete(struct core *core, struct session *s)
{
	assert(TAILQ_EMPTY(&s->holds) && s->nwaiting == 0);
	assert(TAILQ_EMPTY(&s->permits) && TAILQ_EMPTY(&s->claims));
	assert(TAILQ_EMPTY(&s->lost) && TAILQ_EMPTY(&s->watches));
	assert(!s->withdrawing && !s->letting_go && s->nkept == 0);
	assert(s->valid == NULL && TAILQ_EMPTY(&s->asks));
	assert(!s->hastening && !s->going && !s->reentering);
	table_fini(&s->lost_names);
	core_disarm(core, &s->end);
	core->sessions->nkeepers -= s->grace_ms > 0;
	if (core->sessions->stop_next == s)
		core->sessions->stop_next = TAILQ_NEXT(s, in_all);
	core->sessions->ndetached -= s->detached;
	table_remove(&core->sessions->by_id, &s->by_id);
	TAILQ_REMOVE(&core->sessions->all, s, in_all);
	free(s->label);
	free(s->peer);
	free(s->user);
	free(s);
}

struct session *
session_find(const struct core *core, uint64_t id)
{
	struct table_link *link =
	    table_find(&core->sessions->by_id, (const char *)&id, sizeof(id));

	return link == NULL ? NULL : container_of(link, struct session, by_id);
}

uint64_t
session_conn(const struct core *core, uint64_t id)
{
	const struct session *s = session_find(core, id);

	return s == NULL ? 0 : s->conn;
}

unsigned
session_load(const struct session *s)
{
	return s->nholds + s->nwaiting + s->npermits + s->nclaims + s->nwatches;
}

static struct lost *
find_lost(const struct session *s, const char *name, size_t len)
{
	struct table_link *link = table_find(&s->lost_names, name, len);

	return link == NULL ? NULL : container_of(link, struct lost, by_name);
}

static void
lost_free(struct session *s, struct lost *lost)
{
	table_remove(&s->lost_names, &lost->by_name);
	TAILQ_REMOVE(&s->lost, lost, link);
	s->nlost--;
	free(lost);
}

/* Remembers as many names as a session may hold, and forgets the oldest. */
void
session_note_lost(
    struct core *core, struct session *s, const char *name, size_t len)
{
	struct lost *lost = find_lost(s, name, len);

	if (lost == NULL && s->nlost >= core->config.limits.holds)
		lost = TAILQ_FIRST(&s->lost);
	if (lost != NULL)
		lost_free(s, lost);
	lost = xmalloc(sizeof(*lost) + len);
	lost->name_len = len;
	memcpy(lost->name, name, len);
	TAILQ_INSERT_TAIL(&s->lost, lost, link);
	table_add(&s->lost_names, &lost->by_name);
	s->nlost++;
}

bool
session_has_lost(const struct session *s, const char *name, size_t len)
{
	return find_lost(s, name, len) != NULL;
}

bool
session_take_lost(struct session *s, const char *name, size_t len)
{
	struct lost *lost = find_lost(s, name, len);

	if (lost == NULL)
		return false;
	lost_free(s, lost);
	return true;
}

bool
session_forget_lost(struct core *core, struct session *s)
{
	struct lost *lost;

	while (work_left(core) && (lost = TAILQ_FIRST(&s->lost)) != NULL) {
		core_visit(core, 1);
		lost_free(s, lost);
	}
	return TAILQ_EMPTY(&s->lost);
}

static void
check_one(const struct core *core, const struct session *s)
{
	const struct lost *lost;
	unsigned nlost = 0;

	assert(session_find(core, s->id) == s);
	TAILQ_FOREACH (lost, &s->lost, link)
		nlost++;
	assert(nlost == s->nlost && nlost == s->lost_names.n);
	assert(!s->detached || s->conn == 0);
	assert(!s->over || (s->conn == 0 && s->letting_go && !s->detached));
	assert(!timer_armed(&s->end) || s->detached);
	assert(s->grace_ms >= 0 &&
	       s->nwaiting + s->nclaims + s->nholds < UINT32_MAX / 2);
}

void
session_check(const struct core *core)
{
	const struct sessions *all = core->sessions;
	unsigned nkeepers = 0, ndetached = 0, nleaving = 0;
	const struct session *s;

	TAILQ_FOREACH (s, &all->all, in_all) {
		check_one(core, s);
		nkeepers += s->grace_ms > 0;
		ndetached += s->detached;
		nleaving += s->withdrawing + s->letting_go;
	}
	assert(nkeepers == all->nkeepers && ndetached == all->ndetached);
	TAILQ_FOREACH (s, &all->withdrawing, in_withdrawing)
		nleaving -= s->withdrawing;
	TAILQ_FOREACH (s, &all->letting_go, in_letting_go)
		nleaving -= s->letting_go;
	assert(nleaving == 0);
}
