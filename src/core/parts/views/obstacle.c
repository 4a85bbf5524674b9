/*
 * What is known of a name that is in the way: its holder here, be it a session
 * or a token; or that it is reserved; or, of a name that was asked for and is
 * not here, the broker that has it.  A plain client's key says nothing.
 *
 * Nothing here needs another right: a client that may lock a name may see its
 * holder.
 */
#include "config.h"

#include <string.h>

#include "base/times.h"
#include "core/kernel/lock/lock.h"
#include "core/kernel/lock/stored.h"
#include "core/kernel/session/record.h"
#include "core/kernel/turn/emit.h"
#include "core/parts/fleet/fleet.h"
#include "core/parts/notes/notes.h"
#include "core/parts/sync/semaphore.h"
#include "core/parts/token/state.h"
#include "core/parts/views/obstacle.h"

static void
tell_broker(struct core *core, const char *name, size_t len)
{
	const char *address;

	if (len == strlen(core->broker) && memcmp(name, core->broker, len) == 0)
		address = core->address;
	else
		address = fleet_address(core, name, len);
	emit_str(core, FIELD_BROKER, name, len);
	if (address != NULL && address[0] != '\0')
		emit_text(core, FIELD_ADDRESS, address);
}

static void
tell_here(struct core *core)
{
	tell_broker(core, core->broker, strlen(core->broker));
}

static void
tell_holding(struct core *core, const struct holding *h)
{
	emit_text(core, FIELD_HELD_BY,
	    h->owner->label != NULL ? h->owner->label : h->owner->peer);
	tell_here(core);
	emit_since(core, FIELD_AGE, h->since_ms);
}

static void
tell_trace(struct core *core, const struct hold *h)
{
	struct span trace = notes_of(core, h, NOTE_TRACE);

	if (trace.n > 0)
		emit_str(core, FIELD_TRACE, trace.p, trace.n);
}

static void
tell_record(struct core *core, const struct token_record *r)
{
	const char *holder = r->label != NULL ? r->label : r->peer;

	if (holder != NULL)
		emit_text(core, FIELD_HELD_BY, holder);
	tell_here(core);
	emit_since(core, FIELD_AGE, r->since_ms);
}

/* The key showed its owner when the broker last asked for the name. */
static void
tell_elsewhere(struct core *core, const struct lease *l)
{
	const char *token = lease_rare(l)->elsewhere;
	size_t len = token == NULL ? 0 : stored_broker(token, strlen(token));

	if (len > 0 && !lease_is_held(l))
		tell_broker(core, token, len);
}

static void
tell_lock(struct core *core, const char *name, size_t len)
{
	const struct token_record *r = token_record_find(core, name, len);
	const struct lock *l = lock_find(core, name, len);
	int64_t left_ms;

	if (l != NULL && hold_first(l) != NULL) {
		tell_holding(core, &hold_first(l)->holding);
		tell_trace(core, hold_first(l));
	} else if (l != NULL && l->lease.state == LEASE_LINGERING) {
		left_ms = lease_rare(&l->lease)->linger_ms - core->now_ms;
		tell_here(core);
		emit_num(core, FIELD_KEPT, (uint64_t)max_ms(left_ms, 0));
	} else if (r != NULL) {
		tell_record(core, r);
	} else if (l != NULL) {
		tell_elsewhere(core, &l->lease);
	}
}

/* One holder of permits; others may have more of them. */
static void
tell_semaphore(struct core *core, const char *name, size_t len)
{
	const struct sync *y = sync_find(core, KIND_SEMAPHORE, name, len);
	const struct permits *p = y == NULL ? NULL : semaphore_holder(y);

	if (p != NULL)
		tell_holding(core, &p->holding);
}

void
obstacle_tell(struct core *core, const struct owner *owner, enum kind kind,
    const char *name, size_t len, uint64_t before)
{
	if (session_seen(owner)->option[SESSION_WHY] == 0)
		return;
	emit_str(core, FIELD_NAME, name, len);
	if (kind == KIND_LOCK)
		tell_lock(core, name, len);
	else if (kind == KIND_SEMAPHORE)
		tell_semaphore(core, name, len);
	else
		return;
	emit_num(core, FIELD_BEFORE, before);
}
