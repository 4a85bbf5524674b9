/*
 * From fork to exec: a pipe by which whoever has called fork waits for the exec,
 * and hears why it has failed.
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

/* Is to follow the fork, which has returned `child`.  Waits until nobody has the
 * other end any more, and closes the pipe.  Returns the errno of what has failed,
 * also of the fork, or 0.  `told`: where to put what exec_tell() says; or NULL. */
int exec_hear(int ends[2], pid_t child, pid_t *told);

/* A child that has started the program by a fork of its own says its pid. */
void exec_tell(int to, pid_t pid);

/* Says what has failed, and ends the process. */
void __attribute__((noreturn)) exec_give_up(int to, int error);

/* Apart from our terminal, and deaf to what it and init send to all. */
void exec_stand_apart(void);

/* All descriptors from there on are closed by exec, however they were made. */
void exec_close_from(int first);

#endif
