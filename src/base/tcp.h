/*
 * The options of a TCP connection: small lines leave at once, and a host that
 * has vanished is noticed.
 */
#ifndef LOCKBROKER_BASE_TCP_H
#define LOCKBROKER_BASE_TCP_H

#include <stdint.h>

/* When to probe an idle host, and when to give it up. */
struct tcp_patience {
	int64_t idle_s;	    /* before the first probe */
	int64_t interval_s; /* between two probes */
	int probes;
	int64_t unsent_ms; /* for bytes it has not acknowledged */
};

void tcp_nodelay(int fd);

/* Leaves options as they are if the socket does not take them. */
void tcp_keepalive(int fd, const struct tcp_patience *patience);

#endif
