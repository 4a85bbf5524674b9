/*
 * Where a peer is: HOST:PORT, [V6]:PORT or the path of a Unix socket.
 *
 * Only the form is checked; nothing is resolved here.
 */
#ifndef LOCKBROKER_CONFIG_ADDRESS_H
#define LOCKBROKER_CONFIG_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One address.  Either path is set or host is, the other is NULL.  The struct
 * is embedded; config_address_fini() frees its strings.
 */
struct config_address {
	char *host;    /* name, IPv4, or IPv6 without the brackets */
	uint16_t port; /* 0 only where we listen: any free one */
	char *path;    /* of a Unix socket, absolute */
};

/* Room for config_address_format(). */
#define CONFIG_ADDRESS_SIZE 320

/*
 * Both return NULL, or the end of the sentence "'TEXT' ..." saying what is
 * wrong; then *out holds nothing.
 */
const char *config_address_parse_tcp(struct config_address *out,
    const char *text, unsigned port_min) __attribute__((warn_unused_result));
const char *config_address_parse_unix(struct config_address *out,
    const char *path) __attribute__((warn_unused_result));

/* HOST:PORT, [V6]:PORT or unix:/PATH.  Returns buf. */
const char *config_address_format(
    const struct config_address *address, char buf[CONFIG_ADDRESS_SIZE]);

bool config_address_same(
    const struct config_address *a, const struct config_address *b);
void config_address_fini(struct config_address *address);

#endif
