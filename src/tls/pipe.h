/*
 * One TLS connection and the Unix socket that stands for it in the broker.
 *
 *	         --SSL_read--> in  --write--> 
 *	net (TLS)                              local (plain)
 *	         <-SSL_write-- out <--read---
 *
 * Each direction has a bounded buffer; when it is full, nothing more is read
 * on that side.  Each ends by itself: a close_notify becomes an end of what
 * the broker reads, and the other way round.  How the other side has ended is
 * told apart, because the broker vouches for locks by it:
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
	PIPE_SILENT,	 /* accepted: its first message is awaited */
	PIPE_CONNECTING, /* dialed: TCP is */
	PIPE_SHAKING,	 /* hands */
	PIPE_LEAVING,	 /* refused: what it still sends is thrown away */
	PIPE_READY,	 /* shaken; the broker can't take it at the moment */
	PIPE_MOVING,	 /* bytes */
};

/* How what is read from the net has ended. */
enum pipe_end { PIPE_OPEN, PIPE_SIGNED, PIPE_UNSIGNED };

/* What libevent watches of a descriptor. */
struct watch {
	struct event event;
	short armed; /* 0: nothing */
};

/* Owned by the engine; freed by pipe_free() alone. */
struct pipe {
	uint64_t id;
	struct engine *engine;
	enum pipe_stage stage;
	const char *place; /* of an accepted one: where it came; else NULL */
	char peer[64];	   /* "10.0.0.7:5512" */
	SSL *ssl;	   /* NULL before the handshake */
	int net;	   /* owned */
	int local;	   /* owned; -1: none yet */
	struct buf in;
	struct buf out;
	struct watch net_watch;
	struct watch local_watch;
	struct event timer; /* of the handshake, or of the end */
	X509 *refused;	    /* owned: a certificate that was, or NULL */
	int refused_why;    /* X509_V_ERR_... */
	enum pipe_end end;
	int64_t since_ms; /* half open: when it came to this stage */

	/* Is it worth a try?  Cleared when it would block. */
	bool net_in, net_out, local_in, local_out;
	bool in_wants_write, out_wants_read; /* OpenSSL does */
	unsigned restless; /* steps of TLS since the last byte from the net */
	bool heard;	   /* something has come from the net */
	bool notified;	   /* a close_notify has */
	bool told_hup;	   /* its end was seen behind unread bytes */
	bool local_ended;  /* the broker has ended its side */
	bool local_gone;   /* and takes nothing more */
	bool local_shut;   /* we have ended ours */
	bool net_shut;	   /* ... and the TLS */
	bool deaf;	   /* the net takes nothing more, which is fine */
	bool broken;	   /* ... because of an error */
	bool dead;	   /* to be freed */
	TAILQ_ENTRY(pipe) link;	     /* of engine->pipes */
	TAILQ_ENTRY(pipe) half_link; /* silent, shaking or ready */
};

struct pipe *pipe_new(struct engine *e, int net);
void pipe_free(struct pipe *p);

/* Puts it under TLS. */
void pipe_secure(struct pipe *p, const struct context *context);

/* One step of the handshake: 1 done, 0 later, -1 failed. */
int pipe_shake(struct pipe *p);

/* Hands are shaken, and local is there: moves bytes from now on. */
void pipe_move(struct pipe *p);

/* What libevent is to watch; callbacks go by the stage. */
void pipe_watch_net(struct pipe *p, short want);
void pipe_timer(struct pipe *p, int64_t ms); /* 0: none */

/*
 * OpenSSL tells us here what certificates it refuses, which alerts come, and
 * what is said that is no data.
 */
int pipe_verify(int ok, X509_STORE_CTX *store);
void pipe_info(const SSL *ssl, int where, int value);

/* The next in the order of the stages: accept.c, dial.c */
void accept_go_on(struct pipe *p);
void accept_late(struct pipe *p);
void accept_leave(struct pipe *p); /* it is freed while half open */
void dial_go_on(struct pipe *p);
void dial_late(struct pipe *p);
void dial_broken(struct pipe *p);

#endif
