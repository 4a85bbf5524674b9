/*
 * Log lines about sessions.
 */
#include "config.h"

#include <string.h>

#include "core/kernel/session/notify.h"
#include "core/kernel/turn/emit.h"

void
notify_who(struct core *core, const struct owner *owner)
{
	emit_num(core, FIELD_SESSION, owner->id);
	if (owner->label != NULL)
		emit_text(core, FIELD_LABEL, owner->label);
	emit_text(core, FIELD_PEER, owner->peer);
}

void
notify_session(struct core *core, enum notice_id id, const struct owner *owner)
{
	if (!emit_debugs(core))
		return;
	emit_notice(core, id);
	notify_who(core, owner);
	if (owner->uid >= 0)
		emit_num(core, FIELD_UID, (uint64_t)owner->uid);
}

/* The reasons are those of !LOST ("Events" in lockbroker-protocol(7)), and
 * NOTIFY_GIVEN_UP. */
enum tally_kind
notify_loss(const char *reason)
{
	if (strcmp(reason, "hold") == 0)
		return TALLY_BOUND;
	return strcmp(reason, NOTIFY_GIVEN_UP) == 0 ? TALLY_GIVEN_UP
						    : TALLY_LOST;
}
