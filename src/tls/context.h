/*
 * Keys, certificates and demands on the other side: an SSL_CTX that is made
 * from files, and made again from the same files.
 */
#ifndef LOCKBROKER_TLS_CONTEXT_H
#define LOCKBROKER_TLS_CONTEXT_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>

enum context_verify { VERIFY_NONE, VERIFY_OPTIONAL, VERIFY_REQUIRE };

/* Room for a text that says what is wrong. */
#define CONTEXT_WHY_SIZE 512

/* Embedded in its owner, which calls context_fini().  Zeroed: not in use. */
struct context {
	bool server; /* clients connect to it */
	char *cert;  /* "": none */
	char *key;
	char *ca; /* "": none, or for a client that of the system */
	enum context_verify verify;
	bool names;    /* client: it checks the server's name, too */
	bool tls_1_3;  /* no older version */
	SSL_CTX *ssl;  /* NULL: never loaded */
	int64_t until; /* its certificate expires, in seconds; 0: none */
};

void context_fini(struct context *c);

/*
 * Reads the files.  On failure, what it read before stays in use.  An expired
 * certificate is a failure if one that has not expired is in use.
 */
bool context_load(struct context *c, char why[CONTEXT_WHY_SIZE]);

#endif
