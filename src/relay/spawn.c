/*
 * fork and exec of lockbroker-tls.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/exec.h"
#include "relay/spawn.h"

#define NAME "lockbroker-tls"

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
	int null;

	exec_stand_apart();
	if (dup2(input, STDIN_FILENO) < 0)
		return;
	null = open("/dev/null", O_WRONLY);
	if (null >= 0)
		(void)dup2(null, STDOUT_FILENO);
	exec_close_from(STDERR_FILENO + 1);
	(void)execv(argv[0], argv);
}

/* Ends the child.  The child's own child continues. */
static void
leave_alone(int status)
{
	pid_t pid = fork();

	if (pid < 0)
		exec_give_up(status, errno);
	if (pid == 0)
		return;
	exec_tell(status, pid);
	_exit(0);
}

int
spawn(char *const *argv, int input, bool alone, pid_t *pid)
{
	pid_t parent = getpid(), child;
	int status[2], error;

	assert(argv[0] != NULL && input >= 0);
	error = exec_pipe(status);
	if (error != 0)
		return error;
	child = *pid = fork();
	if (child == 0 && alone)
		leave_alone(status[1]);
	if (child == 0) {
		if (!alone && (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ||
				  getppid() != parent))
			_exit(127);
		become(argv, input);
		exec_give_up(status[1], errno);
	}
	error = exec_hear(status, child, pid);
	if (child > 0 && (alone || error != 0))
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			continue;
	if (error != 0)
		*pid = 0;
	return error;
}
