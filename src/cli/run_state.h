/*
 * The rows of the states of `run`, and the steps between them: shared by
 * run_state.c, run_held.c, run_lock.c and run_steps.c.
 */
#ifndef LOCKBROKER_CLI_RUN_STATE_H
#define LOCKBROKER_CLI_RUN_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/run.h"

struct message;
struct signals_one;

/* Tags, which identify the request that a reply answers. */
#define TAG_TAKE "1"
#define TAG_PING "2"
#define TAG_GIVE "3"
#define TAG_CANCEL "4"
#define TAG_RESUME "5"
#define TAG_GRACE "6"
#define TAG_ASK "7"
#define TAG_END "8"

/* Before the start of the command: run_state.c */
extern const struct run_state run_waiting, run_checking, run_cancelling;

/* After it: run_held.c */
extern const struct run_state run_running, run_resuming, run_ending,
    run_unguarded, run_giving;

/* Ends the run. */
void run_finish(struct run *run, int status);

/* The command has not started: tries another broker, or the same once more. */
void run_again(struct run *run, const char *why);

/* Releases the lock, and exits with that status. */
void run_give(struct run *run, int status);

/*
 * Ends all processes that the command has started, before another client can
 * get the lock.
 */
void run_end(struct run *run, int number);

/* Warns once of processes that may still run. */
void run_tell_left(struct run *run);

/* Another client may hold the lock: does what --on-lost says. */
void run_lost(struct run *run, const char *why);

/*
 * Asks how long the lock is safe. run_told() returns false if the reply
 * contains no such time.
 */
void run_ask(struct run *run);
bool run_told(struct run *run, const struct message *m);

/*
 * `lock` has no command: the end of input, or a signal that asks us to end,
 * stands for the end of the command.
 *
 * run_lock_held() prints the fence.  run_lock_ends() handles a signal.
 */
void run_lock_held(struct run *run);
void run_lock_ends(struct run *run, int number);

/* For rows that need no function of their own. */
int64_t run_at_deadline(const struct run *run);
void run_no_child(struct run *run);
void run_closed_forget(struct run *run, const char *why);
void run_closed_finish(struct run *run, const char *why);
void run_signal_pass(struct run *run, const struct signals_one *one);
void run_finish_time(struct run *run, int64_t now);

#endif
