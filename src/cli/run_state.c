/*
 * The states of `run`: one row for each state says how it handles events.
 *
 *	            granted         PING says valid      command ended
 *	  WAITING ----------> CHECKING ---------> RUNNING ---------> GIVING
 *	     | signal             | signal        |  |  ^ resumed      ^
 *	     v                    |               |  |  |              |
 *	  CANCELLING --------------------------------------------------|
 *	                                          |  | cut             |
 *	                                          |  v                 |
 *	                                     lost | RESUMING           |
 *	                                          |  | lost            |
 *	                                          v  v                 |
 *	                         ENDING, with --on-lost=ignore UNGUARDED
 *
 * They must not let the command run once another client may hold the lock. So
 * they start nothing before the broker has vouched for the lock, count from the
 * moment at which they *sent* the answered PING, and end the command before
 * that time has passed.
 *
 * `lock` starts nothing: it is RUNNING from the printing of the fence to the
 * end of its input (run_lock.c).
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/now.h"
#include "base/times.h"
#include "base/xmalloc.h"
#include "cli/exit.h"
#include "cli/run_state.h"
#include "cli/say.h"
#include "cli/timespan.h"

/* How long to wait for the answer to the PING after a grant. */
#define ANSWER_SLACK_MS 5000
#define CANCEL_MS 2000
/* The minimum wait of a request that another broker did not answer. */
#define RETRY_MS 200

/*
 * A broker that hangs keeps its connections, so it is asked from time to time
 * whether it is there. If there is no other address, leaving its queue early
 * gains nothing.
 */
#define ASK_EVERY_MS 5000
#define ANSWER_ALONE_MS 30000

/* WAITING. */

/* Takes a field of the grant, in place of the field of an earlier grant. */
static void
take_field(char **field, const struct message *m, const char *key)
{
	struct pair p;

	free(*field);
	*field =
	    pair_find(m->text, key, &p) ? xstrndup(p.value, p.value_len) : NULL;
}

static void
waiting_granted(struct run *run, const struct message *m)
{
	char waited[TIMESPAN_TEXT_MAX];

	assert(run->state == &run_waiting);
	take_field(&run->fence, m, "fence");
	take_field(&run->slot, m, "slot");
	progress_stop(&run->progress);
	if (run->options->verbose)
		say("%s: granted after %s, %s %s", run->names,
		    timespan_text(now_ms() - run->began_ms, waited),
		    run->slot != NULL ? "slot" : "fence",
		    run->slot != NULL	 ? run->slot
		    : run->fence != NULL ? run->fence
					 : "none");
	run->granted_ms = now_ms();
	run->state = &run_checking;
	run->deadline_ms = min_ms(now_ms() + ANSWER_SLACK_MS, run->deadline_ms);
	run_ask(run);
}

static void
waiting_refused(struct run *run, const struct message *m)
{
	if (message_error_is(m, "shutdown")) {
		run_again(run, "the broker is stopping");
		return;
	}
	progress_stop(&run->progress);
	say_error(run->names, m);
	run_finish(run, exit_of(m));
}

/* Is one of the locks that we wait for held by our own caller? */
static void
tell_inside(struct run *run)
{
	const struct request *r = &run->options->request;
	const char *under = getenv("LOCKBROKER_NAME");
	size_t n;
	unsigned i;

	if (run->inside_told || under == NULL || r->limit > 0)
		return;
	for (; under += strspn(under, " "), *under != '\0'; under += n) {
		n = strcspn(under, " ");
		for (i = 0; i < r->names_n; i++) {
			if (strlen(r->names[i]) != n ||
			    memcmp(r->names[i], under, n) != 0)
				continue;
			run->inside_told = true;
			say("%s: this may deadlock: this process already "
			    "runs under %s (LOCKBROKER_NAME)",
			    run->names, r->names[i]);
			return;
		}
	}
}

