/*
 *	[ "10.0.0.1", "6379" ], or nil if the master's name is unknown
 */
#include "config.h"

#include <string.h>

#include "base/parse.h"
#include "redis/sentinel_answer.h"

/* A host has only printable characters, and no space. */
static bool
is_host(const redisReply *r)
{
	size_t i, n = (size_t)r->len;

	if (r->type != REDIS_REPLY_STRING || n == 0 || n >= SENTINEL_HOST_SIZE)
		return false;
	for (i = 0; i < n; i++)
		if (r->str[i] <= ' ' || r->str[i] > '~')
			return false;
	return true;
}

bool
sentinel_answer_read(const redisReply *reply, struct sentinel_answer *out)
{
	const redisReply *host, *port;
	uint64_t number;

	if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2)
		return false;
	host = reply->element[0];
	port = reply->element[1];
	if (!is_host(host) || port->type != REDIS_REPLY_STRING ||
	    !parse_number(port->str, (size_t)port->len, UINT16_MAX, &number) ||
	    number == 0)
		return false;
	memcpy(out->host, host->str, (size_t)host->len + 1);
	out->port = (uint16_t)number;
	return true;
}
