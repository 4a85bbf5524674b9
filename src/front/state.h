/*
 * The state of the front, shared by its own files only.
 */
#ifndef LOCKBROKER_FRONT_STATE_H
#define LOCKBROKER_FRONT_STATE_H

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/heap.h"
#include "base/list.h"
#include "front/conn.h"
#include "front/front.h"

struct listener;

/* Tells a client that it is one too many; the argument is limits.clients. */
#define FRONT_CROWDED "all %u client connections are in use (limits.clients)"

/* Beyond so many lingering connections the oldest is closed. */
#define LINGERERS_MAX 32

/*
 * How much a stranger may send beyond a line, how long it has to say who it is,
 * and how many strangers may be on their way out because somebody else needs
 * the place.
 */
#define STRANGER_BYTES ((size_t)64)
#define STRANGER_MS 10000
#define LEAVERS_MAX (FRONT_DESCRIPTORS / 2)

/*
 * How much is read at once from one connection; also how much is kept beyond a
 * line.
 */
#define FRONT_READ_BYTES ((size_t)64 * 1024)

/*
 * All clients.  A connection is in `conns` while it is LIVE; afterwards nobody
 * finds it.
 */
struct front {
	struct event_base *base;
	const struct front_handler *handler;
	void *arg;
	struct client_limits limits;

	struct table conns;	 /* by id: LIVE */
	struct table relayed;	 /* LIVE; by the TLS process' number */
	void (*look)(void *arg); /* takes in what a TLS process tells */
	void *look_arg;
	struct table by_ref;	  /* deferred requests with a tag */
	struct table by_tag;	  /* the same */
	struct table_walk reload; /* over conns: they take note of a reload */
	bool reloading;		  /* that is not over */
	uint32_t reloads;	 /* so many, and the number of the latest ... */
	uint32_t unreachable_at; /* ... that changed limits.unreachable */
	struct conn_list ready;	 /* with requests to hand out */
	struct conn_list dirty;	 /* with output to write */
	struct conn_list hurried; /* the same, before all others */
	struct conn_list timed[TIMEOUT_MAX];
	struct conn_list unread; /* the socket did not take all output */
	size_t output;		 /* memory that all unread output takes */
	size_t output_bound;	 /* 0: what follows from limits.output */
	int64_t full_ms;	 /* when the bound was last reached; 0: never */
	uint64_t ntoo_slow;	 /* clients dropped for not reading */
	unsigned nready;
	uint64_t received, sent; /* bytes, since the start */
	unsigned nlive;
	unsigned nresp; /* of nlive: that speak RESP */
	unsigned nflushing;
	unsigned nlingering;
	unsigned nleaving;  /* of nlive: strangers that make room */
	unsigned nunopened; /* of nlive: may turn out to be strangers */
	uint64_t next_id;
	uint64_t next_ref;

	struct event *wake;  /* makes the next turn come at once */
	struct event *clock; /* looks at the first of each in timed */
	int64_t look_ms;     /* when that is; INT64_MAX: never */

	struct heap beats;  /* clients that owe a line now and then */
	struct event *beat; /* looks at the first of them */

	LIST_HEAD(, listener) listeners;
	struct event *accept_again; /* after descriptors were used up */
	int reserve_fd;	 /* given up to refuse a client when none is left */
	bool held_back;	 /* nobody is accepted yet */
	bool local_only; /* nobody but at Unix sockets */
	int64_t exhausted_ms; /* when descriptors last ran out; 0: never */
	int64_t crowded_ms;   /* when limits.clients last was; 0: never */
	int64_t tls_ms;	      /* when TLS last came to a plain port; 0: never */
	int64_t proxy_ms;     /* when a header was last wrong; 0: never */
	int64_t stranger_ms;  /* when one was last dropped; 0: never */

	struct buf why;	 /* scratch of the gate */
	struct buf text; /* scratch of conn_refuse() */
	char *scratch;	 /* FRONT_READ_BYTES that are read into */
};

/* Lines that connections stand in: turns.c. */
void front_ready(struct conn *c); /* LIVE: in line for front_run() */
void front_heard(struct conn *c); /* the same; something has been read */
void front_dirty(struct conn *c); /* in line for front_flush() */
void front_clean(struct conn *c); /* not in line for it any more */

/* Who is the next to be written to?  NULL: nobody has output. */
struct conn *front_next_dirty(const struct front *f);

/*
 * Ends a connection in the next front_run(); if it is closing already and DEAD,
 * frees it in the next front_flush().
 */
void front_end(struct conn *c, enum conn_end end);

/* The same, logging that a header of the PROXY protocol is wrong. */
void front_wrong_header(struct conn *c, const char *why);

/* Should the log say it, or has it done so for this spell? */
bool front_is_news(int64_t *last_ms);

/* Is there room for another client?  front_room() logs it if there is none. */
bool front_room(struct front *f);

/* Will the next turn of front_run() show whether there is room for more? */
bool front_may_have_room(const struct front *f);

/* Takes over the socket of a new client, or of one too many: places.c. */
void front_accepted(struct front *f, int fd, bool tcp, enum proxied proxied);
void front_admit(struct conn *c);
void front_reject(struct conn *c);
void front_rejected(struct front *f, int fd, bool tcp);

/* Bounds the unread output of all clients together: output.c. */
void output_count(struct conn *c); /* after a write to it */
void output_forget(struct conn *c);
void output_bound(struct front *f); /* drops those that read least */

/* Ends a connection whose client does not read, and logs it. */
void front_too_slow(struct conn *c);

/* Requests whose answers come later: pending.c. */
void pending_init(struct front *f);
void pending_fini(struct front *f);

/* Clients over TLS; a client is forgotten when it is no longer LIVE. */
void relayed_init(struct front *f);
void relayed_fini(struct front *f);
void relayed_forget(struct conn *c);

/* Time-outs of connections: timeouts.c. */
void timeouts_init(struct front *f);
void timeouts_fini(struct front *f);
void timeouts_set(struct conn *c, enum timeout timeout);
void timeouts_remove(struct conn *c); /* no-op when there is none */
void timeouts_spoke(struct conn *c);  /* its first line came */
/* A request has not come whole yet; it has. */
void timeouts_part(struct conn *c);
void timeouts_whole(struct conn *c);
/* Drops the oldest stranger.  Returns false if there is none to drop. */
bool timeouts_make_room(struct front *f);
void timeouts_changed(struct conn *c); /* limits.first_line may have */
void timeouts_sorted(struct front *f); /* ... for all connections */

/*
 * The PROXY protocol: proxied.c.  proxied_told() returns whether it is known
 * whose connection it is; proxied_meets_header() whether it begins with a header
 * that nobody has asked for, or may still do so.
 */
bool proxied_told(struct conn *c);
bool proxied_meets_header(struct conn *c);

/* Lines that were promised: heartbeat.c. */
void heartbeat_init(struct front *f);
void heartbeat_fini(struct front *f);
void heartbeat_anew(struct conn *c);
void heartbeat_forget(struct conn *c);

/* A line came, or a wait is over. */
static inline void
heartbeat_heard(struct conn *c)
{
	if (c->heartbeat_ms > 0)
		heartbeat_anew(c);
}

#endif
