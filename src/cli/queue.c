/*
 * `lockbroker queue`: who holds a name and who waits for it, as a lock, a
 * semaphore, a latch and a barrier.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "cli/cli.h"
#include "cli/columns.h"
#include "cli/exit.h"
#include "cli/others.h"
#include "cli/question.h"

/* In NAMES, a name that ends with an asterisk is a pattern. */
#define NAMES_LIMIT "1000"

/* The lines of all kinds; a line about a lock has no kind=. */
struct rows {
	char **v; /* owned, with the texts */
	size_t n;
	uint64_t more;		 /* number of waiters beyond those */
	uint64_t permits, limit; /* of a semaphore: taken, and limit; 0: none */
	bool leaving;		 /* the next lines are of an old process */
	bool theirs;		 /* an old process holds the lock */
};

static void
rows_fini(struct rows *r)
{
	while (r->n > 0)
		free(r->v[--r->n]);
	free(r->v);
}

/* `kind` is the option with the kind; "": a lock. */
static void
rows_add(struct rows *r, const char *line, const char *kind)
{
	bool holds = strncmp(line, "holder ", 7) == 0;
	struct pair p;
	char *row;

	/* The other process itself reports the holder there. */
	if (holds && pair_find(line, "broker", &p) &&
	    (r->leaving || (r->theirs && kind[0] == '\0')))
		return;
	r->theirs |= r->leaving && holds && kind[0] == '\0';
	if (asprintf(
		&row, "%s%s%s", line, kind, r->leaving ? " leaving=1" : "") < 0)
		abort();
	r->v = xrealloc(r->v, (r->n + 1) * sizeof(*r->v));
	r->v[r->n++] = row;
}

/* Adds the answer to a QUEUE.  The broker lists no more than its limit. */
static void
rows_take(struct rows *r, const struct message *m, const char *kind)
{
	uint64_t waiters, shown = 0;
	size_t i;

	for (i = 0; i < m->lines_n; i++) {
		rows_add(r, m->lines[i], kind);
		shown += strncmp(m->lines[i], "waiter ", 7) == 0;
	}
	waiters = pair_number(m->text, "waiters");
	if (waiters > shown)
		r->more += waiters - shown;
}

static int
ask_queue(const struct cli *cli, struct client *c, const char *name,
    const char *kind, struct rows *r)
{
	struct message m;
	char line[400];
	int status;

	snprintf(line, sizeof(line), "QUEUE %s%s%s%s", name, kind,
	    cli->limit != NULL ? " limit=" : "",
	    cli->limit != NULL ? cli->limit : "");
	status = question_on(c, line, &m);
	if (status != CLI_EXIT_OK)
		return status;
	rows_take(r, &m, kind);
	message_fini(&m);
	return CLI_EXIT_OK;
}

static bool
is_name(const char *line, const char *name)
{
	size_t n = strcspn(line, " ");

	return n == strlen(name) && memcmp(line, name, n) == 0;
}

/* The other kinds of objects in use through this broker. */
static int
ask_kinds(
    const struct cli *cli, struct client *c, const char *name, struct rows *r)
{
	struct message m;
	struct pair kind;
	char line[330], option[32];
	size_t i;
	int status;

	snprintf(line, sizeof(line), "NAMES %s limit=" NAMES_LIMIT, name);
	status = question_on(c, line, &m);
	if (status != CLI_EXIT_OK)
		return status;
	for (i = 0; status == CLI_EXIT_OK && i < m.lines_n; i++) {
		if (!is_name(m.lines[i], name) ||
		    !pair_find(m.lines[i], "kind", &kind))
			continue;
		if (pair_number(m.lines[i], "limit") > 0)
			r->limit = pair_number(m.lines[i], "limit");
		r->permits += pair_number(m.lines[i], "permits");
		snprintf(option, sizeof(option), " kind=%.*s",
		    (int)kind.value_len, kind.value);
		status = ask_queue(cli, c, name, option, r);
	}
	message_fini(&m);
	return status;
}

