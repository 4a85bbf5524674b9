/*
 * The struct of the io of the daemon.  Only io.c, link*.c and embedded.c
 * include this.
 */
#ifndef LOCKBROKER_REDIS_IO_STATE_H
#define LOCKBROKER_REDIS_IO_STATE_H

#include "redis/io.h"

struct resolver;

struct io {
	struct event_base *base;
	struct relay *relay; /* NULL: no TLS */
	struct resolver *resolver;
};

#endif
