/*
 * From fork to exec: a pipe by which the caller of fork waits for the exec, and
 * learns why it has failed.
 *
 *	exec_pipe(ends);
 *	if ((pid = fork()) == 0) {
 *		execv(...);
 *		exec_give_up(ends[1], errno);
 *	}
 *	error = exec_hear(ends, pid, NULL);
 *
 * All but exec_pipe() and exec_hear() may be called in the child of a process
 * with threads.
 */
#ifndef LOCKBROKER_BASE_EXEC_H
#define LOCKBROKER_BASE_EXEC_H

#include <sys/types.h>

/* Makes the pipe, close-on-exec.  Returns 0 or an errno. */
int exec_pipe(int ends[2]);

/* To be called after fork, which has returned `child`.  Waits until no process
 * has the other end any more, and closes the pipe.  Returns the errno of a
 * failure, also one of fork, or 0.  `told`: where to store the pid from
 * exec_tell(); or NULL. */
int exec_hear(int ends[2], pid_t child, pid_t *told);

/* For a child that has itself forked the program: sends the program's pid. */
void exec_tell(int to, pid_t pid);

/* Reports the error, and ends the process. */
void __attribute__((noreturn)) exec_give_up(int to, int error);

/*
 * Detaches the process from our terminal, and blocks the signals that the
 * terminal and init send to all.
 */
void exec_stand_apart(void);

/* Makes exec close all descriptors from `first` on, whatever opened them. */
void exec_close_from(int first);

#endif
