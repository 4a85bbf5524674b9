/* The pipe from a child to the process that waits for its exec. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/exec.h"

/* An error comes last, if there is one. */
struct word {
	int error; /* an errno; 0: none */
	pid_t pid;
};

int
exec_pipe(int ends[2])
{
	return pipe2(ends, O_CLOEXEC) < 0 ? errno : 0;
}

int
exec_hear(int ends[2], pid_t child, pid_t *told)
{
	int error = child < 0 ? errno : 0;
	struct word word;
	ssize_t n;

	(void)close(ends[1]);
	while ((n = read(ends[0], &word, sizeof(word))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n != (ssize_t)sizeof(word))
			break;
		if (word.error != 0)
			error = word.error;
		else if (told != NULL)
			*told = word.pid;
	}
	(void)close(ends[0]);
	return error;
}

void
exec_tell(int to, pid_t pid)
{
	const struct word word = { 0, pid };

	(void)!write(to, &word, sizeof(word));
}

void __attribute__((noreturn)) exec_give_up(int to, int error)
{
	const struct word word = { error, 0 };

	(void)!write(to, &word, sizeof(word));
	_exit(127);
}

void
exec_stand_apart(void)
{
	sigset_t blocked;

	(void)setsid();
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGHUP);
	(void)sigprocmask(SIG_SETMASK, &blocked, NULL);
}

/*
 * A kernel without this call changes nothing; our own descriptors are
 * close-on-exec anyway.
 */
void
exec_close_from(int first)
{
	(void)close_range((unsigned)first, ~0U, CLOSE_RANGE_CLOEXEC);
}
