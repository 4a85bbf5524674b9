/*
 * --parts none: brokers whose core is the kernel alone (src/core/kernel/DESIGN).
 * So the promises that it keeps are seen to need no part.
 */
#ifndef LOCKBROKER_SIM_ALONE_H
#define LOCKBROKER_SIM_ALONE_H

struct core;
struct core_config;
struct core_gauges;
struct world;

/* Leaves out of a run what only parts can do.  The last to draw. */
void alone_draw(struct world *w);

/* core_new() without parts. */
struct core *alone_core(const struct core_config *config);

/* Counts what the kernel knows; the rest is 0. */
void alone_gauges(const struct core *core, struct core_gauges *gauges);

#endif
