/*
 * What src/redis stands on in a simulated world: io.h, link.h and embedded.h
 * once more, under virtual time, with a network between links and servers.
 * Everything of src/redis above them runs as it ships.
 *
 *	src/redis    redis  topo_*  cluster_*  sentinels  pool*  listener
 *	             ---- io.h ---- link.h ---- embedded.h --------------
 *	tests/sim    net_io         net_link    embedded
 *	                              |
 *	                            conn (server.h) --> server, Sentinel
 *
 * Callbacks come only from turns of the broker: timers that have fired and
 * packets that have arrived wait for the next one.
 */
#ifndef LOCKBROKER_SIM_NET_H
#define LOCKBROKER_SIM_NET_H

#include <hiredis/hiredis.h> /* only for redisReply */
#include <stdbool.h>

#include "base/list.h"
#include "redis/link.h"

struct broker;
struct conn;
struct io;
struct server;
struct timer;
struct world;

/* In place of libevent's. */
struct event_base {
	struct broker *broker;
};

TAILQ_HEAD(timer_list, timer);
TAILQ_HEAD(link_list, link);

/* The timers and links of one broker.  Part of it. */
struct net {
	struct event_base base;
	struct timer_list set; /* in no order: there are few */
	struct timer_list due; /* in the order in which they fired */
	struct link_list links;
};

/* The ports of addresses tell what they lead to. */
#define NET_MASTER 100 /* the present master, by its name */
#define NET_SERVER 1000
#define NET_SENTINEL 26379

void net_init(struct broker *b);

struct broker *net_broker(const struct io *io);
struct broker *link_broker(const struct link *l);

/* Runs the timers that have fired. */
void net_run_timers(struct broker *b);
bool net_has_timers(const struct broker *b);

/* A packet was read from a connection, or its break was seen. */
void net_packet(struct conn *c, const redisReply *reply, const char *message);
void net_broken(struct conn *c);

/* Draws a connection of a broker for a fault: one that carries messages, or one
 * of the others, to one of the first `most` servers or to a Sentinel; NULL:
 * there is none. */
struct conn *net_some_conn(struct broker *b, bool messages, int most);

#endif
