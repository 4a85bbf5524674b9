/*
 * Writes JSON into memory: one object a line.
 *
 * It writes a control character, C1 too, as \u00NN, and a byte outside
 * well-formed UTF-8 as the text \xNN: nothing is lost, and nothing forged.
 */
#ifndef LOCKBROKER_BASE_JSON_H
#define LOCKBROKER_BASE_JSON_H

#include <stddef.h>

#include "base/buf.h"

/* One line under construction.  The caller of json_begin() ends the buffer. */
struct json {
	struct buf text;
};

void json_begin(struct json *j);

/* Ends the line.  The caller writes it. */
void json_close(struct json *j);

/* "key":"value", with the value escaped as JSON needs it */
void json_str(struct json *j, const char *key, const char *value, size_t n);

/* "key":NUMBER; the caller must pass a well-formed number */
void json_raw(struct json *j, const char *key, const char *value, size_t n);

/* "key":{ or "key":[, or a bracket without a key within [; and their ends */
void json_open(struct json *j, const char *key, char bracket);
void json_shut(struct json *j, char bracket);

/* "key":["line", ...] */
void json_strs(struct json *j, const char *key, char *const *values, size_t n);

/* "keysuffix": and no value yet */
void json_key(struct json *j, const char *key, size_t n, const char *suffix);

/* A value in quotes. */
void json_text(struct json *j, const char *value, size_t n);

/*
 * Writes the character at s as it must appear in a string, with a NUL; *len is
 * the length of the result.  Returns how many bytes of s it took.
 */
#define JSON_ESCAPE_SIZE 8
size_t json_escape(
    char out[JSON_ESCAPE_SIZE], size_t *len, const char *s, size_t n);

#endif
