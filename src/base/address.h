/*
 * The address of a peer: HOST:PORT, [V6]:PORT or the path of a Unix socket.
 *
 * These functions check only the form; they resolve nothing.
 */
#ifndef LOCKBROKER_BASE_ADDRESS_H
#define LOCKBROKER_BASE_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * One address: either path or host is set, and the other is NULL.  Its owner
 * embeds it; address_fini() frees its strings.
 */
struct address {
	char *host;    /* name, IPv4, or IPv6 without the brackets */
	uint16_t port; /* 0: any free port, only to listen */
	char *path;    /* of a Unix socket, absolute */
};

/* Room for address_format(). */
#define ADDRESS_SIZE 320

/* The port of brokers if none is given. */
#define ADDRESS_PORT 5625
#define ADDRESS_PORT_TEXT "5625"

/* Which ports are allowed. */
enum address_port {
	ADDRESS_PORT_GIVEN,   /* 1 to 65535 */
	ADDRESS_PORT_ANY,     /* also 0, any free port, to listen */
	ADDRESS_PORT_ASSUMED, /* ADDRESS_PORT if none is given */
};

/*
 * Both return NULL, or the end of the sentence "'TEXT' ..." that says what is
 * wrong; then *out holds nothing.  If the port may be left out, a bare IPv6
 * address needs no brackets.
 */
const char *address_parse_tcp(struct address *out, const char *text,
    enum address_port port) __attribute__((warn_unused_result));
const char *address_parse_unix(struct address *out, const char *path)
    __attribute__((warn_unused_result));

/* Returns what to show of a text that is not an address: the part before an '@'
 * may be a password. */
const char *address_shown(const char *text, char shown[ADDRESS_SIZE]);

/* Writes HOST:PORT, [V6]:PORT or unix:/PATH.  Returns buf. */
const char *address_format(
    const struct address *address, char buf[ADDRESS_SIZE]);

bool address_same(const struct address *a, const struct address *b);
void address_fini(struct address *address);

#endif
