/*
 * Owners of locks: found by their ids, the names that they have lost, and walks
 * over what they have.
 *
 * The lists in an owner belong to claim.c, holding.c and the modules above.  This
 * file never follows them; it only makes sure that they are empty before the
 * owner goes.
 */
#include "config.h"

#include <string.h>

#include "base/xmalloc.h"
#include "core/kernel/session/claim.h"
#include "core/kernel/session/owner.h"
#include "core/kernel/session/share.h"
#include "core/kernel/turn/job.h"
#include "core/kernel/turn/part.h"
#include "core/kernel/turn/work.h"

static const char *
id_of(const struct table_link *link, size_t *len)
{
	const struct owner *owner =
	    container_of_const(link, struct owner, by_id);

	*len = sizeof(owner->id);
	return (const char *)&owner->id;
}

void
owners_init(struct core *core)
{
	unsigned i;

	core->owners = xcalloc(1, sizeof(*core->owners));
	table_init(&core->owners->by_id, id_of);
	claims_init(core);
	for (i = 0; i < OWNER_WALKS; i++)
		TAILQ_INIT(&core->owners->walks[i].owners);
	shares_init(&core->owners->shares);
	shares_init(&core->owners->token_shares);
}

/* Requires that all owners are gone. */
void
owners_fini(struct core *core)
{
	assert(core->owners->by_id.n == 0);
	assert(TAILQ_EMPTY(&core->owners->granted));
	shares_fini(&core->owners->shares);
	shares_fini(&core->owners->token_shares);
	table_fini(&core->owners->by_ref);
	table_fini(&core->owners->by_id);
	free(core->owners);
}

static const char *
lost_name(const struct table_link *link, size_t *len)
{
	const struct lost *lost =
	    container_of_const(link, struct lost, by_name);

	*len = lost->name_len;
	return lost->name;
}

/* Replies and slots name an owner by its id, so an id must not come twice. */
void
owner_init(
    struct core *core, struct owner *owner, uint64_t id, const char *peer)
{
	unsigned i;

	assert(owner_find(core, id) == NULL);
	owner->id = id;
	owner->peer = xstrdup(peer);
	for (i = 0; i < HOLDING_KINDS; i++)
		TAILQ_INIT(&owner->holdings[i]);
	TAILQ_INIT(&owner->waiting);
	TAILQ_INIT(&owner->granted);
	TAILQ_INIT(&owner->lost);
	table_init(&owner->lost_names, lost_name);
	TAILQ_INIT(&owner->watches);
	table_add(&core->owners->by_id, &owner->by_id);
}

static const enum job walk_jobs[OWNER_WALKS] = {
	[WALK_HASTEN] = JOB_HASTEN,
	[WALK_REENTER] = JOB_REENTER,
	[WALK_GOING] = JOB_GONE,
	[WALK_VOUCHED] = JOB_VOUCH,
};

/* The walk has not begun with its first owner, or it shall begin anew. */
static void
rewind_walk(struct owners_walk *k)
{
	cursor_end(&k->at[0]);
	cursor_end(&k->at[1]);
	k->begun = k->again = false;
}

void
owner_walk_not(struct core *core, struct owner *owner, enum owner_walk which)
{
	struct owners_walk *k = &core->owners->walks[which];

	if (!owner->walks[which])
		return;
	owner->walks[which] = false;
	if (owner == TAILQ_FIRST(&k->owners))
		rewind_walk(k);
	TAILQ_REMOVE(&k->owners, owner, in_walk[which]);
	job_set(core, walk_jobs[which], !TAILQ_EMPTY(&k->owners));
}

/* Anything left in a list points to the owner, and would use freed memory: so
 * the modules above must have emptied all lists. */
void
owner_fini(struct core *core, struct owner *owner)
{
	unsigned i;

	assert(owner_has(owner) == 0 && owner->nwaiting == 0);
	assert(TAILQ_EMPTY(&owner->waiting));
	assert(TAILQ_EMPTY(&owner->lost) && TAILQ_EMPTY(&owner->watches));
	assert(TAILQ_EMPTY(&owner->granted) && owner->nlost == 0);
	assert(owner->valid == NULL && LIST_EMPTY(&owner->cursors));
	for (i = 0; i < OWNER_WALKS; i++)
		owner_walk_not(core, owner, i);
	table_fini(&owner->lost_names);
	table_remove(&core->owners->by_id, &owner->by_id);
	free(owner->label);
	free(owner->peer);
	owner_set_user(core, owner, NULL);
}

void
owner_set_user(struct core *core, struct owner *owner, const char *name)
{
	free(owner->user);
	owner->user = name != NULL ? xstrdup(name) : NULL;
	PARTS_CALL(user_changed, core, owner);
}

