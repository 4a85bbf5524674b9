/*
 * What the TLS process gets to know of servers.
 */
#include "config.h"

#include <stdio.h>

#include "config/config.h"
#include "redis/redis.h"

bool
redis_tls(
    struct relay *relay, const struct config *config, char why[RELAY_WHY_SIZE])
{
	const struct config_redis *redis = &config->redis;
	const struct relay_servers servers = {
		.ca = redis->tls_ca,
		.cert = redis->tls_cert,
		.key = redis->tls_key,
		.names = redis->tls_names,
		.connect_timeout_ms = redis->connect_timeout_ms,
		.reply_timeout_ms = redis->reply_timeout_ms,
	};
	char inner[RELAY_WHY_SIZE];

	if (relay_serve(relay, &servers, inner))
		return true;
	snprintf(why, RELAY_WHY_SIZE, "redis.tls: %.600s", inner);
	return false;
}
