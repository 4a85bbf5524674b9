/*
 * `lockbroker top`: a screen that is redrawn once a second; with -b, or if
 * standard output is not a terminal, one table after the other.
 *
 * It borrows the terminal and restores it, whether a key, a signal or the loss
 * of the broker ends it.
 */
#include "config.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/now.h"
#include "base/xmalloc.h"
#include "cli/columns.h"
#include "cli/exit.h"
#include "cli/others.h"
#include "cli/question.h"
#include "cli/top.h"

#define PERIOD_MS 1000
#define NAMES_LIMIT 1000
#define HEAD_LINES 4 /* above the names, with one free line below */
#define ROWS_DEFAULT 24

/* Switches to another screen, without cursor or wrapping; and back. */
#define SCREEN_BEGIN "\033[?1049h\033[?25l\033[?7l"
#define SCREEN_END "\033[?7h\033[?25h\033[?1049l"
#define SCREEN_CLEAR "\033[H\033[J"

/* Red, and wrapping; and back. */
#define TROUBLE_BEGIN "\033[?7h\033[1;31m"
#define TROUBLE_END "\033[0m\033[?7l"

/* A counter of the broker, and how fast it has grown since the answer before. */
struct pace {
	uint64_t total;
	uint64_t per_s;
};

/* One run of `top`. Lives on the stack of top_main(). */
struct top {
	struct client client;
	struct top_lines lines;
	bool json;
	bool batch;
	uint64_t count;	      /* 0: without end */
	int64_t asked_ms;     /* of the last answer; 0: none yet */
	uint64_t up;	      /* Redis servers that can be reached */
	uint64_t heard;	      /* and those whose messages arrive */
	uint64_t at_risk;     /* locks and permits */
	struct pace warm;     /* grants from cached leases (locks.warm) ... */
	struct pace recalled; /* ... and names requested back */
	unsigned silent;      /* old processes that did not answer */
	char *why;	      /* owned; why no locks are granted; or NULL */
	struct termios before;
	bool keys;   /* standard input is a terminal, and is ours */
	bool screen; /* so is the screen */
};

/* The signal that asks us to end; 0: none yet. */
static volatile sig_atomic_t ended_by;

static void
on_signal(int number)
{
	if (number != SIGWINCH)
		ended_by = number;
}

/* Without SA_RESTART, so that a signal ends the wait. */
static void
signals_catch(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT,
		SIGWINCH };
	const struct sigaction sa = { .sa_handler = on_signal };
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		(void)sigaction(numbers[i], &sa, NULL);
}

static void
screen_begin(struct top *t)
{
	struct termios raw;

	if (t->batch)
		return;
	if (tcgetattr(STDIN_FILENO, &t->before) == 0) {
		raw = t->before;
		raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		raw.c_cc[VMIN] = 0;
		raw.c_cc[VTIME] = 0;
		raw.c_cc[VSUSP] = _POSIX_VDISABLE;
		t->keys = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
	}
	(void)fputs(SCREEN_BEGIN, stdout);
	t->screen = true;
}

static void
screen_end(struct top *t)
{
	if (!t->screen)
		return;
	t->screen = false;
	(void)fputs(SCREEN_END, stdout);
	(void)fflush(stdout);
	if (t->keys)
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &t->before);
}

/* Returns the width of the screen; 0: no limit. */
static size_t
screen_columns(const struct top *t)
{
	struct winsize size;

	if (!t->batch && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		return size.ws_col;
	return 0;
}

/* Messages of a server that is reached but not heard wake no waiter of ours. */
static bool
is_deaf(const struct top *t)
{
	return t->heard < t->up;
}

/* A line about a problem may take more than one line of the screen. */
static size_t
trouble_rows(const struct top *t)
{
	const size_t width = screen_columns(t);
	size_t n = t->why != NULL ? strlen("Attention:") + strlen(t->why) : 0;

	return is_deaf(t) + (t->at_risk > 0) +
	       (width > 0 ? (n + width - 1) / width : n > 0);
}

/* Returns how many names fit on the screen. */
static size_t
screen_rows(const struct top *t)
{
	const size_t head = HEAD_LINES + trouble_rows(t);
	struct winsize size;
	size_t rows = ROWS_DEFAULT;

	if (t->batch)
		return NAMES_LIMIT;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0)
		rows = size.ws_row;
	return rows > head ? rows - head : 1;
}

/* The widest screen on which the numbers come first, under short titles; and
 * the narrowest with room for the holder. */
#define NARROW_COLUMNS 59
#define ROOMY_COLUMNS 100

