/*
 * The process that speaks TLS, as its parts see it.
 *
 *	clients --TLS--> accept.c --> pipe.c <--socket--> broker
 *	servers <--TLS-- dial.c  ---> pipe.c <--socket--> broker
 *	                 control.c <--packets-----------> broker
 *
 * It knows nothing of locks or of Redis: it moves bytes.  It reads private
 * keys, and so nothing else runs in it.  It ends when its broker does.
 */
#ifndef LOCKBROKER_TLS_ENGINE_H
#define LOCKBROKER_TLS_ENGINE_H

#include <event2/event.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "tls/context.h"

struct pipe;
struct place;

/* How whoever dials calls what may have to be changed. */
struct words {
	const char *ca;
	const char *cert;
	const char *names;
};

TAILQ_HEAD(pipe_list, pipe);

/*
 * Connections that have shaken hands come first, and handshakes last: a storm
 * of the latter must not hold up the former.
 */
enum priority { PRIORITY_MOVE, PRIORITY_SHAKE, PRIORITY_MAX };

struct engine {
	struct event_base *base;
	int control;		/* to the broker; -1: there is none */
	struct event *readable; /* of control */
	struct event *writable; /* set while a client can't be handed over */
	bool over;

	struct context servers; /* for those that are dialed */
	struct words words;
	int64_t connect_timeout_ms;
	int64_t reply_timeout_ms;

	LIST_HEAD(, place) places;
	struct event *accept_again;
	bool accepting;
	int64_t unreachable_ms;
	unsigned clients_max;
	uint64_t next_id;

	/* In the order in which they came to that stage. */
	struct pipe_list silent;  /* no whole first message has come yet */
	struct pipe_list shaking; /* hands */
	struct pipe_list ready;	  /* to be handed over when there is room */
	unsigned nhalf;		  /* in these three */
	unsigned npipes;
	struct pipe_list pipes; /* all */

	uint64_t failed; /* handshakes that the broker has not been told of */
	struct event *tell_failed;
	int64_t spell_ms; /* when the lines of this spell began */
	unsigned lines;	  /* said in it */
};

/* Aborts where it can't. */
struct event *engine_event(struct engine *e, int fd, short what,
    event_callback_fn fn, void *arg, enum priority priority);

#endif
