/*
 * What the files about a server share with each other and with nobody else.
 */
#ifndef LOCKBROKER_SIM_SERVER_PARTS_H
#define LOCKBROKER_SIM_SERVER_PARTS_H

#include "events.h"
#include "server.h"

/* server_commands.c: does what was asked.  server_run() returns NULL if the
 * reply comes later. */
redisReply *server_call(
    struct server *s, struct conn *c, const struct request *r);
redisReply *server_run(
    struct server *s, struct conn *c, const struct request *r);

/* The reply to the WAIT of this connection; NULL: there is none yet. */
redisReply *server_wait_answer(const struct server *s, const struct conn *c);

/* PUBLISH: returns how many listen, as far as the server (`arg`) knows. */
int server_publish(void *arg, struct text channel, struct text message);

/* server.c: the requests that have not been carried out are lost. */
void conn_drop_requests(struct conn *c);

/* The time of a WAIT is up. */
event_fn conn_on_waited;

#endif
