/*
 * One TLS connection and the Unix socket that stands for it in the broker.
 *
 *	         --SSL_read--> in  --write-->
 *	net (TLS)                              local (plain)
 *	         <-SSL_write-- out <--read---
 *
 * Each direction has a bounded buffer; when it is full, nothing more is read on
 * that side.  Each direction ends by itself: a close_notify becomes an end of
 * what the broker reads, and the other way round.  The pipe tells apart how the
 * other side has ended, because the broker decides by it what becomes of locks:
 *
 *	close_notify	the end of the stream
 *	FIN alone	the same, and PACKET "end ID unsigned" before it: anybody
 *			in the network may have sent that
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
	PIPE_SHAKING,	 /* shakes hands */
	PIPE_LEAVING,	 /* refused: throws away what still comes */
	PIPE_READY,	 /* hands are shaken; the broker has no room yet */
	PIPE_MOVING,	 /* moves bytes */
};

/* How the stream from the net has ended. */
enum pipe_end { PIPE_OPEN, PIPE_SIGNED, PIPE_UNSIGNED };

/* The events of a descriptor that libevent watches. */
struct watch {
	struct event event;
	short armed; /* 0: nothing */
};

/* How a pipe goes from one stage to the next, until it moves bytes.  Static. */
struct pipe_class {
	void (*go_on)(struct pipe *p); /* the net is ready */
	void (*late)(struct pipe *p);  /* the time for this stage is over */
	void (*leave)(struct pipe *p); /* it is about to be freed; or NULL */
	/* It moves, and the net has failed before anything came; or NULL. */
	void (*broken)(struct pipe *p);
};

/* Owned by the engine; freed by pipe_free() alone. */
struct pipe {
	uint64_t id;
	struct engine *engine;
	const struct pipe_class *class;
	enum pipe_stage stage;
	const char *place; /* where an accepted one came; else NULL */
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

	/* Is it worth a try?  Cleared when it would block. */
	bool net_in, net_out, local_in, local_out;
	bool in_wants_write, out_wants_read; /* OpenSSL wants to */
	unsigned restless; /* steps of TLS since the last byte from the net */
	bool headless;	   /* SILENT: its proxy has yet to tell the peer */
	bool heard;	   /* something has come from the net */
	bool notified;	   /* a close_notify has come from it */
	bool told_hup;	   /* its end was seen behind unread bytes */
	bool local_ended;  /* the broker has ended its side */
	bool local_gone;   /* ... and reads no more */
	bool local_shut;   /* we have ended our side to it */
	bool net_shut;	   /* ... and our side of the TLS */
	bool deaf;	   /* the net takes nothing more, which is fine */
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

/* Moves bytes from now on.  Requires shaken hands and a `local` socket. */
void pipe_move(struct pipe *p);

/* Sets what libevent watches; the callback depends on the stage. */
void pipe_watch_net(struct pipe *p, short want);
void pipe_timer(struct pipe *p, int64_t ms); /* 0: none */

#endif
