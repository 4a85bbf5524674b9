/*
 * The list of what it means when Redis refuses a whole call.
 *
 * REFUSAL(first word of the error, what happens to the connection,
 *     event in the log, text for the client)
 *
 * In all of these cases Redis carried out nothing.  RETRY: the refusals end by
 * themselves, so the connection is kept.  RECONNECT: only a new connection (or
 * another server) can help, and its greeting says when.  STAY: an operator must
 * do something; the connection is kept, because that may happen at any time.
 */
#ifndef LOCKBROKER_STORE_REFUSAL_H
#define LOCKBROKER_STORE_REFUSAL_H

#include <stddef.h>

enum refusal_action { REFUSAL_RETRY, REFUSAL_RECONNECT, REFUSAL_STAY };

/* clang-format off */
#define REFUSALS(REFUSAL) \
	REFUSAL("OOM", STAY, "redis-oom", \
	    "Redis is out of memory: raise its maxmemory or free some") \
	REFUSAL("READONLY", STAY, "redis-readonly", \
	    "Redis is a read-only replica: redis.nodes must name the master," \
	    " or its Sentinels") \
	REFUSAL("LOADING", RECONNECT, "redis-loading", \
	    "Redis is still loading its data") \
	REFUSAL("BUSY", RETRY, "redis-busy", \
	    "Redis is busy with a script: SCRIPT KILL ends it") \
	REFUSAL("NOAUTH", RECONNECT, "redis-noauth", \
	    "Redis wants a password: set redis.password_file") \
	REFUSAL("WRONGPASS", RECONNECT, "redis-wrongpass", \
	    "Redis refuses redis.user and redis.password") \
	REFUSAL("NOPERM", STAY, "redis-noperm", \
	    "the ACL of Redis does not permit redis.user a needed command, key" \
	    " or channel") \
	REFUSAL("MISCONF", STAY, "redis-misconf", \
	    "Redis can't save its data and refuses writes: see its log") \
	REFUSAL("MASTERDOWN", STAY, "redis-masterdown", \
	    "Redis is a replica without its master") \
	REFUSAL("NOREPLICAS", RETRY, "redis-noreplicas", \
	    "too few replicas for the min-replicas-to-write of Redis") \
	REFUSAL("CLUSTERDOWN", RETRY, "redis-clusterdown", \
	    "the Redis cluster is down") \
	REFUSAL("TRYAGAIN", RETRY, "redis-tryagain", \
	    "the Redis cluster is moving the slot") \
	REFUSAL("MOVED", RETRY, "redis-moved", \
	    "the slot is on another node: set redis.mode cluster") \
	REFUSAL("ASK", RETRY, "redis-ask", \
	    "the slot is moving to another node: set redis.mode cluster") \
	REFUSAL("CROSSSLOT", STAY, "redis-cluster-mode", \
	    "this is a Redis Cluster: set redis.mode cluster") \
	REFUSAL("NOSCRIPT", RETRY, "redis-noscript", \
	    "Redis forgets the scripts that it was given") \
	REFUSAL("ERR max number of clients", RECONNECT, "redis-maxclients", \
	    "Redis has too many connections: raise its maxclients") \
	REFUSAL("ERR unknown subcommand 'KILL'.", STAY, "redis-stranger", \
	    "no CLIENT KILL: that is a lockbroker or a proxy, and not a Redis" \
	    " server") \
	REFUSAL("ERR unknown command", STAY, "redis-command", \
	    "Redis lacks a needed command (renamed or disabled)")
/* clang-format on */

/* A row of the table above; static. */
struct refusal {
	const char *prefix;
	size_t prefix_len;
	enum refusal_action action;
	const char *event;
	const char *text;
};

/* The row for an error reply, or NULL: an error we don't know. */
const struct refusal *refusal_find(const char *error, size_t len);

#endif
