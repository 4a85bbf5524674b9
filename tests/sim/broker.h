/*
 * One broker of a simulated world: the real core and the real gather, driven
 * as the daemon drives them, over links that can break.
 *
 * A turn is what broker_turn() of daemon/broker.c is, in its order: what has
 * come in is stepped through, and calls leave; time passes, as much as a fault
 * likes; then grants are told (CORE_FLUSH, with a fresh clock), lines are
 * written, and calls leave again.
 */
#ifndef LOCKBROKER_SIM_BROKER_H
#define LOCKBROKER_SIM_BROKER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "core/core.h"
#include "store/gather.h"

#include "client.h"
#include "cluster.h"
#include "sentinel.h"
#include "server.h"

#define BROKER_OPS_MAX 4096
#define WORLD_SERVERS_MAX 12 /* 9 that vote, and spare ones */
#define LANES_MAX 3
#define ECHO_SIZE 128 /* of a message that hands a name over */

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
	INPUT_BROKEN
};

/* What has come in and was not yet looked at.  Owned by the broker. */
struct input {
	STAILQ_ENTRY(input) entry;
	enum input_kind kind;
	uint64_t sitting; /* the connection; 0: none */
	uint64_t ref;
	bool orderly;
	bool quit;
	int64_t grace_ms;	   /* TENURE; -1: it says nothing of it */
	int64_t heartbeat_ms;	   /* the same */
	struct broker *broker;	   /* it was held back by this one; or NULL */
	uint64_t resumes;	   /* RESUME: this session; 0: a forged key */
	char key[CLIENT_KEY_SIZE]; /* RESUME */
	struct core_request request;
	struct core_name names[CLIENT_NAMES_MAX]; /* of the request ... */
	char texts[CLIENT_NAMES_MAX][8];	  /* ... and their text */
	struct conn *conn;
	redisReply *reply; /* owned */
	char *message;	   /* owned */
};

STAILQ_HEAD(input_list, input);

/* An operation in flight: what the checker wants to know of its outcome. */
struct flight {
	uint64_t id;
	enum op_kind kind;
	uint32_t shard;
	uint64_t seq;
	char name[16];
};

enum link_state { LINK_DOWN, LINK_HELLO, LINK_UP };

/* What a connection will be answered: a call, a WAIT, a CLIENT KILL.  Owned by
 * its link. */
struct errand {
	TAILQ_ENTRY(errand) entry;
	struct call *call; /* NULL: one of the others */
	struct link *kill; /* whose old connections it kills; NULL: a WAIT */
	int64_t until_ms;  /* by the broker's clock */
};

TAILQ_HEAD(errand_list, errand);

/* A connection that carries calls: a lane of its pool. */
struct link {
	struct pool *pool;
	int index;
	enum link_state state;
	struct conn *conn;
	struct errand_list errands; /* sent, not answered; in order */
	struct call_list line;	    /* not sent yet: they can wait */
	struct call_list held;	    /* answered, but not yet their WAIT */
	bool waiting;		    /* a WAIT is under way */
	bool unconfirmed;	    /* calls were sent and no WAIT behind */
	unsigned patient;	    /* operations under way that could wait */
	struct victim stale[VICTIMS_MAX]; /* connections before, of one run */
	int nstale;
	struct link *killer; /* it was sent their CLIENT KILL; or NULL */
	bool more_stale;     /* than that one is for */
	int failures;	     /* in a row */
	uint64_t generation;
	int64_t hello_us; /* when the handshake gives up */
	int64_t armed_us; /* when its timer looks again; past: it does not */
};

/* The connection that carries messages. */
struct channel {
	struct conn *conn;
	uint64_t generation;
	bool ready;
};

/* The connections to one server, one of them for messages.  Part of its broker,
 * and outlives it. */
struct pool {
	struct broker *broker;
	int index;
	struct server *server; /* where it connects to */
	struct link links[LANES_MAX];
	int nlinks, nup;
	bool in_vain; /* the last WAIT was */
	struct channel channel;
};

