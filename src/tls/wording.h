/* Texts about certificates and failures. */
#ifndef LOCKBROKER_TLS_WORDING_H
#define LOCKBROKER_TLS_WORDING_H

struct packet;
struct pipe;

#define WORDING_WHY_SIZE 512

/*
 * Adds the names that the client's certificate vouches for: "CN=...", the whole
 * subject if it has other parts, "DNS:..." and "URI:...".
 */
void wording_add(struct packet *packet, const struct pipe *p);

/* Says why the handshake failed, and what to do about it if that is known. */
void wording_why(const struct pipe *p, int err, char why[WORDING_WHY_SIZE]);

#endif
