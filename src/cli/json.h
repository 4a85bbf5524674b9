/*
 * Writes JSON: one object a line, as programs like to read it.
 */
#ifndef LOCKBROKER_CLI_JSON_H
#define LOCKBROKER_CLI_JSON_H

#include "base/buf.h"

#include <stddef.h>

/* One line being written. Whoever called json_begin() calls json_end(). */
struct json {
	struct buf text;
};

void json_begin(struct json *j);

/* "key":"value", with everything in the value escaped that has to be. */
void json_str(struct json *j, const char *key, const char *value, size_t n);

/* "key":NUMBER; the caller answers for the number. */
void json_raw(struct json *j, const char *key, const char *value, size_t n);

/* "key":{ or "key":[, or without a key inside [; and their end. */
void json_open(struct json *j, const char *key, char bracket);
void json_shut(struct json *j, char bracket);

/* A line of STATS, `name value`, as a member. */
void json_stat(struct json *j, const char *line);

/* The bare words of a line under these keys, which end with NULL. */
void json_bare(struct json *j, const char *line, const char *const *keys);

/* "key":["line", ...] */
void json_strs(struct json *j, const char *key, char *const *values, size_t n);

/*
 * Every key=value of a line of the broker. Numbers become numbers, and a
 * duration `ttl=5ms` becomes "ttl_ms":5; by the key, never by the value.
 */
void json_pairs(struct json *j, const char *line);

/* Ends the line, which is the caller's to write and to free. */
void json_close(struct json *j);

/* Ends the line and writes it to standard output. */
void json_end(struct json *j);

#endif
