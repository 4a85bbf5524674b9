/*
 * Writes JSON: one object a line, into memory.
 *
 * A control character is written as \u00NN, C1 too, and a byte that is no part
 * of well-formed UTF-8 as the text \xNN: nothing is lost, and nothing forged.
 */
#ifndef LOCKBROKER_BASE_JSON_H
#define LOCKBROKER_BASE_JSON_H

#include <stddef.h>

#include "base/buf.h"

/* One line being written. Whoever called json_begin() ends the buffer. */
struct json {
	struct buf text;
};

void json_begin(struct json *j);

/* Ends the line, which is the caller's to write. */
void json_close(struct json *j);

/* "key":"value", with everything in the value escaped that has to be. */
void json_str(struct json *j, const char *key, const char *value, size_t n);

/* "key":NUMBER; the caller answers for the number. */
void json_raw(struct json *j, const char *key, const char *value, size_t n);

/* "key":{ or "key":[, or without a key inside [; and their end. */
void json_open(struct json *j, const char *key, char bracket);
void json_shut(struct json *j, char bracket);

/* "key":["line", ...] */
void json_strs(struct json *j, const char *key, char *const *values, size_t n);

/* "keysuffix": and nothing behind it yet. */
void json_key(struct json *j, const char *key, size_t n, const char *suffix);

/* A value in quotes. */
void json_text(struct json *j, const char *value, size_t n);

/*
 * The character at s, as it stands in a string; *len is the length of that.
 * Returns how many bytes of s it took.  There is a NUL behind it.
 */
#define JSON_ESCAPE_SIZE 8
size_t json_escape(
    char out[JSON_ESCAPE_SIZE], size_t *len, const char *s, size_t n);

#endif