/* A reserved name has no holder; the last one is shown in its place. */
static char *
kept_row(const char *line)
{
	struct pair p, was;
	char *out;
	int rc;

	if (!pair_find(line, "kept", &p) || pair_find(line, "session", &was))
		return xstrdup(line);
	line += strcspn(line, " ");
	if (pair_find(line, "was", &was))
		rc = asprintf(&out, "kept label=(was" COLUMNS_SPACE "%.*s)%s",
		    (int)was.value_len, was.value, line);
	else
		rc = asprintf(&out, "kept%s", line);
	if (rc < 0)
		abort();
	return out;
}

static void
rows_print(const struct cli *cli, const struct rows *r)
{
	static const struct table_column columns[] = {
		{ "role", "ROLE", TABLE_ALWAYS },
		{ "kind", "KIND", TABLE_IF_ANY },
		{ "session", "SESSION", TABLE_ALWAYS },
		{ "label", "LABEL", TABLE_ALWAYS },
		{ "peer", "PEER", TABLE_ALWAYS },
		{ "away", "AWAY", TABLE_IF_ANY },
		{ "broker", "BROKER", TABLE_IF_ANY },
		{ "address", "ADDRESS", TABLE_IF_ANY },
		{ "ttl", "TTL", TABLE_IF_ANY },
		{ "until", "UNTIL", TABLE_IF_ANY },
		{ "mode", "MODE", TABLE_IF_ANY },
		{ "fence", "FENCE", TABLE_IF_ANY },
		{ "permits", "PERMITS", TABLE_IF_ANY },
		{ "slot", "SLOT", TABLE_IF_ANY },
		{ "age", "AGE", TABLE_ALWAYS },
		{ "value", "VALUE", TABLE_IF_ANY },
		{ "trace", "TRACE", TABLE_IF_ANY },
		{ "leaving", "LEAVING", TABLE_MARK },
	};
	static const struct table queue = { "role", TABLE_COLUMNS(columns), 0,
		kept_row };

	columns_print(&queue, r->v, r->n, cli->json);
	if (!cli->json && r->more > 0)
		printf("and %" PRIu64 " more waiting\n", r->more);
	if (!cli->json && r->limit > 0)
		printf("%" PRIu64 " of %" PRIu64
		       " permits are taken through this broker\n",
		    r->permits, r->limit);
}

/* No holder and no waiter: tells the user that this was the answer. */
static int
nobody_print(struct client *c, const char *name)
{
	struct message m;
	struct pair p;
	char line[330];
	int status;

	snprintf(line, sizeof(line), "STATUS %s", name);
	status = question_on(c, line, &m);
	if (status != CLI_EXIT_OK)
		return status;
	if (pair_find(m.text, "other", &p))
		printf("the lock is free; %.*s: no holder or waiter through "
		       "this broker\n",
		    (int)p.value_len, p.value);
	else
		printf("free, no waiters\n");
	message_fini(&m);
	return CLI_EXIT_OK;
}

/* Old processes come first: as a rule they have held it longest. */
static int
ask_leavers(
    const struct cli *cli, struct client *c, const char *name, struct rows *r)
{
	int status = CLI_EXIT_OK;
	struct leavers l;
	size_t i;

	leavers_open(c, &l);
	r->leaving = true;
	for (i = 0; status == CLI_EXIT_OK && i < l.n; i++) {
		status = ask_queue(cli, &l.v[i], name, "", r);
		if (status == CLI_EXIT_OK)
			status = ask_kinds(cli, &l.v[i], name, r);
	}
	r->leaving = false;
	leavers_missing(&l);
	leavers_close(&l);
	return status;
}

int
show_queue(struct cli *cli)
{
	struct rows r = { .v = NULL };
	struct client c;
	int status;

	status = question_open(cli, &c);
	if (status == CLI_EXIT_OK)
		status = ask_leavers(cli, &c, cli->argv[1], &r);
	if (status == CLI_EXIT_OK)
		status = ask_queue(cli, &c, cli->argv[1], "", &r);
	if (status == CLI_EXIT_OK)
		status = ask_kinds(cli, &c, cli->argv[1], &r);
	if (status == CLI_EXIT_OK)
		rows_print(cli, &r);
	if (status == CLI_EXIT_OK && r.n == 0 && r.more == 0 && !cli->json)
		status = nobody_print(&c, cli->argv[1]);
	rows_fini(&r);
	client_fini(&c);
	return status;
}
