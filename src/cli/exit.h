/*
 * The exit statuses of lockbroker, one list; help and manual follow it.
 *
 * EXIT(identifier, status, when)
 */
#ifndef LOCKBROKER_CLI_EXIT_H
#define LOCKBROKER_CLI_EXIT_H

struct message;

/* clang-format off */
#define EXITS(EXIT) \
	EXIT(OK, 0, "done") \
	EXIT(NO, 1, "busy, timed out, cancelled, or refused by the broker") \
	EXIT(USAGE, 64, "usage error (found locally or by the broker)") \
	EXIT(UNREACHABLE, 69, "no broker answers, or it cannot grant locks") \
	EXIT(INTERNAL, 70, "internal error (local or in the broker)") \
	EXIT(PROTOCOL, 76, "the server does not speak the protocol") \
	EXIT(AUTH, 77, "not permitted") \
	EXIT(LOST, 123, "run, lock: the lock was lost") \
	EXIT(NOT_EXECUTABLE, 126, "run: the command cannot be executed") \
	EXIT(NOT_FOUND, 127, "run: the command is not found") \
	EXIT(SIGNAL, 128, "run: 128 plus the signal that ended the command")
/* clang-format on */

enum cli_exit {
#define EXIT(id, status, when) CLI_EXIT_##id = status,
	EXITS(EXIT)
#undef EXIT
};

/* Returns the exit status for a reply; it is the same for every command. */
int exit_of(const struct message *reply);

#endif
