/*
 * A connection of the probe, and the report.  Only for probe*.c.
 */
#ifndef LOCKBROKER_REDIS_PROBE_CONN_H
#define LOCKBROKER_REDIS_PROBE_CONN_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/address.h"

struct config;
struct relay;

/* FINDING(identifier, "word in the report") */
/* clang-format off */
#define FINDINGS(FINDING) \
	FINDING(OK, "ok") \
	FINDING(WARN, "warn") \
	FINDING(FAIL, "fail")
/* clang-format on */

enum finding {
#define FINDING(id, word) FINDING_##id,
	FINDINGS(FINDING)
#undef FINDING
	    FINDING_MAX
};

/* One run. */
struct probe {
	const struct config *config;
	FILE *out;
	struct relay *relay; /* NULL: plain text */
	bool failed;
	bool clock_known; /* of any server: the next two, off from ours */
	int64_t clock_min_us, clock_max_us;
};

/* One server or Sentinel, connected. */
struct probe_conn {
	struct probe *probe;
	char what[ADDRESS_SIZE + 16]; /* "redis HOST:PORT" */
	redisContext *context;
};

void probe_say(struct probe *probe, enum finding finding, const char *what,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void probe_find(struct probe_conn *c, enum finding finding, const char *fmt,
    ...) __attribute__((format(printf, 3, 4)));

/* Connects and authenticates.  If that fails, says so and returns false. */
bool probe_open(struct probe_conn *c, struct probe *probe, const char *kind,
    const struct address *address, const char *user, const char *password);
void probe_close(struct probe_conn *c);

/*
 * Asks the server.  Returns NULL if the connection has broken, which is said
 * once.  The caller frees the reply, which may be an error.
 */
redisReply *probe_ask(struct probe_conn *c, const char *fmt, ...);
redisReply *probe_askv(
    struct probe_conn *c, int argc, const char **argv, const size_t *argvlen);
bool probe_is_error(const redisReply *reply);

#endif
