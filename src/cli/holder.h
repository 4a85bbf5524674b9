/*
 * Who has a lock, from whichever broker knows.
 */
#ifndef LOCKBROKER_CLI_HOLDER_H
#define LOCKBROKER_CLI_HOLDER_H

/*
 * A broker knows session, label and age only of locks that it has itself.
 * Where `near`, the answer to a STATUS, says at which address another broker
 * has the lock, that one is asked, too: returns both answers as one, which the
 * caller frees. Says so if it does not answer in time.
 */
char *holder_details(const char *name, const char *near);

#endif