struct owner *
owner_find(const struct core *core, uint64_t id)
{
	struct table_link *link =
	    table_find(&core->owners->by_id, (const char *)&id, sizeof(id));

	return link == NULL ? NULL : container_of(link, struct owner, by_id);
}

/* A request that was granted stays in nwaiting until its client has been told,
 * while what it was granted is in its counter already. */
unsigned
owner_load(const struct owner *owner)
{
	assert(owner->nwaiting >= owner->nuncounted);
	return owner_has(owner) + owner->nwaiting - owner->nuncounted +
	       owner->nwatches;
}

static struct lost *
find_lost(const struct owner *owner, const char *name, size_t len)
{
	struct table_link *link = table_find(&owner->lost_names, name, len);

	return link == NULL ? NULL : container_of(link, struct lost, by_name);
}

static void
lost_free(struct owner *owner, struct lost *lost)
{
	assert(owner->nlost > 0);
	table_remove(&owner->lost_names, &lost->by_name);
	TAILQ_REMOVE(&owner->lost, lost, link);
	owner->nlost--;
	free(lost);
}

/* Remembers as many names as an owner may hold, and forgets the oldest.  A name
 * that is lost again becomes the latest. */
void
owner_note_lost(
    struct core *core, struct owner *owner, const char *name, size_t len)
{
	struct lost *lost = find_lost(owner, name, len);

	if (lost == NULL && owner->nlost >= core->config.limits.holds)
		lost = TAILQ_FIRST(&owner->lost);
	if (lost != NULL)
		lost_free(owner, lost);
	lost = xmalloc(sizeof(*lost) + len);
	lost->name_len = len;
	memcpy(lost->name, name, len);
	TAILQ_INSERT_TAIL(&owner->lost, lost, link);
	table_add(&owner->lost_names, &lost->by_name);
	owner->nlost++;
}

bool
owner_has_lost(const struct owner *owner, const char *name, size_t len)
{
	return find_lost(owner, name, len) != NULL;
}

bool
owner_take_lost(struct owner *owner, const char *name, size_t len)
{
	struct lost *lost = find_lost(owner, name, len);

	if (lost == NULL)
		return false;
	lost_free(owner, lost);
	return true;
}

bool
owner_forget_lost(struct core *core, struct owner *owner)
{
	struct lost *lost;

	while (work_left(core) && (lost = TAILQ_FIRST(&owner->lost)) != NULL) {
		core_visit(core, 1);
		lost_free(owner, lost);
	}
	return TAILQ_EMPTY(&owner->lost);
}

/* The walk visits what has come to the owner after its present place anyway,
 * but something before that place may have changed: hence once more. */
void
owner_walk(struct core *core, struct owner *owner, enum owner_walk which)
{
	struct owners_walk *k = &core->owners->walks[which];

	assert(which < OWNER_WALKS);
	if (owner->walks[which]) {
		k->again |= k->begun && owner == TAILQ_FIRST(&k->owners);
		return;
	}
	owner->walks[which] = true;
	TAILQ_INSERT_TAIL(&k->owners, owner, in_walk[which]);
	job_set(core, walk_jobs[which], true);
}

/* The owners of a walk take no turns: the walk finishes with one owner, over as
 * many steps as that takes, before it visits the next. */
bool
owner_walk_on(struct core *core, enum owner_walk which,
    void (*begin)(struct owner *owner, struct cursor *at),
    bool (*one)(struct core *core, struct owner *owner, struct cursor *at))
{
	struct owners_walk *k = &core->owners->walks[which];
	struct owner *owner;

	while (work_left(core) && (owner = TAILQ_FIRST(&k->owners)) != NULL) {
		core_visit(core, 1);
		if (!k->begun)
			begin(owner, k->at);
		k->begun = true;
		if (one(core, owner, k->at))
			continue;
		if (k->again)
			rewind_walk(k);
		else
			owner_walk_not(core, owner, which);
	}
	return !TAILQ_EMPTY(&k->owners);
}

void
owners_check(const struct core *core)
{
	unsigned i;

	for (i = 0; i < OWNER_WALKS; i++)
		job_check(core, walk_jobs[i],
		    !TAILQ_EMPTY(&core->owners->walks[i].owners));
}

void
owner_check(const struct core *core, const struct owner *owner)
{
	const struct lost *lost;
	unsigned nlost = 0;

	assert(owner_find(core, owner->id) == owner);
	TAILQ_FOREACH (lost, &owner->lost, link)
		nlost++;
	assert(nlost == owner->nlost && nlost == owner->lost_names.n);
	assert(owner->nwaiting + owner_has(owner) < UINT32_MAX / 2);
	claims_check(owner);
}
