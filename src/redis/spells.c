/*
 * Spells of refusals and failures.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "redis/spells.h"
#include "store/refusal.h"

static bool
is_refused(const struct spells *s, const struct refusal *refusal)
{
	size_t i;

	for (i = 0; i < SCRIPT_MAX; i++)
		if (s->of[i].refusal == refusal)
			return true;
	return false;
}

static bool
has_failed(const struct spells *s, const char *error)
{
	size_t i;

	for (i = 0; i < SCRIPT_MAX; i++)
		if (strcmp(s->of[i].failure, error) == 0)
			return true;
	return false;
}

static void
log_good(struct spells *s, const char *node, struct spell *spell)
{
	if (spell->refusal == NULL && spell->failure[0] == '\0')
		return;
	memset(spell, 0, sizeof(*spell));
	for (spell = s->of; spell < s->of + SCRIPT_MAX; spell++)
		if (spell->refusal != NULL || spell->failure[0] != '\0')
			return;
	LOG(NOTICE, "redis-ok", LOG_S("node", node));
}

void
spells_note(struct spells *spells, const char *node, const struct call *call)
{
	struct spell *spell = &spells->of[call->script];

	if (call->verdict == CALL_ANSWERED) {
		log_good(spells, node, spell);
	} else if (call->verdict == CALL_REFUSED) {
		if (!is_refused(spells, call->refusal))
			LOG(WARNING, call->refusal->event, LOG_S("node", node),
			    LOG_S("error", call->error),
			    LOG_S("advice", call->refusal->text));
		spell->refusal = call->refusal;
	} else if (call->verdict == CALL_FAILED ||
		   call->verdict == CALL_MALFORMED) {
		if (!has_failed(spells, call->error))
			LOG(ERROR, "redis-reply", LOG_S("node", node),
			    LOG_S(call->verdict == CALL_FAILED ? "error"
							       : "malformed",
				call->error));
		snprintf(
		    spell->failure, sizeof(spell->failure), "%s", call->error);
	}
}
