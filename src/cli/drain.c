/*
 * `lockbroker drain`: drains the broker, and shows what it waits for; or undoes
 * that.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "cli/cli.h"
#include "cli/exit.h"
#include "cli/json_reply.h"
#include "cli/question.h"
#include "cli/say.h"
#include "cli/timespan.h"
#include "cli/top.h"

#define LOOK_MS 1000 /* how often --wait checks */
#define TOLD 3	     /* how many names with a holder it shows */

/* An older broker sends no numbers. */
static void
print_draining(const struct message *m)
{
	struct pair holds, clients;
	int64_t left_ms = 0;
	char text[32];
	struct tm tm;
	time_t end;

	if (!pair_find(m->text, "holds", &holds) ||
	    !pair_find(m->text, "clients", &clients))
		return;
	printf("draining: %.*s held, %.*s clients; exits once no lock is held",
	    (int)holds.value_len, holds.value, (int)clients.value_len,
	    clients.value);
	if (pair_find_ms(m->text, "left", &left_ms)) {
		end = time(NULL) + (time_t)(left_ms / 1000);
		if (localtime_r(&end, &tm) != NULL &&
		    strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &tm) > 0)
			printf(", by %s at the latest", text);
	}
	printf("\n");
}

/* The longest holds come first; then names without a holder. */
static int
by_age(const void *a, const void *b)
{
	int64_t x_ms = -1, y_ms = -1;

	(void)pair_find_ms(*(char *const *)a, "age", &x_ms);
	(void)pair_find_ms(*(char *const *)b, "age", &y_ms);
	return (x_ms < y_ms) - (x_ms > y_ms);
}

static void
print_names(const struct message *m)
{
	char span[TIMESPAN_TEXT_MAX];
	int64_t age_ms = 0;
	struct pair holder;
	size_t i;

	qsort(m->lines, m->lines_n, sizeof(*m->lines), by_age);
	for (i = 0; i < m->lines_n && i < TOLD; i++) {
		if (!pair_find(m->lines[i], "holder", &holder) ||
		    !pair_find_ms(m->lines[i], "age", &age_ms))
			return;
		printf("%s%.*s (%.*s, for %s)", i > 0 ? ", " : ": ",
		    (int)strcspn(m->lines[i], " "), m->lines[i],
		    (int)holder.value_len, holder.value,
		    timespan_text(age_ms, span));
	}
}

/* Shows what is left.  If no answer comes, the next question finds out why. */
static void
tell(const struct cli *cli, struct client *c, uint64_t holds)
{
	struct message m;
	char line[32];

	if (cli->json) {
		snprintf(line, sizeof(line), "holds=%" PRIu64, holds);
		json_answer(NULL, line);
	} else {
		printf("waits for %" PRIu64 " held", holds);
		if (holds > 0 &&
		    question_send(c, "NAMES", &m) == CLIENT_MESSAGE) {
			print_names(&m);
			message_fini(&m);
		}
		printf("\n");
	}
	(void)fflush(stdout);
}

/* The broker closes our connection when it ends; a broker that only does not
 * answer has not ended. */
static void
pause_for(struct client *c, int64_t ms)
{
	const int64_t until_ms = now_ms() + ms;
	struct message m;

	while (client_wait(c, until_ms, &m) == CLIENT_MESSAGE)
		message_fini(&m);
}

static int
await_end(const struct cli *cli, struct client *c)
{
	uint64_t holds, told = UINT64_MAX;
	enum client_got got;
	struct message m;
	bool drains = true;

	while (c->why[0] == '\0') {
		got = question_send(c, "STATS", &m);
		if (got == CLIENT_GARBAGE)
			return question_status(c, got, &m);
		if (got == CLIENT_NOTHING)
			continue; /* it has ended, or does not answer */
		drains = top_stat(m.lines, m.lines_n, "draining") != 0;
		holds = top_stat(m.lines, m.lines_n, "locks_held") +
			top_stat(m.lines, m.lines_n, "permits_held") -
			top_stat(m.lines, m.lines_n, "token_holds");
		message_fini(&m);
		if (!drains) {
			say_code("aborted", "the drain was aborted");
			return CLI_EXIT_NO;
		}
		if (holds != told)
			tell(cli, c, holds);
		told = holds;
		pause_for(c, LOOK_MS);
	}
	if (!cli->json)
		printf("the broker has exited\n");
	return CLI_EXIT_OK;
}

/* A broker that answers but cannot continue drains as before: refused. */
static int
take_back(const struct cli *cli, struct client *c)
{
	enum client_got got;
	struct message m;
	int status;

	got = question_send(c, "DRAIN abort=yes", &m);
	status = question_status(c, got, &m);
	if (got == CLIENT_MESSAGE && status == CLI_EXIT_UNREACHABLE)
		return CLI_EXIT_NO;
	if (status != CLI_EXIT_OK)
		return status;
	if (cli->json)
		json_answer(NULL, m.text);
	else
		printf("drain aborted: the broker accepts clients and grants "
		       "locks\n");
	message_fini(&m);
	return CLI_EXIT_OK;
}

static int
drain(const struct cli *cli, struct client *c)
{
	struct message m;
	int status = question_on(c, "DRAIN", &m);

	if (status != CLI_EXIT_OK)
		return status;
	if (cli->json)
		json_answer(NULL, m.text);
	else
		print_draining(&m);
	(void)fflush(stdout);
	message_fini(&m);
	return cli->wait ? await_end(cli, c) : CLI_EXIT_OK;
}

int
show_drain(struct cli *cli)
{
	struct client c;
	int status;

	if (cli->abort && cli->wait)
		return say_usage("--abort and --wait exclude each other");
	status = question_open(cli, &c);
	if (status == CLI_EXIT_OK)
		status = cli->abort ? take_back(cli, &c) : drain(cli, &c);
	client_fini(&c);
	return status;
}
