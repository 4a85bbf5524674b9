/*
 * One question to the broker, and its answer or an exit status.
 */
#include "config.h"

#include "cli/ask.h"

#include "cli/exit.h"
#include "cli/now.h"
#include "cli/say.h"

/* A broker that is up but takes longer for a question is of no use. */
#define ASK_MS 30000

static int
refused(const struct message *m)
{
	const char *error = message_error(m);

	if (message_status(m) == STATUS_MAX) {
		say("this is not an answer: %s", m->text);
		return CLI_EXIT_PROTOCOL;
	}
	say("%s", error[0] != '\0' ? error : m->text);
	if (message_error_is(m, "auth") || message_error_is(m, "denied"))
		return CLI_EXIT_AUTH;
	return CLI_EXIT_NO;
}

enum client_got
ask_send(struct client *c, const char *line, struct message *m)
{
	enum client_got got;

	client_send(c, "%s", line);
	for (;;) {
		got = client_wait(c, now_ms() + ASK_MS, m);
		if (got != CLIENT_MESSAGE || !m->event)
			return got;
		message_fini(m);
	}
}

int
ask_status(const struct client *c, enum client_got got, struct message *m)
{
	int status;

	if (got == CLIENT_GARBAGE) {
		say("%s does not speak the protocol", c->address->text);
		return CLI_EXIT_PROTOCOL;
	}
	if (got == CLIENT_NOTHING) {
		say("%s: %s", c->address->text,
		    c->why[0] != '\0' ? c->why : "no answer");
		return CLI_EXIT_UNREACHABLE;
	}
	if (message_status(m) == STATUS_OK)
		return CLI_EXIT_OK;
	status = refused(m);
	message_fini(m);
	return status;
}

int
ask_on(struct client *c, const char *line, struct message *m)
{
	return ask_status(c, ask_send(c, line, m), m);
}

bool
ask_open(struct cli *cli, struct client *c)
{
	struct message hello;

	client_init(c);
	if (!cli_open(cli, c, 0, "PING", &hello))
		return false;
	message_fini(&hello);
	return true;
}

int
ask(struct cli *cli, const char *line, struct message *m)
{
	struct client c;
	int status = CLI_EXIT_UNREACHABLE;

	if (ask_open(cli, &c))
		status = ask_on(&c, line, m);
	client_fini(&c);
	return status;
}
