/*
 * A model of one Redis server as brokers see it: a clock, data, connections
 * and subscribers.  It can freeze, be killed or emptied, or run out of memory.
 *
 * A connection is a stream in each direction.  What a broker has written may
 * be carried out long after that broker has given the connection up, unless
 * CLIENT KILL comes first.
 */
#ifndef LOCKBROKER_SIM_SERVER_H
#define LOCKBROKER_SIM_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "store/script_call.h"

#include "redis_db.h"
#include "replica.h"

struct world;
struct broker;
struct link;
struct sentinel;
struct server;

enum request_kind { REQUEST_CALL, REQUEST_COMMAND };

/* One request in a stream.  Owned by its connection. */
struct request {
	STAILQ_ENTRY(request) entry;
	enum request_kind kind;
	enum script_id script; /* of CALL and SCRIPT LOAD */
	bool earlier;	       /* CALL: the script of an earlier version */
	uint32_t shard;	       /* CALL: the shard of the keys */
	int nkeys, nargs;
	struct text *words; /* owned, bytes included: keys, then args */
};

/* One reply or message in a stream.  Owned by its connection. */
struct packet {
	STAILQ_ENTRY(packet) entry;
	redisReply *reply; /* owned; NULL for a message */
	char *message;	   /* owned */
};

STAILQ_HEAD(request_list, request);
STAILQ_HEAD(packet_list, packet);

/* A connection from a broker.  Owned by the server until the world ends. */
struct conn {
	TAILQ_ENTRY(conn) entry;
	struct world *w;
	struct server *server;
	struct broker *broker;
	struct link *link; /* the link that has it; NULL: none any more */
	uint64_t id;
	uint64_t run;	  /* of the server, when it was accepted */
	bool client_open; /* the broker still listens */
	bool server_open; /* the server still reads */
	bool subscribed;
	bool asking;	 /* the last command was ASKING */
	unsigned missed; /* calls that found no script, and come again */
	unsigned unread; /* packets that wait for a turn of the broker */
	bool held_back;	 /* what was sent is under way for longer */
	bool mute;	 /* nothing arrives any more, and neither side is
			  * told */
	char name[128];	 /* of the channel */
	struct request_list requests;
	unsigned arrived;   /* requests that are at the server */
	unsigned landed;    /* packets that are at the broker */
	bool breaking;	    /* the broker will see that it broke */
	uint64_t offset;    /* of the server, after the last request */
	bool waiting;	    /* a WAIT is under way ... */
	int wait_replicas;  /* ... for so many ... */
	int64_t wait_until; /* ... until this world time */
	struct packet_list packets;
	int64_t request_us, packet_us; /* arrival of the last one sent */
};

TAILQ_HEAD(conn_list, conn);

struct server {
	struct world *w;
	int index;
	char name[8];
	struct redis_db db;
	struct redis_db saved;	/* an older state of it, on disk ... */
	int64_t saved_us;	/* ... as it was then, ... */
	int64_t saved_clock_us; /* ... by its clock ... */
	uint64_t saved_run;	/* ... and in that run */
	struct replication repl;
	int side;      /* of the network, while it is in two */
	bool rogue;    /* a master, although another one was made */
	bool spare;    /* it belongs to nobody, and may join */
	bool retiring; /* a spare took its place: it does not come back */
	struct sentinel *sentinel; /* this one is a Sentinel; or NULL */
	bool humble;	       /* replica-priority 0: it is never promoted */
	int64_t master_us;     /* since when a Sentinel sees it as a master;
			        * -1 */
	bool up, frozen, full; /* full: memory used up */
	bool knows[SCRIPT_MAX];
	int64_t flushed_us;   /* when it forgot its scripts; 0: never */
	uint64_t run;	      /* counts starts; no two servers share a number */
	int64_t zero_us;      /* its clock at world time 0, and steps */
	int64_t rate_ppm;     /* by which its clock is too fast */
	int64_t jumped_us;    /* by how much, all in all */
	int64_t last_jump_us; /* world time of the last one; 0: none */
	struct conn_list conns;
};

void server_init(struct server *s, struct world *w, int index);
void server_fini(struct server *s);

/* The server's clock. */
int64_t server_clock_us(const struct server *s);

/* Runs one command as if a plain client sent it.  The caller frees it. */
redisReply *server_command(struct server *s, const char *const *words);

/* Opens a connection; the first request makes it known to the server. */
struct conn *conn_open(struct link *l, struct server *s);
void conn_send(struct conn *c, struct request *request);
struct request *request_new(enum request_kind kind, int nkeys, int nargs,
    const char *const *words, const size_t *lens);

/* The broker closes it, or dies: what was sent may still be carried out. */
void conn_abandon(struct conn *c);

/* What was sent is lost. */
void conn_discard(struct conn *c);

/* What was sent waits for conn_late(), or for CLIENT KILL. */
void conn_hold_back(struct conn *c);
void conn_late(struct conn *c);

/* A message for a subscriber. */
void conn_message(struct conn *c, struct text message, int64_t extra_us);

/* The connection breaks; the broker is told after a while. */
void conn_break(struct conn *c);

/* What happens to servers. */
void server_new_replid(struct server *s);
void server_disconnect(struct server *s); /* all clients */
void server_acked(struct server *s);	  /* replicas have come further */
void server_reunite(struct server *s);	  /* the network is whole again */
void server_freeze(struct server *s, bool frozen);
void server_stop(struct server *s);
enum server_data { SERVER_EMPTY, SERVER_SAVED, SERVER_KEPT };
void server_start(struct server *s, enum server_data data);
void server_save(struct server *s);
void server_go_back(struct server *s); /* to what was saved */

/* Does any call that found no script come again? */
bool server_repeats(const struct server *s);

#endif
