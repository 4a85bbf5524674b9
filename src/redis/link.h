/*
 * One connection to a Redis server that is kept up: resolve, connect, greet,
 * use, and after a cut again, with growing, jittered pauses.
 *
 *	down -> resolving -> connecting -> greeting -> up
 *	  ^---------------------------------------------+   whatever fails
 *
 * The greeting says who we are (AUTH, SELECT, CLIENT SETNAME), asks who is
 * there (CLIENT ID, INFO), refuses a server that may evict locks, and loads
 * the scripts; on a subscriber it subscribes.  A link is up when the server
 * has answered all of that well.
 *
 * A plain link is for a server that keeps no locks (a Sentinel): its greeting
 * only says who we are.
 *
 * A command is answered exactly once.  NULL is an answer: the connection was
 * lost or the reply took too long, so it is unknown what became of the command.
 */
#ifndef LOCKBROKER_REDIS_LINK_H
#define LOCKBROKER_REDIS_LINK_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/address.h"
#include "redis/info.h"
#include "store/script_call.h"

struct io;

/* clang-format off */
#define LINK_STATES(STATE) \
	STATE(DOWN, "down") \
	STATE(RESOLVING, "resolving") \
	STATE(CONNECTING, "connecting") \
	STATE(GREETING, "greeting") \
	STATE(UP, "up")
/* clang-format on */

enum link_state {
#define STATE(id, word) LINK_##id,
	LINK_STATES(STATE)
#undef STATE
	    LINK_STATE_MAX
};

/* What it needs; everything pointed to must outlive the link. */
/* Why a link is down if its server is there, but silent. */
#define LINK_SILENT \
	"it accepts the connection but does not answer (frozen, or overloaded)"

struct link_config {
	struct io *io;
	const struct address *address;
	const char *user;	   /* "": the default user */
	const char *password;	   /* "": no AUTH */
	const char *password_file; /* read at each greeting; NULL or "": none */
	bool cluster;		   /* nodes of a cluster will do */
	unsigned database;
	const char *client_name;
	const char *channel;	    /* to subscribe to; NULL: for commands */
	bool plain;		    /* to a server that keeps no locks */
	int64_t connect_timeout_ms; /* of connecting and of greeting */
	int64_t reply_timeout_ms;   /* limit for each command's own */
	int64_t retry_ms_max;
};

struct link;

/* Strings live until the callback returns. */
struct link_handler {
	void (*up)(void *arg, struct link *l);
	/*
	 * The link was up and no longer is (reported before its commands are
	 * answered), or an attempt failed: with all addresses of the name, or
	 * with one address whose server refused us.  The advice, if not NULL,
	 * says what to do.  NULL if nobody wants to know.
	 */
	void (*down)(void *arg, struct link *l, bool was_up, const char *why,
	    const char *advice);
	/* A message came on the channel. */
	void (*message)(void *arg, const char *text, size_t len);
};

typedef void link_reply(void *arg, const redisReply *reply);

struct link *link_new(const struct link_config *config,
    const struct link_handler *handler, void *arg);

/* Connects; called again, it ends a pause between attempts. */
void link_start(struct link *l);

/* Not from its own callbacks.  Answers commands under way with NULL. */
void link_free(struct link *l);

/*
 * Queues a command, which leaves with link_flush(), or if a callback of the
 * link queued it, when that callback returns.  Returns false, and never
 * answers, if the link is not up.
 */
bool link_send(struct link *l, int argc, const char **argv,
    const size_t *argvlen, int64_t timeout_ms, link_reply *done, void *arg);
bool link_sendf(struct link *l, int64_t timeout_ms, link_reply *done, void *arg,
    const char *fmt, ...);

/* Sends all that is queued in one write.  May find that the link is gone. */
void link_flush(struct link *l);

/* Gives the connection up, now or when its callbacks have returned. */
void link_cut(struct link *l, const char *why, const char *advice);

/* Does the same if the server is there, but refuses to do what it should. */
void link_refuse(struct link *l, const char *why, const char *advice);

/*
 * Leaves the old address and connects to the new one, after the address in its
 * config has changed.  Not from its own callbacks.
 */
void link_move(struct link *l, const char *why);

bool link_is_up(const struct link *l);

/* These are of the present connection, or of the last one. */
const struct info *link_info(const struct link *l);
uint64_t link_client_id(const struct link *l); /* 0: unknown */
const char *link_sha(const struct link *l, enum script_id script);

/* Returns the text of a script as this server understands it. */
const char *link_script(const struct link *l, enum script_id script);

#endif
