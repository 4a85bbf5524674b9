/*
 * Log lines about sessions.
 */
#include "config.h"

#include <string.h>

#include "core/session/notify.h"
#include "core/turn/emit.h"

void
notify_who(struct core *core, const struct session *s)
{
	emit_num(core, FIELD_SESSION, s->id);
	if (s->label != NULL)
		emit_text(core, FIELD_LABEL, s->label);
	emit_text(core, FIELD_PEER, s->peer);
}

void
notify_session(struct core *core, enum notice_id id, const struct session *s)
{
	if (!emit_debugs(core))
		return;
	emit_notice(core, id);
	notify_who(core, s);
	if (s->uid >= 0)
		emit_num(core, FIELD_UID, (uint64_t)s->uid);
}

bool
notify_is_bound(const char *reason)
{
	return strcmp(reason, "hold") == 0;
}
