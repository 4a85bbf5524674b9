/*
 * Connects to the servers that the configuration names, and checks that they
 * are fit to keep locks: lockbrokerd -t --probe.
 *
 * It connects as a broker does (link.h), and so is refused what a broker is
 * refused.  It changes nothing that a broker would notice: it writes one key of
 * its own, for a second.
 *
 *	probe.c           which servers to look at, mode by mode
 *	probe_server.c    a server that keeps locks
 *	probe_sentinel.c  a Sentinel
 *	probe_link.c      links, and the lines of the report
 */
#ifndef LOCKBROKER_REDIS_PROBE_H
#define LOCKBROKER_REDIS_PROBE_H

#include <stdbool.h>
#include <stdio.h>

struct config;

/* The warning about redis.mode embedded. */
#define PROBE_EMBEDDED                                                   \
	"locks hold among the clients of this broker only; for several " \
	"hosts give redis.mode and redis.nodes"

/* Writes a line for each finding.  Returns false if one is a failure. */
bool probe_run(const struct config *config, FILE *out);

#endif
