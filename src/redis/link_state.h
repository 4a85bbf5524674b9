/*
 * The struct of a link.  Only link.c (the states), link_io.c (the socket and
 * the commands on it) and link_greet.c (the greeting) include this.
 */
#ifndef LOCKBROKER_REDIS_LINK_STATE_H
#define LOCKBROKER_REDIS_LINK_STATE_H

#include <event2/event.h>
#include <hiredis/hiredis.h>

#include "base/buf.h"
#include "base/list.h"
#include "redis/io_state.h"
#include "redis/link.h"
#include "redis/resolve.h"
#include "relay/relay.h"

#define SHA_BYTES 40
#define LINK_WHY_SIZE 640

/* A command under way.  Owned by its link, which uses it again afterwards. */
struct request {
	TAILQ_ENTRY(request) entry;
	link_reply *done;
	void *arg;
	int64_t deadline_ms; /* INT64_MAX: none of its own */
};
TAILQ_HEAD(request_list, request);

/* Is a reply to the greeting good enough to go on? */
typedef bool link_judge(struct link *l, const redisReply *reply);

#define GREETINGS_MAX 16

/* A command of the greeting: what it is called if it fails.  Plain data. */
struct greeting {
	const char *what;
	link_judge *judge;
};

struct link {
	struct link_config config;
	char *password; /* owned; as read last */
	bool unread;	/* its file cannot be read, and that was logged */
	const struct link_handler *handler;
	void *arg;
	enum link_state state;

	redisContext *c; /* the connection, or NULL */
	struct event *readable;
	struct event *writable;
	bool dirty;		 /* something waits for link_flush() */
	struct buf command;	 /* the command being formatted */
	bool heard;		 /* a reply has come */
	size_t unfinished;	 /* bytes of the reply that is not whole yet */
	unsigned depth;		 /* of work that needs the connection to stay */
	bool doomed;		 /* to be cut when that is 0 */
	bool refused;		 /* cut because of what the server said */
	char why[LINK_WHY_SIZE]; /* the reason for the present or last cut */
	struct relay_line greeting; /* of the TLS process */
	const char *advice;	    /* static, or NULL */

	struct request_list requests; /* in the order they were sent */
	struct request_list spare;
	struct timer *overdue; /* the earliest deadline, or before it */
	int64_t overdue_ms;    /* when that fires; INT64_MAX: it is not set */
	unsigned patience;     /* how often it waited for a late reply */

	struct timer *timer; /* of an attempt, or of the pause before one */
	unsigned attempts;   /* since it was last up for a while */
	int64_t up_ms;	     /* when it came up */
	struct lookup *lookup;
	struct resolved addresses;
	unsigned next_address;

	/* What the greeting learned. */
	struct info info;
	uint64_t client_id;
	struct greeting greeted[GREETINGS_MAX]; /* of this round */
	unsigned greetings, answered; /* sent, and of these answered */
	bool second;		      /* round */
	char sha[SCRIPT_MAX][SHA_BYTES + 1];
};

/* link.c */
void link_set_state(struct link *l, enum link_state state);

/* Reports that the connection is gone or useless, and tries again later. */
void link_lost(struct link *l, const char *why, const char *advice);
void link_greeted(struct link *l);

/* link_io.c */
void link_io_init(struct link *l);
void link_io_fini(struct link *l);

/* Takes over a new context; sets the options of its socket. */
void link_attach(struct link *l, redisContext *c);

/* Frees the context, if any; answers commands under way with NULL. */
void link_detach(struct link *l);

/* Like link_send(), but in any state that has a connection. */
bool link_command(struct link *l, int64_t timeout_ms, link_reply *done,
    void *arg, int argc, const char **argv, const size_t *argvlen);

/* link_greet.c */
void link_greet(struct link *l);

#endif
