/*
 * Keys, certificates and what is asked of the other side: an SSL_CTX made from
 * files, and made anew from the same files.
 */
#ifndef LOCKBROKER_TLS_CONTEXT_H
#define LOCKBROKER_TLS_CONTEXT_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum context_verify { VERIFY_NONE, VERIFY_OPTIONAL, VERIFY_REQUIRE };

/* Room for what is wrong. */
#define CONTEXT_WHY_SIZE 512

/* Embedded in its owner, which calls context_fini().  Zeroed: not used. */
struct context {
	bool server; /* clients connect to it */
	char *cert;  /* "": none */
	char *key;
	char *ca; /* "": of a client: the system's */
	enum context_verify verify;
	bool names;    /* client: the server's name is checked, too */
	bool tls_1_3;  /* nothing older */
	SSL_CTX *ssl;  /* NULL: never loaded */
	int64_t until; /* its certificate runs out, seconds; 0: none */
};

void context_fini(struct context *c);

/*
 * Reads the files; on failure what was read before is still used.  A
 * certificate that has run out is a failure if one that has not is in use.
 */
bool context_load(struct context *c, char why[CONTEXT_WHY_SIZE]);

#endif
