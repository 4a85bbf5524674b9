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

/* A server that should keep locks, in any mode. */
void probe_server(struct probe *probe, const struct address *address);

/* Have the brokers that use it the same lease as the configuration? */
void probe_guard(
    struct probe_conn *c, const struct config *config, int64_t server_ms);

/* A Sentinel.  True, with what it says is the master; the caller frees that. */
bool probe_sentinel(
    struct probe *probe, const struct address *address, struct address *master);

/* A setting of the server as it runs; false where it is not told. */
bool probe_setting(
    struct probe_conn *c, const char *name, char *value, unsigned size);

#endif
