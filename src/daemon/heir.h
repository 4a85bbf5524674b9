/*
 * The process that is to replace this one, from its start until it is fit.
 *
 *	heir_start --> it says how it is --fit--> over(NULL)
 *	               it fails, ends, or has taken too long --> over(why)
 */
#ifndef LOCKBROKER_DAEMON_HEIR_H
#define LOCKBROKER_DAEMON_HEIR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct event_base;
struct handed_list;
struct heir;

/* What it says of itself. */
struct heir_state {
	bool ready;	   /* it can grant */
	int64_t grace_ms;  /* it can in so long; 0: not known */
	unsigned up;	   /* servers that it reaches */
	const char *redis; /* which ones it has; see succession.c */
};

struct heir_handler {
	/* Returns NULL if it is fit to take over; else what it lacks, and
	 * whether there is no use in waiting. */
	const char *(*unfit)(
	    void *arg, const struct heir_state *state, bool *for_good);
	/*
	 * NULL: it is fit.  Otherwise it has been ended, and this is why.  The
	 * handler may free the heir.
	 */
	void (*over)(void *arg, const char *why);
};

/* Room for a text that says what is wrong. */
#define HEIR_WHY_SIZE 640

/*
 * Starts it with these descriptors, and its end of a channel before them.
 * Returns NULL, and says why, if that can't be done.
 */
struct heir *heir_start(struct event_base *base, struct handed_list *handed,
    const struct heir_handler *handler, void *arg, char why[HEIR_WHY_SIZE]);

/* Ends the process, unless it was let go. */
void heir_free(struct heir *heir);

pid_t heir_pid(const struct heir *heir);
int64_t heir_began_ms(const struct heir *heir);

/*
 * It goes on by itself.  Returns our end of the channel, the caller's from now
 * on.
 */
int heir_let_go(struct heir *heir);

#endif
