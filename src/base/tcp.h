/*
 * How a TCP connection is set: small lines leave at once, and a host that has
 * vanished is noticed.
 */
#ifndef LOCKBROKER_BASE_TCP_H
#define LOCKBROKER_BASE_TCP_H

#include <stdint.h>

/* When a silent host is asked whether it is there, and given up. */
struct tcp_patience {
	int64_t idle_s;	    /* before the first probe */
	int64_t interval_s; /* between two of them */
	int probes;
	int64_t unsent_ms; /* for what it has not acknowledged */
};

void tcp_nodelay(int fd);

/* Options that the socket does not take are left as they are. */
void tcp_keepalive(int fd, const struct tcp_patience *patience);

#endif
