/*
 * Finds out who has a lock, even if another broker has it.
 */
#ifndef LOCKBROKER_CLI_HOLDER_H
#define LOCKBROKER_CLI_HOLDER_H

/*
 * A broker knows session, label and age only of locks that it has itself. If
 * `near`, the answer to a STATUS, gives the address of another broker that has
 * the lock, this asks that broker as well. Returns both answers as one, which
 * the caller frees. It tells the user if that broker does not answer in time.
 */
char *holder_details(const char *name, const char *near);

#endif
