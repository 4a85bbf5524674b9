/*
 * `lockbroker lock`: what it does where `run` has a command.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/exit.h"
#include "cli/json_reply.h"
#include "cli/run_state.h"
#include "cli/say.h"

/* A permit has no fence. */
static int
tell_fence(const struct run *run)
{
	char line[REQUEST_NAMES_MAX * 21 + 8] = "granted";

	if (run->fence != NULL)
		snprintf(line, sizeof(line), "fence=%s", run->fence);
	if (run->slot != NULL)
		snprintf(line, sizeof(line), "slot=%s", run->slot);
	if (run->cli->json)
		json_answer(NULL, line);
	else
		puts(line);
	return fflush(stdout);
}

void
run_lock_held(struct run *run)
{
	if (tell_fence(run) != 0) {
		say("cannot write to standard output: %s", strerror(errno));
		run_give(run, CLI_EXIT_INTERNAL);
		return;
	}
	if (run->child.ended) {
		run_give(run, CLI_EXIT_OK);
		return;
	}
	run->listens = true;
	if (!run->options->quiet && isatty(STDIN_FILENO) &&
	    isatty(STDERR_FILENO))
		say("%s: held until Ctrl-C or Ctrl-D", run->names);
}

void
run_lock_ends(struct run *run, int number)
{
	if (!signals_stops(number))
		return;
	run->listens = false;
	run->child.ended = true;
	run->state->reaped(run);
}
