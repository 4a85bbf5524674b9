/*
 * Keys, certificates and the requirements on the peer: an SSL_CTX made from
 * files, and made again from the same files.
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
	bool server; /* for a server, which clients connect to */
	char *cert;  /* "": none */
	char *key;
	char *ca; /* "": none; for a client, the system's CA */
	enum context_verify verify;
	bool names;    /* client: also checks the server's name */
	bool tls_1_3;  /* no older version */
	SSL_CTX *ssl;  /* NULL: never loaded */
	int64_t until; /* expiry of its certificate, s; 0: none */
};

void context_fini(struct context *c);

/*
 * Reads the files.  On failure, those read before stay in use.  An expired
 * certificate is a failure if one that has not expired is in use.
 */
bool context_load(struct context *c, char why[CONTEXT_WHY_SIZE]);

#endif
