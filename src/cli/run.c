/*
 * `lockbroker run`: a command under a lock, like flock(1).
 *
 * Owns the connection, the clock and the command: connects, and turns the
 * state machine of run_state.c until it is done. A turn takes what the broker
 * said, then signals, then the time.
 */
#include "config.h"

#include "cli/run.h"

#include "base/parse.h"
#include "base/xmalloc.h"
#include "cli/exit.h"
#include "cli/now.h"
#include "cli/say.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

/*
 * Brokers that go away while we wait: another, or the same restarted, is
 * looked for this long, so many times.
 */
#define RETRY_MS 5000
#define RETRY_PAUSE_MS 200
#define RETRIES_MAX 10

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
		run->state->message(run, &m);
		message_fini(&m);
	}
	if (run->state == NULL || (open && got != CLIENT_GARBAGE))
		return;
	run->state->closed(
	    run, open ? "it does not speak the protocol" : run->client.why);
}

static void
run_signals(struct run *run)
{
	struct signals_one one;

	while (run->state != NULL && signals_next(&run->signals, &one)) {
		if (one.number != SIGCHLD) {
			run->state->signal(run, &one);
			continue;
		}
		child_reap(&run->child);
		run->state->reaped(run);
	}
}

/* Absolute, on a clock that goes on while the machine sleeps. */
static void
timer_arm(int fd, int64_t at_ms)
{
	struct itimerspec spec;

	memset(&spec, 0, sizeof(spec));
	if (at_ms != NEVER_MS) {
		at_ms = at_ms > 0 ? at_ms : 1;
		spec.it_value.tv_sec = at_ms / 1000;
		spec.it_value.tv_nsec = at_ms % 1000 * 1000000;
	}
	(void)timerfd_settime(fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

static void
run_poll(struct run *run, struct pollfd pfd[4])
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
	if (poll(pfd, 4, -1) < 0)
		pfd[0].revents = pfd[1].revents = pfd[3].revents = 0;
}

/* What the broker said comes first, so that no clock acts on old news. */
static void
run_turn(struct run *run)
{
	struct pollfd pfd[4] = { 0 };
	int64_t now;

	run_poll(run, pfd);
	if (pfd[0].revents != 0)
		run_messages(run);
	if (run->state != NULL && pfd[1].revents != 0)
		run_signals(run);
	if (pfd[3].revents != 0 && run->progress.client.fd >= 0)
		progress_pump(&run->progress);
	now = now_ms();
	if (run->state != NULL && now >= run->state->deadline(run))
		run->state->time(run, now);
	if (run->state != NULL && now >= run->progress.next_ms)
		progress_turn(&run->progress, now);
}

/* "COMMAND@HOST:PID", or as much of it as a label takes (64 bytes). */
static void
label_make(const struct run_options *o, char label[65])
{
	const char *command = o->argv != NULL ? o->argv[0] : "sh";
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

/* A session with a label is also how we find out whether a broker answers. */
static bool
run_connect(struct run *run, size_t first, struct buf *errors)
{
	struct message reply;
	struct pair p;
	char label[65], probe[96];

	label_make(run->options, label);
	snprintf(probe, sizeof(probe), "SESSION label=%s",
	    run->options->label != NULL ? run->options->label : label);
	buf_clear(errors);
	if (!client_open(&run->client, &run->cli->addresses, first, probe,
		&reply, errors))
		return false;
	free(run->key);
	run->key = NULL;
	if (pair_find(reply.text, "key", &p))
		run->key = xstrndup(p.value, p.value_len);
	run->graced = false;
	run->session = 0;
	if (!pair_find(reply.text, "id", &p) ||
	    !parse_number(p.value, p.value_len, UINT64_MAX, &run->session))
		run->session = 0;
	message_fini(&reply);
	return true;
}

/* As run_connect(), again and again until `until_ms`; says why it gave up. */
static bool
run_reach(struct run *run, size_t first, int64_t until_ms)
{
	struct buf errors;
	bool ok;

	buf_init(&errors);
	for (;;) {
		ok = run_connect(run, first, &errors);
		if (ok || now_ms() >= until_ms)
			break;
		(void)poll(NULL, 0, RETRY_PAUSE_MS);
	}
	if (!ok)
		say("no broker answers: %.*s", (int)buf_len(&errors),
		    buf_data(&errors));
	buf_fini(&errors);
	return ok;
}

/* From the loss of a connection: no longer than it was to wait. */
static int64_t
retry_until(const struct run *run)
{
	const int64_t until_ms = now_ms() + RETRY_MS;
	const int64_t wait_ms = run->options->request.wait_ms;

	if (wait_ms == REQUEST_FOREVER || run->began_ms + wait_ms > until_ms)
		return until_ms;
	return run->began_ms + wait_ms;
}

/* Turns the machine until it is done. */
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
	int64_t until_ms;
	size_t first = 0;
	int retries;

	run->began_ms = until_ms = now_ms();
	for (retries = 0; retries <= RETRIES_MAX; retries++) {
		if (!run_reach(run, first, until_ms))
			return CLI_EXIT_UNREACHABLE;
		run_once(run);
		if (!run->again)
			return run->status;
		client_close(&run->client);
		/* A signal that came meanwhile ends us here. */
		signals_release(&run->signals);
		until_ms = retry_until(run);
		first = run_next(run);
		(void)poll(NULL, 0, RETRY_PAUSE_MS);
	}
	say("%s: %s", run->client.address->text, run->client.why);
	return CLI_EXIT_UNREACHABLE;
}

/* Is it worth another attempt to be the leader? */
static bool
elect_goes_on(const struct run *run)
{
	if (run->stopped_by != 0)
		return false;
	return run->again || (run->lost && run->status == CLI_EXIT_LOST) ||
	       (run->status == CLI_EXIT_UNREACHABLE && !run->child.ended);
}

/* As run_all(), for as long as the command has not ended by itself. */
static int
elect_all(struct run *run)
{
	size_t first = 0;

	for (;;) {
		run->began_ms = now_ms();
		(void)run_reach(run, first, NEVER_MS);
		memset(&run->child, 0, sizeof(run->child));
		run->lost = false;
		run_once(run);
		if (!elect_goes_on(run))
			return run->status;
		client_close(&run->client);
		signals_release(&run->signals);
		first = run_next(run);
		(void)poll(NULL, 0, RETRY_PAUSE_MS);
	}
}

static int
run_with(struct cli *cli, bool elect, int argc, char **argv)
{
	struct run_options options;
	struct run run;
	int status;

	status = run_options_parse(&options, elect, argc, argv);
	if (status != 0)
		return status;
	memset(&run, 0, sizeof(run));
	run.options = &options;
	run.cli = cli;
	run.names = request_names(&options.request);
	client_init(&run.client);
	progress_init(&run.progress);
	run.timer_fd =
	    timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	if (!signals_init(&run.signals) || run.timer_fd < 0) {
		say("can't watch signals and time: %s", strerror(errno));
		status = CLI_EXIT_INTERNAL;
	} else {
		status = elect ? elect_all(&run) : run_all(&run);
	}
	progress_fini(&run.progress);
	client_fini(&run.client);
	signals_fini(&run.signals);
	if (run.timer_fd >= 0)
		(void)close(run.timer_fd);
	free(run.fence);
	free(run.names);
	free(run.key);
	return status;
}

int
run_main(struct cli *cli, int argc, char **argv)
{
	return run_with(cli, false, argc, argv);
}

int
elect_main(struct cli *cli, int argc, char **argv)
{
	return run_with(cli, true, argc, argv);
}
