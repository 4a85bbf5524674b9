/*
 * Starts the process that is to replace this one.
 *
 *	broker --fork--> guardian --fork, exec--> the new process
 *
 * The process that adopts orphans (init, systemd) must become the parent of the
 * new process: only then does a service manager notice its end.  So its parent
 * is not the broker but the guardian, which knows how it ends, and ends it if
 * it is not to live.  The guardian dies with the broker, or is let go.
 */
#ifndef LOCKBROKER_DAEMON_REPLACE_UPGRADE_SPAWN_H
#define LOCKBROKER_DAEMON_REPLACE_UPGRADE_SPAWN_H

#include <sys/types.h>

struct handed_list;

struct upgrade_spawn {
	pid_t guardian; /* 0: none */
	pid_t pid;	/* of the new process */
};

/* What upgrade_spawn_end() says: "status 1" or "signal 11". */
#define STARTER_HOW_SIZE 32

/*
 * Starts the program with these descriptors from HANDED_FIRST on, the standard
 * streams, and no others.  Returns 0 or an errno: also when it is no program.
 */
int upgrade_spawn_begin(struct upgrade_spawn *s, const char *program,
    char *const *argv, char *const *envp, const struct handed_list *handed);

/* The new process goes on by itself. */
void upgrade_spawn_let_go(struct upgrade_spawn *s);

/* Kills it if it has not ended, and says how it ended. */
void upgrade_spawn_end(struct upgrade_spawn *s, char how[STARTER_HOW_SIZE]);

#endif
