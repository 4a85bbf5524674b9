/*
 * `lockbroker run`: a command under a lock, like flock(1); and `lock`, which
 * holds one without a command.
 *
 * This file owns the connection, the clock and the command: it connects, and
 * runs the state machine of run_state.c until it is done. A turn takes the
 * broker's messages, then signals, then the time.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/now.h"
#include "cli/exit.h"
#include "cli/login.h"
#include "cli/question.h"
#include "cli/run.h"
#include "cli/say.h"

/*
 * Without -w, it is an error if no broker answers at the start: with a mistyped
 * address the wait would never end. From the first answer on it waits for
 * brokers as it waits for the lock, and after this time it says so.
 */
#define AWAY_TOLD_MS 10000

/* With less time left, no attempt is made. */
#define TRY_LEAST_MS 10

/* Between attempts: each costs little, and a restart takes no longer. */
#define RETRY_PAUSE_MS 100

/* Without -w, the time limit for the first answer of a broker. */
#define SILENCE_MS 10000

static void
run_messages(struct run *run)
{
	struct message m;
	enum client_got got = CLIENT_NOTHING;
	bool open;

	open = client_pump(&run->client);
	while (run->state != NULL) {
		got = client_next(&run->client, &m);
		if (got != CLIENT_MESSAGE)
			break;
		if (run->state->message != NULL)
			run->state->message(run, &m);
		message_fini(&m);
	}
	open = open && run->client.fd >= 0;
	if (run->state == NULL || (open && got != CLIENT_GARBAGE))
		return;
	run->state->closed(run, open ? CLIENT_GARBAGE_WHY : run->client.why);
}

static void
run_signals(struct run *run)
{
	struct signals_one one;

	while (run->state != NULL && signals_next(&run->signals, &one)) {
		if (one.number == SIGCHLD) {
			child_reap(&run->child);
			run->state->reaped(run);
		} else if (run->state->signal != NULL) {
			run->state->signal(run, &one);
		}
	}
}

/*
 * `lock`: input is discarded, and its end is the end of the hold. A background
 * job may not read the terminal: a signal ends it.
 */
static void
drop_input(struct run *run)
{
	char dropped[4096];
	ssize_t got = read(STDIN_FILENO, dropped, sizeof(dropped));

	if (got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN)))
		return;
	run->listens = false;
	run->child.ended = got == 0 || errno != EIO;
}

static void
run_input(struct run *run)
{
	drop_input(run);
	if (run->child.ended)
		run->state->reaped(run);
}

