/*
 * The old processes of a broker, which another process has replaced: each
 * answers for itself (LEAVING in lockbroker-protocol(7)).
 */
#ifndef LOCKBROKER_CLI_OTHERS_H
#define LOCKBROKER_CLI_OTHERS_H

#include "client/client.h"

/* A connection to each old process.  The owner calls leavers_close(). */
struct leavers {
	struct client *v;
	size_t n;
	unsigned silent; /* number of those that did not answer */
};

/* Finds the old processes of the broker of this connection.  It finds none for
 * a user who may not use BROKERS. */
void leavers_open(struct client *c, struct leavers *l);
void leavers_close(struct leavers *l);

/* Marks a line as one of an old process; the caller frees it. */
char *leavers_mark(const char *line);

/* Returns how many names an answer to NAMES does not list. */
uint64_t names_more(const struct message *m);

/*
 * Asks all old processes, and adds their lines, marked, to the broker's own
 * answer.  Returns how many more names they have (total= of NAMES).
 */
uint64_t leavers_lines(struct leavers *l, const char *line, struct message *m);

/* The same on connections opened for it; reports unresponsive processes. */
uint64_t leavers_ask(struct client *c, const char *line, struct message *m);

/* Tells the user that the answer is incomplete. */
void leavers_missing(const struct leavers *l);

#endif
