/*
 * The front: clients' connections, their requests in, their replies out.
 *
 *	 sockets --read--> input --front_run--> gate --> handler->request
 *	 sockets <-write-- output <-front_flush-- conn_reply <-- the bridge
 *
 * The front runs in turns.  Between turns libevent calls back and bytes are
 * read; then the owner calls front_run(), which hands out requests, and
 * front_flush(), which writes: one read and one write for each connection and
 * turn.
 *
 * The handler is called from inside front_run(), or front_run_on(), and from
 * nowhere else.  A connection stays valid during a call; between turns only its
 * id is kept (front_find), because connections die.
 *
 * The front knows requests, tags and their order.  It does not know sessions,
 * locks or what a verb means.
 */
#ifndef LOCKBROKER_FRONT_FRONT_H
#define LOCKBROKER_FRONT_FRONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/handed.h"
#include "base/limits.h"
#include "base/proxy_header.h"
#include "wire/protocol.h"
#include "wire/reply.h"
#include "wire/request.h"

struct event_base;
struct front;
struct conn;

/*
 * Descriptors that the front may need in addition to limits.clients: for
 * clients that are refused, and for connections that are closing.
 */
#define FRONT_DESCRIPTORS 64

struct front_handler {
	void (*opened)(void *arg, struct conn *c);

	/*
	 * A line has come and will be answered: the handler must first send
	 * overdue events, because the process may have been frozen since the
	 * last line.
	 */
	void (*catch_up)(void *arg);

	/*
	 * A request that passed the gate.  The handler must answer it with
	 * conn_reply() at once, or defer it.
	 */
	void (*request)(void *arg, struct conn *c, const struct request *r);

	/* A request was malformed, and has been refused. */
	void (*refused)(void *arg, struct conn *c);

	/*
	 * As request(), for a request without one of our verbs, which may be a
	 * command of the connection's protocol: `words` holds all of it.  The
	 * handler may also write the answer to conn_output().  NULL: no
	 * protocol here has such commands.
	 */
	void (*command)(void *arg, struct conn *c, const struct request *r);

	/*
	 * The client has shut down its sending side or sent QUIT: the handler
	 * must now answer all waiting requests.  Lines that came before are
	 * still handed out.  Called at most once.
	 */
	void (*drain)(void *arg, struct conn *c);

	/*
	 * More input has come after an untagged RESP request that is deferred;
	 * the input must wait for the answer.  The handler may give the answer
	 * now.  Called at most once for a request.
	 */
	void (*pressed)(void *arg, struct conn *c);

	/*
	 * The last call about a connection.  Orderly: every request was
	 * answered, and the answers are being delivered.  Otherwise the
	 * connection was reset, killed or dropped, and its deferred requests
	 * are forgotten; or over TLS it ended without close_notify, perhaps
	 * cut off by a third party.
	 */
	void (*gone)(void *arg, struct conn *c, bool orderly);

	/*
	 * front_set_limits() has reloaded the settings: called for each
	 * connection before its next request, at the latest some turns later;
	 * then, once all connections have taken note, reload_over() is called.
	 */
	void (*reloaded)(void *arg, struct conn *c);
	void (*reload_over)(void *arg);
};

/* The handler is not copied and must outlive the front. */
struct front *front_new(struct event_base *base,
    const struct client_limits *limits, const struct front_handler *handler,
    void *arg);

/* Tries once to send pending output, closes everything; calls no handler. */
void front_free(struct front *f);

/* Connections take note of a reload some at a time: see `reloaded`. */
void front_set_limits(struct front *f, const struct client_limits *limits);

/* For tests: limits the unread output of all clients together. */
void front_bound_output(struct front *f, size_t bytes);

/*
 * Open a listener.  On false, `why` says what failed.  It is no failure if the
 * process listens on the address already (on a socket that systemd passed).
 * Each logs `listening address=HOST:PORT` or `address=unix:/PATH`.
 */
bool front_listen_tcp(struct front *f, const char *host, uint16_t port,
    enum proxied proxied, struct buf *why) __attribute__((warn_unused_result));
/* group: "" for the group of the process. */
bool front_listen_unix(struct front *f, const char *path, unsigned mode,
    const char *group, struct buf *why) __attribute__((warn_unused_result));