/* A script learns it from the exit status; a user has seen a line. */
static void
waiting_in_vain(struct run *run, bool busy)
{
	const bool told = run->progress.mode != PROGRESS_OFF;
	const char *reason = progress_why(&run->progress);
	char waited[TIMESPAN_TEXT_MAX];

	progress_stop(&run->progress);
	if (run->options->request.wait_ms != 0)
		tell_inside(run);
	if (busy && run->options->request.wait_ms == 0) {
		if (run->options->verbose)
			say("%s: busy", run->names);
	} else if (run->options->verbose || told) {
		say("%s: timed out after %s%s%s", run->names,
		    timespan_text(now_ms() - run->began_ms, waited),
		    reason[0] != '\0' ? "; " : "", reason);
	}
	run_finish(run, run->options->conflict_exit);
}

/*
 * If there is another address to try, a short -w does not wait for an
 * unresponsive broker as long as a long one does: in all, half of it at most.
 */
static int64_t
hurry(const struct run *run)
{
	const int64_t wait_ms = run->options->request.wait_ms;

	if (wait_ms == REQUEST_FOREVER || run->cli->addresses.n < 2)
		return NEVER_MS / 3;
	return (wait_ms + PATIENCE_MS) / 8;
}

static void
waiting_ask(struct run *run, int64_t now)
{
	tell_inside(run);
	run->asked = true;
	run->listens = run->options->kind == RUN_LOCK && !run->child.ended;
	run->ask_ms = now + (run->cli->addresses.n > 1
				    ? min_ms(CLIENT_ANSWER_MS, 3 * hurry(run))
				    : ANSWER_ALONE_MS);
	client_send(&run->client, "@" TAG_ASK " PING");
}

static void
waiting_answered(struct run *run, int64_t now)
{
	run->asked = false;
	run->ask_ms = now + min_ms(ASK_EVERY_MS, hurry(run));
}

static void
waiting_message(struct run *run, const struct message *m)
{
	if (message_answers(m, TAG_ASK))
		waiting_answered(run, now_ms());
	if (!message_answers(m, TAG_TAKE))
		return;
	switch (message_status(m)) {
	case STATUS_OK:
		waiting_granted(run, m);
		return;
	case STATUS_BUSY:
	case STATUS_TIMEOUT:
		waiting_in_vain(run, message_status(m) == STATUS_BUSY);
		return;
	default:
		waiting_refused(run, m);
	}
}

/* Leave the queue first, so that no other client waits behind us. */
static void
waiting_cancel(struct run *run, int status)
{
	progress_stop(&run->progress);
	run->status = status;
	client_send(&run->client, "@" TAG_CANCEL " CANCEL " TAG_TAKE);
	run->state = &run_cancelling;
	run->deadline_ms = now_ms() + CANCEL_MS;
}

static void
waiting_signal(struct run *run, const struct signals_one *one)
{
	if (one->number != SIGWINCH)
		waiting_cancel(run, CLI_EXIT_SIGNAL + one->number);
}

/* The process that wanted to hold the lock has gone away. */
static void
waiting_reaped(struct run *run)
{
	if (run->child.ended)
		waiting_cancel(run, CLI_EXIT_NO);
}

static void
waiting_time(struct run *run, int64_t now)
{
	if (now >= run->deadline_ms || (run->asked && now >= run->ask_ms))
		run_again(run, "the broker does not answer");
	else if (now >= run->ask_ms)
		waiting_ask(run, now);
}

static int64_t
waiting_deadline(const struct run *run)
{
	return min_ms(run->deadline_ms, run->ask_ms);
}

const struct run_state run_waiting = {
	"waiting",
	waiting_message,
	waiting_signal,
	run_again,
	waiting_reaped,
	waiting_time,
	waiting_deadline,
};

/* CANCELLING. */

/* If the grant has crossed the signal, releases the lock. */
static void
cancelling_message(struct run *run, const struct message *m)
{
	if (!message_answers(m, TAG_TAKE))
		return;
	if (message_status(m) == STATUS_OK)
		run_give(run, run->status);
	else
		run_finish(run, run->status);
}

