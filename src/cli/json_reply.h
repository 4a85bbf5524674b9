/*
 * Answers of a broker as JSON for programs: one object a line.
 */
#ifndef LOCKBROKER_CLI_JSON_REPLY_H
#define LOCKBROKER_CLI_JSON_REPLY_H

#include "base/json.h"

/* Adds a line of STATS, `name value`, as a member. */
void json_stat(struct json *j, const char *line);

/* Adds the bare words of a line under these keys, which end with NULL. */
void json_bare(struct json *j, const char *line, const char *const *keys);

/*
 * Adds every key=value of a line. Numbers become numbers, and a duration
 * `ttl=5ms` becomes "ttl_ms":5. The key decides, never the value.
 */
void json_pairs(struct json *j, const char *line);

/* Writes the name, unless it is NULL, and the fields of an answer as one line. */
void json_answer(const char *name, const char *line);

/* Ends the line, writes it to standard output, and frees it. */
void json_end(struct json *j);

#endif
