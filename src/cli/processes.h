/*
 * The processes of this machine, from /proc.
 *
 * It is opened once and kept open, with a spare descriptor: so it can be read
 * although no descriptor is left, or /proc is gone.
 */
#ifndef LOCKBROKER_CLI_PROCESSES_H
#define LOCKBROKER_CLI_PROCESSES_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The kernel's name of a process, with its NUL. */
#define PROCESS_NAME_SIZE 16

struct process {
	pid_t pid;
	pid_t parent;
	unsigned long long start; /* in ticks since boot: pids are reused */
	char name[PROCESS_NAME_SIZE];
	bool dead; /* but not reaped */
	bool ours; /* descends from us; set by a search of the tree */
};

/* Embedded in its owner, who calls processes_fini(); all 0: empty. */
struct processes {
	struct process *items; /* owned */
	size_t n;
};

/* Embedded in its owner, who calls proc_close(); all 0: not open. */
struct proc {
	DIR *dir;  /* owned */
	int spare; /* a reserved descriptor; -1: there was none */
};

/* Returns 0, or an errno: ESRCH if /proc does not show us, but the processes of
 * another namespace. */
int proc_open(struct proc *proc);
void proc_close(struct proc *proc);

/* Reads all processes into `all`, which the caller must finish also on failure:
 * then some are missing, and errno says why. */
bool proc_read(struct proc *proc, struct processes *all);

/* Reads one process; false if there is none, or on failure as above. */
bool proc_find(struct proc *proc, pid_t pid, struct process *out);

void processes_add(struct processes *all, const struct process *p);
void processes_fini(struct processes *all);

#endif
