/*
 * `lockbroker send`: one request in the words of the protocol, and everything
 * that comes before its answer ends; `lockbroker watch`: events without end.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/now.h"
#include "cli/cli.h"
#include "cli/exit.h"
#include "cli/json_reply.h"
#include "cli/question.h"
#include "cli/say.h"

/* How to read the lines of a reply: the keys of their bare words. */
static const struct body {
	const char *verb;
	const char *keys[3];
	bool pair; /* a name and its value are one member */
} bodies[] = {
	{ "QUEUE", { "role" }, false },
	{ "NAMES", { "name" }, false },
	{ "BROKERS", { "name" }, false },
	{ "HISTORY", { "event" }, false },
	{ "LIST", { "kind", "name" }, false },
	{ "STATS", { NULL }, true },
};

/* Finds the row of the request's verb, which may follow a tag. */
static const struct body *
body_of(const char *request)
{
	struct pair word;
	size_t i;

	if (!pair_next(&request, &word) ||
	    (word.value[0] == '@' && !pair_next(&request, &word)))
		return NULL;
	for (i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		if (strlen(bodies[i].verb) == word.value_len &&
		    strncasecmp(bodies[i].verb, word.value, word.value_len) ==
			0)
			return &bodies[i];
	}
	return NULL;
}

static void
body_json(struct json *j, const struct message *m, const char *request)
{
	const struct body *body = body_of(request);
	size_t i;

	if (body == NULL) {
		json_strs(j, "body", m->lines, m->lines_n);
		return;
	}
	json_open(j, "body", body->pair ? '{' : '[');
	for (i = 0; i < m->lines_n; i++) {
		if (body->pair) {
			json_stat(j, m->lines[i]);
			continue;
		}
		json_open(j, NULL, '{');
		json_bare(j, m->lines[i], body->keys);
		json_pairs(j, m->lines[i]);
		json_shut(j, '}');
	}
	json_shut(j, body->pair ? '}' : ']');
}

static void
message_json(const struct message *m, const char *request)
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
		body_json(&j, m, request);
	json_end(&j);
}

static void
message_show(const struct message *m, const char *request, bool json)
{
	size_t i;

	if (json) {
		message_json(m, request);
	} else {
		printf("%s%s%s%s\n", m->tag[0] != '\0' ? "@" : "", m->tag,
		    m->tag[0] != '\0' ? " " : "", m->text);
		for (i = 0; i < m->lines_n; i++)
			printf("%s\n", m->lines[i]);
	}
	(void)fflush(stdout);
}

/* The answer to a malformed tag has no tag. */
static int
until_answered(
    struct client *c, const char *request, const char *tag, bool json)
{
	enum client_got got;
	struct message m;
	bool answered;
	int status;

	for (;;) {
		got = client_wait(c, NEVER_MS, &m);
		if (got != CLIENT_MESSAGE)
			break;
		message_show(&m, request, json);
		answered = message_answers(&m, tag) || message_answers(&m, "");
		status = answered ? exit_of(&m) : CLI_EXIT_OK;
		message_fini(&m);
		if (answered)
			return status;
	}
	return question_status(c, got, &m);
}

/* Joins the words. Returns false if the result would not be one line. */
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

/* Refuses AUTH: any user of the host could read the password. */
static bool
is_auth(const char *line)
{
	if (line[0] == '@')
		line += strcspn(line, " ");
	line += strspn(line, " ");
	return strncasecmp(line, "AUTH", 4) == 0 &&
	       (line[4] == ' ' || line[4] == '\0');
}

int
send_main(struct cli *cli)
{
	struct client c;
	struct buf line;
	char tag[32];
	int status;

	buf_init(&line);
	if (!line_join(&line, cli->argc, cli->argv)) {
		buf_fini(&line);
		return say_usage("a request is a single line");
	}
	if (is_auth(buf_data(&line))) {
		buf_fini(&line);
		return say_usage("other users of this host can read "
				 "arguments: give --user and --password-file");
	}
	status = question_open(cli, &c);
	if (status == CLI_EXIT_OK) {
		client_send(&c, "%s", buf_data(&line));
		status = until_answered(&c, buf_data(&line),
		    tag_of(buf_data(&line), tag), cli->json);
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
			message_show(&m, "WATCH", json);
		else if (message_status(&m) != STATUS_OK) {
			say_error(NULL, &m);
			status = exit_of(&m);
		}
		message_fini(&m);
		if (status != CLI_EXIT_OK)
			return status;
	}
	return question_status(c, got, &m);
}

int
watch_main(struct cli *cli)
{
	struct client c;
	int i, status;

	status = question_open(cli, &c);
	if (status == CLI_EXIT_OK) {
		for (i = 1; i < cli->argc; i++)
			client_send(&c, "WATCH %s", cli->argv[i]);
		status = watch_on(&c, cli->json);
	}
	client_fini(&c);
	return status;
}
