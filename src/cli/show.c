/* The commands that send one request and show the answer. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/now.h"
#include "cli/cli.h"
#include "cli/columns.h"
#include "cli/exit.h"
#include "cli/json_reply.h"
#include "cli/others.h"
#include "cli/question.h"
#include "cli/say.h"
#include "cli/timespan.h"

/* If no new locks are granted, says so and why, on standard error: the lines
 * about held locks do not show it. */
static void
say_paused(struct client *c)
{
	struct message m;

	if (question_send(c, "READY", &m) != CLIENT_MESSAGE)
		return;
	if (message_error_is(&m, "unavailable"))
		say_error(NULL, &m);
	message_fini(&m);
}

/*
 * Sends "VERB [NAME] [limit=N]", also to old processes. With `more`, which gets
 * the number of names that were not listed, also says whether locks are granted.
 */
static int
ask_all(struct cli *cli, const char *verb, uint64_t *more, struct message *m)
{
	const char *name = cli->argv[1], *limit = cli->limit;
	struct client c;
	uint64_t theirs;
	char line[330];
	int status;

	snprintf(line, sizeof(line), "%s%s%s%s%s", verb,
	    name != NULL ? " " : "", name != NULL ? name : "",
	    limit != NULL ? " limit=" : "", limit != NULL ? limit : "");
	status = question_open(cli, &c);
	if (status == CLI_EXIT_OK)
		status = question_on(&c, line, m);
	if (status == CLI_EXIT_OK && more != NULL)
		*more = names_more(m);
	if (status == CLI_EXIT_OK) {
		theirs = leavers_ask(&c, line, m);
		if (more != NULL) {
			*more += theirs;
			say_paused(&c);
		}
	}
	client_fini(&c);
	return status;
}

/* Shows the lines of an answer; `status` is what the request returned. */
static int
show_table(const struct cli *cli, const struct table *table, int status,
    struct message *m)
{
	if (status != 0)
		return status;
	columns_print(table, m->lines, m->lines_n, cli->json);
	message_fini(m);
	return CLI_EXIT_OK;
}

int
show_history(struct cli *cli)
{
	static const struct table_column columns[] = {
		{ "ago", "ENDED", TABLE_NOT_0 },
		{ "held", "HELD", TABLE_ALWAYS },
		{ "waited", "WAITED", TABLE_ALWAYS },
		{ "end", "END", TABLE_ALWAYS },
		{ "session", "SESSION", TABLE_ALWAYS },
		{ "label", "LABEL", TABLE_ALWAYS },
		{ "peer", "PEER", TABLE_ALWAYS },
		{ "user", "USER", TABLE_IF_ANY },
		{ "mode", "MODE", TABLE_ALWAYS },
		{ "fence", "FENCE", TABLE_ALWAYS },
		{ "by", "BY", TABLE_IF_ANY },
		{ "trace", "TRACE", TABLE_IF_ANY },
		{ "leaving", "LEAVING", TABLE_MARK },
	};
	static const struct table history = { "event", TABLE_COLUMNS(columns),
		0, NULL };
	struct message m;
	int status = ask_all(cli, "HISTORY", NULL, &m);

	if (status == CLI_EXIT_OK && m.lines_n == 0 && !cli->json)
		printf("no hold has ended through this broker\n");
	return show_table(cli, &history, status, &m);
}

int
show_list(struct cli *cli)
{
	static const struct table_column columns[] = {
		{ "name", "NAME", TABLE_ALWAYS },
		{ "kind", "KIND", TABLE_IF_ANY },
		{ "state", "STATE", TABLE_ALWAYS },
		{ "holder", "HOLDER", TABLE_ALWAYS },
		{ "age", "FOR", TABLE_ALWAYS },
		{ "waiters", "WAITERS", TABLE_ALWAYS },
		{ "oldest", "OLDEST", TABLE_NOT_0 },
		{ "leaving", "LEAVING", TABLE_MARK },
	};
	static const struct table names = { "name", TABLE_COLUMNS(columns), 0,
		name_line };
	struct message m;
	uint64_t more = 0;
	int status = ask_all(cli, "NAMES", &more, &m);

	status = show_table(cli, &names, status, &m);
	if (status == CLI_EXIT_OK && !cli->json && more > 0)
		printf("and %" PRIu64 " more\n", more);
	return status;
}

