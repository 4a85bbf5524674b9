/*
 * The clocks of servers: they jump, once or twice in a lease, and stand still
 * while their machine is paused.
 */
#ifndef LOCKBROKER_SIM_CLOCKS_H
#define LOCKBROKER_SIM_CLOCKS_H

#include <stdint.h>

struct server;

/* Moves the clock, unless it has moved too often already. */
void clocks_jump(struct server *s);

/* A server has lost what it knew: perhaps its clock jumps, while leases are
 * written again or right after that. */
void clocks_jump_later(struct server *s);

/* The server thaws, and in some worlds its clock has not noticed the pause. */
void clocks_stand_still(struct server *s, int64_t since_us);

#endif
