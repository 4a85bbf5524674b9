/*
 * What we want to know of a Redis server, as its INFO says.
 */
#ifndef LOCKBROKER_REDIS_INFO_H
#define LOCKBROKER_REDIS_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUN_ID_MAX 64

/* Plain data; zeroed before the first section is read. */
struct info {
	unsigned version[3]; /* major, minor, patch: of Redis */
	char valkey[24];     /* version of Valkey; "": it is none */
	char run_id[RUN_ID_MAX];
	bool sentinel;	  /* it is one ... */
	bool cluster;	  /* ... or a node of a cluster */
	bool no_password; /* it has none; a greeting shows that */
	bool loading;
	bool replica;
	unsigned replicas;  /* connected to it */
	uint64_t maxmemory; /* bytes; 0: no limit */
	char policy[32];    /* what happens at the limit */
};

/* Reads the text of one or more sections; other fields stay as they are. */
void info_read(struct info *info, const char *text, size_t len);

/* Writes the server's version as users know it; returns text. */
#define INFO_VERSION_SIZE 48
const char *info_version(const struct info *info, char text[INFO_VERSION_SIZE]);

/* May the server evict our keys if it has a limit?  Any policy but noeviction
 * does, because leases have a time to live. */
bool info_evicts(const struct info *info);

#endif
