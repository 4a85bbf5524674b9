/*
 * Servers: a pipe to where the broker, or the lockbroker command, wants one.
 *
 * Its first line says whether it is one: "+", or "-REASON".
 */
#ifndef LOCKBROKER_TLS_DIAL_H
#define LOCKBROKER_TLS_DIAL_H

#include <stdint.h>

#include "tls/engine.h"

/*
 * ip is numeric; name is what the certificate must be for.  Takes over local.
 */
void dial(struct engine *e, int local, const char *ip, uint16_t port,
    const char *name);

#endif
