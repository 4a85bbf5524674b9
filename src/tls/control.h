/*
 * The socket to the broker: what it wants, and what it is told.
 */
#ifndef LOCKBROKER_TLS_CONTROL_H
#define LOCKBROKER_TLS_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "relay/packet.h"
#include "tls/engine.h"

/* Listens to the broker from now on. */
void control_init(struct engine *e);
void control_fini(struct engine *e);

/* A client for the broker; local is its end of the pipe, which we keep. */
enum packet_end control_client(struct engine *e, struct pipe *p, int local);

/* Calls accept_hand_over() when there is room for more. */
void control_wait(struct engine *e);

/* How a pipe has ended; false: it could not be told. */
bool control_ended(struct engine *e, uint64_t id, const char *how);

/*
 * A line for the broker's log: keys and values, up to NULL.  Lost where the
 * broker does not listen.
 */
void control_log(struct engine *e, const char *level, const char *event, ...)
    __attribute__((sentinel));

/* A handshake has failed; said a bounded number of times in a while. */
void control_failed(struct engine *e, const char *peer, const char *why);

#endif
