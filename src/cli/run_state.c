/*
 * The states of `run`: what each makes of what happens, one row a state.
 *
 *	            granted         PING says valid      command ended
 *	  WAITING ----------> CHECKING ---------> RUNNING ---------> GIVING
 *	     | signal             |                 |  |                ^
 *	     v                    | signal          |  | lost,          |
 *	  CANCELLING ---------------------------------------------------|
 *	                                            |  | --on-lost=ignore
 *	                                       lost |  `-> UNGUARDED ---|
 *	                                            `----> ENDING ------'
 *
 * What it must not do: let the command run once the lock may be another's.
 * So it starts nothing before the broker has vouched for the lock, counts
 * from when it *sent* the PING that was answered, and has the command gone
 * before that time is over.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/now.h"
#include "base/times.h"
#include "base/xmalloc.h"
#include "cli/exit.h"
#include "cli/run.h"
#include "cli/say.h"
#include "cli/timespan.h"

/* Tags: what each reply is the answer to (protocol, section 1). */
#define TAG_TAKE "1"
#define TAG_PING "2"
#define TAG_GIVE "3"
#define TAG_CANCEL "4"
#define TAG_RESUME "5"
#define TAG_GRACE "6"

/* How much longer than the wait asked for a broker may take to say no. */
#define ANSWER_SLACK_MS 5000
/* A broker that takes longer to confirm is left to find out by our closing. */
#define GIVE_MS 3000
/* Nor is there much to confirm for what is lost. */
#define GIVE_LOST_MS 200
#define CANCEL_MS 2000
/* The broker counts a hold from a little before we hear of the grant. */
#define HOLD_ROUND_MS 100
/* Between attempts to connect again, and for how long one may take. */
#define TRY_PAUSE_MS 100
#define TRY_MS 2000
/* A KILL is repeated: what was forked meanwhile may have been missed. */
#define KILL_AGAIN_MS 20
static const struct run_state waiting, checking, cancelling, running, resuming,
    ending, unguarded, giving;

/* Transitions. */

static void
run_finish(struct run *run, int status)
{
	/* What has grace would live on without us. */
	if (run->graced && run->client.fd >= 0)
		client_send(&run->client, "QUIT");
	run->status = status;
	run->state = NULL;
}

/* Nothing was run yet: another broker, or the same once more, will do. */
static void
run_again(struct run *run, const char *why)
{
	if (run->options->verbose)
		say("%s: %s", run->client.address->text, why);
	run->again = true;
	run_finish(run, CLI_EXIT_UNREACHABLE);
}

static void
run_give(struct run *run, int status)
{
	struct buf line;

	run->status = status;
	if (run->client.fd < 0) {
		run_finish(run, status);
		return;
	}
	buf_init(&line);
	request_give(&run->options->request, &line);
	client_send(&run->client, "@" TAG_GIVE " %.*s", (int)buf_len(&line),
	    buf_data(&line));
	buf_fini(&line);
	run->state = &giving;
	run->deadline_ms = now_ms() + (run->lost ? GIVE_LOST_MS : GIVE_MS);
}

/* Ends all that the command has started, before the lock can be another's. */
static void
run_end(struct run *run, int number)
{
	const int64_t now = now_ms(), end_ms = validity_kill_at(&run->validity);

	run->state = &ending;
	run->deadline_ms = now;
	if (number == SIGKILL)
		return;
	child_signal_tree(&run->child, number);
	run->deadline_ms = now + run->options->kill_after_ms;
	if (run->deadline_ms > end_ms)
		run->deadline_ms = end_ms;
}

static void
run_lost(struct run *run, const char *why)
{
	static const struct {
		const char *what;
		int number;
	} act[] = {
		[ON_LOST_TERM] = { "stopping the command", SIGTERM },
		[ON_LOST_KILL] = { "killing the command", SIGKILL },
		[ON_LOST_IGNORE] = { "the command goes on without it", 0 },
	};
	const enum on_lost on_lost = run->options->on_lost;

	run->lost = true;
	if (on_lost == ON_LOST_IGNORE)
		run->state = &unguarded;
	else
		run_end(run, act[on_lost].number);
	say("%s: lock lost (%s): %s", run->names, why, act[on_lost].what);
}

