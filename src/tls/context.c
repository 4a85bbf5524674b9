/*
 * Contexts of OpenSSL.
 *
 * They don't resume sessions: clients hold locks over one connection, and
 * unread tickets would turn a client's close into a reset.
 */
#include "config.h"

#include <openssl/err.h>
#include <openssl/x509.h>
#include <openssl/x509err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "tls/context.h"

#ifndef SSL_OP_CLEANSE_PLAINTEXT
#define SSL_OP_CLEANSE_PLAINTEXT 0
#endif
#ifndef SSL_OP_IGNORE_UNEXPECTED_EOF
#define SSL_OP_IGNORE_UNEXPECTED_EOF 0
#endif

void
context_fini(struct context *c)
{
	free(c->cert);
	free(c->key);
	free(c->ca);
	SSL_CTX_free(c->ssl);
	memset(c, 0, sizeof(*c));
}

static bool
fail(char *why, const char *what, const char *file)
{
	unsigned long error = ERR_peek_last_error();
	unsigned long first = ERR_peek_error();
	const char *reason = error ? ERR_reason_error_string(error) : NULL;

	if (ERR_GET_LIB(first) == ERR_LIB_SYS)
		reason = strerror(ERR_GET_REASON(first));

	snprintf(why, CONTEXT_WHY_SIZE, "%s %s: %s", what, file,
	    reason ? reason : "unusable");
	ERR_clear_error();
	return false;
}

/* Refuses keys with a passphrase: OpenSSL would ask for it at a terminal. */
static int
no_passphrase(char *buf, int size, int writing, void *arg)
{
	(void)buf;
	(void)size;
	(void)writing;
	(void)arg;
	return 0;
}

static bool
load_authorities(const struct context *c, SSL_CTX *ssl, char *why)
{
	struct stat st;
	bool directory;

	if (c->ca[0] == '\0')
		return c->server || SSL_CTX_set_default_verify_paths(ssl) == 1;
	directory = stat(c->ca, &st) == 0 && S_ISDIR(st.st_mode);
	if (SSL_CTX_load_verify_locations(
		ssl, directory ? NULL : c->ca, directory ? c->ca : NULL) != 1)
		return fail(why, "cannot read the CA certificates in", c->ca);
	if (c->server && !directory)
		SSL_CTX_set_client_CA_list(ssl, SSL_load_client_CA_file(c->ca));
	return true;
}

static bool
is_mismatch(void)
{
	unsigned long error = ERR_peek_last_error();

	return ERR_GET_LIB(error) == ERR_LIB_X509 &&
	       ERR_GET_REASON(error) == X509_R_KEY_VALUES_MISMATCH;
}

static bool
load_pair(const struct context *c, SSL_CTX *ssl, char *why)
{
	if (c->cert[0] == '\0')
		return true;
	SSL_CTX_set_default_passwd_cb(ssl, no_passphrase);
	if (SSL_CTX_use_certificate_chain_file(ssl, c->cert) != 1)
		return fail(why, "cannot use the certificate in", c->cert);
	if (SSL_CTX_use_PrivateKey_file(ssl, c->key, SSL_FILETYPE_PEM) != 1 &&
	    !is_mismatch())
		return fail(why, "cannot use the key in", c->key);
	if (is_mismatch() || SSL_CTX_check_private_key(ssl) != 1)
		return fail(
		    why, "the certificate does not fit the key in", c->key);
	return true;
}

static int64_t
ends_at(const SSL_CTX *ssl)
{
	const X509 *cert = SSL_CTX_get0_certificate(ssl);
	struct tm tm;

	if (cert == NULL || ASN1_TIME_to_tm(X509_get0_notAfter(cert), &tm) != 1)
		return 0;
	return (int64_t)timegm(&tm);
}

static int
verify_mode(const struct context *c)
{
	if (!c->server || c->verify == VERIFY_OPTIONAL)
		return SSL_VERIFY_PEER;
	return c->verify == VERIFY_NONE
		   ? SSL_VERIFY_NONE
		   : SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
}

static SSL_CTX *
make(const struct context *c)
{
	SSL_CTX *ssl =
	    SSL_CTX_new(c->server ? TLS_server_method() : TLS_client_method());

	if (ssl == NULL)
		abort();
	(void)SSL_CTX_set_min_proto_version(
	    ssl, c->tls_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION);
	(void)SSL_CTX_set_options(ssl,
	    SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET |
		SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_CLEANSE_PLAINTEXT);
	(void)SSL_CTX_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE |
					SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
					SSL_MODE_RELEASE_BUFFERS);
	(void)SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_OFF);
	(void)SSL_CTX_set_num_tickets(ssl, 0);
	SSL_CTX_set_read_ahead(ssl, 1);
	SSL_CTX_set_verify(ssl, verify_mode(c), NULL);
	return ssl;
}

bool
context_load(struct context *c, char why[CONTEXT_WHY_SIZE])
{
	SSL_CTX *ssl = make(c);
	int64_t until, now = (int64_t)time(NULL);

	ERR_clear_error();
	snprintf(why, CONTEXT_WHY_SIZE, "cannot find the CA certificates");
	if (!load_pair(c, ssl, why) || !load_authorities(c, ssl, why)) {
		SSL_CTX_free(ssl);
		return false;
	}
	until = ends_at(ssl);
	if (until != 0 && until < now && c->until > now) {
		snprintf(why, CONTEXT_WHY_SIZE,
		    "the certificate in %s has expired", c->cert);
		SSL_CTX_free(ssl);
		return false;
	}
	SSL_CTX_free(c->ssl);
	c->ssl = ssl;
	c->until = until;
	return true;
}
