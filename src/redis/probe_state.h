/*
 * The report of a run, and its links.  Only probe*.c include this.
 */
#ifndef LOCKBROKER_REDIS_PROBE_STATE_H
#define LOCKBROKER_REDIS_PROBE_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/address.h"
#include "redis/link.h"

enum finding { FINDING_OK, FINDING_WARN, FINDING_FAIL };

/* One run. */
struct probe {
	const struct config *config;
	FILE *out;
	struct event_base *base;
	struct io *io;
	struct relay *relay; /* NULL: plain text */
	bool failed;
	bool denied; /* a right is missing: at Redis; at a Sentinel */
	bool sentinel_denied;
	bool clock_known; /* of any server: the next two, off from ours */
	int64_t clock_min_us, clock_max_us;
};

/* The kind of one that keeps locks is "redis", of others "sentinel", "node". */
struct probe_link {
	struct probe *probe;
	char what[ADDRESS_SIZE + 16]; /* "redis HOST:PORT" */
	struct link_config config;
	struct link *link;
	char why[768];	  /* it is down */
	bool waiting;	  /* until it is up, or down, or has answered */
	link_reply *read; /* of the answer that it waits for */
	void *arg;	  /* of all answers */
};

/* Writes a line about a server, or something else. */
void probe_say(struct probe *probe, enum finding finding, const char *what,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
#define probe_find(c, finding, ...) \
	probe_say((c)->probe, finding, (c)->what, __VA_ARGS__)

/* Connects as a broker does, and says how that went. */
bool probe_open(struct probe_link *c, struct probe *probe, const char *kind,
    const struct address *address, void *arg);
void probe_close(struct probe_link *c);

/* Could a second link of this kind hear the channel?  If not, c->why is why. */
bool probe_hears(struct probe_link *c, const char *channel);

/*
 * Asks the server, as link_sendf(), and has the answer read, which may be an
 * error.  Nothing is read if the connection has broken, which is said once.
 */
#define probe_ask(c, reader, ...)                                         \
	((c)->read = (reader),                                            \
	    (c)->waiting =                                                \
		link_sendf((c)->link, 0, probe_answered, c, __VA_ARGS__), \
	    probe_await(c))
link_reply probe_answered;
void probe_await(struct probe_link *c);

/* Looks at a server that should keep locks, in any mode. */
void probe_server(struct probe *probe, const struct address *address);

/* Looks at a Sentinel.  Returns true if it names a master, which the caller
 * frees. */
bool probe_sentinel(
    struct probe *probe, const struct address *address, struct address *master);

#endif
