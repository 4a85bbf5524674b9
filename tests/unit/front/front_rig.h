/*
 * A front with a handler that tests can steer, and clients in the same
 * process.
 *
 * The handler has a few habits: PING is answered at once; STATUS NAME is
 * answered at once with the name; LOCK is deferred until the test, a drain or
 * a CANCEL answers it; AUTH makes a stranger known; NAMES is in the making
 * until the test says that it is made; QUIT quits.  The calls of the handler
 * are written to `trace`, one word each: open, pressed, drain, gone+ (orderly),
 * gone-.
 */
#ifndef LOCKBROKER_TESTS_UNIT_FRONT_RIG_H
#define LOCKBROKER_TESTS_UNIT_FRONT_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/reply_status.h"
#include "front/front.h"

#define DEFERRED_MAX 64

enum transport { OVER_UNIX, OVER_TCP, TRANSPORTS };

/* One LOCK that waits. */
struct deferred {
	uint64_t conn;
	uint64_t ref;
};

/* One for each test, between rig_init() and rig_fini(). */
struct rig {
	struct event_base *base;
	struct front *front;
	struct client_limits limits;
	char dir[32];
	char path[64];
	uint16_t port;
	struct buf trace;
	struct buf none; /* rows of an answer that has none */
	struct deferred deferred[DEFERRED_MAX];
	size_t ndeferred;
	bool drain_cancels; /* answer waiting requests at a drain; default
			     * yes */
	unsigned requests;
	uint64_t by;	      /* id of the connection with the latest request */
	int64_t costs_us;     /* each of them */
	uint64_t making;      /* id of the connection whose NAMES is in the
			       * making */
	unsigned caught_up;   /* how often it was asked to make more */
	struct conn *overdue; /* it is told of a loss then */
	unsigned admins;      /* connections that are */
	unsigned reloads;     /* each request comes from a connection that
			       * noted them all */
	unsigned reloaded;    /* connections that took note of one */
	unsigned reloads_over;
	bool strangers; /* all connections are, until they say AUTH */
	uint64_t last;	/* id of the connection opened last */
	char peer[64];	/* of it */
};

/* The client's end. fd is -1 when it is closed. */
struct client {
	struct rig *rig;
	int fd;
	struct buf got;
	bool eof;
	bool reset;
};

void rig_init(struct rig *rig);
void rig_fini(struct rig *rig);
void rig_set_limits(struct rig *rig); /* call it after changing rig->limits */

/* One turn of the loop; never waits. */
void rig_turn(struct rig *rig);

/* Runs turns until the trace is that long; fails after a few seconds. */
void rig_expect_trace(struct rig *rig, const char *words);

/* Checks that there is nothing to do, and that the loop sleeps instead of
 * spinning. */
void rig_expect_calm(struct rig *rig);

/* The answer to NAMES is made. */
void rig_made(struct rig *rig);

/* Answers the LOCK that has waited longest. */
void rig_answer(struct rig *rig, enum status status);

void client_open(struct client *cl, struct rig *rig, enum transport how);
/* The same, before the front has had a turn to notice it. */
void client_dial(struct client *cl, struct rig *rig, enum transport how);
void client_close(struct client *cl);
void client_reset(struct client *cl); /* TCP: closes with an RST */
void client_send(struct client *cl, const char *text);
/*
 * Sends the same line again and again: as many bytes as the other end takes,
 * until the front has had that many turns in vain.  The last line may be cut.
 */
size_t client_pour(
    struct client *cl, const char *line, size_t bytes_max, unsigned turns);
void client_shut(struct client *cl); /* the sending side */

/* Runs turns until this was received, and checks it; it is then forgotten. */
void client_expect(struct client *cl, const char *text);
/* Runs one turn, and reads whatever is there. */
void client_pump(struct client *cl);
void client_expect_eof(struct client *cl);
/* Runs turns until the end of the stream; everything that came is in `got`,
 * followed by a NUL. */
void client_gather(struct client *cl);
/* Checks that nothing comes in a good number of turns. */
void client_expect_silence(struct client *cl);

#endif
