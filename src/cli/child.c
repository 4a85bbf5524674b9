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

/* One process of /proc: while a tree is searched, or one that is spared. */
struct process {
	pid_t pid;
	pid_t parent;
	unsigned long long start; /* in ticks since boot: pids come again */
	char name[CHILD_NAME_SIZE];
	bool dead; /* but not reaped */
	bool ours; /* descends from us */
};

/* State, parent, 17 that don't matter, start. */
#define SKIP_4 " %*s %*s %*s %*s"
#define STAT_FORMAT " %c %d" SKIP_4 SKIP_4 SKIP_4 SKIP_4 " %*s %llu"

/*
 * "PID (NAME) STATE PARENT ...": the name may hold any byte, so what follows is
 * read from the end.
 */
static bool
process_read(struct process *p, const char *pid)
{
	char path[64], text[512], *name, *end, state;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	name = strchr(text, '(');
	end = strrchr(text, ')');
	if (name == NULL || end == NULL ||
	    sscanf(end + 1, STAT_FORMAT, &state, &p->parent, &p->start) != 3)
		return false;
	p->pid = (pid_t)atoi(pid);
	snprintf(
	    p->name, sizeof(p->name), "%.*s", (int)(end - name - 1), name + 1);
	p->dead = state == 'Z' || state == 'X';
	p->ours = false;
	return true;
}

static void
processes_add(struct processes *all, const struct process *p)
{
	all->items = xrealloc(all->items, (all->n + 1) * sizeof(all->items[0]));
	all->items[all->n++] = *p;
}

static void
processes_read(struct processes *all)
{
	struct dirent *entry;
	struct process p;
	DIR *dir;

	memset(all, 0, sizeof(*all));
	dir = opendir("/proc");
	if (dir == NULL)
		return;
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9' ||
		    !process_read(&p, entry->d_name))
			continue;
		processes_add(all, &p);
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

static bool
is_spared(const struct child *c, const struct process *p)
{
	size_t i;

	for (i = 0; i < c->spared.n; i++) {
		if (c->spared.items[i].pid == p->pid &&
		    c->spared.items[i].start == p->start)
			return true;
	}
	return false;
}

/*
 * Marks our children and what descends from them, generation by generation,
 * except for the spared. Returns false if there is none.
 */
static bool
processes_mark(struct processes *all, const struct child *c)
{
	const pid_t self = getpid();
	bool any = false, more = true;
	struct process *p;

	while (more) {
		more = false;
		for (p = all->items; p < all->items + all->n; p++) {
			if (p->ours || is_spared(c, p) ||
			    (p->parent != self && !descends(all, p)))
				continue;
			p->ours = any = more = true;
		}
	}
	return any;
}

/* Notes whatever descends from us before there is a command. */
static void
spare_all(struct child *c)
{
	struct processes all;
	size_t i;
	siginfo_t info;

	if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
		return;
	processes_read(&all);
	(void)processes_mark(&all, c);
	for (i = 0; i < all.n; i++) {
		if (all.items[i].ours)
			processes_add(&c->spared, &all.items[i]);
	}
	free(all.items);
}

static void
spared_drop(struct child *c, pid_t pid)
{
	size_t i;

	for (i = 0; i < c->spared.n; i++) {
		if (c->spared.items[i].pid == pid)
			c->spared.items[i--] = c->spared.items[--c->spared.n];
	}
}

void
child_spare(struct child *c, pid_t pid)
{
	struct process p;
	char text[24];

	snprintf(text, sizeof(text), "%d", (int)pid);
	if (pid > 0 && process_read(&p, text))
		processes_add(&c->spared, &p);
}

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

	child_fini(c);
	spare_all(c);
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
bool
child_signal(const struct child *c, const struct signals_one *one)
{
	if (c->pid <= 0)
		return true;
	if (one->terminal && getpgid(c->pid) == getpgrp())
		return true;
	return kill(c->pid, one->number) == 0 || errno != EPERM;
}

static void
foreign_note(struct child *c, const struct process *p)
{
	c->foreign = p->pid;
	memcpy(c->foreign_name, p->name, sizeof(c->foreign_name));
}

/* The dead still belong to a user, but need no signal. */
static void
process_signal(struct child *c, const struct process *p, int number)
{
	if (kill(p->pid, number) < 0 && errno == EPERM && !p->dead)
		foreign_note(c, p);
}

/* The command gets its signal first: it takes a while to read all of /proc. */
static void
command_signal(struct child *c, int number)
{
	const struct process command = { .pid = c->pid, .name = "the command" };

	c->foreign = 0;
	if (c->pid > 0)
		process_signal(c, &command, number);
}

/*
 * This misses processes that are forked meanwhile; the caller repeats a KILL
 * until nothing is left. A stopped process takes a TERM only once it goes on.
 */
void
child_signal_tree(struct child *c, int number)
{
	struct processes all;
	const struct process *p;

	command_signal(c, number);
	processes_read(&all);
	(void)processes_mark(&all, c);
	for (p = all.items; p < all.items + all.n; p++) {
		if (!p->ours)
			continue;
		if (p->pid != c->pid)
			process_signal(c, p, number);
		else if (p->dead)
			c->foreign = 0;
		else if (c->foreign == p->pid)
			foreign_note(c, p);
		if (number != SIGKILL)
			(void)kill(p->pid, SIGCONT);
	}
	free(all.items);
}

/*
 * Is nothing left but the spared? A child that has ended stays in /proc until
 * we reap it, so that none can hide by handing over to its own child.
 */
static bool
is_alone(const struct child *c)
{
	struct processes all;
	bool any;

	if (!c->ended || c->spared.n == 0)
		return false;
	processes_read(&all);
	any = all.n == 0 || processes_mark(&all, c);
	free(all.items);
	return !any;
}

void
child_reap(struct child *c)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		spared_drop(c, pid);
		if (pid != c->pid)
			continue;
		c->pid = 0;
		c->ended = true;
		c->killed = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
		c->status = c->killed != 0 ? CLI_EXIT_SIGNAL + c->killed
					   : WEXITSTATUS(status);
	}
	c->alone = (pid < 0 && errno == ECHILD) || is_alone(c);
}

void
child_fini(struct child *c)
{
	free(c->spared.items);
	memset(c, 0, sizeof(*c));
}