static const struct table_column columns_roomy[] = {
	{ "name", "NAME", TABLE_ALWAYS },
	{ "kind", "KIND", TABLE_IF_ANY },
	{ "state", "STATE", TABLE_ALWAYS },
	{ "holder", "HOLDER", TABLE_ALWAYS },
	{ "age", "FOR", TABLE_ALWAYS },
	{ "waiters", "WAITING", TABLE_ALWAYS },
	{ "rate", "HANDOFFS/S", TABLE_ALWAYS },
	{ "oldest", "OLDEST", TABLE_NOT_0 },
	{ "leaving", "LEAVING", TABLE_MARK },
};

static const struct table_column columns_wide[] = {
	{ "name", "NAME", TABLE_ALWAYS },
	{ "state", "STATE", TABLE_ALWAYS },
	{ "waiters", "WAITING", TABLE_ALWAYS },
	{ "rate", "HANDOFFS/S", TABLE_ALWAYS },
	{ "oldest", "OLDEST", TABLE_NOT_0 },
	{ "leaving", "LEAVING", TABLE_MARK },
};

static const struct table_column columns_narrow[] = {
	{ "waiters", "WAIT", TABLE_ALWAYS },
	{ "rate", "RATE", TABLE_ALWAYS },
	{ "oldest", "OLDEST", TABLE_NOT_0 },
	{ "state", "STATE", TABLE_ALWAYS },
	{ "name", "NAME", TABLE_ALWAYS },
};

/* Problems come first. The screen wraps them. */
static void
trouble_print(const struct top *t)
{
	if (t->why != NULL || t->at_risk > 0)
		(void)fputs(t->screen ? TROUBLE_BEGIN : "", stdout);
	if (t->why != NULL)
		printf("Attention:%s\n", t->why);
	if (t->at_risk > 0)
		printf("Attention: %" PRIu64 " lock%s or permit%s at risk: "
		       "lost soon unless Redis confirms a renewal\n",
		    t->at_risk, t->at_risk == 1 ? "" : "s",
		    t->at_risk == 1 ? "" : "s");
	if (t->why != NULL || t->at_risk > 0)
		(void)fputs(t->screen ? TROUBLE_END : "", stdout);
}

static void
head_print(const struct top *t)
{
	trouble_print(t);
	printf("%s: %zu%s name%s, %" PRIu64 " held, %" PRIu64 " waiting",
	    t->client.address->text, t->lines.n, t->lines.all ? "" : " busiest",
	    t->lines.n == 1 ? "" : "s", t->lines.held, t->lines.waiters);
	if (t->warm.total > 0)
		printf(", %" PRIu64 "/s warm, %" PRIu64 "/s recalled",
		    t->warm.per_s, t->recalled.per_s);
	if (t->silent > 0)
		printf(", %u old process%s not answering", t->silent,
		    t->silent == 1 ? "" : "es");
	(void)putchar('\n');
	if (is_deaf(t))
		printf("Redis: messages of %" PRIu64 " of %" PRIu64
		       " servers are heard; waiters may be passed by\n",
		    t->heard, t->up);
	(void)putchar('\n');
}

/* Returns an empty table with the columns for that width. */
static struct table
layout(size_t width)
{
	if (width > 0 && width <= NARROW_COLUMNS)
		return (struct table){ "name", TABLE_COLUMNS(columns_narrow),
			width, name_line };
	if (width > 0 && width < ROOMY_COLUMNS)
		return (struct table){ "name", TABLE_COLUMNS(columns_wide),
			width, name_line };
	return (struct table){ "name", TABLE_COLUMNS(columns_roomy), width,
		name_line };
}

static void
draw(struct top *t)
{
	const size_t width = screen_columns(t);
	const struct table table = layout(width);
	char *shown[NAMES_LIMIT];
	size_t n = screen_rows(t), i;

	n = t->lines.n < n ? t->lines.n : n;
	for (i = 0; i < n; i++)
		shown[i] = t->lines.v[i].text;
	if (!t->batch)
		(void)fputs(SCREEN_CLEAR, stdout);
	if (!t->json)
		head_print(t);
	columns_print(&table, shown, n, t->json);
	if (t->batch && !t->json)
		(void)putchar('\n');
	(void)fflush(stdout);
}

/* Was a key pressed that quits? */
static bool
key_quits(void)
{
	char key;
	ssize_t got = read(STDIN_FILENO, &key, 1);

	return got == 1 && (key == 'q' || key == 'Q');
}

