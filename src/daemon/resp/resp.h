/*
 * Clients that speak RESP: commands of Redis (resp/commands.def) that are not
 * verbs of ours.
 *
 *	a request --> resp_command(): its row, rights --> its handler
 *	                                                   |      |
 *	           written at once <-----------------------+      |
 *	           resp_takes_reply(), when the answer comes <-----------+
 *
 * Only the files resp*.c and broker.c include this.
 */
#ifndef LOCKBROKER_DAEMON_RESP_RESP_H
#define LOCKBROKER_DAEMON_RESP_RESP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "daemon/bridge/bridge.h"
#include "resp/ask.h"
#include "resp/commands.h"
#include "resp/scripts.h"
#include "wire/resp_value.h"

/* Libraries look at this version to see which commands they may use. */
#define RESP_REDIS_VERSION "8.4.0"

/*
 * Writes the answer to the command that waits, from the reply of the core or
 * the hasher.  It may be called inside a step of the core.
 */
typedef void (*resp_then)(
    struct broker *b, struct conn *c, const struct wire_reply *reply);

/* A channel that a client has subscribed to.  Owned by struct resp. */
struct channel {
	LIST_ENTRY(channel) link;
	/* resp_audience.c: of a lock of Redisson, or NULL and nothing more. */
	struct audience *audience;
	TAILQ_ENTRY(channel) in_audience;
	uint64_t conn; /* id */
	char kind; /* the first letter of the command: s, p; S is of shards */
	size_t len;
	char name[];
};

/* What the broker keeps of a connection that has sent a command. */
struct resp {
	resp_then then;	    /* NULL: no command waits */
	char *name;	    /* owned; set by CLIENT SETNAME; NULL: none */
	char *new_name;	    /* owned: the name in a HELLO that waits */
	bool three;	    /* the HELLO that waits asks for RESP3 */
	enum resp_id id;    /* the command that is being carried out */
	enum ask_form form; /* of the answer that is awaited */
	char *mine;	    /* owned: the token it is compared with */
	size_t mine_len;
	struct ask_wrong wrong;
	bool parks; /* the answer may be put off until others have gone */
	LIST_HEAD(, channel) channels;
	unsigned nchannels;

	/* resp_redisson.c */
	struct parts *parts; /* owned: the request of many names; NULL: none */

	/* resp_look.c */
	struct look *look; /* owned; NULL: none */

	/* resp_multi.c; owned */
	struct multi *multi; /* a MULTI whose EXEC has not come; NULL: none */
	struct multi *exec;  /* an EXEC that is being carried out; NULL: none */

	/* resp_audience.c: id of the listeners that are told if the request in
	 * hand releases a lock; 0: none */
	uint64_t frees;

	/* resp_spring.c */
	char *lock; /* owned: the name that a request takes for whose release
		       its program listens; NULL */
	int64_t lock_ms; /* for how long the program may listen */
	LIST_HEAD(, wanted) wanted;
	unsigned nwanted;
	LIST_ENTRY(resp) in_listeners;
	uint64_t listens; /* id of the connection; 0: it does not */
};

void resp_free(struct broker *b, struct resp *rs);
struct resp *resp_of(struct conn *c);

/* Handles a request that is no verb: front_handler.command. */
void resp_command(void *arg, struct conn *c, const struct request *r);

/* Returns false if the connection waits for a verb and not for a command. */
bool resp_takes_reply(
    struct broker *b, struct conn *c, const struct wire_reply *reply);

