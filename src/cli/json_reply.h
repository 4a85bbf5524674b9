/*
 * What a broker answers, as JSON for programs: one object a line.
 */
#ifndef LOCKBROKER_CLI_JSON_REPLY_H
#define LOCKBROKER_CLI_JSON_REPLY_H

#include "base/json.h"

/* A line of STATS, `name value`, as a member. */
void json_stat(struct json *j, const char *line);

/* The bare words of a line under these keys, which end with NULL. */
void json_bare(struct json *j, const char *line, const char *const *keys);

/*
 * Every key=value of a line of the broker. Numbers become numbers, and a
 * duration `ttl=5ms` becomes "ttl_ms":5; by the key, never by the value.
 */
void json_pairs(struct json *j, const char *line);

/* Ends the line, writes it to standard output, and frees it. */
void json_end(struct json *j);

#endif
