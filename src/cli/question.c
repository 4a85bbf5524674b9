/* One request to the broker, and its answer or an exit status. */
#include "config.h"

#include "base/now.h"
#include "cli/exit.h"
#include "cli/login.h"
#include "cli/question.h"
#include "cli/say.h"

/* A broker that is up but takes longer to answer is of no use. */
#define ASK_MS 30000

enum client_got
question_send(struct client *c, const char *line, struct message *m)
{
	return question_send_for(c, line, ASK_MS, m);
}

enum client_got
question_send_for(
    struct client *c, const char *line, int64_t wait_ms, struct message *m)
{
	int64_t until_ms = now_ms() + wait_ms;
	enum client_got got;

	client_send(c, "%s", line);
	for (;;) {
		got = client_wait(c, until_ms, m);
		if (got != CLIENT_MESSAGE || !m->event)
			return got;
		message_fini(m);
	}
}

int
question_status(const struct client *c, enum client_got got, struct message *m)
{
	int status;

	if (got == CLIENT_GARBAGE) {
		say_code(
		    "protocol", "%s: %s", c->address->text, CLIENT_GARBAGE_WHY);
		return CLI_EXIT_PROTOCOL;
	}
	if (got == CLIENT_NOTHING) {
		say_code("unreachable", "%s: %s", c->address->text,
		    c->why[0] != '\0' ? c->why : "does not answer");
		return CLI_EXIT_UNREACHABLE;
	}
	status = exit_of(m);
	if (status == CLI_EXIT_OK)
		return status;
	say_error(NULL, m);
	message_fini(m);
	return status;
}

int
question_on(struct client *c, const char *line, struct message *m)
{
	return question_status(c, question_send(c, line, m), m);
}

int
question_unreachable(
    const char *what, enum client_got got, const struct buf *errors)
{
	static const struct {
		const char *code;
		int status;
	} ends[] = {
		[CLIENT_NOTHING] = { "unreachable", CLI_EXIT_UNREACHABLE },
		[CLIENT_GARBAGE] = { "protocol", CLI_EXIT_PROTOCOL },
		[CLIENT_REFUSED] = { "auth", CLI_EXIT_AUTH },
	};

	say_code(ends[got].code, "%s%sno broker answers: %.*s",
	    what != NULL ? what : "", what != NULL ? ": " : "",
	    (int)buf_len(errors), buf_data(errors));
	return ends[got].status;
}

int
question_open(struct cli *cli, struct client *c)
{
	const struct client_probe probe = { "PING", 0, NEVER_MS };
	enum client_got got;
	struct message hello;
	struct buf errors;
	int status = CLI_EXIT_OK;

	client_init(c, login_line());
	buf_init(&errors);
	got = client_open(c, &cli->addresses, &probe, &hello, &errors);
	if (got == CLIENT_MESSAGE)
		message_fini(&hello);
	else
		status = question_unreachable(NULL, got, &errors);
	buf_fini(&errors);
	return status;
}

int
ask(struct cli *cli, const char *line, struct message *m)
{
	struct client c;
	int status;

	status = question_open(cli, &c);
	if (status == CLI_EXIT_OK)
		status = question_on(&c, line, m);
	client_fini(&c);
	return status;
}
