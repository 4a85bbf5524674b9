/*
 * TAKEOVER: a process of this broker that this process has not started asks to
 * replace it (lockbrokerd --take-over); or an old process, whose successor has
 * ended, asks to be taken in.
 *
 *	new process                              the broker
 *	connects to its Unix socket, asks   -->  may it, and does it fit?
 *	                                    <--  OK, with one end of a channel
 *	takes one descriptor after the      <->  upgrade_child.h
 *	other, and then goes on as if it had been started (upgrade.h)
 */
#ifndef LOCKBROKER_DAEMON_REPLACE_TAKEOVER_H
#define LOCKBROKER_DAEMON_REPLACE_TAKEOVER_H

#include <stdbool.h>

struct broker;
struct config;
struct conn;
struct request;
struct seeker;

void handle_takeover(struct broker *b, struct conn *c, const struct request *r);

/*
 * Before there is a broker: asks the process that listens at the Unix sockets
 * of the configuration, and takes over what is handed to this process.  Returns
 * true if that is done, or no process listens; false: it was refused, and the
 * log says why.
 */
bool takeover_ask(const struct config *config);

/* From seeker_begin() on it looks for a broker that was started anew, while
 * this process leaves and no process has its channel. */
struct seeker *seeker_new(struct broker *b);
void seeker_free(struct seeker *s);
void seeker_begin(struct broker *b);

#endif
