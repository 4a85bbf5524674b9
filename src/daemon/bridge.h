/*
 * What broker.c and the handlers share.  Only they include this.
 */
#ifndef LOCKBROKER_DAEMON_BRIDGE_H
#define LOCKBROKER_DAEMON_BRIDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/list.h"
#include "core/core.h"
#include "core/dump.h"
#include "front/front.h"
#include "redis/redis.h"
#include "relay/relay.h"

struct alarm;
struct audit;
struct config;
struct identity;
struct monitor;
struct resp;
struct scripts;
struct user;

/* What the bridge knows of a connection; the front keeps the pointer. */
struct client {
	uint64_t session;	 /* of this connection; 0: it went to another */
	bool quit;		 /* said QUIT */
	bool asking;		 /* an AUTH is under way */
	uint8_t via;		 /* enum via */
	const struct user *user; /* the configuration's; NULL: nobody's */
	struct resp *resp;	 /* owned; NULL: nothing to be known of RESP */
};

TAILQ_HEAD(job_list, job); /* lists.c */

/* The broker of a process.  Owned by daemon_main(). */
struct broker {
	struct event_base *base; /* not owned */
	const struct config *config;
	struct core *core;
	struct front *front;
	struct redis *redis;
	struct identity *identity;
	struct monitor *monitor; /* HTTP; NULL: nobody listens */
	struct relay *relay;	 /* speaks TLS; NULL: nobody does */
	struct promise *promise; /* NULL: the store itself remembers */
	struct alarm *alarm;	 /* core_deadline() */
	struct audit *audit;	 /* log.audit */
	int64_t start_ms;
	int64_t accept_ms; /* when clients are accepted at the latest; 0: now */
	uint64_t clients_total;
	struct effects effects;
	struct scripts *scripts; /* that RESP clients have sent */
	uint64_t scripts_unknown;
	struct buf rows;      /* scratch of the list verbs */
	struct job_list jobs; /* lists that are being made */
	bool failed;
	bool stopping;
};

/* Gives the core one event at the present time, and does what it says. */
void bridge_step(struct broker *b, struct core_event *ev);

/*
 * What the session of a connection may be told to be vouched for, from now on;
 * -1: it holds nothing.
 */
int64_t bridge_valid_ms(struct broker *b, const struct conn *c);

/* What has run out by now is told, and given back. */
void bridge_catch_up(struct broker *b);

/* As conn_answer(), for whatever the client speaks. */
bool bridge_answer(
    struct broker *b, struct conn *c, uint64_t ref, struct wire_reply *reply);

/* The session of a connection that makes a request. */
uint64_t bridge_session(const struct conn *c);

/* handlers.c: a request that passed the gate */
void handler_request(void *arg, struct conn *c, const struct request *r);
void handle_quit(struct broker *b, struct conn *c, const struct request *r);

/* lists.c: verbs that answer with several lines */
void handle_list(struct broker *b, struct conn *c, const struct request *r);
/*
 * Answers a QUEUE (`reply` says which), with so many lines at most; 0: as many as usual.
 * `elsewhere` has fields where another has the name.
 */
void lists_queue(struct broker *b, struct conn *c,
    const struct wire_reply *reply, struct span name, size_t limit,
    const struct core_row *elsewhere);
void handle_names(struct broker *b, struct conn *c, const struct request *r);
void handle_history(struct broker *b, struct conn *c, const struct request *r);
void handle_help(struct broker *b, struct conn *c, const struct request *r);
void handle_stats(struct broker *b, struct conn *c, const struct request *r);

/* Goes on with lists that are being made, for a moment. */
void lists_run(struct broker *b);
void lists_fini(struct broker *b);

#endif
