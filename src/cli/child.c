/* The command that runs under a lock, and everything that it starts in turn. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/child.h"
#include "cli/exit.h"
#include "cli/say.h"

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
 * Marks our children and their descendants, generation by generation, except
 * the spared ones. Returns false if there are none.
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

/* Notes our descendants before there is a command. */
static void
spare_all(struct child *c)
{
	struct processes all;
	size_t i;
	siginfo_t info;

	if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
		return;
	(void)proc_read(&c->proc, &all);
	(void)processes_mark(&all, c);
	for (i = 0; i < all.n; i++) {
		if (all.items[i].ours)
			processes_add(&c->spared, &all.items[i]);
	}
	processes_fini(&all);
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

	if (pid > 0 && proc_find(&c->proc, pid, &p))
		processes_add(&c->spared, &p);
}

/* A variable without a value must not come from an outer `run`. */
static void
variable_set(const char *name, const char *value)
{
	if (value != NULL)
		(void)setenv(name, value, 1);
	else
		(void)unsetenv(name);
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
	variable_set("LOCKBROKER_NAME", setup->name);
	variable_set("LOCKBROKER_FENCE", setup->fence);
	variable_set("LOCKBROKER_SLOT", setup->slot);
	signals_restore(setup->signals);
	(void)execvp(setup->argv[0], setup->argv);
	err = errno;
	say("%s: %s", setup->argv[0], strerror(err));
	_exit(err == ENOENT ? CLI_EXIT_NOT_FOUND : CLI_EXIT_NOT_EXECUTABLE);
}

bool
child_sees(struct child *c)
{
	int error = proc_open(&c->proc);

	if (error != 0)
		proc_close(&c->proc);
	errno = error;
	return error == 0;
}

void
child_reset(struct child *c)
{
	const struct proc proc = c->proc;

	processes_fini(&c->spared);
	memset(c, 0, sizeof(*c));
	c->proc = proc;
}

bool
child_start(struct child *c, const struct child_setup *setup)
{
	const pid_t self = getpid();

	child_reset(c);
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

/* Dead processes still belong to a user, but need no signal. */
static void
process_signal(struct child *c, const struct process *p, int number)
{
	if (kill(p->pid, number) < 0 && errno == EPERM && !p->dead)
		foreign_note(c, p);
}

/* The command gets its signal first: reading all of /proc takes a while. */
static void
command_signal(struct child *c, int number)
{
	const struct process command = { .pid = c->pid, .name = "the command" };

	c->foreign = 0;
	if (c->pid > 0)
		process_signal(c, &command, number);
}

/*
 * The processes of the command cannot be found. If it has a process group of
 * its own, most of them are in it.
 */
static void
group_signal(struct child *c, int number)
{
	const pid_t group = c->pid > 0 ? getpgid(c->pid) : -1;

	c->blind = errno;
	if (group > 0 && group != getpgrp())
		(void)kill(-group, number);
}

/*
 * This misses processes that are forked during the call; the caller repeats a
 * KILL until no process is left. A stopped process takes a TERM only once it
 * continues.
 */
void
child_signal_tree(struct child *c, int number)
{
	struct processes all;
	const struct process *p;

	command_signal(c, number);
	c->blind = 0;
	if (!proc_read(&c->proc, &all))
		group_signal(c, number);
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
	processes_fini(&all);
}

/*
 * Are only spared processes left? A child that has ended stays in /proc until
 * we reap it, so no process can escape notice by handing over to its own child.
 */
static bool
is_alone(struct child *c)
{
	struct processes all;
	bool alone;

	if (!c->ended || c->spared.n == 0)
		return false;
	alone = proc_read(&c->proc, &all) && !processes_mark(&all, c);
	processes_fini(&all);
	return alone;
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
	child_reset(c);
	proc_close(&c->proc);
}