int
show_names(struct cli *cli)
{
	struct message m;
	struct json j;
	uint64_t more;
	size_t i, n;
	int status;

	status = ask_all(cli, "NAMES", &more, &m);
	if (status != 0)
		return status;
	for (i = 0; i < m.lines_n; i++) {
		n = strcspn(m.lines[i], " ");
		if (!cli->json) {
			printf("%.*s\n", (int)n, m.lines[i]);
			continue;
		}
		json_begin(&j);
		json_str(&j, "name", m.lines[i], n);
		json_end(&j);
	}
	message_fini(&m);
	return CLI_EXIT_OK;
}

/* Is there a broker of this name that is not leaving? */
static bool
is_there(const struct message *m, const char *line)
{
	const size_t n = strcspn(line, " ") + 1;
	struct pair p;
	size_t i;

	for (i = 0; i < m->lines_n; i++)
		if (strncmp(m->lines[i], line, n) == 0 &&
		    !pair_find(m->lines[i], "leaving", &p))
			return true;
	return false;
}

/* For people: whether the broker is there, in one word. */
static char *
broker_line(const struct message *m, const char *line)
{
	struct pair p;
	const char *state = "up";
	char *out;

	if (pair_find(line, "self", &p))
		state = "this";
	if (pair_find(line, "leaving", &p))
		state = is_there(m, line) ? "leaving" : "draining";
	if (pair_find(line, "missing", &p))
		state = "MISSING";
	if (asprintf(&out, "%s state=%s", line, state) < 0)
		abort();
	return out;
}

int
show_brokers(struct cli *cli)
{
	static const struct table_column columns[] = {
		{ "name", "BROKER", TABLE_ALWAYS },
		{ "state", "STATE", TABLE_ALWAYS },
		{ "seen", "SEEN", TABLE_NOT_0 },
		{ "version", "VERSION", TABLE_ALWAYS },
		{ "lease", "LEASE", TABLE_ALWAYS },
		{ "address", "ADDRESS", TABLE_ALWAYS },
		{ "http", "PAGE", TABLE_IF_ANY },
		{ "twice", "SAME NAME", TABLE_MARK },
	};
	static const struct table brokers = { "name", TABLE_COLUMNS(columns), 0,
		NULL };
	struct message m;
	char *line;
	size_t i;
	int status = ask(cli, "BROKERS", &m);
	char span[TIMESPAN_TEXT_MAX];
	struct pair twice;
	bool any = false;
	int64_t ago_ms;

	if (status == 0 && pair_find_ms(m.text, "asof", &ago_ms))
		say("as of %s ago: Redis does not answer now",
		    timespan_text(ago_ms, span));
	for (i = 0; status == 0 && i < m.lines_n; i++)
		any |= pair_find(m.lines[i], "twice", &twice);
	if (any)
		say("brokers share a name: give each its own broker.name");
	for (i = 0; status == 0 && !cli->json && i < m.lines_n; i++) {
		line = broker_line(&m, m.lines[i]);
		free(m.lines[i]);
		m.lines[i] = line;
	}
	return show_table(cli, &brokers, status, &m);
}

int
show_stats(struct cli *cli)
{
	struct message m;
	struct json j;
	size_t i;
	int status;

	status = ask(cli, "STATS", &m);
	if (status != 0)
		return status;
	if (cli->json)
		json_begin(&j);
	for (i = 0; i < m.lines_n; i++) {
		if (cli->json)
			json_stat(&j, m.lines[i]);
		else
			printf("%s\n", m.lines[i]);
	}
	if (cli->json)
		json_end(&j);
	message_fini(&m);
	return CLI_EXIT_OK;
}

