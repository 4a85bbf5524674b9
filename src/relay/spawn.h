/*
 * Starting lockbroker-tls, with a socket as its standard input.
 */
#ifndef LOCKBROKER_RELAY_SPAWN_H
#define LOCKBROKER_RELAY_SPAWN_H

#include <stddef.h>
#include <sys/types.h>

/* Room for its path. */
#define SPAWN_PATH_SIZE 4096

/*
 * Where it is: beside the program that runs (in the directory of a build), or
 * where the build has installed it.  Returns buf, or NULL where it is nowhere.
 */
const char *spawn_find(char buf[SPAWN_PATH_SIZE]);

/*
 * argv[0] is the path.  Returns the errno of what failed, or 0.  The child
 * dies with us, is deaf to signals from a terminal, and has no other
 * descriptor of ours but standard error.
 */
int spawn_child(char *const *argv, int input, pid_t *pid);

/* The same, but it is nobody's child, and lives as long as its work. */
int spawn_alone(char *const *argv, int input);

#endif
