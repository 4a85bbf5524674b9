/*
 * The broker's side of the process that speaks TLS.
 */
#ifndef LOCKBROKER_DAEMON_BRIDGE_TLS_H
#define LOCKBROKER_DAEMON_BRIDGE_TLS_H

#include <stdbool.h>
#include <stdio.h>

struct broker;
struct buf;
struct config;

/*
 * Can the files that the configuration names be used?  Writes those that cannot
 * to `out`, a line each. file: where the configuration came from, or NULL.
 */
bool tls_check(const struct config *config, const char *file, FILE *out)
    __attribute__((warn_unused_result));

/*
 * Starts the process if the configuration needs it.  On false, it has logged
 * why.
 */
bool tls_begin(struct broker *b) __attribute__((warn_unused_result));

/*
 * Hands it the places where clients speak TLS.  On false, `why` says what
 * failed.
 */
bool tls_listen(struct broker *b, struct buf *why)
    __attribute__((warn_unused_result));

/* Should clients come in, or only wait?  At first they wait. */
void tls_accept(struct broker *b, bool on);
void tls_stop_listening(struct broker *b);
/* Is a handshake under way of a client that came before? */
bool tls_shakes(const struct broker *b);

/* To be called when limits have changed, and perhaps certificates.  Returns
 * false if there are none. */
bool tls_reload(struct broker *b);

#endif