const struct run_state run_cancelling = {
	"cancelling",
	cancelling_message,
	NULL,
	run_closed_finish,
	run_no_child,
	run_finish_time,
	run_at_deadline,
};

/* CHECKING. */

static void
command_start(struct run *run)
{
	const struct run_options *o = run->options;
	const char *shell = getenv("SHELL");
	char sh[] = "/bin/sh", dash_c[] = "-c";
	char *path, *string;
	char *by_shell[4] = { sh, dash_c, NULL, NULL };
	struct child_setup setup = {
		.argv = o->argv,
		.name = run->names,
		.fence = run->fence,
		.slot = run->slot,
		.death_signal =
		    o->on_lost == ON_LOST_IGNORE ? SIGTERM : SIGKILL,
		.signals = &run->signals,
	};

	path = xstrdup(shell != NULL && shell[0] != '\0' ? shell : sh);
	string = xstrdup(o->string != NULL ? o->string : "");
	if (o->string != NULL) {
		by_shell[0] = path;
		by_shell[2] = string;
		setup.argv = by_shell;
	}
	if (!child_start(&run->child, &setup)) {
		say("cannot start a process: %s", strerror(errno));
		run_give(run, CLI_EXIT_INTERNAL);
	}
	free(path);
	free(string);
}

static void
checking_start(struct run *run)
{
	const struct run_options *o = run->options;

	assert(run->state == &run_checking);
	run->state = &run_running;
	/* If we are killed, the command dies a moment later. An older broker
	 * refuses this request, and relies on our close. */
	client_send(&run->client, "@" TAG_END " SESSION end=quit");
	if (o->grace_ms > 0) {
		run->reconnect.grace_ms = o->grace_ms;
		client_send(&run->client,
		    "@" TAG_GRACE " SESSION grace=%" PRId64 "ms", o->grace_ms);
	}
	if (o->kind == RUN_LOCK)
		run_lock_held(run);
	else
		command_start(run);
}

static void
checking_message(struct run *run, const struct message *m)
{
	if (m->event) {
		if (run_request_lost(&run->options->request, m))
			run_again(run, "lost before the command was started");
		return;
	}
	if (!message_answers(m, TAG_PING))
		return;
	if (!run_told(run, m)) {
		run_again(run, "the broker does not confirm the lock");
		return;
	}
	/* An answer that took too long vouches for too little: ask again. */
	if (now_ms() >= validity_term_at(&run->validity))
		run_ask(run);
	else
		checking_start(run);
}

static void
checking_signal(struct run *run, const struct signals_one *one)
{
	if (one->number != SIGWINCH)
		run_give(run, CLI_EXIT_SIGNAL + one->number);
}

static void
checking_time(struct run *run, int64_t now)
{
	if (now >= run->deadline_ms)
		run_again(run, "the broker does not answer");
}

const struct run_state run_checking = {
	"checking",
	checking_message,
	checking_signal,
	run_again,
	run_no_child,
	checking_time,
	run_at_deadline,
};

/* Begin. */

void
run_begin(struct run *run)
{
	const struct run_options *o = run->options;
	int64_t wait_ms = o->request.wait_ms;
	struct buf line;

	if (wait_ms != REQUEST_FOREVER) {
		wait_ms -= now_ms() - run->began_ms;
		if (wait_ms <= 0) /* another broker did not answer in time */
			wait_ms = o->request.wait_ms > 0 ? RETRY_MS : 0;
	}
	validity_init(&run->validity, o->kill_after_ms);
	run->again = false;
	run->state = &run_waiting;
	run->deadline_ms =
	    wait_ms == REQUEST_FOREVER
		? NEVER_MS
		: run->began_ms + o->request.wait_ms + PATIENCE_MS;
	waiting_answered(run, now_ms());
	buf_init(&line);
	run_request_take(&o->request, wait_ms, &line);
	client_send(&run->client, "@" TAG_TAKE " %.*s", (int)buf_len(&line),
	    buf_data(&line));
	buf_fini(&line);
	progress_start(&run->progress, &run->client, run->session);
}
