/*
 * Which refusals and failures of a server the log has been told of.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "redis/refusal_log.h"
#include "store/refusal.h"

static bool
is_refused(const struct refusal_log *log, const struct refusal *refusal)
{
	size_t i;

	for (i = 0; i < SCRIPT_MAX; i++)
		if (log->of[i].refusal == refusal)
			return true;
	return false;
}

static bool
has_failed(const struct refusal_log *log, const char *error)
{
	size_t i;

	for (i = 0; i < SCRIPT_MAX; i++)
		if (strcmp(log->of[i].failure, error) == 0)
			return true;
	return false;
}

static void
log_good(struct refusal_log *log, const char *node, struct refusal_run *run)
{
	if (run->refusal == NULL && run->failure[0] == '\0')
		return;
	memset(run, 0, sizeof(*run));
	for (run = log->of; run < log->of + SCRIPT_MAX; run++)
		if (run->refusal != NULL || run->failure[0] != '\0')
			return;
	LOG(NOTICE, "redis-ok", LOG_S("node", node));
}

void
refusal_log_note(
    struct refusal_log *log, const char *node, const struct call *call)
{
	struct refusal_run *run = &log->of[call->script];

	if (call->verdict == CALL_ANSWERED) {
		log_good(log, node, run);
	} else if (call->verdict == CALL_REFUSED) {
		if (!is_refused(log, call->refusal))
			LOG(WARNING, call->refusal->event, LOG_S("node", node),
			    LOG_S("error", call->error),
			    LOG_S("advice", call->refusal->text));
		run->refusal = call->refusal;
	} else if (call->verdict == CALL_FAILED ||
		   call->verdict == CALL_MALFORMED) {
		if (!has_failed(log, call->error))
			LOG(ERROR, "redis-reply", LOG_S("node", node),
			    LOG_S(call->verdict == CALL_FAILED ? "error"
							       : "malformed",
				call->error));
		snprintf(run->failure, sizeof(run->failure), "%s", call->error);
	}
}
