/*
 * The command that runs under a lock, and everything that it starts in turn.
 *
 * We are the subreaper: processes that the command leaves behind become our
 * children, so that we can find and end all of them, and wait for their end.
 * Descendants of ours that do not descend from the command are spared: a shell
 * may have started them before it became us, or they speak TLS. Processes that
 * they start later and leave behind cannot be distinguished.
 */
#ifndef LOCKBROKER_CLI_CHILD_H
#define LOCKBROKER_CLI_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/processes.h"
#include "cli/signals.h"

/* Embedded in a run, zeroed at first; its owner calls child_fini(). */
struct child {
	pid_t pid;     /* 0 before it is started and after it is reaped */
	bool ended;    /* reaped */
	int status;    /* as in a shell: its own, or 128+N */
	int killed;    /* the signal that killed it, or 0 */
	bool alone;    /* no process of it is left */
	int blind;     /* errno of why the last signal may have missed some */
	pid_t foreign; /* another user's, missed by the last signal; or 0 */
	struct processes spared; /* descendants of ours, not of the command */
	struct proc proc;
	char foreign_name[PROCESS_NAME_SIZE];
};

/* How to start the command. Borrowed for the call. */
struct child_setup {
	char *const *argv;
	const char *name;  /* for LOCKBROKER_NAME */
	const char *fence; /* for LOCKBROKER_FENCE, or NULL */
	const char *slot;  /* for LOCKBROKER_SLOT, or NULL */
	int death_signal;  /* the signal that it gets when we die */
	const struct signals *signals;
};

/*
 * To be called before there is a lock to lose. Returns false, with errno, if
 * child_signal_tree() could not find the processes that the command starts:
 * ESRCH if /proc shows another PID namespace.
 */
bool child_sees(struct child *c);

/* Forgets the command, before another one is started. */
void child_reset(struct child *c);

/* Spares all descendants that exist before the start. */
bool child_start(struct child *c, const struct child_setup *setup);

/*
 * Spares another process, which is not the command's: it gets no signal, and we
 * do not wait for its end. 0: none.
 */
void child_spare(struct child *c, pid_t pid);

/*
 * Passes a signal on to the command alone. Returns false if the command belongs
 * to another user.
 */
bool child_signal(const struct child *c, const struct signals_one *one);

/*
 * Sends a signal to the command and to everything that it started; `foreign`
 * shows whether one of them belongs to another user, `blind` whether some may
 * have missed it.
 */
void child_signal_tree(struct child *c, int number);

/* Reaps all children that have ended. */
void child_reap(struct child *c);

/* Leaves the processes alone. */
void child_fini(struct child *c);

#endif
