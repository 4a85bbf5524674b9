/*
 * The command that runs under a lock, and whatever it starts in turn.
 *
 * We are the subreaper: processes that the command leaves behind become our
 * children, so that we can find and end all of them, and wait for their end.
 * What descends from us but not from the command is spared: a shell may have
 * started it before it became us, and it may be the process that speaks TLS.
 * What such a process starts later and leaves behind can't be told apart.
 */
#ifndef LOCKBROKER_CLI_CHILD_H
#define LOCKBROKER_CLI_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "cli/processes.h"
#include "cli/signals.h"

/* Embedded in a run, zeroed at first; its owner calls child_fini(). */
struct child {
	pid_t pid;     /* 0 before it is started and after it is reaped */
	bool ended;    /* reaped */
	int status;    /* as in a shell: its own, or 128+N */
	int killed;    /* the signal that killed it, or 0 */
	bool alone;    /* nothing at all is left of it */
	int blind;     /* what hid from the last signal whom to give it; or 0 */
	pid_t foreign; /* of another user: took no signal of the last; or 0 */
	struct processes spared; /* not the command's, but below us */
	struct proc proc;
	char foreign_name[PROCESS_NAME_SIZE];
};

/* How to start the command. Borrowed for the call. */
struct child_setup {
	char *const *argv;
	const char *name;  /* for LOCKBROKER_NAME */
	const char *fence; /* for LOCKBROKER_FENCE, or NULL */
	const char *slot;  /* for LOCKBROKER_SLOT, or NULL */
	int death_signal;  /* what it gets when we die */
	const struct signals *signals;
};

/*
 * To be called before there is anything to lose.  Returns false, with errno, if
 * child_signal_tree() could not tell what the command has started: ESRCH if the
 * /proc that is there is that of another PID namespace.
 */
bool child_sees(struct child *c);

/* Forgets the command, for another one. */
void child_reset(struct child *c);

/* Spares all that descends from us already. */
bool child_start(struct child *c, const struct child_setup *setup);

/*
 * Spares another process, which is not the command's: it gets no signal, and
 * nobody waits for its end. 0: none.
 */
void child_spare(struct child *c, pid_t pid);

/*
 * Passes a signal on to the command alone. Returns false if that belongs to
 * another user.
 */
bool child_signal(const struct child *c, const struct signals_one *one);

/*
 * Sends a signal to the command and to everything that it started; `foreign`
 * tells whether one of them belongs to another user, `blind` whether some may
 * have got none.
 */
void child_signal_tree(struct child *c, int number);

/* Reaps all children that have ended. */
void child_reap(struct child *c);

/* Leaves the processes alone. */
void child_fini(struct child *c);

#endif
