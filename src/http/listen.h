/*
 * Sockets that HTTP listens on.
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
	bool loopback; /* nobody reaches it from another machine */
	char name[LISTEN_NAME_SIZE];
};

/* A name may stand for so many addresses. */
#define LISTEN_SOCKETS 8

/*
 * Listens at all addresses of the host that can be had; returns how many, and
 * the sockets are the caller's.  0: none, why says what failed.
 */
size_t http_sockets(struct http_socket out[LISTEN_SOCKETS], const char *host,
    uint16_t port, struct buf *why) __attribute__((warn_unused_result));

/*
 * Is this what a request may call a server at a loopback address: a numerical
 * address, localhost or a name below it, with or without a port?  Any other
 * name may have been made to point here by whoever owns it.
 */
bool http_host_is_local(const char *host);

#endif
