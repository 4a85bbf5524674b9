/*
 * What the files of the bridge and the handlers share.  Only they include this.
 */
#ifndef LOCKBROKER_DAEMON_BRIDGE_BRIDGE_H
#define LOCKBROKER_DAEMON_BRIDGE_BRIDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/quiet.h"
#include "base/table.h"
#include "core/core.h"
#include "core/dump.h"
#include "front/front.h"
#include "redis/redis.h"
#include "relay/relay.h"

struct alarm;
struct broker;
struct config;
struct identity;
struct monitor;
struct resp;
struct latches;
struct scripts;
struct seeker;
struct upgrade;
struct user;

/* What the bridge knows of a connection; the front keeps the pointer. */
struct client {
	uint64_t session;	 /* of this connection; 0: resumed by another */
	bool quit;		 /* said QUIT */
	bool asking;		 /* an AUTH is under way */
	bool late;		 /* came during a drain, with no session yet */
	uint8_t via;		 /* enum via */
	const struct user *user; /* owned by the configuration; NULL: none */
	struct allowance *allowance; /* of that user (users/allowance.h) */
	struct resp *resp;	     /* owned; NULL: no RESP state to keep */
};

TAILQ_HEAD(job_list, job); /* lists.c */

/* What bridge.c calls of the parts above it. */
struct bridge_hooks {
	/* Carries out the effects of a step; steps the core no further. */
	void (*carry_out)(struct broker *b);

	/* Takes the answer to a request that no client made.  Returns false if
	 * `ref` is a client's. */
	bool (*takes)(struct broker *b, struct conn *c, uint64_t ref,
	    const struct wire_reply *reply);

	/* Writes the answer to a command of Redis.  Returns false if the
	 * connection waits for a verb. */
	bool (*told)(
	    struct broker *b, struct conn *c, const struct wire_reply *reply);
};

/* The broker of a process.  Owned by daemon_main(). */
struct broker {
	const struct bridge_hooks *hooks;
	struct event_base *base; /* not owned */
	const struct config *config;
	struct core *core;
	struct front *front;
	struct redis *redis;
	struct identity *identity;
	struct monitor *monitor; /* HTTP; NULL: not listening */
	struct relay *relay;	 /* speaks TLS; NULL: no TLS */
	struct alarm *alarm;	 /* core_deadline() */
	struct upgrade *upgrade;
	struct seeker *seeker; /* takeover.c */
	uint64_t instance;     /* of this run, drawn at the start */
	int64_t start_ms;
	int64_t accept_ms; /* accepts clients by then; 0: does already */
	uint64_t clients_total;
	struct effects effects;
	struct scripts *scripts; /* texts that RESP clients have sent */
	LIST_HEAD(, look) looks; /* resp_look.c: those that go on */
	uint64_t scripts_unknown;
	struct quiet scripts_quiet;
	struct latches *latches;	    /* resp_redisson.c */
	LIST_HEAD(, resp) spring_listeners; /* resp_spring.c */
	TAILQ_HEAD(, wanted) wanted;	    /* names to be awaited */
	uint64_t last_wanted;
	struct table audiences, audiences_by_id; /* resp_audience.c */
	TAILQ_HEAD(, audience) roused;
	uint64_t last_audience;
	struct buf rows;      /* scratch of the list verbs */
	struct job_list jobs; /* lists that are being made */
	bool failed;
	bool stopping;
	/* Leaving since when, and until when at the latest; 0: is not. */
	int64_t leaving_ms, leave_ms;
	bool draining; /* leaves without a successor */
	/* Draining: no process has replaced it, and it has its Unix sockets,
	 * where an administrator may cancel the drain. */
	bool keeps_local;
	/* Leaving: its places are kept, in case the successor ends. */
	bool may_return;
	bool keeps_http; /* leaving: its successor has HTTP elsewhere */
	/* Leaving: our Redis stays even if the successor is killed. */
	bool server_stays;
};

/* Gives the core one event at the present time, and carries out its effects. */
void bridge_step(struct broker *b, struct core_event *ev);

/* Has the core report and release all that has run out by now. */
void bridge_catch_up(struct broker *b);

/* The session on whose behalf a connection makes requests. */
uint64_t bridge_session(const struct conn *c);

/*
 * Writes the reply to a deferred request, whatever protocol the client speaks.
 * Returns false if there is no such request.
 */
bool bridge_answer(
    struct broker *b, struct conn *c, uint64_t ref, struct wire_reply *reply);

/* What the front, Redis, the alarm and bridge.c call; the argument is the
 * broker. */
extern const struct bridge_hooks bridge_hooks;
extern const struct front_handler bridge_front_handler;
extern const struct redis_handler bridge_redis_handler;
void bridge_on_alarm(void *arg);

/* effects_run.c: carries out the effects of a step. */
void bridge_run_effects(struct broker *b);

/* handlers.c: a request that passed the gate */
void handler_request(void *arg, struct conn *c, const struct request *r);
void handle_quit(struct broker *b, struct conn *c, const struct request *r);

/* lists.c: verbs that answer with several lines */
void handle_list(struct broker *b, struct conn *c, const struct request *r);
/*
 * Answers a QUEUE (`reply` says which) with at most `limit` lines; 0: as many
 * as usual.  `elsewhere` has fields if the name is held through another broker.
 */
void lists_queue(struct broker *b, struct conn *c,
    const struct wire_reply *reply, struct span name, enum kind kind,
    size_t limit, const struct core_row *elsewhere);
/* Answers a WHY: `e`, and the links behind it; `text` has their texts. */
void lists_why(struct broker *b, struct conn *c, const struct wire_reply *reply,
    const struct effect *e, const char *text);
/* Answers a BROKERS. */
void lists_brokers(
    struct broker *b, struct conn *c, const struct wire_reply *reply);
void handle_names(struct broker *b, struct conn *c, const struct request *r);
void handle_history(struct broker *b, struct conn *c, const struct request *r);
void handle_help(struct broker *b, struct conn *c, const struct request *r);
void handle_stats(struct broker *b, struct conn *c, const struct request *r);

/* Goes on for a moment with lists that are being made. */
void lists_run(struct broker *b);
void lists_fini(struct broker *b);

#endif