static void
ping_print(const struct cli *cli, const char *address, int64_t took_us)
{
	struct json j;
	char ms[32];

	snprintf(ms, sizeof(ms), "%ld.%03ld", (long)(took_us / 1000),
	    (long)(took_us % 1000));
	if (!cli->json) {
		printf("OK from %s in %s ms%s\n", address, ms,
		    cli->ready ? "; new locks can be granted" : "");
		return;
	}
	json_begin(&j);
	json_str(&j, "address", address, strlen(address));
	json_raw(&j, "ms", ms, strlen(ms));
	if (cli->ready)
		json_raw(&j, "ready", "true", 4);
	json_end(&j);
}

/* question_open() has sent a PING before: this measures the bare round trip. */
int
show_ping(struct cli *cli)
{
	struct client c;
	struct message m;
	int64_t sent_us, took_us = 0;
	int status;

	status = question_open(cli, &c);
	if (status == CLI_EXIT_OK) {
		sent_us = now_us();
		status = question_on(&c, "PING", &m);
		took_us = now_us() - sent_us;
	}
	if (status == CLI_EXIT_OK && cli->ready) {
		message_fini(&m);
		status = question_on(&c, "READY", &m);
	}
	if (status == CLI_EXIT_OK) {
		ping_print(cli, c.address->text, took_us);
		message_fini(&m);
	}
	client_fini(&c);
	return status;
}

/* A warning for users who start a second broker beside this one. */
static void
version_field_print(const struct pair *p)
{
	if (p->key == NULL || pair_is(p, "version") || pair_is(p, "protocol"))
		return;
	if (pair_is(p, "redis") && pair_says(p, "embedded"))
		printf("embedded Redis: locks exclude clients of this broker "
		       "only\n");
	else
		printf("%.*s: %.*s\n", (int)p->key_len, p->key,
		    (int)p->value_len, p->value);
}

int
show_version(struct cli *cli)
{
	struct message m;
	struct json j;
	struct pair version = { NULL, 0, "unknown", 7 };
	struct pair protocol = { NULL, 0, "0", 1 };
	const char *cursor;
	struct pair p;
	int status;

	status = ask(cli, "VERSION", &m);
	if (status != 0)
		return status;
	if (cli->json) {
		json_begin(&j);
		json_str(
		    &j, "client", PACKAGE_VERSION, strlen(PACKAGE_VERSION));
		json_pairs(&j, m.text);
		json_end(&j);
	} else {
		(void)pair_find(m.text, "version", &version);
		(void)pair_find(m.text, "protocol", &protocol);
		printf("lockbroker %s\nlockbrokerd %.*s (protocol %.*s)\n",
		    PACKAGE_VERSION, (int)version.value_len, version.value,
		    (int)protocol.value_len, protocol.value);
		for (cursor = m.text; pair_next(&cursor, &p);)
			version_field_print(&p);
	}
	message_fini(&m);
	return CLI_EXIT_OK;
}

/* Longer than the broker waits for the new process. */
#define REPLACE_MS 60000

/* A broker that answers but cannot be replaced stays as it is: refused. */
int
show_replace(struct cli *cli)
{
	enum client_got got = CLIENT_NOTHING;
	struct client c;
	struct message m;
	struct pair pid = { NULL, 0, "?", 1 };
	int status;

	status = question_open(cli, &c);
	if (status == CLI_EXIT_OK) {
		got = question_send_for(&c, "REPLACE", REPLACE_MS, &m);
		status = question_status(&c, got, &m);
	}
	if (got == CLIENT_MESSAGE && status == CLI_EXIT_UNREACHABLE)
		status = CLI_EXIT_NO;
	client_fini(&c);
	if (status != CLI_EXIT_OK)
		return status;
	if (cli->json) {
		json_answer(NULL, m.text);
	} else {
		(void)pair_find(m.text, "pid", &pid);
		printf("replaced pid=%.*s\n", (int)pid.value_len, pid.value);
	}
	message_fini(&m);
	return status;
}