/*
 * As front_listen_tcp(), but another process accepts there.  It gets the socket
 * by front_places(), identifies the listener by this number, and its clients
 * come with front_relayed().
 */
bool front_listen_place(struct front *f, const char *host, uint16_t port,
    unsigned place, struct buf *why) __attribute__((warn_unused_result));
/*
 * Calls fn for each such listener.  Returns false if a call of fn did.  The
 * front keeps the descriptors.
 */
bool front_places(
    struct front *f, bool (*fn)(void *arg, unsigned place, int fd), void *arg)
    __attribute__((warn_unused_result));

/* Takes over a listening socket; it is closed on failure, too. */
bool front_listen_fd(struct front *f, int fd, struct buf *why)
    __attribute__((warn_unused_result));
/*
 * A client whose TLS handshake a TLS process has completed.  The front copies
 * everything, and takes over fd.
 */
struct front_relayed {
	uint64_t id; /* its number in that process */
	int fd;	     /* taken over */
	bool proxied;
	const char *peer;
	const char *const *names; /* of its certificate */
	unsigned nnames;
};

/*
 * look: reads what the TLS process has reported, before the front judges an
 * end.  That process reports with front_relayed_ended() how a client has ended
 * its connection: with bytes before the end that are still unread, or in a way
 * that anyone in the network can cause.
 */
void front_set_look(struct front *f, void (*look)(void *arg), void *arg);
void front_relayed(struct front *f, const struct front_relayed *client);
void front_relayed_ended(struct front *f, uint64_t id, bool behind);

unsigned front_listeners(const struct front *f);

/*
 * Adds the listening sockets to those that are handed to another process.
 * While paths are shared with that process, they are not removed here; sockets
 * that were handed to us are shared until front_share_paths(f, false).
 */
void front_hand_over(const struct front *f, struct handed_list *out);
void front_share_paths(struct front *f, bool shared);

/*
 * While the front is held back, clients can connect and wait, but none is
 * accepted.  A new front is not held back.
 */
void front_hold_back(struct front *f, bool hold);
/*
 * Another process has no use for this socket: clients are accepted there even
 * while the front is held back, until that changes.
 *
 * front_keeps(): is there such a socket?  elsewhere: are there such sockets
 * that another process accepts for, and no others?
 */
void front_keep(struct front *f, int fd);
bool front_keeps(const struct front *f, bool elsewhere);
/* Closes all sockets that are not kept. */
void front_give_up(struct front *f);
/*
 * Closes all listeners but Unix sockets; passed sockets stay open, and clients
 * wait there.  With false, the open ones accept again: open the others first.
 */
void front_local_only(struct front *f, bool only);
void front_stop_listening(struct front *f);

/* End of a turn, 1: hands out a limited number of lines of each connection. */
void front_run(struct front *f);

/* The same for connections that waited for an answer that has come since. */
void front_run_on(struct front *f);

/* At any time: writes once to each hurried connection. */
void front_hurry(struct front *f);

/*
 * End of a turn, 2: writes once to each connection with output, first to the
 * hurried ones.
 */
void front_flush(struct front *f);

/* Makes the next turn come at once. */
void front_wake(struct front *f);

/* Counters and gauges of all clients. */
struct front_stats {
	unsigned resp;		 /* open connections that speak RESP */
	size_t unread;		 /* memory that unread output takes */
	uint64_t too_slow;	 /* clients dropped for not reading */
	uint64_t received, sent; /* bytes, since the start */
};
const struct front_stats *front_stats(const struct front *f);

/*
 * A connection that another process of the broker hands to us, or gets from us,
 * with its unprocessed input and unsent output.
 */
struct front_passed {
	int fd;
	bool tcp;
	bool proxied;
	const char *peer;	  /* NULL: the socket shows it */
	const char *const *names; /* of its certificate */
	unsigned nnames;
	const struct wire_protocol *protocol;
	struct span in, out;
};

/* Takes over fd and copies the rest.  Returns an open connection. */
struct conn *front_receive(struct front *f, const struct front_passed *passed);
/*
 * Fills in what to hand over.  conn_passed(): another process has the
 * connection now; our descriptor is closed, and nothing is read or written here
 * any more.
 */
