/*
 * The process that speaks TLS for us: lockbroker-tls, started, watched and
 * started again.
 *
 *	clients --TLS--> lockbroker-tls --Unix socket--> front
 *	servers <--TLS-- lockbroker-tls <--Unix socket-- redis
 *
 * So private keys are not where requests are read, and OpenSSL's work is done
 * on another processor.  When the process dies its connections end as if they
 * had been reset.
 */
#ifndef LOCKBROKER_RELAY_RELAY_H
#define LOCKBROKER_RELAY_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_base;
struct relay;

/* Room for what is wrong. */
#define RELAY_WHY_SIZE 640

/* A place to listen on.  Copied. */
struct relay_place {
	const char *cert;
	const char *key;
	const char *client_ca; /* "": nobody */
	unsigned verify;       /* 0 none, 1 optional, 2 require */
	bool tls_1_3;	       /* nothing older */
};

/* What servers are connected to with.  Copied; "" is none. */
struct relay_servers {
	const char *ca;
	const char *cert;
	const char *key;
	bool names; /* the certificate must be for them */
	int64_t connect_timeout_ms;
	int64_t reply_timeout_ms;
};

/* A client that has shaken hands.  Lives until the callback returns. */
struct relay_client {
	unsigned place;
	uint64_t id; /* never used again */
	int fd;	     /* the callback's from then on */
	const char *peer;
	const char *const *names; /* of its certificate */
	unsigned nnames;
};

enum relay_end {
	RELAY_UNSIGNED, /* what comes to its end may not be the client's */
	RELAY_BEHIND	/* it has ended, behind bytes that nobody reads yet */
};

struct relay_handler {
	void (*client)(void *arg, const struct relay_client *client);
	void (*ended)(void *arg, uint64_t id, enum relay_end end);
};

struct relay_stats {
	uint64_t handshakes_total;
	uint64_t failed_total;
	uint64_t restarts_total;
	int64_t until; /* the first certificate runs out, seconds; 0: none */
};

/* Is the program there? */
bool relay_exists(void);

/*
 * Starts the process.  base: NULL where only relay_connect() is used, and
 * nothing is to be done when it dies.  handler: NULL: it has no places.
 */
struct relay *relay_new(struct event_base *base,
    const struct relay_handler *handler, void *arg, char why[RELAY_WHY_SIZE]);

/* Lets it send what it has to send, for a moment. */
void relay_free(struct relay *r);

void relay_limits(struct relay *r, unsigned clients, int64_t unreachable_ms);

/*
 * These wait for the process to have read the files.  A place is a listening
 * socket, which is taken over, and whose number clients come with.
 */
bool relay_listen(struct relay *r, unsigned place,
    const struct relay_place *settings, int fd, char why[RELAY_WHY_SIZE])
    __attribute__((warn_unused_result));
bool relay_serve(struct relay *r, const struct relay_servers *settings,
    char why[RELAY_WHY_SIZE]) __attribute__((warn_unused_result));

/* Clients are accepted, or only connect; at first the latter. */
void relay_accept(struct relay *r, bool on);
void relay_close_places(struct relay *r);

/* Reads certificates again; the log says how that went. */
void relay_reload(struct relay *r);

/* Takes in what the process has said by now. */
void relay_look(struct relay *r);

/*
 * A socket that leads to a server, or -1.  Its first line says whether it does
 * (relay_greeting()).  ip is numeric, name the one to be verified.
 */
int relay_connect(
    struct relay *r, const char *ip, uint16_t port, const char *name);

enum relay_answer {
	RELAY_YES,
	RELAY_LATER,	   /* it is not known yet */
	RELAY_UNREACHABLE, /* there is no server */
	RELAY_REFUSED	   /* there is, but TLS is not to be had with it */
};

/*
 * What a first reply of a server begins with if it has judged our certificate
 * only after the handshake, and ended the connection.
 */
#define RELAY_BROKEN "TLS "

/* Room for a first line. */
#define RELAY_LINE_SIZE 640

struct relay_line {
	size_t n;
	char text[RELAY_LINE_SIZE]; /* why, after a refusal */
};

/* Reads the first line, zeroed before, and not a byte more. */
enum relay_answer relay_greeting(int fd, struct relay_line *line);

void relay_stats(const struct relay *r, struct relay_stats *out);

#endif
