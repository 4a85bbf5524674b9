/*
 * `lockbroker drill`: makes the broker report a lock as lost to its holder, and
 * says how long the holder went on.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/exit.h"
#include "cli/json_reply.h"
#include "cli/question.h"
#include "cli/timespan.h"

#define MAX_MS 60000 /* without --max */
#define LATE_MS 5000 /* after that time, the answer may take this long */

static void
print_answer(const char *name, const char *line, int64_t max_ms, bool let_go)
{
	char text[TIMESPAN_TEXT_MAX];
	struct pair who = { .value = "the holder", .value_len = 10 };
	int64_t took_ms = max_ms;

	(void)pair_find(line, "holder", &who);
	(void)pair_find_ms(line, "took", &took_ms);
	timespan_text(took_ms, text);
	if (let_go)
		printf("%.*s let go %s after the loss\n", (int)who.value_len,
		    who.value, text);
	else
		printf("%.*s has not let go, %s after the loss; %s stays"
		       " reserved for it until then, or until unlock-force\n",
		    (int)who.value_len, who.value, text, name);
}

/* A holder that has not let go means a failed drill. */
int
show_drill(struct cli *cli)
{
	int64_t took_ms, max_ms = cli->max_ms > 0 ? cli->max_ms : MAX_MS;
	struct client c;
	struct message m;
	char line[330];
	int status;
	bool let_go;

	snprintf(line, sizeof(line), "DRILL %s max=%" PRId64 "ms", cli->argv[1],
	    max_ms);
	status = question_open(cli, &c);
	if (status == CLI_EXIT_OK)
		status = question_status(
		    &c, question_send_for(&c, line, max_ms + LATE_MS, &m), &m);
	client_fini(&c);
	if (status != CLI_EXIT_OK)
		return status;
	let_go = pair_find_ms(m.text, "took", &took_ms);
	if (cli->json)
		json_answer(NULL, m.text);
	else
		print_answer(cli->argv[1], m.text, max_ms, let_go);
	message_fini(&m);
	return let_go ? CLI_EXIT_OK : CLI_EXIT_NO;
}
