/*
 * One broker of a simulated world: the real core and the real src/redis,
 * driven as the daemon drives them, over links that can break.
 *
 * A turn has the order of broker_turn() in daemon/bridge/broker.c: the broker steps
 * through what has come in, and calls leave; time passes, as much as a fault
 * likes; then it tells grants (CORE_FLUSH, by a fresh reading of the clock),
 * writes lines, and calls leave again.
 */
#ifndef LOCKBROKER_SIM_BROKER_H
#define LOCKBROKER_SIM_BROKER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "config/config.h"
#include "core/core.h"

#include "client.h"
#include "cluster.h"
#include "leaving.h"
#include "net.h"
#include "sentinel.h"
#include "server.h"

#define BROKER_OPS_MAX 4096
#define WORLD_SERVERS_MAX 12 /* 9 that vote, and spare ones */
#define LANES_MAX 3
#define ECHO_SIZE 128 /* of a message that hands a name over */

struct core_gauges;
struct world;

enum input_kind {
	INPUT_OPEN,
	INPUT_REQUEST,
	INPUT_PING,
	INPUT_CANCEL,
	INPUT_TENURE,
	INPUT_RESUME,
	INPUT_DRAIN,
	INPUT_GONE,
	INPUT_CROWD,
	INPUT_POLLERS,
	INPUT_PACKET,
	INPUT_BROKEN,
	INPUT_BOND, /* something of the other process, or its end */
	INPUT_ROOM  /* in the channel to that one */
};

/* What has come in and has not been handled yet.  Owned by the broker. */
struct input {
	STAILQ_ENTRY(input) entry;
	enum input_kind kind;
	uint64_t sitting; /* the connection; 0: none */
	uint64_t ref;
	bool orderly;
	bool quit;
	int64_t grace_ms;	    /* TENURE; -1: it says nothing about it */
	int64_t heartbeat_ms;	    /* the same */
	bool has_end, by_quit_only; /* end= of an INPUT_TENURE */
	struct broker *broker;	    /* this broker held it back; or NULL */
	uint64_t resumes;	    /* RESUME: this session; 0: a forged key */
	char key[CLIENT_KEY_SIZE];  /* RESUME */
	struct core_request request;
	struct core_name names[CLIENT_NAMES_MAX]; /* of the request ... */
	char texts[CLIENT_NAMES_MAX][8];	  /* ... and their text */
	struct conn *conn;
	redisReply *reply; /* owned */
	char *message;	   /* owned */
};

STAILQ_HEAD(input_list, input);

/* An operation in flight, with what the checker wants to know about its
 * outcome. */
struct flight {
	uint64_t id;
	enum op_kind kind;
	uint32_t shard;
	uint64_t seq;
	char name[16];
};

struct broker {
	struct world *w;
	int index;
	enum broker_part part;
	char name[8];
	uint64_t instance;
	bool alive;
	bool frozen;  /* until somebody thaws it */
	bool in_turn; /* between its steps and its writes */
	bool due;     /* a turn is on its way */
	bool stopping;
	bool may_return;     /* it leaves, and accepts again if the one that
			      * has replaced it ends */
	int64_t back_us;     /* when it did so last */
	uint64_t bond;	     /* the channel by which it was replaced */
	unsigned promised;   /* connections that were not handed to it yet */
	int64_t promised_us; /* the last one */
	int64_t zero_ms;     /* its clock at world time 0 */
	int64_t rate_ppm;
	int64_t wall_us;      /* its wall clock at world time 0 */
	uint64_t life;	      /* counts starts; the tag of its events */
	uint64_t wake;	      /* the tag of the only timer event that counts */
	int64_t timer_ms;     /* when it fires; INT64_MAX: it is not set */
	bool fired;	      /* it has fired, and the time was not stepped
			       * yet */
	int64_t turn_us;      /* when the first unwritten step was made */
	int64_t awake_us;     /* when it last stopped being stalled */
	int64_t start_us;     /* when it started */
	int64_t still_us;     /* its clock stands still since then; 0: no */
	int64_t stood_ms;     /* for how long it stood still, in all ... */
	int64_t slept_ms;     /* ... and latest ... */
	int64_t still_ms;     /* ... at this time of its own */
	int64_t stopped_ms;   /* it has frozen, and its clock may stand still */
	int64_t aware_us;     /* from when on it knows that */
	struct core *core;    /* owned while alive */
	struct redis *redis;  /* owned while alive */
	struct config config; /* that one's */
	struct address nodes[WORLD_SERVERS_MAX]; /* the config's */
	struct net net;
	struct effects fx;
	struct effects late; /* of the step that tells grants */
	struct input_list inputs;
	uint64_t crowd;		       /* the session of the crowd; 0: none */
	uint64_t pollers;	       /* the one of the pollers; 0: none */
	int side;		       /* of the network, while it is in two */
	int list[WORLD_SERVERS_MAX];   /* quorum: servers it was told of */
	int voters[WORLD_SERVERS_MAX]; /* the servers that it votes with */
	int nvoters;
	char echoes[CHECKER_NAMES_MAX][ECHO_SIZE]; /* the last handover */
	struct flight flights[BROKER_OPS_MAX];
	int nflights;
};

