/*
 * Connections to servers, for the broker or the lockbroker command.
 *
 * The first line of a pipe says whether it leads to the server: "+", or
 * "-REASON" or "!REASON".
 */
#ifndef LOCKBROKER_TLS_DIAL_H
#define LOCKBROKER_TLS_DIAL_H

#include <stdint.h>

#include "tls/engine.h"

/* ip is numeric; the certificate must be for `name`.  Takes over `local`. */
void dial(struct engine *e, int local, const char *ip, uint16_t port,
    const char *name);

#endif
