/*
 * Starting lockbroker-tls, with a socket as its standard input.
 */
#ifndef LOCKBROKER_RELAY_SPAWN_H
#define LOCKBROKER_RELAY_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

/* Says that lockbroker-tls is missing, and where it was looked for. */
#define SPAWN_MISSING                                                       \
	"the program lockbroker-tls is not installed, neither beside this " \
	"one nor in " LOCKBROKER_LIBEXECDIR

/* Room for the path of lockbroker-tls. */
#define SPAWN_PATH_SIZE 4096

/*
 * Finds lockbroker-tls: in the directory of the running program (in a build),
 * or where the build has installed it.  Returns buf, or NULL if it is missing.
 */
const char *spawn_find(char buf[SPAWN_PATH_SIZE]);

/*
 * Requires the path in argv[0].  Returns 0 or the errno of a failure.  The
 * child dies with us, gets no signals from a terminal, and has no descriptor of
 * ours but standard error and `input`.  `alone`: the process is not our child,
 * and lives as long as its work.
 */
int spawn(char *const *argv, int input, bool alone, pid_t *pid);

#endif
