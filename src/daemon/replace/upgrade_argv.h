/*
 * How the process was started: its program, arguments and environment, for the
 * process that is to replace it.
 */
#ifndef LOCKBROKER_DAEMON_REPLACE_UPGRADE_ARGV_H
#define LOCKBROKER_DAEMON_REPLACE_UPGRADE_ARGV_H

/* To be called before anything changes them. */
void upgrade_argv_note(int argc, char **argv);

/*
 * The path where the program was found, symbolic links and all: by now it may
 * lead to another version.
 */
const char *upgrade_argv_program(void);

/* Ends with NULL. */
char **upgrade_argv_arguments(void);

/*
 * Returns the environment with one more NAME=value, and without what was meant
 * for this process alone.  The caller frees it, but none of its texts.
 */
char **upgrade_argv_environment(char *more);

#endif
