/*
 * TLS for the driver's connections.  Nothing is verified: that is done once a
 * connection, and what is measured comes after it.
 */
#ifndef LOCKBROKER_BENCH_SECURE_H
#define LOCKBROKER_BENCH_SECURE_H

#include <stddef.h>
#include <sys/types.h>

struct secure;

/* Shakes hands on a blocking socket, which does not block from then on. */
struct secure *secure_new(int fd);
void secure_free(struct secure *s); /* NULL is legal */

/* As send() and recv() on a socket that does not block. */
ssize_t secure_send(struct secure *s, const char *text, size_t n);
ssize_t secure_recv(struct secure *s, char *room, size_t n);

/* Has it more than it has given, of which no event tells? */
int secure_pending(struct secure *s);

#endif
