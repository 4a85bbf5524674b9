/*
 * TLS on a connection to Redis or to a Sentinel, by hiredis_ssl where the
 * build found it.
 *
 * The server must show a certificate that redis.tls_ca (or, where that is not
 * given, the authorities of the system) has signed; its names are not
 * compared, because servers are often reached by addresses.
 */
#ifndef LOCKBROKER_REDIS_TLS_H
#define LOCKBROKER_REDIS_TLS_H

#include <stdbool.h>
#include <stddef.h>

struct config_redis;
struct redisContext;
struct tls;

/*
 * What all connections share.  NULL, with a line in why, where a file can't be
 * used, or where the build has no TLS.
 */
struct tls *tls_new(
    const struct config_redis *config, char *why, size_t why_size);
void tls_free(struct tls *tls);

/*
 * What has failed in TLS since tls_forget_failure(): text that lives on, or
 * NULL.  That goes before each read and write, because OpenSSL takes an old
 * failure of another connection for one of this.  tls may be NULL.
 */
const char *tls_failure(const struct tls *tls);
void tls_forget_failure(const struct tls *tls);

/* Begins TLS on a new connection; false, with a line in why. */
bool tls_begin(struct tls *tls, struct redisContext *connection, char *why,
    size_t why_size);

#endif
