/*
 * A front with a handler that tests can steer, and clients in the same process.
 *
 * The handler knows five habits: PING is answered at once; STATUS NAME is
 * answered at once with the name; LOCK is deferred until the test, a drain or
 * a CANCEL answers it; AUTH makes a stranger known; NAMES is being made until the test says that it was made;
 * QUIT quits.  What it is told is written to `trace`, one
 * word each: open, drain, gone+ (orderly), gone-.
 */
#ifndef LOCKBROKER_TESTS_UNIT_FRONT_RIG_H
#define LOCKBROKER_TESTS_UNIT_FRONT_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "front/front.h"

#define DEFERRED_MAX 64

enum transport { OVER_UNIX, OVER_TCP, TRANSPORTS };

/* One LOCK that waits. */
struct deferred {
	uint64_t conn;
	uint64_t ref;
};

/* One a test: rig_init() and rig_fini(). */
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
	bool drain_cancels; /* answer what waits at a drain; default yes */
	unsigned requests;
	uint64_t by;	      /* id of the connection of the latest */
	int64_t costs_us;     /* each of them */
	uint64_t making;      /* id of the connection that NAMES is made for */
	unsigned caught_up;   /* times that it was asked to */
	struct conn *overdue; /* is told of a loss then */
	unsigned admins;      /* connections that are */
	unsigned reloads;     /* each request knows of all of them */
	unsigned reloaded;    /* connections that took note of one */
	unsigned reloads_over;
	bool strangers; /* all that come, until they say AUTH */
	uint64_t last;	/* id of the connection opened last */
	char peer[64];	/* of it */
};

/* The other end.  fd is -1 when closed. */
struct client {
	struct rig *rig;
	int fd;
	struct buf got;
	bool eof;
	bool reset;
};

void rig_init(struct rig *rig);
void rig_fini(struct rig *rig);
void rig_set_limits(struct rig *rig); /* after changing rig->limits */

/* One turn of the loop; never waits. */
void rig_turn(struct rig *rig);

/* Turns until it has been told that much; fails after a few seconds. */
void rig_expect_trace(struct rig *rig, const char *words);

/* Nothing is to be done, so the loop sleeps instead of spinning. */
void rig_expect_calm(struct rig *rig);

/* NAMES is made. */
void rig_made(struct rig *rig);

/* Answers the LOCK that has waited longest. */
void rig_answer(struct rig *rig, enum status status);

void client_open(struct client *cl, struct rig *rig, enum transport how);
/* The same, before the front has had a turn to see it. */
void client_dial(struct client *cl, struct rig *rig, enum transport how);
void client_close(struct client *cl);
void client_reset(struct client *cl); /* TCP: closes with an RST */
void client_send(struct client *cl, const char *text);
/*
 * The same line again and again: as many bytes as the other end takes, until
 * the front has had that many turns in vain.  The last line may be cut.
 */
size_t client_pour(
    struct client *cl, const char *line, size_t bytes_max, unsigned turns);
void client_shut(struct client *cl); /* the sending side */

/* Turns until this was received, and checks it; it is then forgotten. */
void client_expect(struct client *cl, const char *text);
/* One turn, and takes what is there. */
void client_pump(struct client *cl);
void client_expect_eof(struct client *cl);
/* Turns until the end; what came is in `got`, with a NUL behind it. */
void client_gather(struct client *cl);
/* Nothing comes in a good number of turns. */
void client_expect_silence(struct client *cl);

#endif
