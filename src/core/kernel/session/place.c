/*
 * Places for grace: one function says how a session counts, and everything that
 * changes a session ends with a call of it.
 */
#include "config.h"

#include <string.h>

#include "core/kernel/session/place.h"
#include "core/kernel/session/share.h"
#include "core/kernel/turn/emit.h"

/* The log says that all places are taken no more often than this. */
#define PLACE_NEWS_MS 60000

static enum place
place_of(const struct session *s)
{
	if (s->option[SESSION_GRACE] == 0 || s->over)
		return PLACE_NONE;
	return s->detached && owner_has(&s->owner) == 0 ? PLACE_SPARE
							: PLACE_TAKEN;
}

static void
move(struct core *core, struct session *s, enum place to)
{
	struct sessions *all = core->sessions;

	if (s->place == PLACE_TAKEN)
		share_give(&all->shares, &s->share);
	if (s->place == PLACE_SPARE)
		TAILQ_REMOVE(&all->spare, s, in_spare);
	all->nplaces[s->place]--;
	s->place = to;
	all->nplaces[to]++;
	if (to == PLACE_TAKEN)
		share_pass(&all->shares, &s->share, s->owner.user);
	if (to == PLACE_SPARE)
		TAILQ_INSERT_TAIL(&all->spare, s, in_spare);
}

void
place_look(struct core *core, struct session *s)
{
	enum place to = place_of(s);

	if (s->place != to)
		move(core, s, to);
}

void
place_leave(struct core *core, struct session *s)
{
	move(core, s, PLACE_NONE);
}

void
place_pass(struct core *core, struct session *s)
{
	if (s->place == PLACE_TAKEN)
		share_pass(&core->sessions->shares, &s->share, s->owner.user);
}

/* The maximum for one user. */
static unsigned
most_of_one(const struct core *core)
{
	return core->config.limits.clients - core->config.limits.clients / 4;
}

static bool
all_taken(const struct core *core)
{
	unsigned most = core->config.limits.clients;

	return most > 0 && core->sessions->nplaces[PLACE_TAKEN] >= most;
}

/* limits.clients: 0 is any number. */
static bool
has_share(const struct core *core, const char *user)
{
	return core->config.limits.clients == 0 ||
	       share_used(&core->sessions->shares, user) < most_of_one(core);
}

bool
place_has_room(const struct core *core, const char *user)
{
	return !all_taken(core) && has_share(core, user);
}

bool
place_may_pass(
    const struct core *core, const struct session *s, const char *user)
{
	return s->place != PLACE_TAKEN || has_share(core, user) ||
	       (s->owner.user != NULL && strcmp(s->owner.user, user) == 0);
}

static void
note_exhausted(struct core *core, const struct owner *owner, bool all)
{
	struct sessions *sessions = core->sessions;

	core->stats.graces_refused++;
	if (sessions->exhausted_ms != 0 &&
	    core->now_ms < sessions->exhausted_ms + PLACE_NEWS_MS)
		return;
	sessions->exhausted_ms = core->now_ms;
	emit_notice(core, NOTICE_GRACE_EXHAUSTED);
	emit_num(core, FIELD_LIMIT,
	    all ? core->config.limits.clients : most_of_one(core));
	if (!all)
		emit_text(core, FIELD_USER, owner->user);
}

bool
place_admits(struct core *core, const struct session *s, uint64_t ref)
{
	bool all = all_taken(core);

	if (s->place == PLACE_TAKEN || place_has_room(core, s->owner.user))
		return true;
	note_exhausted(core, &s->owner, all);
	if (all)
		emit_error(core, s->owner.id, ref, ERR_LIMIT,
		    "all %u places for sessions with grace= are taken"
		    " (limits.clients); nothing was set",
		    core->config.limits.clients);
	else
		emit_error(core, s->owner.id, ref, ERR_LIMIT,
		    "you have %u sessions with grace=, the maximum for one "
		    "user (three quarters of limits.clients); nothing was set",
		    most_of_one(core));
	return false;
}

struct session *
place_surplus(const struct core *core)
{
	const struct sessions *all = core->sessions;

	if (core->config.limits.clients == 0 ||
	    all->nplaces[PLACE_TAKEN] + all->nplaces[PLACE_SPARE] <=
		core->config.limits.clients)
		return NULL;
	return TAILQ_FIRST(&all->spare);
}

void
place_check(const struct core *core)
{
	const struct sessions *all = core->sessions;
	unsigned n[PLACES] = { 0 }, nusers = 0;
	const struct session *s;

	TAILQ_FOREACH (s, &all->all, in_all) {
		assert(s->place == place_of(s));
		assert((s->share == NULL) ==
		       (s->place != PLACE_TAKEN || s->owner.user == NULL));
		n[s->place]++;
		nusers += s->share != NULL;
	}
	assert(memcmp(n, all->nplaces, sizeof(n)) == 0);
	assert(shares_sum(&all->shares) == nusers);
	TAILQ_FOREACH (s, &all->spare, in_spare)
		n[s->place]--;
	assert(n[PLACE_SPARE] == 0);
}
