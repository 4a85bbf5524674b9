/* See processes.h. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/xmalloc.h"
#include "cli/processes.h"

/* State, parent, 17 that don't matter, start. */
#define SKIP_4 " %*s %*s %*s %*s"
#define STAT_FORMAT " %c %d" SKIP_4 SKIP_4 SKIP_4 SKIP_4 " %*s %llu"

static void
spare_take(struct proc *proc)
{
	proc->spare = fcntl(dirfd(proc->dir), F_DUPFD_CLOEXEC, 0);
}

static void
spare_give(struct proc *proc)
{
	if (proc->spare >= 0)
		(void)close(proc->spare);
	proc->spare = -1;
}

/* Returns the length of the text that /proc has about a process, or -1. */
static ssize_t
stat_text(const struct proc *proc, const char *pid, char *text, size_t size)
{
	char path[32];
	ssize_t n;
	int fd, error;

	snprintf(path, sizeof(path), "%.20s/stat", pid);
	fd = openat(dirfd(proc->dir), path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, text, size);
	error = errno;
	(void)close(fd);
	errno = error;
	return n;
}

/*
 * "PID (NAME) STATE PARENT ...": the name may hold any byte, so what follows is
 * read from the end.
 */
static bool
process_read(const struct proc *proc, const char *pid, struct process *p)
{
	char text[512], *name, *end, state;
	ssize_t n = stat_text(proc, pid, text, sizeof(text) - 1);

	if (n < 0)
		return false;
	text[n] = '\0';
	name = strchr(text, '(');
	end = strrchr(text, ')');
	errno = ESRCH;
	if (name == NULL || end == NULL ||
	    sscanf(end + 1, STAT_FORMAT, &state, &p->parent, &p->start) != 3)
		return false;
	p->pid = (pid_t)atoi(text);
	snprintf(
	    p->name, sizeof(p->name), "%.*s", (int)(end - name - 1), name + 1);
	p->dead = state == 'Z' || state == 'X';
	p->ours = false;
	return true;
}

int
proc_open(struct proc *proc)
{
	struct process self;

	proc->dir = opendir("/proc");
	if (proc->dir == NULL)
		return errno;
	if (!process_read(proc, "self", &self))
		return errno;
	spare_take(proc);
	if (proc->spare < 0)
		return errno;
	return self.pid == getpid() ? 0 : ESRCH;
}

void
proc_close(struct proc *proc)
{
	if (proc->dir == NULL)
		return;
	spare_give(proc);
	(void)closedir(proc->dir);
	proc->dir = NULL;
}

/* Has the process ended, or may we not read about it? */
static bool
is_none(int error)
{
	return error == ENOENT || error == ESRCH || error == EACCES ||
	       error == EPERM;
}

static bool
read_all(struct proc *proc, struct processes *all)
{
	struct dirent *entry;
	struct process p;

	rewinddir(proc->dir);
	for (;;) {
		errno = 0;
		entry = readdir(proc->dir);
		if (entry == NULL)
			return errno == 0;
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		if (process_read(proc, entry->d_name, &p))
			processes_add(all, &p);
		else if (!is_none(errno))
			return false;
	}
}

bool
proc_read(struct proc *proc, struct processes *all)
{
	bool ok;
	int error;

	memset(all, 0, sizeof(*all));
	errno = EBADF;
	if (proc->dir == NULL)
		return false;
	spare_give(proc);
	ok = read_all(proc, all);
	error = errno;
	spare_take(proc);
	errno = error;
	return ok;
}

bool
proc_find(struct proc *proc, pid_t pid, struct process *out)
{
	char text[24];
	bool ok;

	if (proc->dir == NULL)
		return false;
	snprintf(text, sizeof(text), "%d", (int)pid);
	spare_give(proc);
	ok = process_read(proc, text, out);
	spare_take(proc);
	return ok;
}

void
processes_add(struct processes *all, const struct process *p)
{
	all->items = xrealloc(all->items, (all->n + 1) * sizeof(all->items[0]));
	all->items[all->n++] = *p;
}

void
processes_fini(struct processes *all)
{
	free(all->items);
	memset(all, 0, sizeof(*all));
}