bool resp_three(const struct conn *c);
void resp_fail_why(struct conn *c, const struct buf *why);
void resp_fail(struct conn *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Asks the core about token holds, for the session of the client. */
void resp_step(
    struct broker *b, const struct conn *c, struct token_request *rq);

/* The same, and writes the answer. */
void resp_ask(
    struct broker *b, struct conn *c, const struct request *r, struct ask *a);
/* May the answer that the connection waits for be put off? */
bool resp_is_parked(const struct conn *c);

void resp_answer(struct broker *b, struct conn *c, uint64_t ref,
    const struct token_result *t, const char *text);

/* Returns true if the client may not lock the names; it has been told so. */
bool resp_refuse_names(struct broker *b, struct conn *c,
    const struct request *r, const char *word, const struct ask *a);

/* Is it a GET that asks about no lock, and is answered nil? */
bool resp_is_idle_question(enum resp_id id, const struct request *r);

/* Ends all subscriptions. */
void resp_forget_channels(struct broker *b, struct resp *rs);

/* resp_audience.c: the client subscribes to a channel, or leaves it. */
void resp_audiences_init(struct broker *b);
void resp_audiences_fini(struct broker *b);
void resp_audience_join(struct broker *b, struct conn *c, struct channel *ch);
void resp_audience_leave(struct broker *b, struct channel *ch);
/* The client has been told so: threads that waited before its connection broke
 * look again. */
void resp_audience_joined(struct conn *c, const struct channel *ch);

/* A request is about to be sent to the core, or has been answered. */
void resp_audience_ask(struct broker *b, struct conn *c, struct ask *a);
void resp_audience_freed(
    struct broker *b, struct conn *c, const struct token_result *t);

/* The core says that listeners must be told; some of them are. */
void resp_audience_told(struct broker *b, uint64_t id);
void resp_audience_run(struct broker *b);

/* resp_spring.c: a request for a lock of spring-integration, and its answer. */
void resp_spring_asks(struct resp *rs, const struct ask *a);
void resp_spring_told(
    struct broker *b, struct conn *c, const struct token_result *t);

/* The client has subscribed to a channel, or left one. */
void resp_spring_listen(struct broker *b, struct conn *c);

/* Awaits names that clients have begun to wait for. */
void resp_spring_run(struct broker *b);

/* Takes the answer to that; NULL: an error.  Returns false if `ref` is a
 * client's. */
bool resp_spring_woken(struct broker *b, struct conn *c, uint64_t ref,
    const struct token_result *t);
void resp_spring_gone(struct broker *b, struct resp *rs);

/* resp_look.c: a request that looks first (`looks`); its answers; and those
 * that continue. */
void resp_look(
    struct broker *b, struct conn *c, const struct request *r, struct ask *a);
bool resp_look_told(struct broker *b, struct conn *c, uint64_t ref,
    const struct token_result *t);
void resp_look_run(struct broker *b);
void resp_look_free(struct look *l);

/* resp_redisson.c: the results of requests that clients may send twice. */
struct latches *resp_latches_new(void);
void resp_latches_free(struct latches *l);

/* Is it a DEL of the note about such a request?  Then the answer is written. */
bool resp_is_latch(enum resp_id id, const struct request *r);
void resp_del_latch(struct broker *b, struct conn *c, const struct request *r);

/* Was the request carried out before, or is it?  Then the answer is written. */
bool resp_latched(struct broker *b, struct conn *c, struct ask *a);

/* A request on the hold of a token is about to be sent to the core: notes the
 * answer if the broker refuses it, and which unlock of Redisson it is. */
void resp_redisson_asks(struct broker *b, struct conn *c, const struct ask *a);

/* Takes the result of a request, even if its client is gone; NULL: an error. */
void resp_latch_told(struct broker *b, uint64_t session, uint64_t ref,
    const struct token_result *t);

/* A script for many names. */
void resp_ask_each(struct broker *b, struct conn *c, const struct request *r,
    enum script_id id);

/* Takes the answer for one of them; an error if t is NULL.  Returns false if
 * `ref` is of another request. */
bool resp_part_told(struct conn *c, uint64_t ref, const struct token_result *t,
    const struct wire_reply *reply);

/*
 * resp_multi.c: takes a queued request, verb or command, and answers it;
 * returns false if the request is not queued.
 */
bool resp_multi_takes(struct conn *c, const struct request *r);
/* A request that is queued was refused: so is the EXEC, for that reason. */
void resp_multi_spoil(struct conn *c, const char *why);
void resp_multi_free(struct resp *rs);

/* EXEC: carries out the one command by run(), and answers all of them. */
typedef void resp_run(
    struct broker *b, struct conn *c, const struct request *r, enum resp_id id);
void resp_multi_exec(
    struct broker *b, struct conn *c, const struct request *r, resp_run *run);

/* The answer to a command follows, or has been written: it may be one of an
 * EXEC. */
void resp_exec_begins(struct conn *c);
void resp_exec_ends(struct conn *c);

void resp_time_now(struct buf *out);

/* The handlers of the table. */
typedef void resp_handler(
    struct broker *b, struct conn *c, const struct request *r);
resp_handler resp_ping, resp_echo, resp_hello, resp_auth, resp_reset,
    resp_select, resp_client_id, resp_client_info, resp_client_getname,
    resp_client_setname, resp_client_setinfo, resp_command_count,
    resp_command_info, resp_command_list, resp_config_get, resp_info, resp_time,
    resp_numsub, resp_subscribe, resp_unsubscribe, resp_key, resp_eval,
    resp_evalsha, resp_script_load, resp_script_exists, resp_blpop, resp_multi,
    resp_exec, resp_discard, resp_fixed;

/* Milliseconds since 1970, for requests that name a time: by the clock of the
 * server that has the name, as with Redis, whatever that of this host shows. */
int64_t resp_clock_ms(const struct broker *b, struct span name);

#endif
