/*
 * See upgrade_spawn.h.  Between fork and exec only functions are called that
 * may be called in the child of a process with threads.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/exec.h"
#include "base/handed.h"
#include "daemon/replace/upgrade_spawn.h"

/* All that the children need. */
struct order {
	const char *program;
	char *const *argv;
	char *const *envp;
	const struct handed_list *handed;
	pid_t broker;
	int status; /* to the broker: base/exec.h */
	sigset_t waited;
};

/*
 * Clients of the broker must not stay connected because the guardian has their
 * sockets, too.
 */
static void
close_all(void)
{
	int fd;

	if (close_range((unsigned)HANDED_FIRST, ~0U, 0) == 0)
		return;
	for (fd = HANDED_FIRST; fd < (int)sysconf(_SC_OPEN_MAX); fd++)
		(void)close(fd);
}

/*
 * Puts the descriptors in their places.  Others may be there, so they all leave
 * first.  Returns false with errno.
 */
static bool
arrange(struct order *o)
{
	int above[HANDED_MAX];
	int floor = HANDED_FIRST + (int)o->handed->n;
	size_t i;

	o->status = fcntl(o->status, F_DUPFD_CLOEXEC, floor);
	if (o->status < 0)
		return false;
	for (i = 0; i < o->handed->n; i++) {
		above[i] = fcntl(o->handed->v[i].fd, F_DUPFD_CLOEXEC, floor);
		if (above[i] < 0)
			return false;
	}
	exec_close_from(HANDED_FIRST);
	for (i = 0; i < o->handed->n; i++)
		if (dup2(above[i], HANDED_FIRST + (int)i) < 0)
			return false;
	return true;
}

/* Runs in the new process.  Its signals are ignored until it handles them. */
static void __attribute__((noreturn)) become(const struct order *o)
{
	sigset_t none;

	(void)signal(SIGUSR2, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)execve(o->program, o->argv, o->envp);
	exec_give_up(o->status, errno);
}

/* Ends in the way in which the process has ended. */
static void __attribute__((noreturn)) end_as(int how)
{
	static const struct rlimit no_core;
	sigset_t none;

	if (WIFEXITED(how))
		_exit(WEXITSTATUS(how));
	(void)setrlimit(RLIMIT_CORE, &no_core);
	(void)signal(WTERMSIG(how), SIG_DFL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)raise(WTERMSIG(how));
	_exit(127);
}

static bool
has_ended(pid_t pid, int *how)
{
	return waitpid(pid, how, WNOHANG) == pid;
}

/* Runs in the guardian: SIGTERM asks it to end the new process. */
static void __attribute__((noreturn))
watch_over(const struct order *o, pid_t pid)
{
	int how = 0;

	while (!has_ended(pid, &how)) {
		if (sigwaitinfo(&o->waited, NULL) != SIGTERM)
			continue;
		if (has_ended(pid, &how))
			break;
		(void)kill(pid, SIGKILL);
	}
	end_as(how);
}

static void __attribute__((noreturn)) guard(struct order *o)
{
	int status = o->status;
	sigset_t all;
	pid_t pid;

	sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	(void)signal(SIGCHLD, SIG_DFL);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != o->broker)
		_exit(127);
	if (!arrange(o))
		exec_give_up(status, errno);
	pid = fork();
	if (pid == 0)
		become(o);
	if (pid < 0)
		exec_give_up(o->status, errno);
	exec_tell(o->status, pid);
	close_all();
	watch_over(o, pid);
}

int
upgrade_spawn_begin(struct upgrade_spawn *s, const char *program,
    char *const *argv, char *const *envp, const struct handed_list *handed)
{
	struct order o = { .program = program,
		.argv = argv,
		.envp = envp,
		.handed = handed,
		.broker = getpid() };
	sigset_t all, old;
	char how[STARTER_HOW_SIZE];
	int status[2], error;

	*s = (struct upgrade_spawn){ 0, 0 };
	assert(argv[0] != NULL);
	error = exec_pipe(status);
	if (error != 0)
		return error;
	o.status = status[1];
	sigemptyset(&o.waited);
	sigaddset(&o.waited, SIGCHLD);
	sigaddset(&o.waited, SIGTERM);
	/* No handler of ours may run in a child. */
	sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &old);
	s->guardian = fork();
	if (s->guardian == 0)
		guard(&o);
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	error = exec_hear(status, s->guardian, &s->pid);
	if (error == 0 && s->pid == 0)
		error = ECHILD;
	if (error != 0 && s->guardian > 0)
		upgrade_spawn_end(s, how);
	return error;
}

static int
reap(struct upgrade_spawn *s)
{
	int how = 0;

	while (waitpid(s->guardian, &how, 0) < 0 && errno == EINTR)
		continue;
	s->guardian = 0;
	return how;
}

void
upgrade_spawn_let_go(struct upgrade_spawn *s)
{
	(void)kill(s->guardian, SIGKILL);
	(void)reap(s);
}

void
upgrade_spawn_end(struct upgrade_spawn *s, char how[STARTER_HOW_SIZE])
{
	int ended;

	(void)kill(s->guardian, SIGTERM);
	ended = reap(s);
	snprintf(how, STARTER_HOW_SIZE, "%s %d",
	    WIFSIGNALED(ended) ? "signal" : "status",
	    WIFSIGNALED(ended) ? WTERMSIG(ended) : WEXITSTATUS(ended));
}
