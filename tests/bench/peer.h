/*
 * Clients of a load driver: non-blocking sockets in one epoll loop, each with
 * one request under way.
 */
#ifndef LOCKBROKER_BENCH_PEER_H
#define LOCKBROKER_BENCH_PEER_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct peers;
struct peer;
struct secure;

/* What is done with a peer.  Constant. */
struct peer_handler {
	/* The bytes of the first whole reply of n; 0: it is not all here. */
	size_t (*frame)(const char *text, size_t n);

	/* One whole reply. */
	void (*answer)(struct peer *p, const char *text, size_t n);

	/* A pause that was asked for is over. */
	void (*resume)(struct peer *p);
};

/* One client.  Owned by its peers. */
struct peer {
	struct peers *peers;
	unsigned id; /* 0, 1, ... */
	int fd;
	struct secure *secure; /* NULL: plain */
	struct buf in;
	struct buf out;	   /* what the socket did not take yet */
	uint64_t due_ns;   /* end of the pause */
	struct peer *next; /* that pauses, in the order of due_ns */

	/* For the user. */
	int step;
	uint64_t asked_ns;
	uint64_t granted_ns; /* the last time; 0 never */
	uint64_t grants;
	char name[64];
	void *own; /* the mode's; freed with the peer by free() */
};

/* Those that pause for equally long, one after another. */
struct pause_queue {
	uint64_t ns; /* how long */
	int timer;
	struct peer *first;
	struct peer **end;
};

enum pause { PAUSE_WORK, PAUSE_THINK, PAUSE_MAX };

/* All of them.  Whoever called peers_new() calls peers_free(). */
struct peers {
	int epoll;
	unsigned n;
	struct peer *v;
	const struct peer_handler *handler;
	void *arg;
	struct pause_queue pauses[PAUSE_MAX];
};

/*
 * Connects n clients to the addresses in turn: HOST:PORT, the same over TLS as
 * tls://HOST:PORT, or /PATH.  Exits
 * where one can't be reached: a measurement without it would be a false one.
 */
struct peers *peers_new(unsigned n, char *const *addresses, size_t naddresses,
    const struct peer_handler *handler, void *arg);
void peers_free(struct peers *peers);

/* Sets how long a pause is; 0 is none. */
void peers_pause_length(struct peers *peers, enum pause which, uint64_t ns);

/* Serves them until now_ns() is `until_ns`. */
void peers_run(struct peers *peers, uint64_t until_ns);

void peer_send(struct peer *p, const char *text, size_t n);

/* Calls resume() later, or at once where that pause has no length. */
void peer_pause(struct peer *p, enum pause which);

/* A connected socket that blocks, and is plain; exits without one. */
int peer_connect(const char *address);

/* "loadgen: ..." and exit status 1. */
void fail(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
