/*
 * Where a peer is: HOST:PORT, [V6]:PORT or the path of a Unix socket.
 *
 * Only the form is checked; nothing is resolved here.
 */
#ifndef LOCKBROKER_BASE_ADDRESS_H
#define LOCKBROKER_BASE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One address.  Either path is set or host is, the other is NULL.  The struct
 * is embedded; address_fini() frees its strings.
 */
struct address {
	char *host;    /* name, IPv4, or IPv6 without the brackets */
	uint16_t port; /* 0 only where we listen: any free one */
	char *path;    /* of a Unix socket, absolute */
};

/* Room for address_format(). */
#define ADDRESS_SIZE 320

/* Without one, brokers are looked for there. */
#define ADDRESS_PORT 5625
#define ADDRESS_PORT_TEXT "5625"

/* What is said of the port. */
enum address_port {
	ADDRESS_PORT_GIVEN,   /* 1 to 65535 */
	ADDRESS_PORT_ANY,     /* 0 too: any free one, to listen on */
	ADDRESS_PORT_ASSUMED, /* ADDRESS_PORT when there is none */
};

/*
 * Both return NULL, or the end of the sentence "'TEXT' ..." saying what is
 * wrong; then *out holds nothing.  If a port may be left out, the brackets of
 * a bare IPv6 address may be, too.
 */
const char *address_parse_tcp(struct address *out, const char *text,
    enum address_port port) __attribute__((warn_unused_result));
const char *address_parse_unix(struct address *out, const char *path)
    __attribute__((warn_unused_result));

/* HOST:PORT, [V6]:PORT or unix:/PATH.  Returns buf. */
const char *address_format(
    const struct address *address, char buf[ADDRESS_SIZE]);

bool address_same(const struct address *a, const struct address *b);
void address_fini(struct address *address);

#endif
