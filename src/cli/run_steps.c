/*
 * Transitions between the states of `run`, and handlers that several states
 * share.
 */
#include "config.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/now.h"
#include "cli/exit.h"
#include "cli/run_state.h"
#include "cli/say.h"

/* After a loss there is little to confirm. */
#define GIVE_LOST_MS 200

/* Transitions. */

void
run_finish(struct run *run, int status)
{
	assert(run->state != NULL);
	/* The broker would take a mere close for a crash. */
	if (run->client.fd >= 0)
		client_send(&run->client, "QUIT");
	run->status = status;
	run->state = NULL;
}

void
run_again(struct run *run, const char *why)
{
	if (run->options->verbose)
		say("%s: %s", run->client.address->text, why);
	if (run->client.why[0] == '\0')
		snprintf(run->client.why, sizeof(run->client.why), "%s", why);
	run->again = true;
	run_finish(run, CLI_EXIT_UNREACHABLE);
}

void
run_give(struct run *run, int status)
{
	struct buf line;

	assert(run->state != NULL);
	run->status = status;
	if (run->client.fd < 0) {
		run_finish(run, status);
		return;
	}
	buf_init(&line);
	run_request_give(&run->options->request, &line);
	client_send(&run->client, "@" TAG_GIVE " %.*s", (int)buf_len(&line),
	    buf_data(&line));
	buf_fini(&line);
	run->state = &run_giving;
	run->deadline_ms = now_ms() + (run->lost ? GIVE_LOST_MS : PATIENCE_MS);
}

void
run_end(struct run *run, int number)
{
	const int64_t now = now_ms(), end_ms = validity_kill_at(&run->validity);

	assert(run->options->kind != RUN_LOCK);
	run->state = &run_ending;
	run->deadline_ms = now;
	if (number == SIGKILL)
		return;
	child_signal_tree(&run->child, number);
	run->deadline_ms = now + run->options->kill_after_ms;
	if (run->deadline_ms > end_ms)
		run->deadline_ms = end_ms;
}

/* There may be others that we know nothing of. */
static void
tell_blind(struct run *run)
{
	if (run->child.blind == 0 || run->blind_told)
		return;
	run->blind_told = true;
	say("%s: cannot read /proc (%s): processes of the command may "
	    "continue%s",
	    run->names, strerror(run->child.blind),
	    run->lost ? " WITHOUT the lock" : "");
}

void
run_tell_left(struct run *run)
{
	const struct child *c = &run->child;

	tell_blind(run);
	if (c->foreign == 0 || run->foreign_told)
		return;
	run->foreign_told = true;
	say("%s: cannot stop %s (%d): it belongs to another user and "
	    "continues%s; put sudo before lockbroker, not after it",
	    run->names, c->foreign_name, (int)c->foreign,
	    run->lost ? " WITHOUT the lock" : "");
}

/* The reasons of !LOST, for people; "" for one that is text already. */
static const char *
words_of(const char *why)
{
	static const struct {
		const char *reason, *words;
	} table[] = {
		{ "hold", "it reached its hold= limit" },
		{ "unreachable",
		    "Redis was unreachable for too long to renew it" },
		{ "taken", "its key in Redis was deleted or overwritten" },
		{ "failover", "Redis failed over or was restarted" },
		{ "forced", "it was released by force" },
		{ "drill",
		    "a drill: no other client gets it before we let go" },
	};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strcmp(table[i].reason, why) == 0)
			return table[i].words;
	return "";
}

void
run_lost(struct run *run, const char *why)
{
	static const struct {
		const char *what;
		int number;
	} act[] = {
		[ON_LOST_TERM] = { "stopping the command", SIGTERM },
		[ON_LOST_KILL] = { "killing the command", SIGKILL },
		[ON_LOST_IGNORE] = { "the command continues without it", 0 },
	};
	const enum on_lost on_lost = run->options->on_lost;
	const char *words = words_of(why);

	run->lost = true;
	if (run->options->kind == RUN_LOCK) {
		say("%s: lock lost (%s)%s%s", run->names, why,
		    words[0] != '\0' ? ": " : "", words);
		run_give(run, CLI_EXIT_LOST);
		return;
	}
	if (on_lost == ON_LOST_IGNORE) {
		run->state = &run_unguarded;
		run->deadline_ms = NEVER_MS;
	} else {
		run_end(run, act[on_lost].number);
	}
	say("%s: lock lost (%s): %s%s%s", run->names, why, words,
	    words[0] != '\0' ? "; " : "", act[on_lost].what);
	run_tell_left(run);
}

void
run_ask(struct run *run)
{
	/* Read the clock first: a delay in sending only shortens the time. */
	validity_ask(&run->validity, now_ms());
	client_send(&run->client, "@" TAG_PING " PING");
}

bool
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

int64_t
run_at_deadline(const struct run *run)
{
	return run->deadline_ms;
}

void
run_no_child(struct run *run)
{
	(void)run;
}

void
run_closed_forget(struct run *run, const char *why)
{
	(void)why;
	client_close(&run->client);
}

void
run_closed_finish(struct run *run, const char *why)
{
	(void)why;
	run_finish(run, run->status);
}

void
run_signal_pass(struct run *run, const struct signals_one *one)
{
	if (run->options->kind == RUN_LOCK) {
		run_lock_ends(run, one->number);
		return;
	}
	if (signals_stops(one->number))
		run->stopped_by = one->number;
	if (!child_signal(&run->child, one))
		say("%s: cannot pass signal %d to the command: it belongs to "
		    "another user; put sudo before lockbroker, not after it",
		    run->names, one->number);
}

void
run_finish_time(struct run *run, int64_t now)
{
	if (now >= run->deadline_ms)
		run_finish(run, run->status);
}
