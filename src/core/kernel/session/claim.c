/*
 * Claims: their lists, and what is done with all of them.
 */
#include "config.h"

#include "core/kernel/session/claim.h"
#include "core/kernel/session/quota.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/work.h"

/* The table hashes and compares the bytes of the key: it has no padding. */
static const char *
claim_key(const struct table_link *link, size_t *len)
{
	const struct claim *c = container_of_const(link, struct claim, by_ref);

	*len = sizeof(c->key);
	return (const char *)&c->key;
}

void
claims_init(struct core *core)
{
	table_init(&core->owners->by_ref, claim_key);
	TAILQ_INIT(&core->owners->granted);
}

/* Untagged requests come first: a walk that looks for them ends after the last
 * of them. */
static void
wait_in_owner(struct claim *c)
{
	if (c->untagged)
		TAILQ_INSERT_HEAD(&c->owner->waiting, c, in_owner);
	else
		TAILQ_INSERT_TAIL(&c->owner->waiting, c, in_owner);
}

static void
wait_no_more(struct claim *c)
{
	struct owner *owner = c->owner;

	CURSOR_REMOVE(&owner->cursors, &owner->waiting, c, in_owner);
}

void
claim_begin(struct core *core, struct claim *c, const struct claim_class *class,
    struct owner *owner, const struct core_request *rq)
{
	assert(c->class == NULL);
	c->class = class;
	c->owner = owner;
	c->ref = rq->ref;
	c->deadline.kind = TIMER_CLAIM;
	c->since_ms = core->now_ms;
	c->untagged = rq->untagged;
	wait_in_owner(c);
	owner->nwaiting++;
	owner_counts(owner, 0, 1, 0);
}

/*
 * The owner is part of the key, so that no session can cancel a request of
 * another.
 */
void
claim_list(struct core *core, struct claim *c)
{
	assert(!c->listed && !c->granted);
	if (c->untagged)
		return;
	c->listed = true;
	table_add(&core->owners->by_ref, &c->by_ref);
}

void
claim_unlist(struct core *core, struct claim *c)
{
	if (c->listed)
		table_remove(&core->owners->by_ref, &c->by_ref);
	c->listed = false;
}

struct claim *
claim_find(const struct core *core, const struct owner *owner, uint64_t ref)
{
	struct claim_key key = { owner, ref };
	struct table_link *link =
	    table_find(&core->owners->by_ref, (const char *)&key, sizeof(key));

	return link == NULL ? NULL : container_of(link, struct claim, by_ref);
}

/* A request that was granted can no longer be cancelled, and has no deadline:
 * its answer is on its way. */
void
claim_grant(struct core *core, struct claim *c)
{
	assert(!c->granted);
	claim_unlist(core, c);
	core_disarm(core, &c->deadline);
	wait_no_more(c);
	c->granted = true;
	TAILQ_INSERT_TAIL(&c->owner->granted, c, in_owner);
	TAILQ_INSERT_TAIL(&core->owners->granted, c, in_granted);
}

static void
unlist_granted(struct core *core, struct claim *c)
{
	assert(c->granted);
	TAILQ_REMOVE(&core->owners->granted, c, in_granted);
	TAILQ_REMOVE(&c->owner->granted, c, in_owner);
	c->granted = false;
}

void
claim_ungrant(struct core *core, struct claim *c)
{
	unlist_granted(core, c);
	wait_in_owner(c);
}

void
claim_end(struct core *core, struct claim *c)
{
	struct owner *owner = c->owner;

	assert(owner->nwaiting > 0);
	claim_unlist(core, c);
	core_disarm(core, &c->deadline);
	if (c->granted)
		unlist_granted(core, c);
	else
		wait_no_more(c);
	owner->nwaiting--;
	owner_counts(owner, 0, -1, 0);
}

void
claim_hasten(struct core *core, struct claim *c)
{
	emit_reply(core, c->owner->id, c->ref, STATUS_CANCELLED);
	c->class->withdraw(core, c);
}

void
claim_cancel(struct core *core, struct claim *c, uint64_t by)
{
	uint64_t session = c->owner->id;

	claim_hasten(core, c);
	emit_reply(core, session, by, STATUS_OK);
}

void
claim_refuse(struct core *core, struct claim *c)
{
	emit_error(core, c->owner->id, c->ref, ERR_SHUTDOWN, QUOTA_STOPPING);
	c->class->withdraw(core, c);
}

void
claim_timer(struct core *core, struct timer *t)
{
	struct claim *c = container_of(t, struct claim, deadline);

	assert(!c->granted);
	c->class->time_up(core, c);
}

static struct claim *
first_of(const struct owner *owner)
{
	return !TAILQ_EMPTY(&owner->granted) ? TAILQ_FIRST(&owner->granted)
					     : TAILQ_FIRST(&owner->waiting);
}

bool
claims_withdraw(struct core *core, struct owner *owner)
{
	struct claim *c;

	while (work_left(core) && (c = first_of(owner)) != NULL)
		c->class->withdraw(core, c);
	return first_of(owner) == NULL;
}

bool
claims_refuse(struct core *core, struct owner *owner)
{
	struct claim *c;

	while (work_left(core) && (c = first_of(owner)) != NULL)
		c->class->refuse(core, c);
	return first_of(owner) == NULL;
}

/* A broker that stops also refuses requests that it has granted and not
 * told. */
void
claims_tell(struct core *core)
{
	struct claim *c;

	while (work_left(core) && !core->told_loss &&
	       (c = TAILQ_FIRST(&core->owners->granted)) != NULL) {
		core_visit(core, 1);
		if (core->stopping)
			c->class->refuse(core, c);
		else
			c->class->tell(core, c);
	}
}

void
claims_check(const struct owner *owner)
{
	const struct claim *c;
	unsigned n = 0;

	TAILQ_FOREACH (c, &owner->waiting, in_owner) {
		assert(c->owner == owner && !c->granted);
		n++;
	}
	TAILQ_FOREACH (c, &owner->granted, in_owner) {
		assert(c->owner == owner && c->granted && !c->listed);
		assert(!timer_armed(&c->deadline));
		n++;
	}
	assert(n == owner->nwaiting && owner->nuncounted <= n);
}
