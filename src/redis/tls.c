/*
 * The only file that knows hiredis_ssl and OpenSSL.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include <hiredis/hiredis.h>
#ifdef HAVE_HIREDIS_SSL
#include <hiredis/hiredis_ssl.h>
#include <openssl/err.h>
#endif

#include "base/xmalloc.h"
#include "config/config.h"
#include "redis/tls.h"

#ifdef HAVE_HIREDIS_SSL

struct tls {
	redisSSLContext *context;
};

static const char *
or_null(const char *text)
{
	return text[0] != '\0' ? text : NULL;
}

/* Where the system keeps its authorities, as OpenSSL is built everywhere. */
static const char system_ca_dir[] = "/etc/ssl/certs";

struct tls *
tls_new(const struct config_redis *config, char *why, size_t why_size)
{
	redisSSLContextError error = REDIS_SSL_CTX_NONE;
	const char *ca = or_null(config->tls_ca);
	struct tls *tls;

	(void)redisInitOpenSSL();
	tls = xcalloc(1, sizeof(*tls));
	tls->context = redisCreateSSLContext(ca, ca ? NULL : system_ca_dir,
	    or_null(config->tls_cert), or_null(config->tls_key), NULL, &error);
	if (tls->context)
		return tls;
	(void)snprintf(why, why_size,
	    "redis.tls: %s (ca '%s', cert '%s', key"
	    " '%s')",
	    redisSSLContextGetError(error), ca ? ca : system_ca_dir,
	    config->tls_cert, config->tls_key);
	free(tls);
	return NULL;
}

void
tls_free(struct tls *tls)
{
	if (!tls)
		return;
	redisFreeSSLContext(tls->context);
	free(tls);
}

const char *
tls_failure(const struct tls *tls)
{
	unsigned long error = tls ? ERR_peek_last_error() : 0;

	return error != 0 ? ERR_reason_error_string(error) : NULL;
}

void
tls_forget_failure(const struct tls *tls)
{
	if (tls)
		ERR_clear_error();
}

bool
tls_begin(struct tls *tls, struct redisContext *connection, char *why,
    size_t why_size)
{
	if (redisInitiateSSLWithContext(connection, tls->context) == REDIS_OK)
		return true;
	(void)snprintf(why, why_size, "TLS: %s", connection->errstr);
	return false;
}

#else

struct tls *
tls_new(const struct config_redis *config, char *why, size_t why_size)
{
	(void)config;
	(void)snprintf(why, why_size,
	    "redis.tls: this build can't; put stunnel in between");
	return NULL;
}

void
tls_free(struct tls *tls)
{
	(void)tls;
}

const char *
tls_failure(const struct tls *tls)
{
	(void)tls;
	return NULL;
}

void
tls_forget_failure(const struct tls *tls)
{
	(void)tls;
}

bool
tls_begin(struct tls *tls, struct redisContext *connection, char *why,
    size_t why_size)
{
	(void)tls;
	(void)connection;
	(void)snprintf(why, why_size, "TLS is left out of this build");
	return false;
}

#endif
