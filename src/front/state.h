/* The state of the front, used only by its own files. */
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

/* The refusal of a client beyond limits.clients, which is the argument. */
#define FRONT_CROWDED "all %u client connections are in use (limits.clients)"

/* Beyond this number of lingering connections the oldest is closed. */
#define LINGERERS_MAX 32

/*
 * The bytes that an unauthenticated client may send beyond a line, the time in
 * which it must log in, and the maximum number of such clients that are being
 * closed to free a connection slot.
 */
#define STRANGER_BYTES ((size_t)64)
#define STRANGER_MS 10000
#define LEAVERS_MAX (FRONT_DESCRIPTORS / 2)

/*
 * The maximum number of bytes read at once from one connection; also the number
 * kept beyond a line.
 */
#define FRONT_READ_BYTES ((size_t)64 * 1024)

/*
 * All clients.  A connection is in `conns` while it is LIVE; afterwards it
 * cannot be found.
 */
struct front {
	struct event_base *base;
	const struct front_handler *handler;
	void *arg;
	struct client_limits limits;

	struct table conns;	 /* by id: LIVE */
	struct table relayed;	 /* LIVE; by the TLS process' number */
	void (*look)(void *arg); /* reads reports of a TLS process */
	void *look_arg;
	struct table by_ref;	  /* deferred requests with a tag */
	struct table by_tag;	  /* the same */
	struct table_walk reload; /* over conns that must note a reload */
	bool reloading;		  /* the walk is not over */
	uint32_t reloads;	  /* number of reloads, and of the latest ... */
	uint32_t unreachable_at;  /* ... that changed limits.unreachable */
	struct conn_list ready;	  /* with requests to hand out */
	struct conn_list dirty;	  /* with output to write */
	struct conn_list hurried; /* the same, written before all others */
	struct conn_list timed[TIMEOUT_MAX];
	struct conn_list unread; /* the socket did not take all output */
	struct front_stats stats;
	size_t output_bound; /* 0: derived from limits.output */
	int64_t full_ms;     /* when the limit was last reached; 0: never */
	unsigned nready;
	unsigned nlive;
	unsigned nflushing;
	unsigned nlingering;
	unsigned nleaving;  /* of nlive: unauthenticated, being closed */
	unsigned nunopened; /* of nlive: perhaps unauthenticated */
	uint64_t next_id;
	uint64_t next_ref;

	struct event *wake;  /* makes the next turn come at once */
	struct event *clock; /* looks at the first of each in timed */
	int64_t look_ms;     /* when that is; INT64_MAX: never */

	struct heap beats;  /* clients that must send lines regularly */
	struct event *beat; /* looks at the first of them */

	LIST_HEAD(, listener) listeners;
	struct event *accept_again; /* after descriptors were used up */
	int reserve_fd;	 /* given up to refuse a client when none is left */
	bool held_back;	 /* no client is accepted yet */
	bool local_only; /* only Unix sockets accept clients */
	int64_t exhausted_ms; /* when descriptors last ran out; 0: never */
	int64_t crowded_ms;   /* when limits.clients last ran out; 0: never */
	int64_t tls_ms;	      /* when TLS last came to a plain port; 0: never */
	int64_t proxy_ms;     /* when a header was last wrong; 0: never */
	int64_t stranger_ms;  /* unauthenticated one last dropped; 0: never */

	struct buf why;	 /* scratch of the gate */
	struct buf text; /* scratch of conn_refuse() */
	char *scratch;	 /* read buffer of FRONT_READ_BYTES */
};

/* The queues of connections: turns.c. */
void front_ready(struct conn *c); /* LIVE: queued for front_run() */
void front_heard(struct conn *c); /* the same; input has been read */
void front_dirty(struct conn *c); /* queued for front_flush() */
void front_clean(struct conn *c); /* not queued for it any more */

/* The next connection to write to; NULL: none has output. */
struct conn *front_next_dirty(const struct front *f);

/*
 * Ends a connection in the next front_run(); if it is closing already and `end`
 * is DEAD, frees it in the next front_flush().
 */
void front_end(struct conn *c, enum conn_end end);

/* The same, logging that a header of the PROXY protocol is wrong. */
void front_wrong_header(struct conn *c, const char *why);

/* Should the event be logged, or has it been logged recently? */
bool front_is_news(int64_t *last_ms);

/* Is there room for another client?  If there is none, front_room() logs it. */
bool front_room(struct front *f);

/* Can the next front_run() make room for more clients? */
bool front_may_have_room(const struct front *f);

/* Takes over the socket of a client, perhaps beyond the limit: places.c. */
void front_accepted(struct front *f, int fd, bool tcp, enum proxied proxied);
void front_admit(struct conn *c);
void front_reject(struct conn *c);

/* Bounds the unread output of all clients together: output.c. */
void output_count(struct conn *c); /* after a write to it */
void output_forget(struct conn *c);
void output_bound(struct front *f); /* drops the clients that read least */

/* Ends a connection whose client does not read, and logs it. */
void front_too_slow(struct conn *c);

/* Clients over TLS; a client is forgotten when it is no longer LIVE. */
void relayed_forget(struct conn *c);

/* Timeouts of connections: timeouts.c. */
void timeouts_init(struct front *f);
void timeouts_set(struct conn *c, enum timeout timeout);
void timeouts_remove(struct conn *c); /* no-op when there is none */
void timeouts_spoke(struct conn *c);  /* its first line came */
void timeouts_over(struct conn *c, enum timeout timeout); /* if it is that */
/* A request has not come completely yet. */
void timeouts_part(struct conn *c);
/* Drops the oldest unauthenticated client.  Returns false if there is none. */
bool timeouts_make_room(struct front *f);
void timeouts_changed(struct conn *c); /* limits.first_line may have changed */
void timeouts_sorted(struct front *f); /* ... for all connections */

/*
 * The PROXY protocol: proxied.c.  proxied_told() returns whether the client's
 * address is known; proxied_meets_header() whether the input begins, or may
 * still begin, with a header that is not configured.
 */
bool proxied_told(struct conn *c);
bool proxied_meets_header(struct conn *c);

/* Lines promised by heartbeats: heartbeat.c. */
void heartbeat_init(struct front *f);
void heartbeat_anew(struct conn *c);
void heartbeat_forget(struct conn *c);

/* A line came, or a wait has ended. */
static inline void
heartbeat_heard(struct conn *c)
{
	if (c->heartbeat_ms > 0)
		heartbeat_anew(c);
}

#endif
