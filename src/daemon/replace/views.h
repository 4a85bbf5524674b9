/*
 * What a broker of several processes shows: STATUS, QUEUE, NAMES and HISTORY
 * tell of what processes that leave have, too.
 *
 *	request --> its line to each of them, and to this process itself,
 *	            over a socket for that line alone
 *	        <-- their answers, as a client would get them
 *	reply   <-- put together (merge.h)
 *
 * In each process the line is one of a client of the same user, so what it may
 * see, what a list costs and how large it may be are no other question there.
 * If none leaves, all this costs a look at a pointer.
 */
#ifndef LOCKBROKER_DAEMON_REPLACE_VIEWS_H
#define LOCKBROKER_DAEMON_REPLACE_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

struct broker;
struct buf;
struct conn;
struct request;
struct views;
struct wire_protocol;
struct wire_reply;

/* What somebody is told who is no connection. */
struct view_answer {
	const struct wire_reply *reply;
	const struct buf *rows;
	unsigned silent; /* processes that have not answered */
};

/* Somebody who asks, and is no connection. */
struct view_asker {
	const char *user;		      /* "": nobody */
	const struct wire_protocol *protocol; /* writes the rows */
	bool by_age; /* NAMES: those held longest come first */
	void (*take)(void *arg, uint64_t ref, unsigned part,
	    const struct view_answer *answer);
	void *arg;
	uint64_t ref; /* passed to take(), as the next */
	unsigned part;
};

struct views *views_new(struct broker *b);
void views_free(struct views *views);

/* Returns true if others are to be asked: the request is answered later. */
bool views_ask(struct views *views, struct conn *c, const struct request *r);

/* The same for somebody else: take() is called later, unless the views end. */
bool views_ask_for(struct views *views, const struct request *r,
    const struct view_asker *asker);

/* Another process of this broker asks for a user ("": for nobody): answers the
 * line over fd, which it takes. */
void views_serve(struct broker *b, int fd, const char *user, const char *line);

#endif
