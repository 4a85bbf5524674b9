/*
 * The sockets of HTTP.
 */
#ifndef LOCKBROKER_HTTP_LISTEN_H
#define LOCKBROKER_HTTP_LISTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* "10.0.0.7:5512" or "[2001:db8::1]:5512" */
#define LISTEN_NAME_SIZE 64

struct http_socket {
	int fd;
	bool loopback; /* other machines cannot reach it */
	bool any_port; /* the kernel has chosen the port */
	char name[LISTEN_NAME_SIZE];
};

/* A name may stand for at most this many addresses. */
#define LISTEN_SOCKETS 8

/*
 * Listens at as many addresses of the host as possible.  Returns their number;
 * the caller owns the sockets.  On 0, `why` says what failed.
 */
size_t http_sockets(struct http_socket out[LISTEN_SOCKETS], const char *host,
    uint16_t port, struct buf *why) __attribute__((warn_unused_result));

/*
 * May a request use this name for a server at a loopback address?  It may be a
 * numeric address, localhost or a name below it, with or without a port.  The
 * owner of any other name may have pointed it here.
 */
bool http_host_is_local(const char *host);

#endif
