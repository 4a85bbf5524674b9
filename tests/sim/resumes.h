/*
 * RESUME of a session that the other process of the place may have, by the rules
 * of src/daemon/replace/resume_elsewhere.c: it is asked; if it says yes, it gets the
 * connection, with all that was read of it, and answers as if the client had
 * come to it.  Who is asked and does not leave says yes.
 */
#ifndef LOCKBROKER_SIM_RESUMES_H
#define LOCKBROKER_SIM_RESUMES_H

#include <stdbool.h>
#include <stdint.h>

struct ask;
struct broker;
struct input;
struct parcel;
struct quest;
struct world;

void resumes_init(struct world *w);

/* Returns true if the other process may have the session: the request is
 * answered later, or the connection goes away. */
bool resumes_asks(struct broker *b, const struct input *in);

/* Is it a line of a connection that was handed on, or is to be?  Then it goes
 * there, too. */
bool resumes_diverts(struct broker *b, const struct input *in);

/* Is it a line of a connection that is under way?  Takes it then. */
bool resumes_holds(struct world *w, struct input *in);

/* Returns false if it is none of this. */
bool resumes_hears(struct broker *b, const struct parcel *p);
void resumes_room(struct broker *b);

/* The other process answers no more; this one has died. */
void resumes_gone(struct broker *b);
void resumes_died(struct broker *b);

/* A connection was on its way to there, and is closed; the reader is NULL at the
 * end of the run. */
void resumes_lost(struct broker *reader, struct quest *q);

/* Is a connection to come for which it has said yes? */
bool resumes_expects(const struct broker *b);

/* How much longer an answer to RESUME may take. */
int64_t resumes_more_us(const struct world *w);

/* Has the process that was to be asked the session of that request, for sure? */
bool resumes_should_find(const struct world *w, const struct ask *ask);

void resumes_free(struct world *w);

#endif