struct broker {
	struct world *w;
	int index;
	char name[8];
	uint64_t instance;
	bool alive;
	bool frozen;  /* until somebody thaws it */
	bool in_turn; /* between its steps and its writes */
	bool due;     /* a turn is on its way */
	bool stopping;
	int64_t zero_ms; /* its clock at world time 0 */
	int64_t rate_ppm;
	int64_t wall_us;       /* its wall clock at world time 0 */
	uint64_t life;	       /* counts starts; the tag of its events */
	uint64_t wake;	       /* the tag of the timer that counts */
	int64_t timer_ms;      /* when it fires; INT64_MAX: it is not set */
	bool fired;	       /* it has, and the time was not stepped yet */
	int64_t turn_us;       /* when the first unwritten step was made */
	int64_t awake_us;      /* since when it is not stalled */
	int64_t promised_ms;   /* owned: until when the note says ... */
	int64_t floor_ms;      /* ... and said when it started */
	struct core *core;     /* owned while alive */
	struct gather *gather; /* owned while alive */
	struct effects fx;
	struct effects late; /* of the step that tells grants */
	struct input_list inputs;
	uint64_t crowd;	  /* the session of the crowd; 0: none */
	uint64_t pollers; /* the one of the pollers; 0: none */
	int side;	  /* of the network, while it is in two */
	struct follower follower;
	struct pool pools[WORLD_SERVERS_MAX];
	int list[WORLD_SERVERS_MAX]; /* quorum: the servers it was told of */
	struct routes routes;	     /* cluster */
	int npools;
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

/* It cannot say anything just now. */
static inline bool
broker_stalled(const struct broker *b)
{
	return b->frozen || b->in_turn;
}

/* Its clock, now; and when, in the world, its clock shows `ms`. */
int64_t broker_clock_ms(const struct broker *b);
int64_t broker_world_us(const struct broker *b, int64_t ms);

/* A client's line has arrived.  Takes the input over. */
struct input *input_new(enum input_kind kind, uint64_t sitting);
void broker_input(struct broker *b, struct input *in);

/* From the server. */
void broker_packet(
    struct broker *b, struct conn *c, redisReply *reply, char *message);
void broker_conn_broken(struct broker *b, struct conn *c);

/* broker_talk.c: an input is acted upon; an effect is about whose connection is
 * whose. */
void broker_take(struct broker *b, struct input *in);
void broker_attach(struct broker *b, const struct effect *e);

/* What the steps of a turn have said is written: to the connections that hear
 * of a loss; to all, those first. */
void broker_hurry(struct broker *b);
void broker_tell(struct broker *b);

/* Steps the time, where something is overdue. */
void broker_catch_up(struct broker *b);

/* For link.c: steps, and the turn that must follow. */
void broker_step(struct broker *b, const struct core_event *event);
void broker_wake(struct broker *b);

/* link.c */
void pool_init(struct pool *p, struct broker *b, int index);
void pool_start(struct pool *p);
void pool_move(struct pool *p, struct server *server);
void pool_refuse(struct pool *p);  /* its server; later again */
void pool_abandon(struct pool *p); /* the broker dies */
void pool_packet(struct conn *c, const redisReply *reply, const char *message);
void pool_broken(struct conn *c);
void pool_check(struct pool *p);	      /* what has taken too long */
void pool_send(void *arg, struct call *call); /* of a broker */
void pool_flush(struct pool *p);	      /* behind the calls of a turn */
void pool_send_to(struct pool *p, struct call *call); /* another one's */

/* link_stale.c; link_send_kill() is link.c's */
void link_note_stale(struct link *l);
void pool_kill_stale(struct pool *p);
void link_send_kill(struct link *by, struct link *of);
void link_killed(struct link *l, const redisReply *reply);
struct link *pool_lane(struct pool *p, int index); /* NULL: none, now */

static inline bool
pool_is_up(const struct pool *p)
{
	return p->nup > 0;
}

#endif
