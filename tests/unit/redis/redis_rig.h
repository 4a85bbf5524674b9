/*
 * A real redis-server on a Unix socket of its own, and a struct redis that
 * uses it, whose callbacks are written down.
 */
#ifndef LOCKBROKER_TESTS_UNIT_REDIS_RIG_H
#define LOCKBROKER_TESTS_UNIT_REDIS_RIG_H

#include <event2/event.h>
#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "config/config.h"
#include "redis/redis.h"

#define RIG_OPS 2048
#define RIG_TEXT 512

/* A server; server_stop() ends it and removes its directory. */
struct server {
	pid_t pid;
	char dir[64];
	char path[80];
	uint16_t port; /* 0: none */
};

/* How an operation ended. */
struct ended {
	unsigned times;
	struct outcome outcome;
	char text[RIG_TEXT];
	int64_t sent_ms;
};

struct rig {
	struct event_base *base;
	struct config config;
	struct redis *redis;
	struct ended ops[RIG_OPS]; /* by id */
	unsigned answered;
	unsigned expected; /* rig_answered() */
	struct guard_report guard;
	char pend[RIG_TEXT];
	unsigned guards, ups, downs, messages, resubscribed, fatals;
	bool up;
	char message[RIG_TEXT];
	char history[RIG_TEXT]; /* of the server that brought it */
	char why[RIG_TEXT];
	unsigned answered_at_down; /* outcomes told before the link was down */
	void (*on_outcome)(struct rig *rig, uint64_t id);
};

/* The program to test: $REDIS_SERVER, or redis-server. */
const char *server_program(void);

/* argv: further words for the server's command line, ending with NULL. */
void server_start(struct server *s, const char *const *argv);
void server_again(struct server *s, const char *const *argv);
void server_kill(struct server *s);
void server_stop(struct server *s);

/* One command on a connection of its own; returns its reply. */
redisReply *server_do(struct server *s, const char *fmt, ...);
void server_ok(struct server *s, const char *fmt, ...);
/* Makes it listen on a free TCP port; returns that. */
int server_listen(struct server *s);
/* The number after `KEY` in an INFO section; 0 if there is none. */
long server_info(struct server *s, const char *section, const char *key);
bool server_says(struct server *s, const char *section, const char *text);

/* The default settings, for a server on that socket; NULL: embedded. */
void rig_config(struct rig *rig, const char *path);
void rig_open(struct rig *rig);
void rig_close(struct rig *rig);

/* Runs the loop until the condition holds; fails after 10 s. */
typedef bool rig_condition(struct rig *rig);
void rig_until(struct rig *rig, rig_condition *condition, const char *what);
void rig_for(struct rig *rig, int64_t ms);

bool rig_is_up(struct rig *rig);
bool rig_is_down(struct rig *rig);
bool rig_is_fatal(struct rig *rig);
bool rig_answered(struct rig *rig); /* `expected` outcomes are there */

/* The same, and ends each turn with a flush, as a broker does: operations may
 * wait for calls that are under way. */
bool rig_answered_in_turns(struct rig *rig);

/* Submits operations; the seq of the token is the id. */
void rig_op(struct rig *rig, uint64_t id, enum op_kind kind, const char *name);
/* Flushes, and runs until every submitted operation is answered. */
void rig_turn(struct rig *rig);

/* Starts, waits for the link, and blesses the server. */
void rig_ready(struct rig *rig);

/* Makes a server (argv as for server_start(); NULL: none) and the configuration
 * only; the same, with everything ready; and the end of both. */
void rig_begin(struct rig *rig, struct server *server, const char *const *argv);
void rig_begin_ready(struct rig *rig, struct server *server);
void rig_end(struct rig *rig, struct server *server);

#define ck_status(rig, id, is)                                                 \
	do {                                                                   \
		ck_assert_uint_eq((rig)->ops[id].times, 1);                    \
		ck_assert_int_eq((rig)->ops[id].outcome.status, OUTCOME_##is); \
	} while (0)

#endif
