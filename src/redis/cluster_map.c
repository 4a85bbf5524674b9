/*
 *	CLUSTER SLOTS: [ [first, last, [host, port, id ...], ...], ... ]
 *	MOVED 3999 10.0.0.1:6381
 *
 * A host may be empty or nil (the host that was asked) or "?" (unknown).
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc16.h"
#include "base/parse.h"
#include "redis/cluster_map.h"

/* Only the text between the first braces of a key decides its slot. */
unsigned
cluster_slot(uint32_t bucket)
{
	char digits[16];
	int n = snprintf(digits, sizeof(digits), "%" PRIu32, bucket);

	return crc16(digits, (size_t)n) % SLOTS;
}

static bool
is_integer(const redisReply *r, long long min, long long max)
{
	return r->type == REDIS_REPLY_INTEGER && r->integer >= min &&
	       r->integer <= max;
}

static bool
node_read(const redisReply *r, const char *self, struct cluster_range *range)
{
	const redisReply *host;

	if (r->type != REDIS_REPLY_ARRAY || r->elements < 2 ||
	    !is_integer(r->element[1], 1, UINT16_MAX))
		return false;
	host = r->element[0];
	range->port = (uint16_t)r->element[1]->integer;
	range->host = host->type == REDIS_REPLY_STRING ? host->str : "";
	if (range->host[0] == '\0')
		range->host = self;
	return range->host != NULL && strcmp(range->host, "?") != 0 &&
	       strlen(range->host) < CLUSTER_HOST_SIZE;
}

static bool
entry_read(
    const redisReply *r, const char *self, cluster_range_fn *fn, void *arg)
{
	struct cluster_range range;
	size_t i;

	if (r->type != REDIS_REPLY_ARRAY || r->elements < 3 ||
	    !is_integer(r->element[0], 0, SLOTS - 1) ||
	    !is_integer(r->element[1], 0, SLOTS - 1))
		return false;
	range.first = (unsigned)r->element[0]->integer;
	range.last = (unsigned)r->element[1]->integer;
	for (i = 2; i < r->elements; i++) {
		range.master = i == 2;
		if (node_read(r->element[i], self, &range))
			fn(arg, &range);
	}
	return true;
}

/* Counts the nodes named in all ranges; each is looked up among all nodes. */
static size_t
count_nodes(const redisReply *reply)
{
	size_t i, n = 0;

	for (i = 0; i < reply->elements && n <= CLUSTER_PLACES_MAX; i++)
		if (reply->element[i]->type == REDIS_REPLY_ARRAY)
			n += reply->element[i]->elements;
	return n;
}

bool
cluster_slots_read(
    const redisReply *reply, const char *self, cluster_range_fn *fn, void *arg)
{
	size_t i;

	if (reply->type != REDIS_REPLY_ARRAY || reply->elements > SLOTS ||
	    count_nodes(reply) > CLUSTER_PLACES_MAX)
		return false;
	for (i = 0; i < reply->elements; i++)
		if (!entry_read(reply->element[i], self, fn, arg))
			return false;
	return true;
}

uint64_t
cluster_epoch_read(const char *info, size_t len)
{
	static const char key[] = "cluster_current_epoch:";
	const char *p = memmem(info, len, key, sizeof(key) - 1);

	return p ? strtoull(p + sizeof(key) - 1, NULL, 10) : 0;
}

static const struct {
	const char *word;
	bool names_node;
} words[REDIRECT_MAX] = {
	[REDIRECT_MOVED] = { "MOVED", true },
	[REDIRECT_ASK] = { "ASK", true },
	[REDIRECT_TRYAGAIN] = { "TRYAGAIN", false },
	[REDIRECT_DOWN] = { "CLUSTERDOWN", false },
};

/* Reads ` 3999 10.0.0.1:6381`; the port follows the last colon. */
static bool
target_read(struct redirect *out, const char *text, const char *self)
{
	const char *end, *colon = strrchr(text, ':');
	uint64_t slot, port;
	size_t n;

	end = *text == ' ' ? strchr(text + 1, ' ') : NULL;
	if (end == NULL || colon == NULL || colon < end ||
	    !parse_number(
		text + 1, (size_t)(end - text - 1), SLOTS - 1, &slot) ||
	    !parse_number(colon + 1, strlen(colon + 1), UINT16_MAX, &port))
		return false;
	n = (size_t)(colon - end - 1);
	if (n >= sizeof(out->host))
		return false;
	out->slot = (unsigned)slot;
	out->port = (uint16_t)port;
	memcpy(out->host, end + 1, n);
	out->host[n] = '\0';
	if (n == 0 && self != NULL)
		snprintf(out->host, sizeof(out->host), "%s", self);
	if (strcmp(out->host, "?") == 0)
		out->host[0] = '\0';
	return true;
}

bool
redirect_read(struct redirect *out, const char *error, const char *self)
{
	size_t n;
	int i;

	for (i = 0; i < REDIRECT_MAX; i++) {
		n = strlen(words[i].word);
		if (strncmp(error, words[i].word, n) != 0 ||
		    (error[n] != ' ' && error[n] != '\0'))
			continue;
		out->kind = (enum redirect_kind)i;
		out->host[0] = '\0';
		return !words[i].names_node ||
		       target_read(out, error + n, self);
	}
	return false;
}
