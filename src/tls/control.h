/* The socket to the broker: its requests, and the answers to them. */
#ifndef LOCKBROKER_TLS_CONTROL_H
#define LOCKBROKER_TLS_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "relay/packet.h"
#include "tls/engine.h"

/* Takes packets from the broker from now on. */
void control_init(struct engine *e);
void control_fini(struct engine *e);

/*
 * Hands a client to the broker; `local` is the broker's end of the pipe, and
 * the caller keeps it.
 */
enum packet_end control_client(struct engine *e, struct pipe *p, int local);

/* Calls accept_hand_over() when the socket has room again. */
void control_wait(struct engine *e);

/* Reports how a pipe has ended.  Returns false if it could not. */
bool control_ended(struct engine *e, uint64_t id, const char *how);

/* A handshake has failed.  Logs a limited number of these in a period. */
void control_closed(struct engine *e);
void control_failed(struct engine *e, const char *peer, const char *why);

#endif
