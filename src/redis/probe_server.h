/*
 * The findings about one server.  Only for probe*.c.
 */
#ifndef LOCKBROKER_REDIS_PROBE_SERVER_H
#define LOCKBROKER_REDIS_PROBE_SERVER_H

#include <stdbool.h>
#include <stdint.h>

struct config;
struct address;
struct probe;
struct probe_conn;

/* Looks at a server that should keep locks, in any mode. */
void probe_server(struct probe *probe, const struct address *address);

/* Do the brokers that use the server have the settings of the configuration? */
void probe_guard(
    struct probe_conn *c, const struct config *config, int64_t server_ms);

/* Looks at a Sentinel.  Returns true if it names a master, which the caller
 * frees. */
bool probe_sentinel(
    struct probe *probe, const struct address *address, struct address *master);

#endif
