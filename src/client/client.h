/*
 * One connection to a broker: connecting, lines out, messages in.
 *
 * One lockbroker-tls process for each connection speaks TLS, at the other end
 * of a socket pair.
 *
 * Sockets never block and are closed on exec. The caller waits: either in its
 * own poll(2) with client_events() and client_pump(), or in client_wait().
 */
#ifndef LOCKBROKER_CLIENT_CLIENT_H
#define LOCKBROKER_CLIENT_CLIENT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "base/buf.h"
#include "client/addresses.h"
#include "client/lookup.h"
#include "client/message.h"
#include "relay/relay.h"

/* A broker that has not answered the first line by then is unresponsive. */
#define CLIENT_ANSWER_MS 3000

enum client_got {
	CLIENT_NOTHING, /* no whole message yet */
	CLIENT_MESSAGE,
	CLIENT_GARBAGE, /* not the protocol: the stream cannot be trusted */
	CLIENT_REFUSED, /* the broker does not accept our user */
};

/* Embedded in its owner, who calls client_fini(). */
struct client {
	int fd; /* -1 while there is no connection */
	struct buf in;
	struct buf out;
	struct message partial; /* a reply whose lines have not all come */
	uint64_t lines_left;	/* missing lines of that reply */
	struct sockaddr_storage peer;
	socklen_t peer_len;
	const struct place *address; /* borrowed from the list */
	const char *login;	     /* borrowed; NULL: no user */
	bool auth_due;		     /* our AUTH is not answered yet */
	bool refused;		     /* that is why the connection ended */
	bool heard;		     /* something has come from the broker */
	bool greeted; /* over TLS: the server has been verified */
	pid_t tls;    /* the process that speaks TLS, or 0 */
	struct relay_line greeting;
	struct lookups lookups;	   /* lookups under way */
	char why[RELAY_LINE_SIZE]; /* why the connection ended */
	int64_t still_ms;	   /* see client_now_ms() */
	const char *stranger;	   /* what the last peer was, if not a broker */
	/* client_wait() ends once this is not 0; NULL: it cannot be stopped. */
	const volatile sig_atomic_t *stop;
};

/* `login`: the AUTH that begins each connection, or NULL; borrowed. */
void client_init(struct client *c, const char *login);
void client_fini(struct client *c);
void client_close(struct client *c);

/* The text of CLIENT_GARBAGE in messages. */
#define CLIENT_GARBAGE_WHY "not the lockbroker protocol; check address and port"
#define CLIENT_REDIS_WHY "is a Redis server, not a lockbroker; use port 5625"

/* How to find a broker that answers. */
struct client_probe {
	const char *line; /* the first line, which the broker must answer */
	size_t first;	  /* the address to begin with */
	/* Of all, by client_now_ms(): half for each, but the last; NEVER_MS */
	int64_t deadline_ms;
};

/*
 * Tries the addresses in order until a broker answers, and puts the reply into
 * `*reply`. If none does, `errors` says why each failed, unless it is NULL. Returns CLIENT_GARBAGE
 * if all of them speak another protocol, CLIENT_REFUSED if a broker does not
 * accept our user.
 */
enum client_got client_open(struct client *c, const struct address_list *list,
    const struct client_probe *probe, struct message *reply, struct buf *errors)
    __attribute__((warn_unused_result));

/* Begins a connection to the address of `other`; it may fail later. */
bool client_open_like(struct client *c, const struct client *other);

/* Queues a line and sends as much as the socket takes. */
void client_send(struct client *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The events to poll the descriptor for. */
short client_events(const struct client *c);

/*
 * now_ms() without the time in which this process did not run, which shows as a
 * wait that ends much too late. Time limits of calls use this clock: otherwise
 * a process that was stopped would blame the broker. The times of locks use
 * now_ms().
 */
int64_t client_now_ms(const struct client *c);

/* Waits for the connection, at most wait_ms; it may return earlier. */
bool client_poll(struct client *c, int64_t wait_ms);

/*
 * Reads and writes all bytes that it can. Returns false if the connection has
 * ended; client_next() still returns the messages received before.
 */
bool client_pump(struct client *c) __attribute__((warn_unused_result));

enum client_got client_next(struct client *c, struct message *m)
    __attribute__((warn_unused_result));

/*
 * Waits for one message. Returns CLIENT_NOTHING if the deadline has passed, the
 * connection has ended, or `stop` is set.
 */
enum client_got client_wait(struct client *c, int64_t deadline_ms,
    struct message *m) __attribute__((warn_unused_result));

#endif
