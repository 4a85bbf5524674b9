/*
 * One connection, as the parts of the front see it.
 *
 * conn.c moves its bytes, gate.c checks its requests, front.c decides which
 * connection is served next.  front.h declares what other folders may do with a
 * connection.
 */
#ifndef LOCKBROKER_FRONT_CONN_H
#define LOCKBROKER_FRONT_CONN_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/table.h"
#include "front/front.h"

/*
 * The stages of a connection.  LIVE: it has a session; the call of the
 * handler's gone() ends this stage.  FLUSHING: the last replies are being
 * written.  LINGERING: everything is written and our side is shut down; input
 * is discarded, because closing with unread bytes would reset the connection,
 * and a reset destroys replies that the client has not read yet.
 */
enum conn_stage { CONN_LIVE, CONN_FLUSHING, CONN_LINGERING };

/*
 * How a connection ends.  A later value is worse and overrides an earlier one.
 */
enum conn_end {
	CONN_END_NONE,
	CONN_END_REFUSED, /* after a last answer; not orderly */
	CONN_END_DEAD	  /* reset, killed: nothing can be delivered */
};

/*
 * The timeouts of a connection.  Each kind has a list of its own, which is in
 * order of time because all connections in it get the same time.
 */
enum timeout {
	TIMEOUT_HEADER,	  /* LIVE: for its proxy to send its address */
	TIMEOUT_SILENT,	  /* LIVE: to send a first line */
	TIMEOUT_STRANGER, /* LIVE: to log in */
	TIMEOUT_UNREAD,	  /* LIVE: to read part of far too much output */
	TIMEOUT_PART,	  /* LIVE: to send the rest of a large request */
	TIMEOUT_FLUSH,	  /* FLUSHING: to read part of its last replies */
	TIMEOUT_LINGER,	  /* LINGERING */
	TIMEOUT_MAX
};

/*
 * A tagged request that awaits its answer.  Owned by the front, which finds it
 * by reference or by connection and tag.
 */
struct pending {
	uint64_t ref;
	enum verb_id verb;
	struct pending_key {
		uint64_t conn;
		char tag[TAG_MAX_BYTES]; /* padded with zeroes */
	} key;
	LIST_ENTRY(pending) link; /* of its connection */
	struct table_link by_ref;
	struct table_link by_tag;
};

/* An event for a client whose protocol is not known yet. */
struct untold {
	enum event_id id;
	struct field field;
	bool has_field;
};

/*
 * A client.  Owned by the front; only conn_free() frees it, when its bytes are
 * delivered or abandoned.  An idle connection has no buffers.
 */
struct conn {
	uint64_t id;
	struct front *front;
	const struct wire_protocol *protocol;
	void *data;	       /* owned by the handler */
	struct untold *untold; /* owned; NULL: nothing */
	char *peer;	       /* owned */
	char **names; /* owned: the names in its certificate; or NULL */
	unsigned nnames;
	uint64_t relay; /* its number in the TLS process, if relayed */
	int64_t uid;	/* of the peer; -1: not known */
	int fd;		/* owned */
	uint8_t stage;	/* enum conn_stage */
	uint8_t end;	/* enum conn_end */
	bool tcp : 1;
	bool relayed : 1;      /* a TLS process is at the other end of fd */
	bool peer_told : 1;    /* the peer's address came from elsewhere */
	bool unsigned_end : 1; /* its end is not authenticated */
	bool proxied : 1;      /* the peer is a proxy */
	bool headless : 1;     /* the header of the proxy has not come yet */
	bool admin : 1;
	bool opened : 1;   /* the handler knows the connection */
	bool spoke : 1;	   /* the first line has come */
	bool stranger : 1; /* an unauthenticated client */
	bool overdue : 1;  /* ... whose time is over, but an answer is due */
	bool leaving : 1;  /* counted in front->nleaving */
	bool eof : 1;	   /* nothing more will be read */
	bool hup : 1;	   /* the end was seen behind unread bytes */
	bool quit : 1;	   /* input is ignored */
	bool drained : 1;  /* the handler has been called for the end */
	bool full : 1;	   /* the input buffer is full: not reading */
	bool deaf : 1;	   /* it has closed; output is discarded */
	bool stuck : 1;	   /* the socket takes no more output */
	bool ready : 1;	   /* on front->ready */
	bool serving : 1;  /* it is being served */
	bool dirty : 1;	   /* on front->dirty, or on hurried */
	bool hurried : 1;  /* on front->hurried */
	bool idle : 1;	   /* no complete line was left */
	bool pressed : 1;  /* pressed() was called for `blocked` */
	bool choked : 1;   /* the next line waits until all is written */
	bool timed : 1;	   /* on front->timed[timeout] */
	uint8_t timeout;   /* enum timeout */
	short armed;	   /* events that libevent watches; 0: none */
	uint32_t reloads;  /* front.reloads at the last note of a reload */
	unsigned npending;
	unsigned busy;	  /* answers in progress, made over several turns */
	uint64_t blocked; /* reference of the untagged request; 0: none */
	enum verb_id blocked_verb;
	size_t scanned;	  /* how far the protocol has looked */
	size_t framed;	  /* bytes of input that the present request takes */
	size_t discard;	  /* lingering: bytes that may still be discarded */
	size_t unread;	  /* bytes of output left by the last write ... */
	size_t counted;	  /* ... and their memory, as in stats.unread */
	int64_t until_ms; /* timed: when the timeout expires */
	int64_t heartbeat_ms; /* maximum time between two lines; 0: no limit */
	int64_t heard_ms;     /* when the last line came, or was answered */
	struct timer beat;    /* when to check that */
	struct buf in;
	struct buf out;
	struct event event;
	LIST_HEAD(, pending) pending;
	TAILQ_ENTRY(conn) ready_link;
	TAILQ_ENTRY(conn) dirty_link;
	TAILQ_ENTRY(conn) timed_link;
	TAILQ_ENTRY(conn) unread_link; /* in front->unread if counted > 0 */
	struct table_link by_id;
	struct table_link by_relay; /* if relayed */
};

TAILQ_HEAD(conn_list, conn);

/*
 * Requires a connected, non-blocking socket, and takes it over: conn_free()
 * closes it.
 */
struct conn *conn_new(struct front *f, int fd, bool tcp);
/* The same for a client whose TLS handshake a TLS process has completed. */
struct conn *conn_new_relayed(
    struct front *f, const struct front_relayed *client);
/* The same for a connection that another process has handed to us. */
struct conn *conn_new_passed(
    struct front *f, const struct front_passed *passed);
void conn_free(struct conn *c);

/* The connection's protocol is known now: sends the event that waited. */
void conn_speaks(struct conn *c);

/* Makes libevent watch exactly the events that matter now. */
void conn_arm(struct conn *c);

/*
 * Finds the next complete request.  The frame points into the input and is
 * valid until conn_frame_done().
 */
enum frame_status conn_frame(struct conn *c, struct wire_frame *f,
    enum err_code *code, struct buf *why) __attribute__((warn_unused_result));
void conn_frame_done(struct conn *c);

/* As conn_refuse(), with a finished text. */
void conn_refuse_with(struct conn *c, const struct request *r,
    enum err_code code, const struct buf *text);

/* Writes once.  Returns false if the connection turned out to be dead. */
bool conn_write(struct conn *c);

/*
 * Shuts down our side and discards input.  Returns false when the lingering is
 * over.
 */
bool conn_linger(struct conn *c);

/* Does the client leave too many answers unread? */
bool conn_behind(const struct conn *c);

/* Forgets the deferred requests. */
void conn_forget(struct conn *c);

#endif