/* Waits until the next answer is due. Returns false if it is time to end. */
static bool
pause_until(struct top *t, int64_t at_ms)
{
	struct pollfd pfd = { .fd = t->keys ? STDIN_FILENO : -1,
		.events = POLLIN };
	int64_t left_ms;
	int n;

	while (ended_by == 0) {
		left_ms = at_ms - now_ms();
		if (left_ms <= 0)
			return true;
		n = poll(&pfd, 1, (int)left_ms);
		if (n > 0) {
			if (key_quits())
				return false;
			if ((pfd.revents & (POLLHUP | POLLERR)) != 0)
				pfd.fd = -1;
		} else if (n < 0 && ended_by == 0 && !t->batch) {
			draw(t); /* the window may have another size */
		}
	}
	return false;
}

/* Sends the request. A report of failure must not vanish with the screen. */
static int
question(struct top *t, const char *line, struct message *m)
{
	enum client_got got = question_send(&t->client, line, m);

	/* The answer is not needed any more, so an empty one will do. */
	if (got == CLIENT_NOTHING && ended_by != 0)
		return CLI_EXIT_OK;
	if (got != CLIENT_MESSAGE || message_status(m) != STATUS_OK)
		screen_end(t);
	return question_status(&t->client, got, m);
}

/* Can new locks be granted, and if not, why? */
static int
ask_ready(struct top *t)
{
	struct message m;
	enum client_got got = question_send(&t->client, "READY", &m);
	static const char code[] = "unavailable";

	free(t->why);
	t->why = NULL;
	if (got == CLIENT_NOTHING && ended_by != 0)
		return CLI_EXIT_OK;
	if (got != CLIENT_MESSAGE) {
		screen_end(t);
		return question_status(&t->client, got, &m);
	}
	if (message_error_is(&m, code))
		t->why = xstrdup(message_error(&m) + strlen(code));
	message_fini(&m);
	return CLI_EXIT_OK;
}

static void
pace_take(struct pace *pace, const struct message *m, const char *name,
    int64_t elapsed_ms)
{
	uint64_t total = top_stat(m->lines, m->lines_n, name);

	pace->per_s = elapsed_ms > 0 && total > pace->total
			  ? (total - pace->total) * 1000 / (uint64_t)elapsed_ms
			  : 0;
	pace->total = total;
}

/* Old processes end when no client is connected: connect only to ask. */
static void
add_leavers(struct top *t, const char *line, struct message *m)
{
	struct leavers l;

	leavers_open(&t->client, &l);
	(void)leavers_lines(&l, line, m);
	leavers_close(&l);
	t->silent = l.silent;
}

static int
turn(struct top *t)
{
	struct message m;
	char line[64];
	bool leaves;
	int64_t now = now_ms(),
		elapsed_ms = t->asked_ms > 0 ? now - t->asked_ms : 0;
	int status = ask_ready(t);

	if (status == CLI_EXIT_OK)
		status = question(t, "STATS", &m);
	if (status != CLI_EXIT_OK)
		return status;
	t->at_risk = top_stat(m.lines, m.lines_n, "locks_at_risk") +
		     top_stat(m.lines, m.lines_n, "permits_at_risk");
	t->up = top_stat(m.lines, m.lines_n, "redis_nodes_up");
	t->heard = top_stat(m.lines, m.lines_n, "redis_nodes_subscribed");
	pace_take(&t->warm, &m, "warm_grants_total", elapsed_ms);
	pace_take(&t->recalled, &m, "warm_recalls_total", elapsed_ms);
	leaves = top_stat(m.lines, m.lines_n, "leaving") > 0;
	message_fini(&m);
	snprintf(line, sizeof(line), "NAMES limit=%d", NAMES_LIMIT);
	status = question(t, line, &m);
	if (status != CLI_EXIT_OK)
		return status;
	if (leaves)
		add_leavers(t, line, &m);
	top_lines_take(&t->lines, m.lines,
	    m.lines_n < NAMES_LIMIT ? m.lines_n : NAMES_LIMIT, NAMES_LIMIT,
	    elapsed_ms);
	t->asked_ms = now;
	message_fini(&m);
	return CLI_EXIT_OK;
}

static int
loop(struct top *t)
{
	uint64_t done = 0;
	int status;

	screen_begin(t);
	do {
		status = turn(t);
		if (status != CLI_EXIT_OK || ended_by != 0)
			break;
		draw(t);
		done++;
	} while (done != t->count && ferror(stdout) == 0 &&
		 pause_until(t, t->asked_ms + PERIOD_MS));
	screen_end(t);
	return status;
}

int
top_main(struct cli *cli)
{
	struct top t = { .json = cli->json, .count = cli->count };
	int status;

	t.batch = cli->batch || t.json || isatty(STDOUT_FILENO) != 1;
	status = question_open(cli, &t.client);
	if (status == CLI_EXIT_OK) {
		signals_catch();
		t.client.stop = &ended_by;
		status = loop(&t);
	}
	free(t.why);
	top_lines_fini(&t.lines);
	client_fini(&t.client);
	return status;
}