void broker_init(struct broker *b, struct world *w, int index);
void broker_start(struct broker *b);
void broker_crash(struct broker *b);
void broker_freeze(struct broker *b, bool frozen);
void broker_stop(struct broker *b); /* CORE_STOP */
void broker_fini(struct broker *b);

/* It can't say anything just now. */
static inline bool
broker_stalled(const struct broker *b)
{
	return b->frozen || b->in_turn;
}

/* Has its clock stood still, without any chance for the broker to know it
 * yet? */
static inline bool
broker_unaware(const struct broker *b, int64_t now_us)
{
	return now_us < b->aware_us;
}

/* Does it only try by this name whether grants are carried out (core/guard)?
 * No client can have the name. */
static inline bool
broker_tries(const char *name)
{
	return name[0] == '@';
}

/* It freezes, and its clock stands still; both go on. */
void broker_stand_still(struct broker *b);
void broker_go_on(struct broker *b);

/* What its clock shows now; and when, in world time, it shows `ms`. */
int64_t broker_clock_ms(const struct broker *b);
int64_t broker_world_us(const struct broker *b, int64_t ms);

/* A client's line has arrived.  Frees the input, later. */
struct input *input_new(enum input_kind kind, uint64_t sitting);
void broker_input(struct broker *b, struct input *in);

/* A packet from the server has arrived. */
void broker_packet(
    struct broker *b, struct conn *c, redisReply *reply, char *message);
void broker_conn_broken(struct broker *b, struct conn *c);

/* broker_talk.c: acts upon an input; handles an effect that says which
 * connection a session has. */
void broker_take(struct broker *b, struct input *in);
void broker_attach(struct broker *b, const struct effect *e);

/* Write what the steps of a turn have said: broker_hurry() to the connections
 * that hear of a loss, broker_tell() to all, those first. */
void broker_hurry(struct broker *b);
void broker_tell(struct broker *b);

/* Has a session lost the hold with that fence, or (0) its permits, in this turn,
 * while another connection than `sitting` had it?  No such line is written yet. */
bool broker_has_lost(const struct broker *b, uint64_t session, uint64_t sitting,
    const char *name, uint64_t fence);

/* Has this turn a loss of the name by DRILL, which is not written yet? */
bool broker_has_drilled(const struct broker *b, const char *name);

/* How many news of a name that it watches has this turn for a session?  They
 * are not written yet. */
unsigned broker_has_news(
    const struct broker *b, uint64_t session, const char *name);

/* Answers a request with an error. */
void broker_refuse(
    struct broker *b, uint64_t sitting, uint64_t ref, enum err_code code);

/* core_gauges(), whatever the core is. */
void broker_gauges(const struct broker *b, struct core_gauges *gauges);

/* Steps the time, if something is overdue. */
void broker_catch_up(struct broker *b);

/* Steps the core, and plans the turn that must follow. */
void broker_step(struct broker *b, const struct core_event *event);
void broker_wake(struct broker *b);

/* broker_store.c */

/* Makes the store of a broker that starts, and connects. */
void broker_open_store(struct broker *b);

/* Adds a server to its redis.nodes; the host must outlive the broker. */
void broker_add_node(struct broker *b, char *host, int port);

#endif
