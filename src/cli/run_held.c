/*
 * The states of `run` from the start of the command on; run_state.c has the
 * drawing, and the states before.
 *
 * They must not let the command run once another client may hold the lock. So
 * the command is gone before the end of the time that the broker has vouched
 * for.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>

#include "base/now.h"
#include "base/times.h"
#include "cli/exit.h"
#include "cli/run_state.h"
#include "cli/say.h"
#include "cli/timespan.h"

/* The broker measures a hold from shortly before we learn of the grant. */
#define HOLD_ROUND_MS 100
/* KILL is repeated, because it may have missed processes forked since. */
#define KILL_AGAIN_MS 20
/* Processes that KILL cannot reach end by themselves, if at all. */
#define KILL_FOREIGN_MS 1000
/* Without a connection to release the lock by, the session grace ends it. */
#define GIVE_MS 3000

/* RUNNING. */

/* Prints the meaning of an event that ends nothing. */
static void
say_event(const struct message *m)
{
	static const struct {
		const char *event, *says;
		bool left; /* a time follows */
	} all[] = {
		{ "!ATRISK",
		    "at risk: Redis does not confirm the lock; without "
		    "confirmation it is lost in ",
		    true },
		{ "!SAFE", "safe again: Redis has confirmed the lock", false },
		{ "!LEAVING",
		    "the broker is draining; the lock stays, for at most ",
		    true },
	};
	char left[TIMESPAN_TEXT_MAX];
	int64_t ms = 0;
	size_t i;

	(void)pair_find_ms(m->text, "left", &ms);
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (message_is(m, all[i].event))
			say("%s%s", all[i].says,
			    all[i].left ? timespan_text(ms, left) : "");
}

static void
running_event(struct run *run, const struct message *m)
{
	struct pair p;
	char why[64];

	if (!run_request_lost(&run->options->request, m)) {
		if (run->options->verbose)
			say_event(m);
		return;
	}
	snprintf(why, sizeof(why), "the broker is stopping");
	if (pair_find(m->text, "reason", &p))
		snprintf(why, sizeof(why), "%.*s", (int)p.value_len, p.value);
	run_lost(run, why);
}

/* The broker may grant less session grace than requested, or none, for example
 * if all connection slots are in use. */
static int64_t
granted_grace(const struct message *m)
{
	int64_t ms;

	if (message_status(m) != STATUS_OK) {
		say("continuing without --grace: %s", message_error(m));
		return 0;
	}
	return pair_find_ms(m->text, "grace", &ms) ? ms : 0;
}

static void
running_message(struct run *run, const struct message *m)
{
	if (m->event)
		running_event(run, m);
	else if (message_answers(m, TAG_GRACE))
		run->reconnect.grace_ms = granted_grace(m);
	else if (message_answers(m, TAG_PING) && !run_told(run, m))
		run_lost(run, "the broker no longer confirms it");
}

static void
resuming_try(struct run *run, int64_t now)
{
	if (reconnect_try(&run->reconnect, &run->client, TAG_RESUME, now))
		child_spare(&run->child, run->client.tls);
}

/*
 * Without session grace, the broker frees the lock at once if we are at a Unix
 * socket, and perhaps at once if we are not.
 */
static void
running_closed(struct run *run, const char *why)
{
	const int64_t now = now_ms();

	client_close(&run->client);
	if (!reconnect_cut(&run->reconnect, now)) {
		run_lost(run, why);
		return;
	}
	if (run->options->verbose)
		say("%s: %s; connecting again", run->names, why);
	validity_forget(&run->validity);
	run->state = &run_resuming;
	resuming_try(run, now);
}

/*
 * A shell that our signal has ended may leave a command running, which must not
 * continue without the lock.
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

/* Does only the limit set by the user end it? */
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
				  ? "it reached its hold= limit"
				  : "the broker did not confirm it in time");
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

const struct run_state run_running = {
	"running",
	running_message,
	run_signal_pass,
	running_closed,
	running_reaped,
	running_time,
	running_deadline,
};

/* RESUMING. */

/*
 * How long the command may continue without a connection: while the broker
 * vouches for the lock, and while it waits for us.
 */
static int64_t
resuming_act_at(const struct run *run)
{
	const int64_t act = running_act_at(run);
	const int64_t over = reconnect_over_ms(&run->reconnect);

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
		run_lost(run, "its session has ended");
		return;
	}
	if (run->options->verbose)
		say("%s: resumed", run->names);
	reconnect_done(&run->reconnect);
	run->state = &run_running;
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
	(void)reconnect_cut(&run->reconnect, now_ms());
}

/* The command has ended; only the lock is left to release. */
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
	if (now >= run->reconnect.try_ms)
		resuming_try(run, now);
}

static int64_t
resuming_deadline(const struct run *run)
{
	const int64_t act = resuming_act_at(run);

	return min_ms(run->reconnect.try_ms, act);
}

const struct run_state run_resuming = {
	"resuming",
	resuming_message,
	run_signal_pass,
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
	run_tell_left(run);
	run->deadline_ms =
	    now + (run->child.foreign != 0 || run->child.blind != 0
			  ? KILL_FOREIGN_MS
			  : KILL_AGAIN_MS);
}

const struct run_state run_ending = {
	"ending",
	NULL,
	run_signal_pass,
	run_closed_forget,
	ending_reaped,
	ending_time,
	run_at_deadline,
};

static void
unguarded_reaped(struct run *run)
{
	if (run->child.ended)
		run_give(run, run->child.status);
}

const struct run_state run_unguarded = {
	"unguarded",
	NULL,
	run_signal_pass,
	run_closed_forget,
	unguarded_reaped,
	run_finish_time,
	run_at_deadline,
};

/* GIVING. */

/* The lock may have been lost while the command still ran. */
static void
giving_message(struct run *run, const struct message *m)
{
	if (!message_answers(m, TAG_GIVE))
		return;
	if (run->child.ended && !run->lost &&
	    (message_error_is(m, "lost") || message_error_is(m, "not-held"))) {
		say("%s: lock lost before it was released", run->names);
		if (run->options->on_lost != ON_LOST_IGNORE)
			run->status = CLI_EXIT_LOST;
	}
	run_finish(run, run->status);
}

const struct run_state run_giving = {
	"giving",
	giving_message,
	NULL,
	run_closed_finish,
	run_no_child,
	run_finish_time,
	run_at_deadline,
};