static void
run_ask(struct run *run)
{
	/* The clock first: a delay in sending only shortens the time. */
	validity_ask(&run->validity, now_ms());
	client_send(&run->client, "@" TAG_PING " PING");
}

/* False when the reply tells no time that is left. */
static bool
run_told(struct run *run, const struct message *m)
{
	int64_t valid_ms;

	if (!run->validity.asking || message_status(m) != STATUS_OK ||
	    !pair_find_ms(m->text, "valid", &valid_ms))
		return false;
	validity_told(&run->validity, valid_ms);
	return valid_ms > 0;
}

/* Shared by rows. */

static int64_t
at_deadline(const struct run *run)
{
	return run->deadline_ms;
}

static void
no_child(struct run *run)
{
	(void)run;
}

static void
closed_again(struct run *run, const char *why)
{
	run_again(run, why);
}

static void
closed_forget(struct run *run, const char *why)
{
	(void)why;
	client_close(&run->client);
}

static void
closed_finish(struct run *run, const char *why)
{
	(void)why;
	run_finish(run, run->status);
}

static void
signal_ignore(struct run *run, const struct signals_one *one)
{
	(void)run;
	(void)one;
}

static void
signal_pass(struct run *run, const struct signals_one *one)
{
	if (signals_stops(one->number))
		run->stopped_by = one->number;
	child_signal(&run->child, one);
}

static void
message_ignore(struct run *run, const struct message *m)
{
	(void)run;
	(void)m;
}

/* WAITING. */

