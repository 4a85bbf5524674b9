/*
 * Connects to the servers as a broker does, and checks that they are fit to
 * keep locks: lockbrokerd -t --probe.
 *
 * Topology and pools are those of a broker that has no clients, so they find
 * the servers that a broker would use, and meet the same refusals.  The probe
 * reads the guard and does not join it: brokers would notice that, and settings
 * that are only tried would count.  All that the probe writes is one key of its
 * own, for a second.
 *
 *	probe.c         the broker without clients, and the report
 *	probe_server.c  what is asked of a server, or of a Sentinel
 */
#ifndef LOCKBROKER_REDIS_PROBE_H
#define LOCKBROKER_REDIS_PROBE_H

#include <stdbool.h>
#include <stdio.h>

struct config;

/* The warning about redis.mode embedded. */
#define PROBE_EMBEDDED                                                      \
	"locks exclude clients of this broker only; for several hosts set " \
	"redis.mode and redis.nodes"

/* Writes a line for each finding.  Returns false if one is a failure. */
bool probe_run(const struct config *config, FILE *out);

#endif
