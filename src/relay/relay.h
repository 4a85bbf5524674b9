/*
 * The process that speaks TLS for us: lockbroker-tls, started, watched and
 * started again.
 *
 *	clients --TLS--> lockbroker-tls --Unix socket--> front
 *	servers <--TLS-- lockbroker-tls <--Unix socket-- redis
 *
 * So the process that reads requests has no private keys, and OpenSSL runs on
 * another processor.  When lockbroker-tls dies, its connections end as if they
 * had been reset.
 */
#ifndef LOCKBROKER_RELAY_RELAY_H
#define LOCKBROKER_RELAY_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_base;
struct relay;

/* Room for a text that says what is wrong. */
#define RELAY_WHY_SIZE 640

/* A listener.  Copied. */
struct relay_place {
	const char *cert;
	const char *key;
	const char *client_ca; /* "": none */
	unsigned verify;       /* 0 none, 1 optional, 2 require */
	bool tls_1_3;	       /* no older version */
	bool headed;	       /* a header of the PROXY protocol comes first */
};

/* How to connect to servers.  Copied; "": none. */
struct relay_servers {
	const char *ca;
	const char *cert;
	const char *key;
	bool names; /* the certificate must be for their name */
	int64_t connect_timeout_ms;
	int64_t reply_timeout_ms;
};

/* A client whose handshake is done.  It lives until the callback returns. */
struct relay_client {
	unsigned place;
	uint64_t id; /* never used for another client */
	int fd;	     /* owned by the callback from then on */
	const char *peer;
	const char *const *names; /* in its certificate */
	unsigned nnames;
};

enum relay_end {
	RELAY_UNSIGNED, /* a third party may have ended it */
	RELAY_BEHIND	/* ended, after bytes that are still unread */
};

struct relay_handler {
	void (*client)(void *arg, const struct relay_client *client);
	void (*ended)(void *arg, uint64_t id, enum relay_end end);
};

struct relay_stats {
	uint64_t handshakes_total;
	uint64_t failed_total;
	uint64_t restarts_total;
	int64_t until; /* first expiry of a certificate, s; 0: none */
};

/*
 * Starts the process. base: NULL if only relay_connect() is used, and nothing
 * must be done when the process dies. handler: NULL if it has no listeners.
 */
struct relay *relay_new(struct event_base *base,
    const struct relay_handler *handler, void *arg, char why[RELAY_WHY_SIZE]);

/* Frees the relay, after a moment for the process to send its output. */
void relay_free(struct relay *r);

void relay_limits(struct relay *r, unsigned clients, int64_t unreachable_ms,
    int64_t header_ms);

/*
 * These wait until the process has read the files.  A place is a listening
 * socket, which relay_listen() takes over; each client comes with the number of
 * its place.
 */
bool relay_listen(struct relay *r, unsigned place,
    const struct relay_place *settings, int fd, char why[RELAY_WHY_SIZE])
    __attribute__((warn_unused_result));
bool relay_serve(struct relay *r, const struct relay_servers *settings,
    char why[RELAY_WHY_SIZE]) __attribute__((warn_unused_result));

/*
 * Should it accept clients, or let them only connect?  At first it does not
 * accept.
 */
void relay_accept(struct relay *r, bool on);

/* Accepts no more clients until there are new places.  Clients that connected
 * before may still complete their handshakes. */
void relay_close_places(struct relay *r);
bool relay_shakes(const struct relay *r);

/* Makes the process read the certificates again; the log shows the result. */
void relay_reload(struct relay *r);

/* Reads what the process has reported so far. */
void relay_look(struct relay *r);

/*
 * Returns a socket that leads to a server, or -1.  Its first line says whether
 * the connection succeeded (relay_greeting()). ip is numeric; name is the one
 * to verify.
 */
int relay_connect(
    struct relay *r, const char *ip, uint16_t port, const char *name);

enum relay_answer {
	RELAY_YES,
	RELAY_LATER,	   /* not known yet */
	RELAY_UNREACHABLE, /* the server cannot be reached */
	RELAY_REFUSED	   /* the server is there, but TLS failed */
};

/*
 * The beginning of a server's first reply if the server has judged our
 * certificate only after the handshake, and ended the connection.
 */
#define RELAY_BROKEN "TLS "

/* Room for a first line. */
#define RELAY_LINE_SIZE 640

struct relay_line {
	size_t n;
	char text[RELAY_LINE_SIZE]; /* why it failed */
};

/*
 * Reads the first line, and not a byte more.  Requires a zeroed *line at first.
 */
enum relay_answer relay_greeting(int fd, struct relay_line *line);

void relay_stats(const struct relay *r, struct relay_stats *out);

#endif
