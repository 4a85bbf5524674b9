/*
 * The process that speaks TLS, as its parts see it.
 *
 *	clients --TLS--> accept.c --> pipe.c <--socket--> broker
 *	servers <--TLS-- dial.c  ---> pipe.c <--socket--> broker
 *	                 control.c <--packets-----------> broker
 *
 * The process moves bytes, and knows nothing of locks or of Redis.  It does
 * nothing else, because it reads private keys.  It ends when its broker does.
 */
#ifndef LOCKBROKER_TLS_ENGINE_H
#define LOCKBROKER_TLS_ENGINE_H

#include <event2/event.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "relay/packet.h"
#include "tls/context.h"

struct engine;
struct pipe;
struct place;

/* The caller's names for the settings that may have to change. */
struct words {
	const char *ca;
	const char *cert;
	const char *names;
};

TAILQ_HEAD(pipe_list, pipe);

/*
 * Connections with a complete handshake come first, and handshakes last: a
 * storm of handshakes must not delay the others.
 */
enum priority { PRIORITY_MOVE, PRIORITY_SHAKE, PRIORITY_MAX };

/* What accept.c and pipe.c report to the broker (control.h).  Static. */
struct engine_listener {
	enum packet_end (*client)(struct engine *e, struct pipe *p, int local);
	void (*wait)(struct engine *e);
	bool (*ended)(struct engine *e, uint64_t id, const char *how);
	void (*failed)(struct engine *e, const char *peer, const char *why);
	void (*closed)(struct engine *e);
};

struct engine {
	struct event_base *base;
	const struct engine_listener *above;
	int control;		/* to the broker; -1: there is none */
	struct event *readable; /* of control */
	struct event *writable; /* set while a client cannot be handed over */
	bool over;

	struct context servers; /* for connections to servers */
	struct words words;
	int64_t connect_timeout_ms;
	int64_t reply_timeout_ms;

	LIST_HEAD(, place) places;
	struct event *accept_again;
	bool accepting;
	bool closing; /* no more clients; handshakes continue */
	int64_t unreachable_ms;
	int64_t header_ms; /* time limit of a PROXY protocol header */
	unsigned clients_max;
	uint64_t next_id;

	/* In the order in which they entered that stage. */
	struct pipe_list silent;  /* without a whole first message */
	struct pipe_list shaking; /* in the handshake */
	struct pipe_list ready;	  /* waiting for room at the broker */
	unsigned nhalf;		  /* in these three */
	unsigned npipes;
	struct pipe_list pipes; /* all */

	uint64_t failed; /* failed handshakes not reported yet */
	struct event *tell_failed;
	int64_t spell_ms; /* when this period of log lines began */
	unsigned lines;	  /* logged in it */
};

/* Aborts if the event cannot be made. */
struct event *engine_event(struct engine *e, int fd, short what,
    event_callback_fn fn, void *arg, enum priority priority);

#endif
