/*
 * One TLS connection and the Unix socket that stands for it in the broker.
 *
 *	         --SSL_read--> in  --write-->
 *	net (TLS)                              local (plain)
 *	         <-SSL_write-- out <--read---
 *
 * Each direction has a bounded buffer; when it is full, nothing more is read on
 * that side.  Each direction ends by itself: a close_notify becomes the end of
 * the broker's input, and the other way round.  The pipe distinguishes how the
 * other side has ended, because the fate of locks depends on it:
 *
 *	close_notify	the end of the stream
 *	FIN alone	the same, and PACKET "end ID unsigned" before it: anyone
 *			in the network can send that
 *	reset, error	the Unix socket is closed in both directions at once
 */
#ifndef LOCKBROKER_TLS_PIPE_H
#define LOCKBROKER_TLS_PIPE_H

#include <event2/event_struct.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/list.h"
#include "tls/engine.h"

enum pipe_stage {
	PIPE_SILENT,	 /* accepted: waits for its first message */
	PIPE_CONNECTING, /* dialed: waits for TCP */
	PIPE_SHAKING,	 /* in the handshake */
	PIPE_LEAVING,	 /* refused: discards further input */
	PIPE_READY,	 /* handshake done; the broker has no room yet */
	PIPE_MOVING,	 /* moves bytes */
};

/* How the stream from the net has ended. */
enum pipe_end { PIPE_OPEN, PIPE_SIGNED, PIPE_UNSIGNED };

/* The events of a descriptor that libevent watches. */
struct watch {
	struct event event;
	short armed; /* 0: none */
};

/* How a pipe gets from one stage to the next, until it moves bytes.  Static. */
struct pipe_class {
	void (*go_on)(struct pipe *p); /* the net is ready */
	void (*late)(struct pipe *p);  /* the time for this stage has expired */
	void (*leave)(struct pipe *p); /* it is about to be freed; or NULL */
	/* The pipe moves, but the net has failed before any input; or NULL. */
	void (*broken)(struct pipe *p);
};

/* Owned by the engine; freed by pipe_free() alone. */
struct pipe {
	uint64_t id;
	struct engine *engine;
	const struct pipe_class *class;
	enum pipe_stage stage;
	const char *place; /* the listener of an accepted one; else NULL */
	char peer[64];	   /* "10.0.0.7:5512" */
	SSL *ssl;	   /* NULL before the handshake */
	int net;	   /* owned */
	int local;	   /* owned; -1: none yet */
	struct buf in;
	struct buf out;
	struct watch net_watch;
	struct watch local_watch;
	struct event timer; /* for the handshake, or for the end */
	X509 *refused;	    /* owned: a refused certificate, or NULL */
	int refused_why;    /* X509_V_ERR_... */
	enum pipe_end end;
	int64_t since_ms; /* half open: when this stage began */

	/* Is it worth a try?  Cleared when an attempt would block. */
	bool net_in, net_out, local_in, local_out;
	bool in_wants_write, out_wants_read; /* OpenSSL wants to */
	unsigned restless; /* steps of TLS since the last byte from the net */
	bool headless;	   /* SILENT: no header from its proxy yet */
	bool heard;	   /* something has come from the net */
	bool notified;	   /* a close_notify has come from the net */
	bool told_hup;	   /* the end of the net was seen after unread bytes */
	bool local_ended;  /* the broker has ended its side */
	bool local_gone;   /* ... and reads no more */
	bool local_shut;   /* we have ended our side to the broker */
	bool net_shut;	   /* ... and our side of the TLS */
	bool deaf;	   /* the net takes no more output, which is fine */
	bool broken;	   /* ... because of an error */
	bool dead;	   /* to be freed */
	TAILQ_ENTRY(pipe) link;	     /* of engine->pipes */
	TAILQ_ENTRY(pipe) half_link; /* silent, shaking or ready */
};

struct pipe *pipe_new(
    struct engine *e, int net, const struct pipe_class *class);
void pipe_free(struct pipe *p);

/* Puts the pipe under TLS. */
void pipe_secure(struct pipe *p, const struct context *context);

/* One step of the handshake: 1 done, 0 later, -1 failed. */
int pipe_shake(struct pipe *p);

/* Moves bytes from now on.  Requires a done handshake and a `local` socket. */
void pipe_move(struct pipe *p);

/* Sets what libevent watches; the callback depends on the stage. */
void pipe_watch_net(struct pipe *p, short want);
void pipe_timer(struct pipe *p, int64_t ms); /* 0: none */

#endif
