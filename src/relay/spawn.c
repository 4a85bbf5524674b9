/*
 * fork and exec of lockbroker-tls.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "relay/spawn.h"

#define NAME "lockbroker-tls"

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

const char *
spawn_find(char buf[SPAWN_PATH_SIZE])
{
	ssize_t n = readlink("/proc/self/exe", buf, SPAWN_PATH_SIZE - 1);
	char *slash;

	buf[n > 0 ? n : 0] = '\0';
	slash = strrchr(buf, '/');
	if (slash != NULL &&
	    (size_t)(slash - buf) + sizeof("/" NAME) <= SPAWN_PATH_SIZE) {
		memcpy(slash, "/" NAME, sizeof("/" NAME));
		if (access(buf, X_OK) == 0)
			return buf;
	}
	snprintf(buf, SPAWN_PATH_SIZE, "%s/" NAME, LOCKBROKER_LIBEXECDIR);
	return access(buf, X_OK) == 0 ? buf : NULL;
}

/* Runs in the child.  Returns only if it fails; errno says why. */
static void
become(char *const *argv, int input)
{
	sigset_t blocked;
	int null;

	(void)setsid();
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGHUP);
	(void)sigprocmask(SIG_SETMASK, &blocked, NULL);
	if (dup2(input, STDIN_FILENO) < 0)
		return;
	null = open("/dev/null", O_WRONLY);
	if (null >= 0)
		(void)dup2(null, STDOUT_FILENO);
#ifdef SYS_close_range
	(void)syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
#endif
	(void)execv(argv[0], argv);
}

/* What a child tells us before it ends, or before exec. */
struct word {
	int error; /* errno of what has failed, or 0 */
	pid_t pid; /* of its own child, or 0 */
};

static void
tell(int status, int error, pid_t pid)
{
	const struct word word = { error, pid };

	(void)!write(status, &word, sizeof(word));
	_exit(error != 0 ? 127 : 0);
}

/* Ends the child.  Its own child goes on. */
static void
leave_alone(int status)
{
	pid_t pid = fork();

	if (pid != 0)
		tell(status, pid < 0 ? errno : 0, pid);
}

/* Returns the errno of a failed exec, or 0. */
static int
hear(int status, pid_t *pid)
{
	struct word word;
	int error = 0;
	ssize_t n;

	for (;;) {
		n = read(status, &word, sizeof(word));
		if (n < 0 && errno == EINTR)
			continue;
		if (n != (ssize_t)sizeof(word))
			return error;
		if (word.error != 0)
			error = word.error;
		else
			*pid = word.pid;
	}
}

static int
spawn(char *const *argv, int input, bool alone, pid_t *pid)
{
	pid_t parent = getpid(), child;
	int status[2], error;

	assert(argv[0] != NULL && input >= 0);
	if (pipe2(status, O_CLOEXEC) < 0)
		return errno;
	child = *pid = fork();
	if (child == 0 && alone)
		leave_alone(status[1]);
	if (child == 0) {
		if (!alone && (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ||
				  getppid() != parent))
			_exit(127);
		become(argv, input);
		tell(status[1], errno, 0);
	}
	error = child < 0 ? errno : 0;
	(void)close(status[1]);
	if (error == 0)
		error = hear(status[0], pid);
	(void)close(status[0]);
	if (child > 0 && (alone || error != 0))
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			continue;
	if (error != 0)
		*pid = 0;
	return error;
}

int
spawn_child(char *const *argv, int input, pid_t *pid)
{
	return spawn(argv, input, false, pid);
}

int
spawn_alone(char *const *argv, int input, pid_t *pid)
{
	return spawn(argv, input, true, pid);
}
