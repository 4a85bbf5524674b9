/*
 * Faults: which of them a run has, when they strike, and what may be expected
 * of everybody else meanwhile.
 */
#ifndef LOCKBROKER_SIM_FAULTS_H
#define LOCKBROKER_SIM_FAULTS_H

#include <hiredis/hiredis.h> /* only for redisReply */
#include <stdbool.h>
#include <stdint.h>

#include "prng.h"
#include "redis_db.h"

struct broker;
struct conn;
struct flight;
struct server;
struct world;

/* FAULT(identifier, "word on the command line", what happens) */
/* clang-format off */
#define FAULTS(FAULT) \
	FAULT(DELAY, "delay", "messages on the network take up to some leases") \
	FAULT(CUT, "cut", "connections break, before or after what they carry was done") \
	FAULT(CHANNEL, "channel", "subscriptions break, or fall silent") \
	FAULT(MESSAGE, "message", "messages between brokers are lost, late, doubled") \
	FAULT(PAUSE, "pause", "Redis freezes, and then does what waited in its sockets") \
	FAULT(RESTART, "restart", "Redis dies and comes back: empty, with old data, with its data") \
	FAULT(FLUSH, "flush", "FLUSHALL") \
	FAULT(CLOCK, "clock", "the clock of Redis jumps") \
	FAULT(FREEZE, "freeze", "a broker freezes") \
	FAULT(CRASH, "crash", "a broker dies, and another process takes its place") \
	FAULT(STOP, "stop", "a broker is stopped in order, and started again") \
	FAULT(HICCUP, "hiccup", "a broker freezes between deciding and writing") \
	FAULT(OOM, "oom", "Redis has no memory left") \
	FAULT(FORGET, "forget", "Redis forgets the scripts") \
	FAULT(PLAIN, "plain", "plain clients lock the same names with SET NX PX") \
	FAULT(APART, "apart", "clients are cut off, and brokers hear of that late, or that they have closed") \
	FAULT(LAG, "lag", "replicas lag behind their master") \
	FAULT(PARTITION, "partition", "the network falls into two parts") \
	FAULT(FAILOVER, "failover", "another server becomes the master while the old one works") \
	FAULT(MOVE, "move", "buckets move between the masters of a cluster") \
	FAULT(REPLACE, "replace", "servers of a quorum are replaced, broker after broker hears of it") \
	FAULT(BACK, "back", "data go back in a history that goes on") \
	FAULT(STANDSTILL, "standstill", "a broker freezes, and its clock stands still meanwhile") \
	FAULT(ASIDE, "aside", "the file of an embedded server is set aside, or lacks its end") \
	FAULT(SPOIL, "spoil", "a client of Redis writes fences that no broker can have given") \
	FAULT(HEIR, "heir", "a process that has just replaced another one is killed") \
	FAULT(GARBLE, "garble", "numbers in replies of Redis are changed") \
	FAULT(BOND, "bond", "the channel between the two is slow, full, or cut")
/* clang-format on */

enum fault_bit {
#define FAULT(id, word, what) FAULT_BIT_##id,
	FAULTS(FAULT)
#undef FAULT
	    FAULT_BITS
};

enum fault {
#define FAULT(id, word, what) FAULT_##id = 1 << FAULT_BIT_##id,
	FAULTS(FAULT)
#undef FAULT
	    FAULT_ALL = (1 << FAULT_BITS) - 1
};

/* The first fault that takes several servers. */
#define FAULT_BIT_SEVERAL FAULT_BIT_LAG

/* Owned by the world. */
struct faults {
	unsigned on;	 /* enum fault */
	int64_t back_us; /* the longest jump backwards */
	uint64_t plain_token;
	struct prng late; /* draws for faults that came later: the others
			   * draw as ever */
	bool parted;
	int few;      /* they befall only the first so many servers; 0: all, and
		  * brokers */
	bool garbled; /* a reply was */
	bool misled;  /* and a promise was broken after that */
	bool unnoticed; /* data went back, and no broker has called since */
};

/* Parses "cut,pause"; false: there is an unknown word. */
bool faults_parse(const char *text, unsigned *out);

void faults_start(struct world *w);
void faults_heal(struct world *w);

/* The network falls apart in a moment, if that is a fault of this run. */
void faults_part_soon(struct world *w);

/* A broker dies, or stops in order; another process takes its place. */
void faults_crash(struct broker *b);
void faults_stop(struct broker *b);
void faults_restart(struct broker *b); /* one that is dead, soon */

/* A server that is up loses all its data. */
void faults_flush(struct server *s);

/* Faults of single messages, replies and turns. */
int64_t faults_delay_us(struct world *w, int64_t usual_us);
int64_t faults_lag_us(struct world *w);	  /* of replication, further */
int64_t faults_pause_us(struct world *w); /* of a broker, before lines */
int64_t faults_turn_us(struct world *w, struct broker *b);
bool faults_time_up(struct world *w); /* of a turn, for telling grants */
void faults_message(struct world *w, struct conn *c, struct text message);
void faults_op(struct world *w, struct broker *b, const struct flight *op);
bool faults_reply(struct world *w, struct conn *c); /* false: it is lost */
void faults_abandoned(struct world *w, struct conn *c);

/* faults_spoil.c: draws whether keys and replies are spoilt in this run; a reply
 * is on its way. */
void faults_spoil_draw(struct world *w, struct prng *p);
void faults_garble(struct world *w, redisReply *reply);

/* What may be expected. */
bool faults_none(const struct world *w); /* nothing was ever wrong */
/*
 * For how long nobody may have a name, although it is refused.  Where some servers
 * of a quorum fail, a majority of the others may still have the lease of a hold
 * that ended by the votes of a different majority.
 */
int64_t faults_left_us(const struct world *w);
bool faults_forget(const struct world *w); /* Redis may lose what it knew */
/* A former master still answers, from what it knows. */
bool faults_deposed(const struct world *w);
bool faults_split(const struct world *w); /* two masters may both grant */
bool faults_excuse(struct world *w); /* the same, and something was broken */
bool faults_excuse_fence(struct world *w); /* there were two masters */
int64_t faults_calm_us(const struct world *w);
int64_t faults_patience_us(const struct world *w);

/* The same, for requests that wait for a name: faults of less than a majority
 * of the servers are no excuse. */
int64_t faults_names_calm_us(const struct world *w);
int64_t faults_names_patience_us(const struct world *w);

/* faults_back.c: the data go back, if brokers will notice that; brokers have
 * not noticed yet; the data were saved when all brokers had stopped in
 * order. */
void faults_go_back(struct server *s);
bool faults_unnoticed(struct world *w);
bool faults_saved_idle(struct server *s);

/* faults_echo.c: a message that hands a name over was sent; its broker sends an
 * operation on the name. */
void faults_note_echo(struct conn *c, struct text message);
void faults_echo(struct world *w, struct broker *b, const struct flight *op);

#endif
