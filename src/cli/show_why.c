/* `lockbroker why`: who holds a lock, what that client waits for, and so on. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/columns.h"
#include "cli/exit.h"
#include "cli/question.h"
#include "cli/timespan.h"

/* What the end of a chain means, as its last words. */
static const struct {
	const char *end, *text;
} ends[] = {
	{ "holder", "" },
	{ "circle", ", which waits for one of these: a circle, in which each"
		    " waits for the next" },
	{ "unknown", "; the rest of the chain is not known here" },
	{ "denied", ", which waits for a name that you may not watch" },
};

static void
print_value(const char *before, const char *line, const char *key)
{
	struct pair p;

	if (pair_find(line, key, &p))
		printf("%s%.*s", before, (int)p.value_len, p.value);
}

static void
print_time(
    const char *before, const char *line, const char *key, const char *behind)
{
	char text[TIMESPAN_TEXT_MAX];
	int64_t ms;

	if (pair_find_ms(line, key, &ms))
		printf("%s%s%s", before, timespan_text(ms, text), behind);
}

/* As `held by etl through broker b for 12 min`; a session without a label has its number. */
static void
print_holder(const char *line)
{
	struct pair state, p;

	if (!pair_find(line, "state", &state))
		return;
	if (pair_find(line, "kept", &p))
		printf("reserved, no holder");
	else
		printf("%.*s", (int)state.value_len, state.value);
	if (pair_find(line, "holder", &p))
		print_value(" by ", line, "holder");
	else
		print_value(" by session ", line, "session");
	print_value(" through broker ", line, "broker");
	print_time(" for ", line, "age", "");
	print_time(" for ", line, "kept", " more");
	print_time(", at risk (", line, "at_risk", " left)");
}

static void
print_chain(const struct message *m)
{
	struct pair p;
	size_t i, k;

	for (i = 0; i < m->lines_n; i++) {
		if (i > 0)
			printf(
			    ", which %s ", pair_find(m->lines[i], "tagged", &p)
					       ? "also asks for"
					       : "waits for");
		printf("%.*s: ", (int)strcspn(m->lines[i], " "), m->lines[i]);
		print_holder(m->lines[i]);
	}
	for (k = 0; k < sizeof(ends) / sizeof(ends[0]) && i > 0; k++)
		if (pair_find(m->lines[i - 1], "end", &p) &&
		    pair_says(&p, ends[k].end))
			printf("%s", ends[k].text);
	putchar('\n');
}

int
show_why(struct cli *cli)
{
	static const struct table links = { "name", NULL, 0, 0, NULL };
	struct message m;
	char line[330];
	int status;

	snprintf(line, sizeof(line), "WHY %s", cli->argv[1]);
	status = ask(cli, line, &m);
	if (status != CLI_EXIT_OK)
		return status;
	if (cli->json)
		columns_print(&links, m.lines, m.lines_n, true);
	else
		print_chain(&m);
	message_fini(&m);
	return CLI_EXIT_OK;
}
