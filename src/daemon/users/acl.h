/*
 * `lockbrokerd --acl USER VERB [NAME]`: would a request be allowed, and why?
 */
#ifndef LOCKBROKER_DAEMON_USERS_ACL_H
#define LOCKBROKER_DAEMON_USERS_ACL_H

#include <stdio.h>

struct config;

#define ACL_DENIED 77 /* EX_NOPERM, as lockbroker(1) has it */

/*
 * Writes a line to `out`: "allowed: RULE" or "denied: RULE".  Returns the exit
 * status: 0, ACL_DENIED, or 2 after it has said what is wrong with the words.
 */
int acl_ask(
    const struct config *config, int nwords, char *const *words, FILE *out);

#endif
