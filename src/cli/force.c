/* `lockbroker unlock-force`: ends the hold of a lock, and says who held it. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/exit.h"
#include "cli/holder.h"
#include "cli/json_reply.h"
#include "cli/question.h"
#include "cli/timespan.h"

/* The holders of the lock before it is forced. */
struct before {
	struct message queue;
	char *status; /* owned; the answer to STATUS with its details */
};

/*
 * A request that fails leaves an empty answer: forcing does not depend on it.
 */
static void
before_ask(struct client *c, const char *name, struct before *b)
{
	struct message m;
	char line[300];

	memset(b, 0, sizeof(*b));
	snprintf(line, sizeof(line), "STATUS %s", name);
	if (question_send(c, line, &m) == CLIENT_MESSAGE) {
		if (message_status(&m) == STATUS_OK)
			b->status = holder_details(name, m.text);
		message_fini(&m);
	}
	/* Ask for this last, so that little can change before the release. */
	snprintf(line, sizeof(line), "QUEUE %s", name);
	if (question_send(c, line, &m) != CLIENT_MESSAGE)
		memset(&b->queue, 0, sizeof(b->queue));
	else
		b->queue = m;
}

static void
before_free(struct before *b)
{
	message_fini(&b->queue);
	free(b->status);
}

static void
ended_json(const char *name, const char *line, const char *label)
{
	struct json j;

	json_begin(&j);
	json_str(&j, "name", name, strlen(name));
	json_str(&j, "ended", label, strlen(label));
	json_pairs(&j, line);
	json_end(&j);
}

/* Writes who the line is about, for people. */
static void
holder_name(const char *line, char *text, size_t size)
{
	struct pair p;

	if (pair_find(line, "label", &p) || pair_find(line, "peer", &p))
		snprintf(text, size, "%.*s", (int)p.value_len, p.value);
	else if (pair_find(line, "session", &p))
		snprintf(text, size, "session %.*s", (int)p.value_len, p.value);
	else if (pair_find(line, "until", &p))
		snprintf(text, size, "its keep/delay window");
	else if (pair_find(line, "broker", &p))
		snprintf(text, size, "the holder through broker %.*s",
		    (int)p.value_len, p.value);
	else
		snprintf(text, size, "a plain Redis client");
}

static void
ended_show(const char *name, const char *line, bool json)
{
	char label[320], span[TIMESPAN_TEXT_MAX];
	int64_t ms;

	holder_name(line, label, sizeof(label));
	if (json)
		ended_json(name, line, label);
	else if (pair_find_ms(line, "age", &ms))
		printf("ended %s (held %s)\n", label, timespan_text(ms, span));
	else
		printf("ended %s\n", label);
}

static void
before_show(const struct before *b, const char *name, bool json)
{
	struct pair p;
	bool shown = false;
	size_t i;

	for (i = 0; i < b->queue.lines_n; i++) {
		if (strncmp(b->queue.lines[i], "holder ", 7) != 0 ||
		    !pair_find(b->queue.lines[i], "session", &p))
			continue;
		ended_show(name, b->queue.lines[i], json);
		shown = true;
	}
	if (!shown)
		ended_show(name, b->status != NULL ? b->status : "", json);
}

int
show_unlock_force(struct cli *cli)
{
	struct before before;
	struct message m;
	struct client c;
	char line[330];
	int status;

	status = question_open(cli, &c);
	if (status == CLI_EXIT_OK) {
		before_ask(&c, cli->argv[1], &before);
		snprintf(line, sizeof(line), "UNLOCK-FORCE %s%s%s",
		    cli->argv[1], cli->fence != NULL ? " fence=" : "",
		    cli->fence != NULL ? cli->fence : "");
		status = question_on(&c, line, &m);
		if (status == CLI_EXIT_OK) {
			before_show(&before, cli->argv[1], cli->json);
			message_fini(&m);
		}
		before_free(&before);
	}
	client_fini(&c);
	return status;
}
