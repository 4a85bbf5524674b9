/*
 * The command that runs under a lock, and whatever it starts in turn.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/xmalloc.h"
#include "cli/child.h"
#include "cli/exit.h"
#include "cli/say.h"

/* One process of /proc. Lives while a tree is searched. */
struct process {
	pid_t pid;
	pid_t parent;
	bool ours; /* descends from us */
};

struct processes {
	struct process *items;
	size_t n;
};

/*
 * Runs in the child. The death signal survives exec, except for programs with
 * set-uid or file capabilities. The parent may have died before it was set.
 */
static void __attribute__((noreturn))
child_exec(const struct child_setup *setup, pid_t parent)
{
	int err;

	(void)prctl(PR_SET_PDEATHSIG, setup->death_signal);
	if (getppid() != parent)
		_exit(CLI_EXIT_SIGNAL + setup->death_signal);
	(void)setenv("LOCKBROKER_NAME", setup->name, 1);
	if (setup->fence != NULL)
		(void)setenv("LOCKBROKER_FENCE", setup->fence, 1);
	else
		(void)unsetenv("LOCKBROKER_FENCE");
	signals_restore(setup->signals);
	(void)execvp(setup->argv[0], setup->argv);
	err = errno;
	say("%s: %s", setup->argv[0], strerror(err));
	_exit(err == ENOENT ? CLI_EXIT_NOT_FOUND : CLI_EXIT_NOT_EXECUTABLE);
}

bool
child_start(struct child *c, const struct child_setup *setup)
{
	const pid_t self = getpid();

	memset(c, 0, sizeof(*c));
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	c->pid = fork();
	if (c->pid == 0)
		child_exec(setup, self);
	return c->pid > 0;
}

/*
 * A signal from a terminal reaches the command without us, unless it has left
 * our process group.
 */
void
child_signal(const struct child *c, const struct signals_one *one)
{
	if (c->pid <= 0)
		return;
	if (one->terminal && getpgid(c->pid) == getpgrp())
		return;
	(void)kill(c->pid, one->number);
}

/*
 * "PID (NAME) STATE PARENT ...": the name may hold any byte, so read from the
 * end.
 */
static bool
parent_of(const char *pid, pid_t *parent)
{
	char path[64], text[512], *p;
	ssize_t n;
	int fd, ppid;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	p = strrchr(text, ')');
	if (p == NULL || sscanf(p + 1, " %*c %d", &ppid) != 1)
		return false;
	*parent = ppid;
	return true;
}

static void
processes_read(struct processes *all)
{
	struct dirent *entry;
	pid_t parent;
	DIR *dir;

	memset(all, 0, sizeof(*all));
	dir = opendir("/proc");
	if (dir == NULL)
		return;
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9' ||
		    !parent_of(entry->d_name, &parent))
			continue;
		all->items =
		    xrealloc(all->items, (all->n + 1) * sizeof(all->items[0]));
		all->items[all->n].pid = (pid_t)atoi(entry->d_name);
		all->items[all->n].parent = parent;
		all->items[all->n++].ours = parent == getpid();
	}
	(void)closedir(dir);
}

static bool
descends(const struct processes *all, const struct process *p)
{
	size_t i;

	for (i = 0; i < all->n; i++) {
		if (all->items[i].ours && all->items[i].pid == p->parent)
			return true;
	}
	return false;
}

/* Marks generation by generation, until there is no further one. */
static void
processes_mark(struct processes *all)
{
	bool more = true;
	size_t i;

	while (more) {
		more = false;
		for (i = 0; i < all->n; i++) {
			if (!all->items[i].ours &&
			    descends(all, &all->items[i])) {
				all->items[i].ours = true;
				more = true;
			}
		}
	}
}

/*
 * This misses processes that are forked meanwhile; the caller repeats a KILL
 * until nothing is left. A stopped process takes a TERM only once it goes on.
 */
void
child_signal_tree(const struct child *c, int number)
{
	struct processes all;
	size_t i;

	if (c->pid > 0)
		(void)kill(c->pid, number);
	processes_read(&all);
	processes_mark(&all);
	for (i = 0; i < all.n; i++) {
		if (!all.items[i].ours)
			continue;
		if (all.items[i].pid != c->pid)
			(void)kill(all.items[i].pid, number);
		if (number != SIGKILL)
			(void)kill(all.items[i].pid, SIGCONT);
	}
	free(all.items);
}

void
child_reap(struct child *c)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != c->pid)
			continue;
		c->pid = 0;
		c->ended = true;
		c->killed = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
		c->status = c->killed != 0 ? CLI_EXIT_SIGNAL + c->killed
					   : WEXITSTATUS(status);
	}
	c->alone = pid < 0 && errno == ECHILD;
}
