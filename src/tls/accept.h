/*
 * Clients: from a listening socket to a pipe that the broker has taken.
 */
#ifndef LOCKBROKER_TLS_ACCEPT_H
#define LOCKBROKER_TLS_ACCEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "tls/context.h"
#include "tls/engine.h"

void accept_init(struct engine *e);
void accept_fini(struct engine *e);

/*
 * Takes over the socket and the content of the context, even on failure.
 * `headed`: clients come with a header of the PROXY protocol.
 */
bool accept_add(struct engine *e, const char *id, int fd, bool headed,
    struct context *context, char why[CONTEXT_WHY_SIZE]);

/* Reads the certificates again.  On false, the old ones stay in use. */
bool accept_reload(struct engine *e, char why[CONTEXT_WHY_SIZE]);

/* Returns the earliest expiry of a certificate, in seconds; 0: none. */
int64_t accept_until(const struct engine *e);

/* Should it accept clients?  They can connect in either case. */
void accept_set(struct engine *e, bool on);

/* Accepts no more clients.  Handshakes under way continue: closed() is called
 * when all of them have succeeded or failed. */
void accept_stop(struct engine *e);
bool accept_stopped(const struct engine *e);
/* Ends these handshakes, too. */
void accept_close(struct engine *e);

/* Hands over clients that are ready: the broker may have room for them. */
void accept_hand_over(struct engine *e);

#endif
