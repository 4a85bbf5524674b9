/*
 * The process that is to replace this one, from its start until it is fit.
 *
 *	upgrade_child_start --> it says how it is --fit--> over(NULL)
 *	               it fails, ends, or has taken too long --> over(why)
 */
#ifndef LOCKBROKER_DAEMON_REPLACE_UPGRADE_CHILD_H
#define LOCKBROKER_DAEMON_REPLACE_UPGRADE_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct event_base;
struct handed_list;
struct upgrade_child;

/* Its report on itself. */
struct upgrade_child_state {
	bool ready;	       /* it can grant */
	int64_t grace_ms;      /* until it can; 0: not known */
	unsigned up;	       /* servers that it reaches */
	const char *redis;     /* which ones it has; see upgrade_next.c */
	const char *histories; /* of these; "": not told */
};

struct upgrade_child_handler {
	/* Returns NULL if it is fit to take over; otherwise what it lacks, and
	 * whether there is no use in waiting. */
	const char *(*unfit)(
	    void *arg, const struct upgrade_child_state *state, bool *for_good);
	/*
	 * NULL: it is fit.  Otherwise it has been ended, and this is why.  The
	 * handler may free the child.
	 */
	void (*over)(void *arg, const char *why);
};

/* Room for a text that says what is wrong. */
#define HEIR_WHY_SIZE 640

/*
 * Starts it with these descriptors, and its end of a channel before them.
 * Returns NULL, and says why, if that cannot be done.
 */
struct upgrade_child *upgrade_child_start(struct event_base *base,
    struct handed_list *handed, const struct upgrade_child_handler *handler,
    void *arg, char why[HEIR_WHY_SIZE]);

/*
 * The same for a process that this one has not started, and that asks to
 * replace it.  It asks for one descriptor after the other, and says which it
 * has taken:
 *
 *	"next" -->		<-- "handed" WORD with the descriptor, or "all"
 *	"took" NUMBER -->	of the list, from 0
 *				<-- "refused" WHY
 *
 * `theirs` is its end of the channel, which the caller gives to it and closes.
 */
struct upgrade_child *upgrade_child_adopt(struct event_base *base,
    const struct handed_list *handed,
    const struct upgrade_child_handler *handler, void *arg, int *theirs,
    char why[HEIR_WHY_SIZE]);
/* The descriptors that were handed to it, and which of them it has taken. */
const struct handed_list *upgrade_child_handed(
    const struct upgrade_child *child, const bool **taken);

/* Ends the process, unless it was let go or adopted: an adopted process ends
 * when it is told why. */
void upgrade_child_refuse(const struct upgrade_child *child, const char *why);
void upgrade_child_free(struct upgrade_child *child);

pid_t upgrade_child_pid(const struct upgrade_child *child); /* 0: adopted */
int64_t upgrade_child_began_ms(const struct upgrade_child *child);

/*
 * It goes on by itself.  Returns our end of the channel, the caller's from now
 * on.
 */
int upgrade_child_let_go(struct upgrade_child *child);

#endif
