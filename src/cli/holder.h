/* Finds out who holds a lock, also through another broker. */
#ifndef LOCKBROKER_CLI_HOLDER_H
#define LOCKBROKER_CLI_HOLDER_H

/*
 * A broker knows session, label and age only of its own holds. If `near`, the
 * answer to a STATUS, contains the address of another broker through which the
 * lock is held, this asks that broker as well. Returns both answers as one,
 * which the caller frees. It tells the user if that broker does not answer in
 * time.
 */
char *holder_details(const char *name, const char *near);

#endif