void conn_pass(struct conn *c, struct front_passed *out);
void conn_passed(struct conn *c);

/* Returns NULL if the connection is gone; ids are never reused. */
struct conn *front_find(const struct front *f, uint64_t id);
unsigned front_count(const struct front *f);

/* Calls fn for every live connection; fn may answer and kill. */
void front_each(
    struct front *f, void (*fn)(void *arg, struct conn *c), void *arg);

uint64_t conn_id(const struct conn *c);
int64_t conn_uid(const struct conn *c); /* -1: not known */
/* The groups of the peer of a Unix socket, `max` at most; returns how many. */
size_t conn_groups(const struct conn *c, gid_t *gids, size_t max);
const char *conn_peer(const struct conn *c); /* 10.0.0.7:5512 or pid:4711 */
bool conn_is_tcp(const struct conn *c);
bool conn_is_proxied(const struct conn *c);
/* The names that its certificate vouches for: CN=..., DNS:..., URI:... */
const char *const *conn_names(const struct conn *c, unsigned *n);
/* The client is at a Unix socket, and is root or the user of the broker. */
bool conn_is_admin(const struct conn *c);
void *conn_data(const struct conn *c);
void conn_set_data(struct conn *c, void *data);

/* Written by the connection's protocol; front_flush() sends it. */
void conn_reply(struct conn *c, const struct wire_reply *reply);
void conn_tell(struct conn *c, const struct wire_event *event);

/* A reply that refuses; r is NULL if it answers no request. */
void conn_refuse(struct conn *c, const struct request *r, enum err_code code,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* An answer of many rows.  Requires rows that conn_protocol() has written. */
void conn_rows(struct conn *c, const struct wire_reply *reply, size_t nrows,
    const struct buf *rows);
const struct wire_protocol *conn_protocol(const struct conn *c);

/* The connection speaks this protocol from now on. */
void conn_set_protocol(struct conn *c, const struct wire_protocol *protocol);

/*
 * The buffer that all output is appended to; queues the connection for
 * front_flush().
 */
struct buf *conn_output(struct conn *c);

/*
 * The output now tells the client of a loss, and the client must know of it
 * before others do: its output is sent before that of others, by front_hurry()
 * at once.
 */
void conn_hurry(struct conn *c);

/*
 * Defers the reply.  Returns a reference, never 0 and never reused.  An
 * untagged request holds back the lines after it until it is answered.
 */
uint64_t conn_defer(struct conn *c, const struct request *r);

/*
 * The reply to a deferred request comes now.  Fills in the tag of the request
 * in `reply` (the text is in mem) and forgets the reference.  Returns false if
 * there is no such request.
 */
bool conn_answered(struct conn *c, uint64_t ref, char mem[TAG_MAX_BYTES + 1],
    struct wire_reply *reply) __attribute__((warn_unused_result));

/*
 * An answer is being made over several turns.  The lines after it are held back
 * until there were as many calls with `false` as with `true`.
 */
void conn_busy(struct conn *c, bool busy);

/* Does it have requests that are deferred, or whose answers are being made? */
bool conn_owes(const struct conn *c);

/* Returns the deferred request with this tag, or 0. */
uint64_t conn_tag_ref(const struct conn *c, struct span tag);

/* There may have been a reload: the connection takes note of it now. */
void conn_note_reload(struct conn *c);

/* Acts as if the stream ended now; lines after this one are ignored. */
void conn_quit(struct conn *c);

/*
 * Drops the connection, not orderly, when no line has come for this time; 0:
 * never.  The clock stands still while an untagged request is deferred.
 */
void conn_set_heartbeat(struct conn *c, int64_t ms);

/*
 * An unauthenticated client has not logged in.  It has ten seconds for that.
 * Until then, at most one line at a time is read from it, it gets no answer
 * before it has read the previous one, and it makes room for others if all
 * connection slots are in use.
 */
void conn_set_stranger(struct conn *c, bool stranger);

/*
 * Drops the connection, not orderly, in the next front_run(); its output is
 * lost.
 */
void conn_kill(struct conn *c);

#endif
