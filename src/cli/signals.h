/*
 * The signals that `run` passes on.
 *
 * While there is no lock to lose, they end the program at once, with 128+N.
 * From signals_hold() on, a descriptor delivers them instead. A signal that was
 * ignored when the program began (nohup) stays so.
 */
#ifndef LOCKBROKER_CLI_SIGNALS_H
#define LOCKBROKER_CLI_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* The only one in a program; its owner calls signals_fini(). */
struct signals {
	int fd;		   /* signalfd: those passed on, and SIGCHLD */
	sigset_t held;	   /* those that the descriptor delivers */
	sigset_t blocked;  /* and SIGPIPE, SIGXFSZ */
	sigset_t before;   /* the mask for the command */
	bool chld_ignored; /* and its disposition of SIGCHLD */
};

/* One signal that came. */
struct signals_one {
	int number;
	bool terminal; /* from the kernel: the whole foreground group got it */
};

bool signals_init(struct signals *s);
void signals_fini(struct signals *s);

/* Delivers signals by the descriptor; and lets them end the program again. */
void signals_hold(struct signals *s);
void signals_release(struct signals *s);

/* Takes the next one. Returns false if there is none. */
bool signals_next(struct signals *s, struct signals_one *one);

/* In a child: restores the state before signals_init(). */
void signals_restore(const struct signals *s);

/* Does this signal ask a program to end? */
bool signals_stops(int number);

#endif
