/*
 * `lockbroker send`: one request in the words of the protocol, and everything
 * that comes until it is answered; `lockbroker watch`: events without end.
 */
#include "config.h"

#include "cli/cli.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "cli/now.h"
#include "cli/request.h"
#include "cli/say.h"

#include <stdio.h>
#include <string.h>

static void
message_json(const struct message *m)
{
	const char *error = message_error(m), *cursor = m->text;
	struct pair p, name;
	struct json j;
	size_t code;

	json_begin(&j);
	if (m->tag[0] != '\0')
		json_str(&j, "tag", m->tag, strlen(m->tag));
	if (pair_next(&cursor, &p))
		json_str(&j, m->event ? "event" : "status",
		    p.value + (m->event ? 1 : 0),
		    p.value_len - (m->event ? 1 : 0));
	if (error[0] != '\0') {
		code = strcspn(error, " ");
		json_str(&j, "code", error, code);
		error += code + strspn(error + code, " ");
		json_str(&j, "text", error, strlen(error));
		json_end(&j);
		return;
	}
	if (m->event && pair_next(&cursor, &name) && name.key == NULL)
		json_str(&j, "name", name.value, name.value_len);
	json_pairs(&j, m->text);
	if (pair_find(m->text, "lines", &p))
		json_strs(&j, "body", m->lines, m->lines_n);
	json_end(&j);
}

static void
message_show(const struct message *m, bool json)
{
	size_t i;

	if (json) {
		message_json(m);
	} else {
		printf("%s%s%s%s\n", m->tag[0] != '\0' ? "@" : "", m->tag,
		    m->tag[0] != '\0' ? " " : "", m->text);
		for (i = 0; i < m->lines_n; i++)
			printf("%s\n", m->lines[i]);
	}
	(void)fflush(stdout);
}

static int
status_of(const struct message *m)
{
	if (message_status(m) == STATUS_OK)
		return CLI_EXIT_OK;
	if (message_status(m) == STATUS_MAX)
		return CLI_EXIT_PROTOCOL;
	if (message_error_is(m, "auth") || message_error_is(m, "denied"))
		return CLI_EXIT_AUTH;
	return CLI_EXIT_NO;
}

/* A malformed tag is answered without one (protocol, section 1). */
static int
until_answered(struct client *c, const char *tag, bool json)
{
	enum client_got got;
	struct message m;
	bool answered;
	int status;

	for (;;) {
		got = client_wait(c, NEVER_MS, &m);
		if (got != CLIENT_MESSAGE)
			break;
		message_show(&m, json);
		answered = message_answers(&m, tag) || message_answers(&m, "");
		status = answered ? status_of(&m) : CLI_EXIT_OK;
		message_fini(&m);
		if (answered)
			return status;
	}
	say("%s: %s", c->address->text,
	    got == CLIENT_GARBAGE ? "does not speak the protocol" : c->why);
	return got == CLIENT_GARBAGE ? CLI_EXIT_PROTOCOL : CLI_EXIT_UNREACHABLE;
}

/* The words as one line; false when they would not be one line. */
static bool
line_join(struct buf *line, int argc, char **argv)
{
	const char *p;
	int i;

	for (i = 1; i < argc; i++) {
		buf_addf(line, "%s%s", i > 1 ? " " : "", argv[i]);
		for (p = argv[i]; *p != '\0'; p++) {
			if ((unsigned char)*p < ' ' || *p == 0x7f)
				return false;
		}
	}
	buf_addc(line, '\0');
	return buf_data(line)[strspn(buf_data(line), " ")] != '\0';
}

static char *
tag_of(const char *line, char tag[32])
{
	tag[0] = '\0';
	if (line[0] == '@')
		(void)sscanf(line + 1, "%31[^ ]", tag);
	return tag;
}

int
send_main(struct cli *cli, int argc, char **argv)
{
	struct message hello;
	struct client c;
	struct buf line;
	char tag[32];
	int status = CLI_EXIT_UNREACHABLE;

	buf_init(&line);
	client_init(&c);
	if (!line_join(&line, argc, argv)) {
		status = say_usage("send: a request is one line of words");
	} else if (cli_open(cli, &c, 0, "PING", &hello)) {
		message_fini(&hello);
		client_send(&c, "%s", buf_data(&line));
		status =
		    until_answered(&c, tag_of(buf_data(&line), tag), cli->json);
	}
	client_fini(&c);
	buf_fini(&line);
	return status;
}

/* Shows events until the stream ends or a request is refused. */
static int
watch_on(struct client *c, bool json)
{
	enum client_got got;
	struct message m;
	int status = CLI_EXIT_OK;

	for (;;) {
		got = client_wait(c, NEVER_MS, &m);
		if (got != CLIENT_MESSAGE)
			break;
		if (m.event)
			message_show(&m, json);
		else if (message_status(&m) != STATUS_OK) {
			say("%s", message_error(&m));
			status = status_of(&m);
		}
		message_fini(&m);
		if (status != CLI_EXIT_OK)
			return status;
	}
	say("%s: %s", c->address->text,
	    got == CLIENT_GARBAGE ? "does not speak the protocol" : c->why);
	return got == CLIENT_GARBAGE ? CLI_EXIT_PROTOCOL : CLI_EXIT_UNREACHABLE;
}

int
watch_main(struct cli *cli, int argc, char **argv)
{
	struct message hello;
	struct client c;
	int i, status = CLI_EXIT_UNREACHABLE;

	for (i = 1; i < argc; i++)
		if (!request_name_ok(argv[i]))
			return say_usage("watch: '%s' is not a name", argv[i]);
	client_init(&c);
	if (cli_open(cli, &c, 0, "PING", &hello)) {
		message_fini(&hello);
		for (i = 1; i < argc; i++)
			client_send(&c, "WATCH %s", argv[i]);
		status = watch_on(&c, cli->json);
	}
	client_fini(&c);
	return status;
}
