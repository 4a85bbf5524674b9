/*
 * Texts for certificates and failures.
 */
#ifndef LOCKBROKER_TLS_NAMES_H
#define LOCKBROKER_TLS_NAMES_H


struct packet;
struct pipe;

#define NAMES_WHY_SIZE 512

/*
 * Adds the names that the client's certificate vouches for: "CN=...", the whole
 * subject if that has more, "DNS:..." and "URI:...".
 */
void names_add(struct packet *packet, const struct pipe *p);

/* Says why the handshake failed, and what to do about it if that is known. */
void names_why(const struct pipe *p, int err, char why[NAMES_WHY_SIZE]);

#endif
