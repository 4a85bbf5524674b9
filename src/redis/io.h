/*
 * What the decisions of this folder need of the world, besides links (link.h)
 * and a server of our own (embedded.h): clocks, timers, random bytes.
 *
 *	decide   redis, topo_*, cluster_*, sentinels, pool*, subscriber
 *	         -------------------------------------------------------
 *	do I/O   io, link*, resolve, embedded: libevent, sockets, threads
 *
 * Files above the line do no I/O and read no clock, so the simulator runs them
 * as they are: it has an io, links and an embedded server of its own, under
 * virtual time (tests/sim/net_*.c).
 */
#ifndef LOCKBROKER_REDIS_IO_H
#define LOCKBROKER_REDIS_IO_H

#include <stddef.h>
#include <stdint.h>

struct event_base;
struct io;
struct relay;
struct timer;

/* Both must outlive the io; relay speaks TLS to servers (NULL: plain text). */
struct io *io_new(struct event_base *base, struct relay *relay);
void io_free(struct io *io);

int64_t io_now_ms(const struct io *io);	  /* CLOCK_BOOTTIME */
int64_t io_awake_us(const struct io *io); /* CLOCK_MONOTONIC */
uint64_t io_wall_us(const struct io *io); /* CLOCK_REALTIME */
void io_random(struct io *io, void *out, size_t n);

/* A timer that fires once, from the loop, each time it is set. */
typedef void timer_fired(void *arg);

struct timer *timer_new(struct io *io, timer_fired *fired, void *arg);
void timer_free(struct timer *t);	    /* NULL is allowed */
void timer_in(struct timer *t, int64_t ms); /* even if it is set */
void timer_stop(struct timer *t);

#endif
