/*
 * The processes of this machine, from /proc.
 *
 * It is opened once and kept, with a descriptor to read it by: so it can be read
 * though there is no descriptor left, or no /proc any more.
 */
#ifndef LOCKBROKER_CLI_PROCESSES_H
#define LOCKBROKER_CLI_PROCESSES_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The kernel's name of a process, with its end. */
#define PROCESS_NAME_SIZE 16

struct process {
	pid_t pid;
	pid_t parent;
	unsigned long long start; /* in ticks since boot: pids come again */
	char name[PROCESS_NAME_SIZE];
	bool dead; /* but not reaped */
	bool ours; /* for who looks for a tree: descends from us; false */
};

/* Embedded in its owner, who calls processes_fini(); all 0: there are none. */
struct processes {
	struct process *items; /* owned */
	size_t n;
};

/* Embedded in its owner, who calls proc_close(); all 0: it is not open. */
struct proc {
	DIR *dir;  /* owned */
	int spare; /* keeps a number for us; -1: there was none */
};

/* Returns 0, or the errno of why it is of no use: ESRCH if it is not about us,
 * but about processes of another namespace. */
int proc_open(struct proc *proc);
void proc_close(struct proc *proc);

/* Reads all of them into `all`, which is to be finished also on failure: then
 * some are missing, and errno says why. */
bool proc_read(struct proc *proc, struct processes *all);

/* Reads one; false if there is none, or as above. */
bool proc_find(struct proc *proc, pid_t pid, struct process *out);

void processes_add(struct processes *all, const struct process *p);
void processes_fini(struct processes *all);

#endif
