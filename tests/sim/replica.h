/*
 * Replication between servers, as Redis does it: a master streams what each
 * script has changed, without waiting for anybody; replicas tell how far they
 * have come; WAIT blocks a connection until enough of them have.
 *
 *	master --- changes, GETACK, a copy of all ---> replica
 *	       <------------- offsets ----------------
 *
 * A history (replication id) begins with each start of a master and with each
 * promotion.  A replica goes on where it was if the master has the same
 * history up to there, and otherwise takes a copy of everything.
 */
#ifndef LOCKBROKER_SIM_REPLICA_H
#define LOCKBROKER_SIM_REPLICA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

#include "redis_db.h"

struct server;

/* One command of a change.  Owned by it. */
struct change_command {
	int argc;
	struct text *argv; /* owned, bytes included */
};

/* What one script, or one command of a client, has changed: carried out as a
 * whole or not at all.  Owned by all that count as its users. */
struct change {
	unsigned users;
	uint64_t offset; /* of its history, when it was made */
	size_t n, size;
	struct change_command *commands; /* owned */
	struct redis_db put; /* keys that came from another server */
};

enum cargo_kind {
	CARGO_CHANGE,
	CARGO_GETACK,
	CARGO_COPY,
	CARGO_OFFSET,
	CARGO_END /* of the link */
};

/* One thing on its way between two servers.  Owned by its pipe. */
struct cargo {
	STAILQ_ENTRY(cargo) entry;
	enum cargo_kind kind;
	struct change *change; /* CHANGE; a user of it */
	uint64_t offset;       /* OFFSET: how far the replica is */
};

STAILQ_HEAD(cargo_list, cargo);

/* One direction of a replication link.  Part of the replica's server. */
struct pipe {
	struct server *replica;
	struct server *to;
	struct cargo_list cargo;
	unsigned arrived;    /* of them, or would have but for a partition */
	int64_t at_us;	     /* arrival of the last one */
	uint64_t generation; /* counts links */
};

/* A server's part in replication.  Part of it. */
struct replication {
	struct server *master; /* NULL: it is one */
	bool linked;	      /* as a replica: it has a link, or had just now */
	struct pipe down, up; /* to this replica, and back to its master */
	bool attached;	      /* to up.to, as that one knows ... */
	uint64_t acked;	      /* ... with what it knows, ... */
	int64_t acked_us;     /* ... as it told then */

	/* A copy of all data, on its way to here. */
	struct redis_db copy;
	uint64_t copy_offset;
	char copy_replid[REDIS_REPLID_LEN + 1];

	uint64_t offset;     /* how far its data are */
	struct change *open; /* what the script under way changes; or NULL */
	struct change **log; /* owned: the latest changes, up to offset */
	size_t nlog;
	char replid2[REDIS_REPLID_LEN + 1]; /* the history before ... */
	uint64_t second_offset;		    /* ... up to there */
	uint64_t saved_offset;		    /* of the data on disk */
	char saved_replid[REDIS_REPLID_LEN + 1];
};

void replica_init(struct server *s);
void replica_fini(struct server *s);

/* REPLICAOF master, and REPLICAOF NO ONE.  As Sentinel does it: all clients
 * are disconnected; in a cluster none is. */
void replica_follow(struct server *s, struct server *master);
void replica_promote(struct server *s);

/* It has nothing to do with the others any more, nor with anybody else. */
void replica_retire(struct server *s);

/* All replicas are there and have what their master has. */
void replica_attach(struct server *s, struct server *master);

/* What a script or command has changed goes out. */
void replica_commit(struct server *s);

/* So does a key that has come from another server, or has gone there. */
void replica_put(struct server *s, const struct redis_key *key);
void replica_gone(struct server *s, const struct redis_key *key);

/* How many replicas are known to be as far as that. */
int replica_count(const struct server *s, uint64_t offset);

/* False: min-replicas-to-write is more than there are, and heard of. */
bool replica_may_write(const struct server *s);

/* Asks all replicas how far they are. */
void replica_getack(struct server *s);

/* The server died, was started again (its data are loaded), was thawed, or
 * the network is whole again; its data were saved. */
void replica_died(struct server *s);
void replica_started(struct server *s, bool kept, bool saved);
void replica_go_on(struct server *s);
void replica_saved(struct server *s);

/* Every second or so: ask for a link, or say how far it is. */
void replica_cron(struct server *s);

#endif