static void
waiting_granted(struct run *run, const struct message *m)
{
	struct pair p;
	char waited[TIMESPAN_TEXT_MAX];

	free(run->fence);
	run->fence = NULL;
	if (pair_find(m->text, "fence", &p))
		run->fence = xstrndup(p.value, p.value_len);
	progress_stop(&run->progress);
	if (run->options->verbose)
		say("%s: granted after %s, fence %s", run->names,
		    timespan_text(now_ms() - run->began_ms, waited),
		    run->fence != NULL ? run->fence : "none");
	run->granted_ms = now_ms();
	run->state = &checking;
	run->deadline_ms = now_ms() + ANSWER_SLACK_MS;
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

/* A script hears of it by the exit status; a person was shown a line. */
static void
waiting_in_vain(struct run *run, bool busy)
{
	const bool told = run->progress.mode != PROGRESS_OFF;
	const char *reason = run->progress.reason;
	char waited[TIMESPAN_TEXT_MAX];

	progress_stop(&run->progress);
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

static void
waiting_message(struct run *run, const struct message *m)
{
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

/* Leave the queue first, so that nobody else waits for us. */
static void
waiting_signal(struct run *run, const struct signals_one *one)
{
	if (one->number == SIGWINCH)
		return;
	progress_stop(&run->progress);
	run->status = CLI_EXIT_SIGNAL + one->number;
	client_send(&run->client, "@" TAG_CANCEL " CANCEL " TAG_TAKE);
	run->state = &cancelling;
	run->deadline_ms = now_ms() + CANCEL_MS;
}

static void
waiting_time(struct run *run, int64_t now)
{
	if (now < run->deadline_ms)
		return;
	progress_stop(&run->progress);
	say_code("unreachable", "%s: the broker does not answer",
	    run->client.address->text);
	run_finish(run, CLI_EXIT_UNREACHABLE);
}

static const struct run_state waiting = {
	"waiting",
	waiting_message,
	waiting_signal,
	closed_again,
	no_child,
	waiting_time,
	at_deadline,
};

/* CANCELLING. */

/* If the grant has crossed the signal, it is given back. */
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

static void
finish_time(struct run *run, int64_t now)
{
	if (now >= run->deadline_ms)
		run_finish(run, run->status);
}

static const struct run_state cancelling = {
	"cancelling",
	cancelling_message,
	signal_ignore,
	closed_finish,
	no_child,
	finish_time,
	at_deadline,
};

/* CHECKING. */

static void
checking_start(struct run *run)
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
	run->state = &running;
	if (o->grace_ms > 0) {
		run->graced = true;
		client_send(&run->client,
		    "@" TAG_GRACE " SESSION grace=%" PRId64 "ms", o->grace_ms);
	}
	if (!child_start(&run->child, &setup)) {
		say("can't start a process: %s", strerror(errno));
		run_give(run, CLI_EXIT_INTERNAL);
	}
	free(path);
	free(string);
}

static void
checking_message(struct run *run, const struct message *m)
{
	if (m->event) {
		if (request_lost(&run->options->request, m))
			run_again(run, "lost before the command was started");
		return;
	}
	if (!message_answers(m, TAG_PING))
		return;
	if (!run_told(run, m)) {
		say("%s: the broker does not confirm the lock: %s", run->names,
		    m->text);
		run_give(run, CLI_EXIT_LOST);
		return;
	}
	/* An answer that took too long vouches for too little: once more. */
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

static const struct run_state checking = {
	"checking",
	checking_message,
	checking_signal,
	closed_again,
	no_child,
	checking_time,
	at_deadline,
};

/* RUNNING. */

static void
running_event(struct run *run, const struct message *m)
{
	struct pair p;
	char why[64];

	if (!request_lost(&run->options->request, m)) {
		if (run->options->verbose)
			say("%s", m->text);
		return;
	}
	snprintf(why, sizeof(why), "the broker is stopping");
	if (pair_find(m->text, "reason", &p))
		snprintf(why, sizeof(why), "%.*s", (int)p.value_len, p.value);
	run_lost(run, why);
}

static void
running_message(struct run *run, const struct message *m)
{
	if (m->event)
		running_event(run, m);
	else if (message_answers(m, TAG_PING) && !run_told(run, m))
		run_lost(run, "the broker does not confirm it any more");
}

static void
resuming_try(struct run *run, int64_t now)
{
	run->try_ms = now + TRY_PAUSE_MS;
	if (!client_open_like(&run->client, &run->client))
		return;
	run->try_ms = now + TRY_MS;
	client_send(&run->client, "@" TAG_RESUME " RESUME key=%s", run->key);
}

/*
 * Without grace the lock is free at once on a Unix socket, and may be
 * elsewhere.
 */
static void
running_closed(struct run *run, const char *why)
{
	client_close(&run->client);
	if (!run->graced || run->key == NULL) {
		run_lost(run, why);
		return;
	}
	if (run->options->verbose)
		say("%s: %s; connecting again", run->names, why);
	validity_forget(&run->validity);
	run->cut_ms = now_ms();
	run->state = &resuming;
	resuming_try(run, run->cut_ms);
}

/*
 * A shell that was ended by the signal we passed on leaves what it was just
 * running: that must not go on without the lock.
 */
static void
running_reaped(struct run *run)
{
	if (!run->child.ended)
		return;
	if (run->stopped_by != 0 && run->child.killed == run->stopped_by &&
	    !run->child.alone)
		run_end(run, SIGTERM);
	else
		run_give(run, run->child.status);
}

static int64_t
running_act_at(const struct run *run)
{
	return run->options->on_lost == ON_LOST_TERM
		   ? validity_term_at(&run->validity)
		   : validity_kill_at(&run->validity);
}

/* Is it the bound that was asked for that ends it, and nothing amiss? */
static bool
running_hold_ends(const struct run *run)
{
	const struct validity *v = &run->validity;
	const int64_t hold_ms = run->options->request.hold_ms;

	return hold_ms > 0 && v->sent_ms + v->valid_ms + HOLD_ROUND_MS >=
				  run->granted_ms + hold_ms;
}

static void
running_time(struct run *run, int64_t now)
{
	if (now >= running_act_at(run))
		run_lost(run, running_hold_ends(run)
				  ? "its hold ends"
				  : "the broker could not confirm it in time");
	else if (now >= validity_ask_at(&run->validity))
		run_ask(run);
}

static int64_t
running_deadline(const struct run *run)
{
	const int64_t ask = validity_ask_at(&run->validity);
	const int64_t act = running_act_at(run);

	return min_ms(ask, act);
}

static const struct run_state running = {
	"running",
	running_message,
	signal_pass,
	running_closed,
	running_reaped,
	running_time,
	running_deadline,
};

/* RESUMING. */

/*
 * The command goes on without a connection for as long as was vouched for, and
 * as the broker waits for us.
 */
static int64_t
resuming_act_at(const struct run *run)
{
	const int64_t act = running_act_at(run);
	const int64_t over = run->cut_ms + run->options->grace_ms;

	if (run->child.ended && run->deadline_ms < act)
		return run->deadline_ms;
	return min_ms(act, over);
}

static void
resuming_message(struct run *run, const struct message *m)
{
	if (!message_answers(m, TAG_RESUME))
		return;
	if (message_status(m) != STATUS_OK) {
		run_lost(run, "its session is over");
		return;
	}
	if (run->options->verbose)
		say("%s: resumed", run->names);
	run->state = &running;
	if (run->child.ended)
		running_reaped(run);
	else
		run_ask(run);
}

static void
resuming_closed(struct run *run, const char *why)
{
	(void)why;
	client_close(&run->client);
	run->try_ms = now_ms() + TRY_PAUSE_MS;
}

/* The command has ended; only giving the lock back is left. */
static void
resuming_reaped(struct run *run)
{
	if (run->child.ended)
		run->deadline_ms = now_ms() + GIVE_MS;
}

static void
resuming_time(struct run *run, int64_t now)
{
	if (now >= resuming_act_at(run)) {
		client_close(&run->client);
		if (run->child.ended)
			run_finish(run, run->child.status);
		else
			run_lost(run, "no connection to the broker");
		return;
	}
	if (now < run->try_ms)
		return;
	client_close(&run->client);
	resuming_try(run, now);
}

static int64_t
resuming_deadline(const struct run *run)
{
	const int64_t act = resuming_act_at(run);

	return min_ms(run->try_ms, act);
}

static const struct run_state resuming = {
	"resuming",
	resuming_message,
	signal_pass,
	resuming_closed,
	resuming_reaped,
	resuming_time,
	resuming_deadline,
};

/* ENDING, UNGUARDED. */

static void
ending_reaped(struct run *run)
{
	if (run->child.alone)
		run_give(run, run->lost ? CLI_EXIT_LOST : run->child.status);
}

static void
ending_time(struct run *run, int64_t now)
{
	if (now < run->deadline_ms)
		return;
	child_signal_tree(&run->child, SIGKILL);
	run->deadline_ms = now + KILL_AGAIN_MS;
}

static const struct run_state ending = {
	"ending",
	message_ignore,
	signal_pass,
	closed_forget,
	ending_reaped,
	ending_time,
	at_deadline,
};

static void
unguarded_reaped(struct run *run)
{
	if (run->child.ended)
		run_give(run, run->child.status);
}

static void
unguarded_time(struct run *run, int64_t now)
{
	(void)run;
	(void)now;
}

static int64_t
unguarded_deadline(const struct run *run)
{
	(void)run;
	return NEVER_MS;
}

static const struct run_state unguarded = {
	"unguarded",
	message_ignore,
	signal_pass,
	closed_forget,
	unguarded_reaped,
	unguarded_time,
	unguarded_deadline,
};

/* GIVING. */

/* Lost without a word while the command was still running, perhaps. */
static void
giving_message(struct run *run, const struct message *m)
{
	if (!message_answers(m, TAG_GIVE))
		return;
	if (run->child.ended && !run->lost &&
	    (message_error_is(m, "lost") || message_error_is(m, "not-held"))) {
		say("%s: lock lost before it was given back", run->names);
		if (run->options->on_lost != ON_LOST_IGNORE)
			run->status = CLI_EXIT_LOST;
	}
	run_finish(run, run->status);
}

static const struct run_state giving = {
	"giving",
	giving_message,
	signal_ignore,
	closed_finish,
	no_child,
	finish_time,
	at_deadline,
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
		wait_ms = wait_ms > 0 ? wait_ms : 0;
	}
	validity_init(&run->validity, o->kill_after_ms);
	run->again = false;
	run->state = &waiting;
	run->deadline_ms = wait_ms == REQUEST_FOREVER
			       ? NEVER_MS
			       : now_ms() + wait_ms + ANSWER_SLACK_MS;
	buf_init(&line);
	request_take(&o->request, wait_ms, &line);
	client_send(&run->client, "@" TAG_TAKE " %.*s", (int)buf_len(&line),
	    buf_data(&line));
	buf_fini(&line);
	progress_start(&run->progress, &run->client, run->session);
}
