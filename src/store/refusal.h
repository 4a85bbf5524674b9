/*
 * The list of what it means when Redis refuses a call or a part of it.
 *
 * REFUSAL(first words of the error, what happens to the connection,
 *     event in the log, text for the client)
 *
 * Redis carried out nothing of the call, unless the error arose inside a
 * script.  RETRY: the refusals end by themselves, so the connection is kept.
 * RECONNECT: only a new connection (or another server) can help, and its
 * greeting says when.  STAY: an operator must do something; the connection is
 * kept, because that may happen at any time.  LACKS: the same, of a right or a
 * command that only a script finds missing.
 *
 * The text of an error is reported without what was sent: without arguments,
 * which may be passwords, and without texts of scripts and their digests.
 */
#ifndef LOCKBROKER_STORE_REFUSAL_H
#define LOCKBROKER_STORE_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>

enum refusal_action {
	REFUSAL_RETRY,
	REFUSAL_RECONNECT,
	REFUSAL_STAY,
	REFUSAL_LACKS
};

#define REFUSAL_NOPERM                                  \
	"the ACL of Redis lacks rights of redis.user: " \
	"`lockbrokerd --probe` names them"

#define REFUSAL_BROKER                                                      \
	"no CLIENT KILL: that is a lockbroker or a proxy, and not a Redis " \
	"server"

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
	REFUSAL("DENIED", RECONNECT, "redis-protected", \
	    "Redis is in protected mode: give it a password (and set" \
	    " redis.password_file), or have it listen for this host alone") \
	REFUSAL("NOPERM", STAY, "redis-noperm", REFUSAL_NOPERM) \
	REFUSAL("MISCONF", STAY, "redis-misconf", \
	    "Redis cannot save its data and refuses writes: see its log") \
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
	    "Redis has lost the scripts") \
	REFUSAL("ERR max number of clients", RECONNECT, "redis-maxclients", \
	    "Redis has too many connections: raise its maxclients") \
	REFUSAL("ERR unknown subcommand 'KILL'.", STAY, "redis-stranger", \
	    REFUSAL_BROKER) \
	REFUSAL("ERR lockbroker ends no connection", STAY, "redis-stranger", \
	    REFUSAL_BROKER) \
	REFUSAL("ERR unsupported command", STAY, "redis-stranger", \
	    "that is a proxy: redis.nodes must name the Redis server itself") \
	REFUSAL("ERR unknown command", STAY, "redis-command", \
	    "Redis lacks a needed command (renamed or disabled)") \
	REFUSAL("The user executing the script can't run", LACKS, \
	    "redis-noperm", REFUSAL_NOPERM) \
	REFUSAL("The user executing the script can't", STAY, "redis-noperm", \
	    REFUSAL_NOPERM) \
	REFUSAL("ACL failure in script: User", LACKS, "redis-noperm", \
	    REFUSAL_NOPERM) \
	REFUSAL("ACL failure in script:", STAY, "redis-noperm", \
	    REFUSAL_NOPERM) \
	REFUSAL("Unknown Redis command called from", LACKS, "redis-command", \
	    "Redis lacks a command that a script needs (renamed or disabled):" \
	    " `lockbrokerd --probe` names it")
/* clang-format on */

/* A row of the table above; static. */
struct refusal {
	const char *prefix;
	size_t prefix_len;
	enum refusal_action action;
	const char *event;
	const char *text;
};

#define REFUSAL_WORDS 128		   /* of an error */
#define REFUSAL_TEXT (REFUSAL_WORDS + 128) /* with what to do */

/* How an error reply was understood. */
struct refused {
	const struct refusal *refusal; /* NULL: an error we don't know */
	bool inside; /* it arose in a script, which may have done a part */
	char words[REFUSAL_WORDS];
};

/* Is a right missing, or a command? */
bool refusal_lacks(const struct refusal *refusal);

void refusal_read(struct refused *r, const char *error, size_t len);

/* Writes what Redis says, and what to do. */
void refusal_text(const struct refused *r, char text[REFUSAL_TEXT]);

#endif
