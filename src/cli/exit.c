/*
 * From replies to exit statuses. A busy lock (1) must never look like a mistake
 * in the request (64), nor like a broker that cannot serve (69).
 */
#include "config.h"

#include "base/err.h"
#include "cli/exit.h"
#include "client/message.h"

static const int status_of[ERR_MAX] = {
	[ERR_UNKNOWN_COMMAND] = CLI_EXIT_USAGE,
	[ERR_BAD_REQUEST] = CLI_EXIT_USAGE,
	[ERR_BAD_NAME] = CLI_EXIT_USAGE,
	[ERR_BAD_OPTION] = CLI_EXIT_USAGE,
	[ERR_TOO_LONG] = CLI_EXIT_USAGE,
	[ERR_MISMATCH] = CLI_EXIT_USAGE,
	[ERR_UNSUPPORTED] = CLI_EXIT_USAGE,
	[ERR_NOT_HELD] = CLI_EXIT_NO,
	[ERR_NOT_FOUND] = CLI_EXIT_NO,
	[ERR_LOST] = CLI_EXIT_NO,
	[ERR_DEADLOCK] = CLI_EXIT_NO,
	[ERR_EXISTS] = CLI_EXIT_NO,
	[ERR_BROKEN] = CLI_EXIT_NO,
	[ERR_LIMIT] = CLI_EXIT_UNREACHABLE,
	[ERR_UNAVAILABLE] = CLI_EXIT_UNREACHABLE,
	[ERR_SHUTDOWN] = CLI_EXIT_UNREACHABLE,
	[ERR_AUTH] = CLI_EXIT_AUTH,
	[ERR_DENIED] = CLI_EXIT_AUTH,
	[ERR_INTERNAL] = CLI_EXIT_INTERNAL,
};

static int
exit_of_error(const struct message *reply)
{
	enum err_code code;

	for (code = ERR_NONE + 1; code < ERR_MAX; code++) {
		if (message_error_is(reply, err_word(code)))
			return status_of[code];
	}
	/* A code that only later brokers know: refused, whatever the reason. */
	return CLI_EXIT_NO;
}

int
exit_of(const struct message *reply)
{
	switch (message_status(reply)) {
	case STATUS_OK:
		return CLI_EXIT_OK;
	case STATUS_ERR:
		return exit_of_error(reply);
	case STATUS_MAX:
		return CLI_EXIT_PROTOCOL;
	default:
		return CLI_EXIT_NO;
	}
}