/* Takes an absolute time, by a clock that runs while the machine sleeps. */
static void
timer_arm(int fd, int64_t at_ms)
{
	struct itimerspec spec = { 0 };

	if (at_ms != NEVER_MS) {
		at_ms = at_ms > 0 ? at_ms : 1;
		spec.it_value.tv_sec = at_ms / 1000;
		spec.it_value.tv_nsec = at_ms % 1000 * 1000000;
	}
	(void)timerfd_settime(fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

static void
run_poll(struct run *run, struct pollfd pfd[5])
{
	int64_t at_ms = run->state->deadline(run);

	if (run->progress.next_ms < at_ms)
		at_ms = run->progress.next_ms;
	timer_arm(run->timer_fd, at_ms);
	pfd[0].fd = run->client.fd;
	pfd[0].events = client_events(&run->client);
	pfd[1].fd = run->signals.fd;
	pfd[1].events = POLLIN;
	pfd[2].fd = run->timer_fd;
	pfd[2].events = POLLIN;
	pfd[3].fd = run->progress.client.fd;
	pfd[3].events = client_events(&run->progress.client);
	pfd[4].fd = run->listens ? STDIN_FILENO : -1;
	pfd[4].events = POLLIN;
	(void)poll(pfd, 5, -1); /* on failure no event is set */
}

/* The broker's messages come first, so that no clock acts on old news. */
static void
run_turn(struct run *run)
{
	struct pollfd pfd[5] = { 0 };
	int64_t now;

	run_poll(run, pfd);
	if (pfd[0].revents != 0)
		run_messages(run);
	if (run->state != NULL && pfd[1].revents != 0)
		run_signals(run);
	if (run->state != NULL && run->listens && pfd[4].revents != 0)
		run_input(run);
	if (pfd[3].revents != 0 && run->progress.client.fd >= 0)
		progress_pump(&run->progress);
	now = now_ms();
	if (run->state != NULL && now >= run->state->deadline(run))
		run->state->time(run, now);
	if (run->state != NULL && now >= run->progress.next_ms)
		progress_turn(&run->progress, now);
}

/* "COMMAND@HOST:PID", or as much of it as fits into a label (64 bytes). */
static void
label_make(const struct run_options *o, char label[65])
{
	const char *other = o->kind == RUN_LOCK ? "lock" : "sh";
	const char *command = o->argv != NULL ? o->argv[0] : other;
	const char *base = strrchr(command, '/');
	char host[65];
	char *p;

	if (gethostname(host, sizeof(host)) != 0)
		snprintf(host, sizeof(host), "localhost");
	host[sizeof(host) - 1] = '\0';
	snprintf(label, 65, "%.20s@%.28s:%d", base != NULL ? base + 1 : command,
	    host, (int)getpid());
	for (p = label; *p != '\0'; p++) {
		if (*p <= ' ' || *p > '~' || *p == '=' ||
		    (p == label && (*p == '@' || *p == '!')))
			*p = '_';
	}
}

static void
session_read(struct run *run, const struct message *reply)
{
	reconnect_begin(&run->reconnect, reply);
	run->reconnect.grace_ms = 0;
	run->session = pair_number(reply->text, "id");
}

/* The session's label also shows whether a broker answers. */
static enum client_got
run_connect(
    struct run *run, size_t first, int64_t deadline_ms, struct buf *errors)
{
	char label[65], line[96];
	const struct client_probe probe = { line, first, deadline_ms };
	struct message reply;
	enum client_got got;

	label_make(run->options, label);
	snprintf(line, sizeof(line), "SESSION label=%s",
	    run->options->label != NULL ? run->options->label : label);
	buf_clear(errors);
	got = client_open(
	    &run->client, &run->cli->addresses, &probe, &reply, errors);
	if (got == CLIENT_MESSAGE) {
		session_read(run, &reply);
		message_fini(&reply);
	}
	return got;
}

/* Returns false if `lock` has met the end of its input: the wait is over. */
static bool
pause_until(struct run *run, int64_t until_ms)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	int64_t pause_ms = until_ms - now_ms();

	if (pause_ms > RETRY_PAUSE_MS)
		pause_ms = RETRY_PAUSE_MS;
	if (pause_ms > 0)
		(void)poll(NULL, 0, (int)pause_ms);
	if (run->options->kind == RUN_LOCK && poll(&input, 1, 0) > 0)
		drop_input(run);
	return !run->child.ended;
}

/* The present reason for the wait. */
static void
run_away(struct run *run, int64_t since_ms, const struct buf *errors)
{
	const int n = (int)buf_len(errors);

	progress_reason(
	    &run->progress, "no broker answers: %.*s", n, buf_data(errors));
	if (run->progress.mode != PROGRESS_OFF || run->options->quiet ||
	    run->away_told || now_ms() < since_ms + AWAY_TOLD_MS)
		return;
	run->away_told = true;
	say("%s: no broker answers: %.*s; waiting for one", run->names, n,
	    buf_data(errors));
}

/* The deadline of an attempt: with -w, one that is under way then continues for
 * a moment. */
static int64_t
reach_deadline(const struct run *run, int64_t until_ms)
{
	if (until_ms == NEVER_MS)
		return NEVER_MS;
	return until_ms +
	       (run->options->request.wait_ms == REQUEST_FOREVER
		       ? SILENCE_MS
		       : PATIENCE_MS) -
	       run->client.still_ms;
}

/*
 * As run_connect(), again and again until `until_ms` while no broker answers.
 * Returns 0, or an exit status after printing why. A server that speaks another
 * protocol is not tried again: it will not become a broker.
 */
static int
run_reach(struct run *run, size_t first, int64_t until_ms)
{
	const int64_t since_ms = now_ms();
	const int64_t deadline_ms = reach_deadline(run, until_ms);
	enum client_got got;
	struct buf errors;
	int status = CLI_EXIT_OK;

	buf_init(&errors);
	run->away_told = false;
	for (;;) {
		got = run_connect(run, first, deadline_ms, &errors);
		if (got != CLIENT_NOTHING || now_ms() >= until_ms)
			break;
		run_away(run, since_ms, &errors);
		if (!pause_until(run, until_ms)) {
			status = CLI_EXIT_NO;
			break;
		}
		if (until_ms - now_ms() < TRY_LEAST_MS)
			break; /* their earlier messages say more */
	}
	progress_stop(&run->progress);
	if (got != CLIENT_MESSAGE && status == CLI_EXIT_OK)
		status = question_unreachable(run->names, got, &errors);
	buf_fini(&errors);
	return status;
}

/* How long to look for a broker: as long as we would wait for the lock. */
static int64_t
reach_until(const struct run *run, bool again)
{
	const int64_t wait_ms = run->options->request.wait_ms;

	if (wait_ms != REQUEST_FOREVER)
		return run->began_ms + wait_ms;
	return again ? NEVER_MS : run->began_ms;
}

/* Were there enough attempts? Each address gets one, even without time. */
static bool
is_enough(const struct run *run, unsigned tries)
{
	return tries >= run->cli->addresses.n &&
	       now_ms() >= reach_until(run, true);
}

static void
run_wait_begin(struct run *run)
{
	const struct run_options *o = run->options;
	enum progress_mode mode = PROGRESS_OFF;

	if (o->request.wait_ms != 0 && !o->quiet && isatty(STDERR_FILENO))
		mode = PROGRESS_LINE;
	else if (o->request.wait_ms != 0 && o->verbose)
		mode = PROGRESS_WORDS;
	run->began_ms = now_ms();
	progress_begin(
	    &run->progress, mode, o->request.names[0], o->request.limit > 0);
}

/* Runs the machine until it is done. */
static void
run_once(struct run *run)
{
	signals_hold(&run->signals);
	run_begin(run);
	while (run->state != NULL)
		run_turn(run);
	progress_stop(&run->progress);
}

/* The address to try next. */
static size_t
run_next(const struct run *run)
{
	const struct address_list *list = &run->cli->addresses;

	return (size_t)(run->client.address - list->items + 1) % list->n;
}

static int
run_all(struct run *run)
{
	size_t first = 0;
	unsigned tries = 0;
	int status;

	run_wait_begin(run);
	for (;;) {
		status = run_reach(run, first, reach_until(run, tries > 0));
		if (status != CLI_EXIT_OK)
			return status;
		run_once(run);
		if (!run->again)
			return run->status;
		client_close(&run->client);
		/* A signal received since then ends us here. */
		signals_release(&run->signals);
		if (is_enough(run, ++tries))
			break;
		first = run_next(run);
		if (!pause_until(run, reach_until(run, true)))
			return CLI_EXIT_NO;
	}
	say_code("unreachable", "%s: %s: %s", run->names,
	    run->client.address->text, run->client.why);
	return CLI_EXIT_UNREACHABLE;
}

/* Is another attempt to become the leader worth it? */
static bool
elect_goes_on(const struct run *run)
{
	if (run->stopped_by != 0)
		return false;
	return run->again || (run->lost && run->status == CLI_EXIT_LOST) ||
	       (run->status == CLI_EXIT_UNREACHABLE && !run->child.ended);
}

/* As run_all(), again and again until the command ends by itself. */
static int
elect_all(struct run *run)
{
	size_t first = 0;
	int status;

	for (;;) {
		run_wait_begin(run);
		/* The end of the last command ends no wait. */
		child_reset(&run->child);
		run->lost = run->foreign_told = run->blind_told = false;
		status = run_reach(run, first, NEVER_MS);
		if (status != CLI_EXIT_OK)
			return status;
		run_once(run);
		if (!elect_goes_on(run))
			return run->status;
		client_close(&run->client);
		signals_release(&run->signals);
		first = run_next(run);
		(void)pause_until(run, NEVER_MS);
	}
}

/* Could we end everything that the command starts? Also true if we need not. */
static bool
can_stop(struct run *run)
{
	if (run->options->kind == RUN_LOCK || child_sees(&run->child) ||
	    run->options->on_lost == ON_LOST_IGNORE)
		return true;
	say("cannot read /proc (%s), which is needed to stop the processes "
	    "of the command if the lock is lost; mount it, or give "
	    "--on-lost=ignore",
	    errno == ESRCH ? "it belongs to another PID namespace"
			   : strerror(errno));
	return false;
}

static int
run_with(struct cli *cli, enum run_kind kind)
{
	struct run_options options;
	struct run run = { .options = &options, .cli = cli };
	int status;

	status = run_options_parse(&options, kind, cli->argc, cli->argv);
	if (status != 0)
		return status;
	run.names = run_request_names(&options.request);
	client_init(&run.client, login_line());
	progress_init(&run.progress);
	run.timer_fd =
	    timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	if (!signals_init(&run.signals) || run.timer_fd < 0) {
		say("cannot watch signals and timers: %s", strerror(errno));
		status = CLI_EXIT_INTERNAL;
	} else if (!can_stop(&run)) {
		status = CLI_EXIT_INTERNAL;
	} else {
		status = kind == RUN_ELECT ? elect_all(&run) : run_all(&run);
	}
	progress_fini(&run.progress);
	client_fini(&run.client);
	reconnect_fini(&run.reconnect);
	child_fini(&run.child);
	signals_fini(&run.signals);
	if (run.timer_fd >= 0)
		(void)close(run.timer_fd);
	free(run.fence);
	free(run.slot);
	free(run.names);
	return status;
}

int
run_main(struct cli *cli)
{
	return run_with(cli, RUN_ONCE);
}

int
elect_main(struct cli *cli)
{
	return run_with(cli, RUN_ELECT);
}

int
lock_main(struct cli *cli)
{
	(void)signal(SIGTTIN, SIG_IGN);
	return run_with(cli, RUN_LOCK);
}
