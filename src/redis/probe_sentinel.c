/*
 * A Sentinel: does it know the master, and will it act as the broker assumes?
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/times.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "redis/probe_state.h"
#include "redis/sentinel_answer.h"

struct sentinel {
	struct probe_link conn;
	struct address *master; /* host NULL: it names none */
};

static void
on_address(void *arg, const redisReply *reply)
{
	struct sentinel *s = arg;
	const char *name = s->conn.probe->config->redis.master;
	struct sentinel_answer said;

	if (sentinel_answer_read(reply, &said)) {
		s->master->host = xstrdup(said.host);
		s->master->port = said.port;
		probe_find(&s->conn, FINDING_OK, "says '%s' is %s:%u", name,
		    said.host, said.port);
	} else if (reply->type == REDIS_REPLY_ERROR) {
		probe_find(&s->conn, FINDING_FAIL, "SENTINEL: %s%s", reply->str,
		    strstr(reply->str, "unknown command") != NULL
			? ": is that a Sentinel? their port is 26379"
			: "");
	} else if (reply->type == REDIS_REPLY_NIL) {
		probe_find(
		    &s->conn, FINDING_FAIL, "knows no master '%s'", name);
	} else {
		probe_find(&s->conn, FINDING_FAIL,
		    "gives an answer that no Sentinel gives");
	}
}

/* Returns a field of SENTINEL MASTER; "" if it is not there. */
static const char *
field(const redisReply *reply, const char *name)
{
	size_t i;

	for (i = 0; i + 1 < reply->elements; i += 2)
		if (reply->element[i]->str && reply->element[i + 1]->str &&
		    strcmp(reply->element[i]->str, name) == 0)
			return reply->element[i + 1]->str;
	return "";
}

static void
on_master(void *arg, const redisReply *reply)
{
	struct sentinel *s = arg;
	const struct config *config = s->conn.probe->config;
	bool slow = atoll(field(reply, "down-after-milliseconds")) >
		    times_pad_ms(config->locks.lease_ms);

	if (reply->type != REDIS_REPLY_ARRAY) {
		probe_find(&s->conn, FINDING_WARN,
		    "SENTINEL master is not permitted: see that"
		    " down-after-milliseconds is more than 0.3 of locks.lease");
		return;
	}
	probe_find(&s->conn, slow ? FINDING_OK : FINDING_FAIL,
	    "down-after-milliseconds %s%s",
	    field(reply, "down-after-milliseconds"),
	    slow ? "" : " must be more than 0.3 of locks.lease");
	if (strcmp(field(reply, "flags"), "master") != 0)
		probe_find(&s->conn, FINDING_WARN, "thinks the master is '%s'",
		    field(reply, "flags"));
	if (atoll(field(reply, "num-slaves")) != config->redis.replicas)
		probe_find(&s->conn, FINDING_WARN,
		    "knows %s replicas, redis.replicas is %u: it must be the"
		    " number of those that may be promoted",
		    field(reply, "num-slaves"), config->redis.replicas);
	if (atoll(field(reply, "num-other-sentinels")) + 1 !=
	    (long long)config->redis.nodes.n)
		probe_find(&s->conn, FINDING_WARN,
		    "knows %lld Sentinels, redis.nodes has %zu",
		    atoll(field(reply, "num-other-sentinels")) + 1,
		    config->redis.nodes.n);
}

static void
on_info(void *arg, const redisReply *reply)
{
	struct sentinel *s = arg;

	if (reply->type == REDIS_REPLY_STRING &&
	    strstr(reply->str, "sentinel_tilt:1"))
		probe_find(&s->conn, FINDING_WARN,
		    "is in TILT: its clock jumped, or it was stopped");
}

bool
probe_sentinel(
    struct probe *probe, const struct address *address, struct address *master)
{
	const char *name = probe->config->redis.master;
	struct sentinel s = { .master = master };
	struct probe_link *c = &s.conn;

	if (!probe_open(c, probe, "sentinel", address, &s))
		return false;
	probe_ask(c, on_address, "SENTINEL get-master-addr-by-name %s", name);
	if (master->host != NULL) {
		probe_ask(c, on_master, "SENTINEL master %s", name);
		probe_ask(c, on_info, "INFO sentinel");
		if (!probe_hears(c, "+switch-master"))
			probe_find(c, FINDING_WARN,
			    "%s; failovers are found a second later", c->why);
	}
	probe_close(c);
	return master->host != NULL;
}
