/*
 * Until when clients of a broker with an embedded server may count on what they
 * were told: a note in the runtime directory, which outlives a crash of the
 * broker.
 */
#ifndef LOCKBROKER_DAEMON_PROMISE_H
#define LOCKBROKER_DAEMON_PROMISE_H

#include <stdint.h>

struct promise;

/* Reads the note that a broker of this name has left, if there is one. */
struct promise *promise_new(
    const char *broker, int64_t lease_ms, int64_t now_ms);
void promise_free(struct promise *p);

/* The broker must not grant anything before then. */
int64_t promise_floor_ms(const struct promise *p);

/*
 * To be called before a client is told that it may count on something until
 * then.  It writes a little ahead, so that most calls cost nothing. p may be
 * NULL.
 */
void promise_cover(struct promise *p, int64_t until_ms);

/* At a clean stop: clients count on something until then; 0: none does. */
void promise_close(struct promise *p, int64_t until_ms, int64_t now_ms);

#endif
