/*
 * The processes of a broker that leave, as another has replaced them: each
 * speaks for itself (LEAVING in lockbroker-protocol(7)).
 */
#ifndef LOCKBROKER_CLI_OTHERS_H
#define LOCKBROKER_CLI_OTHERS_H

#include "client/client.h"

/* A connection to each.  The owner calls leavers_close(). */
struct leavers {
	struct client *v;
	size_t n;
	unsigned silent; /* so many did not answer */
};

/* Finds those of the broker of this connection.  There is none for a user who
 * may not ask for BROKERS. */
void leavers_open(struct client *c, struct leavers *l);
void leavers_close(struct leavers *l);

/* Marks a line as from one of them; the caller frees it. */
char *leavers_mark(const char *line);

/*
 * Asks all of them, and adds their lines, marked, to the broker's own answer.
 * Returns how many names they have beyond those (total= of NAMES).
 */
uint64_t leavers_lines(struct leavers *l, const char *line, struct message *m);

/* The same on connections that are opened for it, and says who is silent. */
uint64_t leavers_ask(struct client *c, const char *line, struct message *m);

/* Tells people that something is missing. */
void leavers_missing(const struct leavers *l);

#endif
