/*
 * Clients: from a listening socket to a pipe that the broker has.
 */
#ifndef LOCKBROKER_TLS_ACCEPT_H
#define LOCKBROKER_TLS_ACCEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "tls/context.h"
#include "tls/engine.h"

void accept_init(struct engine *e);
void accept_fini(struct engine *e);

/* Takes over the socket and what is in the context, on failure, too. */
bool accept_add(struct engine *e, const char *id, int fd,
    struct context *context, char why[CONTEXT_WHY_SIZE]);

/* Reads the certificates again; false: what is used is still the old one. */
bool accept_reload(struct engine *e, char why[CONTEXT_WHY_SIZE]);

/* When the first certificate runs out, in seconds; 0: there is none. */
int64_t accept_until(const struct engine *e);

/* Are clients accepted?  They can connect all the same. */
void accept_set(struct engine *e, bool on);
void accept_close(struct engine *e);

/* The broker may have room for those that are ready. */
void accept_hand_over(struct engine *e);

#endif
