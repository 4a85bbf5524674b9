/*
 * What the broker has to do with the process that speaks TLS.
 */
#ifndef LOCKBROKER_DAEMON_TLS_H
#define LOCKBROKER_DAEMON_TLS_H

#include <stdbool.h>
#include <stdio.h>

struct broker;
struct buf;
struct config;

/*
 * Can what the configuration names be used?  Says what can't, a line each;
 * file: where the configuration came from, or NULL.
 */
bool tls_check(const struct config *config, const char *file, FILE *out)
    __attribute__((warn_unused_result));

/* Starts the process, if there is use for it.  False, and a log line. */
bool tls_begin(struct broker *b) __attribute__((warn_unused_result));

/* Hands it the places where clients speak TLS.  False, with why. */
bool tls_listen(struct broker *b, struct buf *why)
    __attribute__((warn_unused_result));

/* Clients may come in. */
void tls_accept(struct broker *b);
void tls_stop_listening(struct broker *b);

/* Limits have changed, and perhaps certificates. */
void tls_reload(struct broker *b);

#endif
