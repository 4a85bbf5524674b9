/*
 * What the broker before this one has left, and what this one leaves, if the
 * data of its embedded server end with it: the note of what clients count on
 * (promise.h), and the token holds (ledger.h).
 */
#ifndef LOCKBROKER_DAEMON_PAST_H
#define LOCKBROKER_DAEMON_PAST_H

#include <stdbool.h>

#include "daemon/bridge.h"

/*
 * Reads it, if the server is embedded: the core grants nothing before a time
 * that it tells `out`.  Returns false, and has logged why, if nobody knows what
 * clients hold.
 */
bool past_look(struct broker *b, struct core_config *out);

/* The core begins with the token holds. */
void past_begin(struct broker *b);

/* Takes an EFFECT_HOLD. */
void past_note(struct broker *b, const struct effect *e, const char *text);

/* Clients are about to be told something: notes what must be noted first. */
void past_write(struct broker *b);

/* The broker ends: leaves what the next one must know. */
void past_leave(struct broker *b);

#endif
