/*
 * The clocks of servers: they jump, once or twice in a lease, and stand still
 * while their machine is paused.
 */
#ifndef LOCKBROKER_SIM_CLOCKS_H
#define LOCKBROKER_SIM_CLOCKS_H

#include <stdint.h>

struct server;

/* Not more often than may be. */
void clocks_jump(struct server *s);

/* A server has lost what it knew: its clock jumps, perhaps, while leases are
 * written again, or right behind that. */
void clocks_jump_later(struct server *s);

/* It thaws, and in some worlds its clock knows nothing of that. */
void clocks_stand_still(struct server *s, int64_t since_us);

#endif
