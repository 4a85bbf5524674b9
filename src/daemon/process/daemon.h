/*
 * The daemon's main program.
 */
#ifndef LOCKBROKER_DAEMON_PROCESS_DAEMON_H
#define LOCKBROKER_DAEMON_PROCESS_DAEMON_H

/* Returns the exit status: 0, 1 (failure), 2 (usage or configuration). */
int daemon_main(int argc, char **argv);

#endif
