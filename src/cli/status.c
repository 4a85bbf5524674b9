/* `lockbroker status`: everything that the broker knows about one name. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "cli/exit.h"
#include "cli/holder.h"
#include "cli/json_reply.h"
#include "cli/others.h"
#include "cli/question.h"
#include "cli/timespan.h"

static void
field_print(const struct pair *p)
{
	char span[TIMESPAN_TEXT_MAX];
	int64_t ms;

	if (!pair_is(p, "value") && p->value_len > 2 &&
	    memcmp(p->value + p->value_len - 2, "ms", 2) == 0 &&
	    parse_duration(p->value, p->value_len, &ms))
		printf("%-8.*s %s\n", (int)p->key_len, p->key,
		    timespan_text(ms, span));
	else
		printf("%-8.*s %.*s\n", (int)p->key_len, p->key,
		    (int)p->value_len, p->value);
}

static void
answer_print(const char *name, const char *text)
{
	struct pair p, kept, was = { NULL, 0, "", 0 };
	bool is_kept = pair_find(text, "kept", &kept);
	bool is_told = pair_find(text, "was", &was);

	printf("%-8s %s\n", "name", name);
	while (pair_next(&text, &p)) {
		if (p.key == NULL || pair_is(&p, "was"))
			continue;
		if (is_kept && pair_is(&p, "state"))
			printf("%-8s kept%s%.*s%s\n", "state",
			    is_told ? " (was " : "", (int)was.value_len,
			    was.value, is_told ? ")" : "");
		else
			field_print(&p);
	}
}

static int
kind_ask(
    struct client *c, const char *name, const char *kind, struct message *m)
{
	char line[330];

	snprintf(line, sizeof(line), "STATUS %s%s%s", name,
	    kind != NULL ? " kind=" : "", kind != NULL ? kind : "");
	return question_on(c, line, m);
}

/* Shows other objects of the name: users see all, programs ask for a kind. */
static int
others_print(struct client *c, const char *name, const char *text)
{
	char kinds[100], *rest = kinds, *kind;
	struct message m;
	int status;

	pair_text(text, "other", kinds, sizeof(kinds));
	while (*rest != '\0') {
		kind = rest;
		rest += strcspn(rest, ",");
		if (*rest != '\0')
			*rest++ = '\0';
		status = kind_ask(c, name, kind, &m);
		if (status != CLI_EXIT_OK)
			return status;
		(void)putchar('\n');
		answer_print(name, m.text);
		message_fini(&m);
	}
	return CLI_EXIT_OK;
}

static int
status_on(struct cli *cli, struct client *c, const char *name)
{
	struct message m;
	char *text;
	int status;

	status = kind_ask(c, name, cli->kind, &m);
	if (status != CLI_EXIT_OK)
		return status;
	text = cli->local ? NULL : holder_details(name, m.text);
	if (cli->json)
		json_answer(name, text != NULL ? text : m.text);
	else
		answer_print(name, text != NULL ? text : m.text);
	if (!cli->json && cli->kind == NULL)
		status = others_print(c, name, m.text);
	free(text);
	message_fini(&m);
	return status;
}

/* The state of the name in old processes: a block for each. */
static void
leavers_print(const struct cli *cli, struct client *c, const char *name)
{
	struct leavers l;
	struct message m;
	struct pair p;
	char *text;
	size_t i;

	leavers_open(c, &l);
	for (i = 0; i < l.n; i++) {
		if (kind_ask(&l.v[i], name, cli->kind, &m) != CLI_EXIT_OK)
			continue;
		text = leavers_mark(m.text);
		if (pair_find(text, "session", &p) ||
		    pair_number(text, "waiters") > 0) {
			if (cli->json)
				json_answer(name, text);
			else
				(void)putchar('\n'), answer_print(name, text);
		}
		free(text);
		message_fini(&m);
	}
	leavers_missing(&l);
	leavers_close(&l);
}

int
show_status(struct cli *cli)
{
	struct client c;
	int status;

	status = question_open(cli, &c);
	if (status == CLI_EXIT_OK)
		status = status_on(cli, &c, cli->argv[1]);
	if (status == CLI_EXIT_OK && !cli->local)
		leavers_print(cli, &c, cli->argv[1]);
	client_fini(&c);
	return status;
}
